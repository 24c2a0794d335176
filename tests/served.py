"""A campaign served by a thread of this process, or by a process that can be killed."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from errata.collect.web.api import Served
from errata.collect.web.app import application, background
from errata.collect.web.database import open_database
from errata.collect.web.panel import panel_in
from errata.collect.web.server import Address, _config
from errata.collect.web.store import AssignmentStore
from processes import free_port, wait_until
from stored_campaigns import signer_of, token_of

PATIENCE = 60  # seconds: it only ends a hang
KEY = "0123456789abcdef" * 4
PROGRAM = """
import sys
from errata.collect.web.server import Address
from errata.collect.web.server import serve
from errata.collect.web.tokens import key_from_hex
place, port, key, calls = sys.argv[1:5]
def adjust(served):
    served.limiter.limits["call"] = int(calls)
serve(place, key_from_hex(key), Address(port=int(port)), adjust=adjust)
"""


@dataclass
class Server:
    """A server on loopback over a database; it can be killed, and started on the same port."""

    place: str
    port: int
    calls: int = 1_000_000
    process: subprocess.Popen[bytes] | None = None
    program: str = PROGRAM
    key: str = KEY

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    def start(self) -> Server:
        words = [self.place, str(self.port), self.key, str(self.calls)]
        process = self.process = subprocess.Popen([sys.executable, "-c", self.program, *words])

        def answers() -> bool:
            assert process.poll() is None, "the server ended"
            try:
                self.call("GET", "health")  # whatever it answers: it may be too busy to write
            except OSError:
                return False
            return True

        wait_until(answers)
        return self

    def kill(self) -> None:
        """As a power cut does: at once, and without a word."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self.kill()

    def token(self, judge: int) -> str:
        """Return the current token of a judge; 0 is the organiser."""
        database = open_database(self.place)
        try:
            return token_of(database, bytes.fromhex(self.key), judge)
        finally:
            database.close()

    @property
    def admin(self) -> str:
        return self.token(0)

    def link(self, judge: int = 1) -> str:
        return f"{self.address}judge#{self.token(judge)}"

    def call(
        self, method: str, path: str, body: Any = None, *, token: str | None = None
    ) -> tuple[int, Any]:
        """The status of a call, and the JSON of its answer."""
        content = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        asked = urllib.request.Request(
            f"{self.address}api/v1/{path}", content, headers, method=method
        )
        try:
            with urllib.request.urlopen(asked, timeout=PATIENCE) as answer:
                text = answer.read()
                return answer.status, json.loads(text) if text.startswith((b"{", b"[")) else text
        except urllib.error.HTTPError as error:
            text = error.read()
            return error.code, json.loads(text) if text else None


@dataclass
class LocalServer(Server):
    """A server in a thread of this process: it starts at once, and ends at once.

    Port 0 is any that is free, and is kept for the next start.
    """

    def start(self) -> LocalServer:
        ready = threading.Event()
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._socket.bind(("127.0.0.1", self.port))
        self.port = int(self._socket.getsockname()[1])
        self._thread = threading.Thread(target=self._run, args=(ready,))
        self._thread.start()
        assert ready.wait(PATIENCE), "the server does not start"
        assert self._thread.is_alive(), "the server ended"
        return self

    def _run(self, ready: threading.Event) -> None:
        import uvicorn

        class Announced(uvicorn.Server):
            async def startup(self, sockets: Any = None) -> None:
                await super().startup(sockets)
                ready.set()

        database = open_database(self.place)
        try:
            store, address = AssignmentStore(database), Address(port=self.port)
            panel = panel_in(store.campaign().texts)
            frame = panel.frame if panel else ""
            signer = signer_of(database, bytes.fromhex(self.key))
            shared = Served(store, signer, frame, links=address.links)
            shared.limiter.limits["call"] = self.calls
            self._uvicorn = Announced(_config(application(shared), address))
            with background(store, shared.dashboard):
                self._uvicorn.run([self._socket])
        finally:
            ready.set()
            self._socket.close()
            database.close()

    def kill(self) -> None:
        self._uvicorn.force_exit = True
        self.stop()

    def stop(self) -> None:
        self._uvicorn.should_exit = True
        self._thread.join()


@contextmanager
def served(place: str, **options: Any) -> Iterator[LocalServer]:
    """Serve a database that is there already from a thread of this process."""
    server = LocalServer(place, 0, **options).start()
    try:
        yield server
    finally:
        server.stop()


@contextmanager
def served_by_process(place: str, **options: Any) -> Iterator[Server]:
    """Serve a database that is there already from another process."""
    server = Server(place, free_port(), **options).start()
    try:
        yield server
    finally:
        server.stop()


def eventually(server: Server, status: int) -> None:
    """Wait until health has this status; it is remembered for some seconds."""
    wait_until(lambda: server.call("GET", "health")[0] == status)
