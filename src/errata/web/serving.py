"""Serving a campaign: one process on SQLite, as many as wanted on PostgreSQL.

A thread beside the server takes snapshots, works out the organiser's figures and what ``adaptive``
knows of the systems, and looks at stop rules when it is time; no request waits for them.
"""

from __future__ import annotations

import logging
import socket
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from errata.errors import MissingExtraError, install_extra
from errata.web.address import Address
from errata.web.app import application
from errata.web.calls import Served
from errata.web.dashboard import Dashboard
from errata.web.database import Database, open_database, said_by, serving
from errata.web.organising import Organiser
from errata.web.participants import panel_in
from errata.web.processes import check_workers, keep_workers, leave_with_parent
from errata.web.snapshots import Snapshots
from errata.web.steering import Steering
from errata.web.store import Store

__all__ = ["application_of", "serve"]

KEEP_ALIVE = 75  # seconds: longer than the pause between two tasks
EVERY = 5.0  # seconds between two looks at what has changed
RESTING = 20  # times as long as the last one took, where that is longer: a twentieth of a core
# A database that is away or locked, a disk that is full: not the program's fault.
TROUBLES = (OperationalError, PoolTimeout, sqlite3.OperationalError, OSError)
LOG = logging.getLogger("errata.web")


def application_of(served: Served, address: Address) -> tuple[Any, Dashboard]:
    """The application with the organiser's part, and the figures that it shows."""
    dashboard = Dashboard(served.store)
    organiser = Organiser(address.links, dashboard)
    return application(served, organiser.routes()), dashboard


@contextmanager
def background(store: Store, dashboard: Dashboard) -> Iterator[None]:
    """Snapshots and figures, now and then, until the server ends."""
    over = threading.Event()
    snapshots = Snapshots(store.database)
    steering = Steering(store, dashboard.gathered)
    steering.steer()  # before the first claim, which may need strengths
    store.rehearse()

    def figures() -> None:
        if dashboard.due:
            dashboard.refresh()

    def work() -> None:
        jobs: tuple[Callable[[], object], ...] = (
            lambda: snapshots.take_if_due(store.wall()),
            steering.steer,
            figures,
        )
        while not over.is_set():
            dashboard.asked.clear()
            start = time.thread_time()
            for job in jobs:
                try:
                    job()
                except TROUBLES as error:  # a line: it may go on for hours
                    LOG.warning("in the background: %s", said_by(error))
                except Exception:  # the server goes on; what failed is tried again
                    LOG.exception("in the background")
            spent = time.thread_time() - start
            dashboard.asked.wait(max(EVERY, spent * RESTING))

    thread = threading.Thread(target=work, name="errata-background", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        dashboard.asked.set()
        thread.join(10)


def serve(
    place: str,
    key: bytes,
    address: Address,
    *,
    workers: int = 1,
    ready: Callable[[], None] = lambda: None,
    adjust: Callable[[Served], None] = lambda served: None,
) -> None:
    """Serve the campaign in a database until interrupted; ``ready`` is called when it listens.

    With several ``workers`` (PostgreSQL only) each is a process of its own, on the same port.
    """
    try:
        import uvicorn
    except ImportError:
        raise MissingExtraError("uvicorn", install_extra("web")) from None
    check_workers(place, workers)
    if workers > 1:
        open_database(place).close()  # refused here, and once, where it cannot be served
        listening = uvicorn.Config(None, host=address.host, port=address.port).bind_socket()  # type: ignore[arg-type]
        with listening:
            keep_workers(workers, _work, (place, key, address), listening, ready)
        return
    _serve(place, key, address, None, ready, adjust)


def _work(place: str, key: bytes, address: Address, listening: socket.socket, told: Any) -> None:
    """One process of several."""
    leave_with_parent()
    _serve(place, key, address, [listening], told.set)


def _serve(
    place: str,
    key: bytes,
    address: Address,
    sockets: list[socket.socket] | None,
    ready: Callable[[], None],
    adjust: Callable[[Served], None] = lambda served: None,
) -> None:
    database: Database = open_database(place)
    try:
        with serving(database):
            store = Store(database)
            panel = panel_in(store.campaign().texts)
            frame = panel.frame if panel else ""
            served = Served(store, key, frame, secure=address.secure)
            adjust(served)
            app, dashboard = application_of(served, address)
            with background(store, dashboard):
                _announced(_config(app, address), ready).run(sockets=sockets)
    finally:
        database.close()


def _config(app: Any, address: Address) -> Any:
    import uvicorn

    return uvicorn.Config(
        app,
        host=address.host,
        port=address.port,
        log_level="warning",
        access_log=False,  # addresses and query strings are nobody's business
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE,
        ssl_certfile=address.certificate or None,
        ssl_keyfile=address.key or None,
        proxy_headers=bool(address.behind_proxy),
        forwarded_allow_ips=address.behind_proxy or None,
    )


def _announced(config: Any, ready: Callable[[], None]) -> Any:
    """A server that says when it listens."""
    import uvicorn

    class Announced(uvicorn.Server):
        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets)
            if self.started:
                ready()

    return Announced(config)
