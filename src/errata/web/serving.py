"""Serving a campaign: one process on SQLite, as many as wanted on PostgreSQL.

A thread beside the server takes snapshots, works out the organiser's figures and what ``adaptive``
knows of the systems, and looks at stop rules when it is time; no request waits for them.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from errata.errors import MissingExtraError
from errata.web.address import Address
from errata.web.app import Served, application
from errata.web.dashboard import Dashboard
from errata.web.database import Database, open_database, serving
from errata.web.organising import Organiser
from errata.web.participants import panel_in
from errata.web.snapshots import Snapshots
from errata.web.steering import Steering
from errata.web.store import Store

__all__ = ["application_of", "serve"]

KEEP_ALIVE = 75  # seconds: longer than the pause between two tasks
EVERY = 5.0  # seconds between two looks at what has changed
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
    steering = Steering(store)
    steering.steer()  # before the first claim, which may need strengths

    def work() -> None:
        jobs = (lambda: snapshots.take_if_due(store.wall()), steering.steer, dashboard.refresh)
        while not over.is_set():
            for job in jobs:
                try:
                    job()
                except Exception:  # the server goes on; what failed is tried again
                    LOG.exception("in the background")
            over.wait(EVERY)

    thread = threading.Thread(target=work, name="errata-background", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(10)


def serve(
    place: str,
    key: bytes,
    address: Address,
    *,
    ready: Callable[[], None] = lambda: None,
    adjust: Callable[[Served], None] = lambda served: None,
) -> None:
    """Serve the campaign in a database until interrupted; ``ready`` is called when it listens."""
    try:
        import uvicorn
    except ImportError:
        raise MissingExtraError("uvicorn", "pip install 'errata[web]'") from None
    database: Database = open_database(place)
    try:
        with serving(database):
            store = Store(database)
            panel = panel_in(store.campaign().texts)
            frame = panel.frame if panel else ""
            served = Served(store, key, frame, secure=address.secure)
            adjust(served)
            app, dashboard = application_of(served, address)
            config = uvicorn.Config(
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
            with background(store, dashboard):
                _announced(config, ready).run()
    finally:
        database.close()


def _announced(config: Any, ready: Callable[[], None]) -> Any:
    """A server that says when it listens."""
    import uvicorn

    class Announced(uvicorn.Server):
        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets)
            if self.started:
                ready()

    return Announced(config)
