"""Where the server listens, its processes and connections."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import multiprocessing
import os
import signal
import socket
import ssl
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from errata.collect.web.api import Served
from errata.collect.web.app import application, background
from errata.collect.web.database import Database, open_database, serving
from errata.collect.web.judges import end_revived_links
from errata.collect.web.panel import panel_in
from errata.collect.web.store import AssignmentStore
from errata.collect.web.tokens import LinkSigner
from errata.core.errors import InputError, MissingExtraError, install_extra

# ---- Where the server listens, and what it is called in links: loopback, unless said otherwise.


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a host.

    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True)
class Address:
    """Host, port, certificate, proxy and the public address in links; checked when it is made.

    >>> Address().links
    'http://127.0.0.1:8765/'
    """

    host: str = "127.0.0.1"
    port: int = 8765
    url: str = ""
    certificate: str = ""
    key: str = ""
    behind_proxy: str = ""
    plain_http: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.port <= 65535:
            raise InputError(f"--port {self.port} is no port", remedy="give a number up to 65535")
        if bool(self.certificate) != bool(self.key):
            raise InputError("--certificate and --key go together", remedy="give both files")
        if self.behind_proxy:
            for network in self.behind_proxy.split(","):
                try:
                    ipaddress.ip_network(network.strip())
                except ValueError:
                    raise InputError(
                        f"--behind-proxy {network.strip()!r} is no address or network",
                        remedy="give the proxy's, such as 10.0.0.0/8 or 127.0.0.1",
                    ) from None
        safe = self.certificate or self.behind_proxy or self.plain_http
        if not is_loopback(self.host) and not safe:
            raise InputError(
                f"--host {self.host} can be reached by others, without encryption",
                remedy="give --certificate and --key, or --behind-proxy with the address of the "
                "proxy that has the certificate, or --plain-http if that is meant",
            )
        if self.url:
            parts = urlsplit(self.url)
            more = parts.query or parts.fragment or parts.username  # no part of a page's address
            if parts.scheme not in ("http", "https") or not parts.netloc or more:
                raise InputError(
                    f"--url {self.url!r} is no address of a page",
                    remedy="write it as https://example.org/study/",
                )

    @property
    def secure(self) -> bool:
        """Whether judges reach it over TLS."""
        return bool(self.certificate) or urlsplit(self.url).scheme == "https"

    @property
    def links(self) -> str:
        """What links begin with; it ends with a slash."""
        if self.url:
            return self.url.rstrip("/") + "/"
        host = f"[{self.host}]" if ":" in self.host else self.host
        host = {"0.0.0.0": "127.0.0.1", "[::]": "[::1]"}.get(host, host)
        return f"{'https' if self.certificate else 'http'}://{host}:{self.port}/"


def check_listening(address: Address) -> None:
    """Refuse, before anything is served, a port that is taken and a certificate that is none."""
    if address.certificate:
        try:
            ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(
                address.certificate, address.key, password=""
            )
        except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
            said = getattr(error, "strerror", None) or str(error)
            raise InputError(
                f"the certificate cannot be used with its key: {said}",
                path=address.certificate,
                remedy="give both as PEM, the key without a password",
            ) from None
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_STREAM) as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            tried.bind((address.host.strip("[]"), address.port))
    except OSError as error:
        raise InputError(
            f"cannot listen on {address.host}, port {address.port}: {error.strerror or error}",
            remedy="give another --port or --host",
        ) from None


# ---- Several processes that serve one campaign on PostgreSQL, on one port.

MOST_WORKERS = 64
_LOOK = 0.1  # seconds between two looks at who still lives
_FASTEST = 1.0  # seconds between two starts of a process that ends at once
_PATIENCE = 15.0  # seconds for a process to end when asked to


def check_workers(place: str, workers: int) -> None:
    """Refuse several processes on a SQLite file, and numbers that cannot be meant.

    >>> check_workers("postgresql://localhost/study", 4)
    """
    if not 1 <= workers <= MOST_WORKERS:
        raise InputError(
            f"--workers {workers} is no number of processes", remedy=f"give 1 to {MOST_WORKERS}"
        )
    if workers > 1 and "://" not in place:
        raise InputError(
            f"--workers {workers}: one process serves a SQLite file",
            path=place,
            remedy="leave out --workers, or keep the campaign in PostgreSQL",
        )


def keep_workers(
    many: int,
    target: Callable[..., None],
    given: tuple[Any, ...],
    listening: socket.socket,
    ready: Callable[[], None],
) -> None:
    """Keep so many processes at work until interrupted; ``ready`` is called when all serve."""
    context = multiprocessing.get_context("spawn")
    over = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: over.set())
    serving = [context.Event() for _ in range(many)]

    def start(k: int) -> tuple[Any, float]:
        process = context.Process(target=target, args=(*given, listening, serving[k]))
        process.start()
        return process, time.monotonic()

    processes = [start(k) for k in range(many)]
    announced = False
    try:
        while not over.wait(_LOOK):
            if not announced and all(event.is_set() for event in serving):
                announced = True
                ready()
            for k, (process, started) in enumerate(processes):
                if not process.is_alive() and time.monotonic() - started >= _FASTEST:
                    LOG.warning("a process ended (%s); another takes its place", process.exitcode)
                    processes[k] = start(k)
    finally:
        for process, _ in processes:
            process.terminate()
        end = time.monotonic() + _PATIENCE
        for process, _ in processes:
            process.join(max(0.0, end - time.monotonic()))
            process.kill()  # does nothing to one that has ended
            process.join()


def leave_with_parent() -> None:
    """End this process when the one that keeps it is gone, however that went."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, name="errata-parent", daemon=True).start()


# ---- Serving a campaign: one process on SQLite, as many as wanted on PostgreSQL.

KEEP_ALIVE = 75  # seconds: longer than the pause between two tasks
HEAD_SECONDS = 15.0  # until the headers of a request must be there
LOG = logging.getLogger("errata.collect.web")


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
            keep_workers(workers, _worker_process, (place, key, address), listening, ready)
        return
    _serve(place, key, address, None, ready, adjust)


def _worker_process(
    place: str, key: bytes, address: Address, listening: socket.socket, told: Any
) -> None:
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
            store = AssignmentStore(database)
            end_revived_links(database)
            panel = panel_in(store.campaign().texts)
            frame = panel.frame if panel else ""
            signer = LinkSigner(key, store.salt_of("campaign"))
            served = Served(store, signer, frame, address.secure, address.links)
            adjust(served)
            with background(store, served.dashboard):
                _announcing_server(_config(application(served), address), ready).run(
                    sockets=sockets
                )
    finally:
        database.close()


def _most_connections() -> int:
    """Half of the files that this process may have open, and no more than a thousand."""
    try:
        import resource
    except ImportError:  # not on Windows
        return 500
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return 1000 if soft < 0 else min(1000, soft // 2)


MOST_CONNECTIONS = _most_connections()


@cache
def _protocol() -> Any:
    """HTTP/1.1 as uvicorn speaks it, for clients that send slowly or hold many connections."""
    import h11
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class LimitedProtocol(H11Protocol):
        """Ends connections whose headers are late, and those that rest longest if there are many.

        A browser whose resting connection ended opens another without a word.
        """

        deadline: asyncio.TimerHandle | None = None
        rests_since = 0.0

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._watch_connection()
            others: list[Any] = [
                each
                for each in self.connections
                if each is not self and not each.transport.is_closing()
            ]
            resting = [each for each in others if each.rests_since]
            if len(others) >= MOST_CONNECTIONS and resting:
                min(resting, key=lambda each: each.rests_since).transport.close()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._watch_connection()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            self._watch_connection()

        def connection_lost(self, exc: Exception | None) -> None:
            super().connection_lost(exc)
            self._end_deadline()

        def _watch_connection(self) -> None:
            """Note since when no request is being answered, and when headers must be there."""
            rests = self.cycle is None or self.cycle.response_complete
            self.rests_since = (self.rests_since or self.loop.time()) if rests else 0.0
            begun = self.cycle is None or bool(self.conn.trailing_data[0])
            if not (begun and self.conn.their_state is h11.IDLE):
                self._end_deadline()
            elif self.deadline is None:
                self.deadline = self.loop.call_later(HEAD_SECONDS, self.transport.close)

        def _end_deadline(self) -> None:
            if self.deadline is not None:
                self.deadline.cancel()
                self.deadline = None

    return LimitedProtocol


def _config(app: Any, address: Address) -> Any:
    import uvicorn

    return uvicorn.Config(
        app,
        host=address.host,
        port=address.port,
        http=_protocol(),
        log_level="warning",
        access_log=False,  # addresses and query strings are nobody's business
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE,
        ssl_certfile=address.certificate or None,
        ssl_keyfile=address.key or None,
        proxy_headers=bool(address.behind_proxy),
        forwarded_allow_ips=address.behind_proxy or None,
    )


def _announcing_server(config: Any, ready: Callable[[], None]) -> Any:
    """A server that says when it listens."""
    import uvicorn

    class Announced(uvicorn.Server):
        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets)
            if self.started:
                ready()

    return Announced(config)
