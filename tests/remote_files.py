"""Files in memory, and on a web server that counts what it sends and can fail in every way."""

import hashlib
import re
import threading
from collections.abc import Container, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

import fsspec

from tests.http_server import served

_RANGE = re.compile(r"bytes=(\d+)-(\d+)")


@dataclass
class FileServer:
    """What the server has, how it behaves, and what it was asked for.

    Attributes:
        url: Where it is.
        files: Content by path.
        sent_bytes: Of files, so far.
        asked: Path with query, and range, of each request.
        has_ranges: Whether it sends parts.
        has_identity: Whether it says which state of a file it sends.
        status: What it answers to everything, 200 for files.
        changed: Which requests, counted from 1, meet another state of the file.
        broken: Which answers break off half-way.
    """

    url: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    sent_bytes: int = 0
    asked: list[tuple[str, str | None]] = field(default_factory=list)
    authorizations: set[str | None] = field(default_factory=set)
    has_ranges: bool = True
    has_identity: bool = True
    status: int = 200
    changed: Container[int] = ()
    broken: Container[int] = ()

    def named(self, name: str) -> str:
        """Return the URL of a file."""
        return f"{self.url}/{name}"


@contextmanager
def in_memory(**files: bytes) -> Iterator[Any]:
    """Keep files as memory://run/NAME.sqlite, until the block ends."""
    system = fsspec.filesystem("memory")
    system.pipe({f"/run/{name}.sqlite": data for name, data in files.items()})
    try:
        yield system
    finally:
        system.store.clear()
        system.pseudo_dirs[:] = [""]


@contextmanager
def serving(**files: bytes) -> Iterator[FileServer]:
    """Serve files under their names, as NAME.sqlite, until the block ends."""
    state = FileServer(files={f"/{name}.sqlite": data for name, data in files.items()})
    tags = {path: hashlib.sha256(data).hexdigest() for path, data in state.files.items()}
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            wanted = self.headers.get("Range")
            path = self.path.partition("?")[0]
            with lock:
                state.asked.append((self.path, wanted))
                state.authorizations.add(self.headers.get("Authorization"))
            data = state.files.get(path)
            if data is None or state.status != 200:
                self.begin(404 if data is None else state.status, 0)
                self.end_headers()
                return
            match = _RANGE.fullmatch(wanted or "") if state.has_ranges else None
            first, last = (int(match[1]), int(match[2])) if match else (0, len(data) - 1)
            part = data[first : last + 1]
            self.begin(206 if match else 200, len(part), tags.get(path, path))
            if match:
                self.send_header("Content-Range", f"bytes {first}-{last}/{len(data)}")
            self.end_headers()
            self.send(part)

        def begin(self, status: int, length: int, tag: str | None = None) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(length))
            if tag is not None and state.has_identity:
                changed = "-changed" if len(state.asked) in state.changed else ""
                self.send_header("ETag", f'"{tag}{changed}"')

        def send(self, part: bytes) -> None:
            if len(state.asked) in state.broken:
                part = part[: len(part) // 2]
                self.close_connection = True
            with lock:  # before the client has it, which then looks at the sum
                state.sent_bytes += len(part)
            with suppress(BrokenPipeError, ConnectionResetError):
                self.wfile.write(part)

        def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002
            pass

    with served(Handler) as state.url:
        yield state
