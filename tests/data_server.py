"""A web server on loopback for the tests: serves a folder, knows Range, can break off."""

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote


@dataclass
class DataServer:
    """What the server does, and what it was asked: (path, Range header or "", status)."""

    root: Path
    ranges: bool = True
    # After so many bytes of a body the connection is cut, once per entry.
    cuts: list[int] = field(default_factory=list)
    # Bytes are sent one by one, with so many seconds between two; or headers without an end are.
    drip: float = 0.0
    endless_headers: bool = False
    requests: list[tuple[str, str, int]] = field(default_factory=list)
    url: str = ""
    gone: threading.Event = field(default_factory=threading.Event)


@contextmanager
def serve(root: Path) -> Iterator[DataServer]:
    """Serve ``root`` on a free port until the block ends."""
    state = DataServer(root)

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            wanted = self.headers.get("Range", "")
            file = state.root / unquote(self.path).lstrip("/")
            if not file.is_file():
                state.requests.append((self.path, wanted, 404))
                self.send_error(404)
                return
            data = file.read_bytes()
            first, status = 0, 200
            match = re.fullmatch(r"bytes=(\d+)-", wanted)
            if match and state.ranges:
                first, status = int(match[1]), 206
                if first >= len(data):
                    status = 416
            state.requests.append((self.path, wanted, status))
            self.send_response(status)
            if state.endless_headers:
                self.flush_headers()
                self._drip(b"X-More: " + b"x" * 1000)
                return
            if status == 206:
                self.send_header("Content-Range", f"bytes {first}-{len(data) - 1}/{len(data)}")
            body = b"" if status == 416 else data[first:]
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if state.cuts and body:
                body = body[: state.cuts.pop(0)]
            if state.drip:
                self._drip(body)
            else:
                with suppress(ConnectionError):  # the other side wants no more
                    self.wfile.write(body)
            self.close_connection = True

        def _drip(self, data: bytes) -> None:
            with suppress(OSError):  # the other side has given up
                for k in range(len(data)):
                    self.wfile.write(data[k : k + 1])
                    self.wfile.flush()
                    if state.gone.wait(state.drip or 0.01):
                        return

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        state.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield state
        finally:
            state.gone.set()
            server.shutdown()
            thread.join()


def make_folder(root: Path) -> Path:
    """A tiny made-up folder OWNER/REPO/COMMIT/PATH; returns the catalogue that describes it."""
    import hashlib

    commit = "0123456789abcdef" * 2 + "01234567"
    contents = {"small.txt": "café\n".encode(), "deep #1/large.bin": bytes(range(256)) * 2000}
    lines = [
        *("[toy]", 'title = "A made-up set"', 'repository = "some-one/some.thing"'),
        *(f'commit = "{commit}"', 'root = "data"', 'licence = "CC0"'),
        *('citations = ["Nobody. 2025. Nothing."]', "files = ["),
    ]
    for name, content in contents.items():
        file = root / "some-one" / "some.thing" / commit / "data" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        lines.append(
            f'  {{ name = "{name}", size = {len(content)}, '
            f'sha256 = "{hashlib.sha256(content).hexdigest()}" }},'
        )
    catalogue = root / "toy.toml"
    catalogue.write_text("\n".join([*lines, "]"]), encoding="utf-8")
    return catalogue
