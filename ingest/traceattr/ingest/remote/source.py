"""Reading parts of files that lie elsewhere, through fsspec, which is imported only for that."""

import hashlib
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from traceattr.errors import ExportError
from traceattr.ingest.remote.errors import foreign_errors, is_final, remote_failure
from traceattr.ingest.remote.http import ask, http_file_system
from traceattr.ingest.remote.name import RemoteFile

_ATTEMPTS = 3

_IDENTITY = re.compile(
    r"e_?tag|last_?modified|updated|m_?time|modified|created|generation|version_?id|md5_?hash"
    r"|content_?md5|crc32c|digest"
)
"""What file systems tell of a file that another content would change; - is written _."""

_SIGNING = re.compile(
    r"x-(amz|goog)-.*|awsaccesskeyid|expires|googleaccessid|key-pair-id|policy|signature"
    r"|s[eprtv]|sig|sk[estv]|skoid|sktid|spr"
)
"""What a query says about who may read a file and until when, not which file it is."""

Range = tuple[int, int]
"""Offsets of the first byte and of the one behind the last."""


@dataclass(frozen=True, slots=True)
class Source:
    """A file that lies elsewhere, in the state in which it was found.

    Attributes:
        file: Its name.
        size_bytes: Its size, None where the server does not tell.
        identity: What changes whenever its content does; empty where the server has no such thing.
        has_parts: Whether its server sends parts of it.
    """

    file: RemoteFile
    size_bytes: int | None
    identity: tuple[tuple[str, str], ...]
    has_parts: bool
    _files: Any = field(repr=False)
    _path: str = field(repr=False)

    def key(self) -> str | None:
        """Return which state of which file this is in one word, None where that is not known."""
        if not self.identity:
            return None
        parts = urlsplit(self.file.url)
        query = [
            (name, value)
            for name, value in parse_qsl(parts.query, keep_blank_values=True)
            if _SIGNING.fullmatch(name.lower()) is None
        ]
        state = (str(self.file), query, self.size_bytes, self.identity)
        return hashlib.sha256(repr(state).encode("utf-8", "surrogateescape")).hexdigest()

    def read(self, ranges: Sequence[Range]) -> list[bytes]:
        """Return parts of the file, all of the state in which it was found.

        Raises:
            ExportError: It cannot be read, or has changed.
        """
        found: dict[Range, bytes] = {}
        error: BaseException | None = None
        for _ in range(_ATTEMPTS):
            missing = [each for each in ranges if each not in found]
            answers = self._ask(missing)
            right = {each: part for each, part in answers.items() if isinstance(part, bytes)}
            found |= right
            errors = [part for part in answers.values() if not isinstance(part, bytes)]
            error = errors[0] if errors else None
            if error is None or is_final(error):
                break
        self.check_unchanged()
        if error is not None:
            raise remote_failure(self.file, error) from error
        return [found[each] for each in ranges]

    def _ask(self, ranges: Sequence[Range]) -> dict[Range, bytes | BaseException]:
        starts, ends = [each[0] for each in ranges], [each[1] for each in ranges]
        with _told(self.file):
            parts = self._files.cat_ranges(
                [self._path] * len(ranges), starts, ends, on_error="return"
            )
        return {each: self._part(part, each) for each, part in zip(ranges, parts, strict=True)}

    def _part(self, answer: bytes | BaseException, wanted: Range) -> bytes | BaseException:
        """Return the part of the file that is in an answer, or what is wrong with that."""
        start, stop = wanted
        if not isinstance(answer, bytes) or len(answer) == stop - start:
            return answer
        if len(answer) == self.size_bytes:
            return answer[start:stop]
        return ValueError(f"{len(answer)} bytes came, {stop - start} were asked for")

    def download(self, target: Path) -> None:
        """Write the whole file to an empty one.

        Raises:
            ExportError: It cannot be read, or has changed.
        """
        with _told(self.file):
            self._files.get_file(self._path, str(target))
        self.check_unchanged()
        if self.size_bytes not in (None, target.stat().st_size):
            raise ExportError(f"{self.file}: the connection broke off; run this again")

    def check_unchanged(self) -> None:
        """Make sure that the file is what it was.

        Raises:
            ExportError: It is not, or cannot be asked for.
        """
        now = _look(self.file, self._files, self._path)
        if (now.size_bytes, now.identity) != (self.size_bytes, self.identity):
            raise ExportError(f"{self.file}: changed while it was being read; run this again")


def find_source(file: RemoteFile) -> Source:
    """Ask for a file.

    Raises:
        ExportError: There is none, it may not be read, or a library is missing.
    """
    files, path = _file_system(file)
    return _look(file, files, path)


def _look(file: RemoteFile, files: Any, path: str) -> Source:
    with _told(file):
        if file.is_http:
            told = ask(files, path)
            return Source(file, told.size_bytes, told.state, told.has_parts, files, path)
        files.invalidate_cache()
        info = files.info(path)
        if info["type"] == "directory":
            raise IsADirectoryError
    identity = sorted(
        (name, str(value))
        for name, value in info.items()
        if _IDENTITY.fullmatch(name.lower().replace("-", "_")) and value is not None
    )
    size_bytes = info.get("size")
    return Source(file, size_bytes, tuple(identity), size_bytes is not None, files, path)


def _file_system(file: RemoteFile) -> tuple[Any, str]:
    """Return the file system of a URL and the path in it."""
    with _told(file):
        if file.is_http:
            return http_file_system(file), file.url
        core: Any = import_module("fsspec.core")
        files, path = core.url_to_fs(file.url)
        return files, path


def _missing(file: RemoteFile, error: ImportError) -> str:
    """Return which package is missing."""
    if (error.name or "").partition(".")[0] in ("fsspec", "aiohttp"):
        return "needs fsspec and aiohttp; install them: pip install 'traceattr[remote]'"
    scheme = file.url.partition("://")[0].lower()
    known: Any = import_module("fsspec.registry").known_implementations
    package = known.get(scheme, {}).get("class", "").partition(".")[0]
    if package in ("", "fsspec"):
        package = getattr(error.__cause__, "name", None) or error.name or "another package"
    return f"needs {package} for {scheme}://; install it: pip install {package}"


@contextmanager
def _told(file: RemoteFile) -> Iterator[None]:
    """Turn what a file system raises into what the user is told."""
    try:
        yield
    except ImportError as error:
        raise ExportError(f"{file}: {_missing(file, error)}") from error
    except foreign_errors() as error:
        raise remote_failure(file, error) from error
