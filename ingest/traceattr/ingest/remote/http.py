"""Asking web servers for the state of a file, with the only request that every one answers.

A signed URL is good for GET alone, so HEAD says nothing; and whether a server sends parts of files
is known when it has sent one.
"""

import re
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from traceattr.ingest.remote.errors import SILENCE_S, foreign_errors
from traceattr.ingest.remote.name import RemoteFile

_CONNECT_S = 20
_PARALLEL = 32
"""Requests at a time; small servers let more wait for seconds."""

_TOTAL = re.compile(r"bytes .*/(\d+)")
_OK, _PART, _NO_SUCH_PART = 200, 206, 416


@dataclass(frozen=True, slots=True)
class Told:
    """What a server says of a file.

    Attributes:
        size_bytes: Its size, None where it does not say.
        state: What it calls the state that the file is in; empty where it has no such thing.
        has_parts: Whether it sends parts of it.
    """

    size_bytes: int | None
    state: tuple[tuple[str, str], ...]
    has_parts: bool


def http_file_system(file: RemoteFile) -> Any:
    """Return how fsspec talks to web servers.

    A file may take hours, a server that says nothing is given up; what was escaped in the URL
    stays as it is, as signatures are over that; and a compressed part could not be decoded.
    """
    aiohttp: Any = import_module("aiohttp")
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_S, sock_read=SILENCE_S)
    headers = {"Accept-Encoding": "identity"}
    client = {"timeout": timeout, "trust_env": True, "headers": headers}
    fsspec: Any = import_module("fsspec")
    files = fsspec.filesystem("http", encoded="%" in file.url, client_kwargs=client)
    files.batch_size = _PARALLEL
    return files


def ask(files: Any, url: str) -> Told:
    """Ask for the first byte of a file; the answer says the rest.

    Raises:
        aiohttp.ClientError: The server refuses, or cannot be reached.
    """
    told: Told = import_module("fsspec.asyn").sync(files.loop, _ask, files, url)
    return told


async def _ask(files: Any, url: str) -> Told:
    session = await files.set_session()
    async with session.get(files.encode_url(url), headers={"Range": "bytes=0-0"}) as answer:
        if answer.status == _NO_SUCH_PART:
            return Told(0, (), has_parts=False)
        answer.raise_for_status()
        told = answer.headers
        state = tuple((name, told[name]) for name in ("ETag", "Last-Modified") if name in told)
        if answer.status == _PART:
            with suppress(*foreign_errors()):
                await answer.read()  # then the connection is good for the next request
            total = _TOTAL.fullmatch(told.get("Content-Range", ""))
            return Told(int(total[1]) if total else None, state, has_parts=total is not None)
        is_plain = told.get("Content-Encoding", "identity") == "identity"
        return Told(answer.content_length if is_plain else None, state, has_parts=False)
