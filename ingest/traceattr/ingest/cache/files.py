"""Files in the cache directory of the user: each is there as a whole or not at all.

Neither DuckDB nor numpy is imported here.
"""

import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO

from traceattr.ingest.cache.folder import cache_folder, cache_limit_bytes

_UNFINISHED = ".unfinished-"
_ABANDONED_S = 3600
"""A file that is not finished after so long was left by a process that was killed."""

_MARK_S = 30 * 86400
"""An empty file only says that something happened, and not for longer than this."""


@dataclass(frozen=True, slots=True)
class Kind:
    """Files of one kind.

    Attributes:
        names: Pattern of their names.
        limit_bytes: What they may take together, unless the user says otherwise.
    """

    names: str
    limit_bytes: int


ANALYSES = Kind(r"[0-9a-f]{64}\.analysis", 256 * 2**20)
"""An analysis takes about a hundred KB."""

COLUMNS = Kind(r"[0-9a-f]{64}(\.[0-9a-f]{16}\.parquet|\.read)", 2 * 2**30)
"""Columns of a million kernels take some 10 MB; the others are marks."""


@dataclass(frozen=True, slots=True)
class Usage:
    """How many files there are that are not empty, and their size in bytes."""

    entries: int
    bytes: int


@dataclass(frozen=True, slots=True)
class CacheFiles:
    """Files of one kind in a directory.

    Attributes:
        folder: The directory; it is made when it is first written to.
        kind: Which files in it are meant.
        limit_bytes: From which size on those that were not used for longest are removed.
    """

    folder: Path
    kind: Kind
    limit_bytes: int

    @contextmanager
    def unfinished(self) -> Iterator[IO[bytes]]:
        """Yield a new file, which is removed unless `finish` gives it a name.

        Raises:
            OSError: It cannot be written.
        """
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with NamedTemporaryFile(dir=self.folder, prefix=_UNFINISHED, delete=False) as file:
            try:
                yield file
            finally:
                with suppress(OSError):
                    Path(file.name).unlink(missing_ok=True)

    def finish(self, file: IO[bytes], name: str) -> None:
        """Give an unfinished file its name; at each instant it is there as a whole or not at all.

        Raises:
            OSError: It cannot be written.
        """
        file.flush()
        os.fsync(file.fileno())
        file.close()
        path = self.folder / name
        Path(file.name).replace(path)
        self._evict(path)

    def mark(self, name: str) -> None:
        """Make an empty file.

        Raises:
            OSError: It cannot be written.
        """
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (self.folder / name).touch(mode=0o600)

    def usage(self) -> Usage:
        """Return what there is."""
        sizes = [status.st_size for _, status in self._entries() if status.st_size]
        return Usage(len(sizes), sum(sizes))

    def clear(self) -> None:
        """Remove everything.

        Raises:
            OSError: It cannot be removed.
        """
        for path in self._files():
            path.unlink(missing_ok=True)

    def _files(self) -> list[Path]:
        """Return the files that are ours: a user may have named a directory with others."""
        try:
            paths = list(self.folder.iterdir())
        except OSError:
            return []
        return [path for path in paths if self._is_entry(path) or _is_unfinished(path)]

    def _entries(self) -> Iterator[tuple[Path, os.stat_result]]:
        for path in self._files():
            with suppress(OSError):  # another process may have removed it
                yield path, path.stat()

    def _is_entry(self, path: Path) -> bool:
        return re.fullmatch(self.kind.names, path.name) is not None

    def _evict(self, newest: Path) -> None:
        """Remove what processes left that were killed, and what was not used for longest."""
        entries = sorted(self._entries(), key=lambda entry: entry[1].st_mtime_ns)
        excess = sum(status.st_size for _, status in entries) - self.limit_bytes
        for path, status in entries:
            too_much = excess > 0 and path != newest and self._is_entry(path)
            if too_much or status.st_mtime < time.time() - _most_s(path, status):
                with suppress(OSError):
                    path.unlink(missing_ok=True)
                excess -= status.st_size


def open_files(kind: Kind) -> CacheFiles:
    """Return the files of one kind in the cache of the user.

    Raises:
        OptionError: TRACEATTR_CACHE_LIMIT_MB is no number.
    """
    return CacheFiles(cache_folder(), kind, cache_limit_bytes(kind.limit_bytes))


def _is_unfinished(path: Path) -> bool:
    return path.name.startswith(_UNFINISHED)


def _most_s(path: Path, status: os.stat_result) -> float:
    """Return after how many seconds a file goes even where there is room."""
    if _is_unfinished(path):
        return _ABANDONED_S
    return float("inf") if status.st_size else _MARK_S
