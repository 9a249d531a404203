"""Analyses of traces seen before, in a directory of the user; never beside a trace.

An entry is found by everything that it depends on, and holds a checksum: one that was half written,
or that a disk spoiled, is as good as none.  Neither DuckDB nor numpy is imported here.
"""

import hashlib
import os
import re
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import traceattr
from traceattr.attribution.analysis import Analysis
from traceattr.attribution.choice import Choice
from traceattr.attribution.stored import FORMAT, dump_analysis, load_analysis
from traceattr.errors import StoredAnalysisError
from traceattr.ingest.cache_folder import cache_folder, cache_limit_bytes
from traceattr.ingest.fingerprint import fingerprint
from traceattr.ingest.remote_name import TracePath
from traceattr.rules.rule_set import RuleSet

LIMIT_BYTES = 256 * 2**20
"""What all entries may take together; an analysis takes about a hundred KB."""

_MAGIC = b"traceattr cache 1\n"
_ENTRY = re.compile(r"[0-9a-f]{64}\.analysis")
_UNFINISHED = ".unfinished-"
_ABANDONED_S = 3600
"""A file that is not finished after so long was left by a process that was killed."""

_SOURCES = frozenset({".py", ".sql", ".toml", ".json"})


@dataclass(frozen=True, slots=True)
class Usage:
    """What a cache holds: analyses, and their size in bytes."""

    entries: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Cache:
    """A directory of analyses.

    Attributes:
        folder: The directory; it is made when it is first written to.
        limit_bytes: From which size on those that were not used for longest are removed.
    """

    folder: Path
    limit_bytes: int = LIMIT_BYTES

    def find(self, key: str) -> Analysis | None:
        """Return an analysis, None when there is none or it is damaged."""
        path = self._path(key)
        try:
            stored = path.read_bytes()
        except OSError:
            return None
        analysis = _checked(stored)
        with suppress(OSError):
            if analysis is None:
                path.unlink()
            else:
                os.utime(path)
        return analysis

    def keep(self, key: str, analysis: Analysis) -> None:
        """Store an analysis, so that at each instant it is there as a whole or not at all.

        Raises:
            OSError: It cannot be written.
        """
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=self.folder, prefix=_UNFINISHED)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_with_checksum(dump_analysis(analysis)))
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(self._path(key))
        finally:
            with suppress(OSError):
                Path(name).unlink(missing_ok=True)
        self._evict(self._path(key))

    def usage(self) -> Usage:
        """Return what is in the cache."""
        sizes = [status.st_size for _, status in self._entries()]
        return Usage(len(sizes), sum(sizes))

    def clear(self) -> Usage:
        """Remove everything and return what it was.

        Raises:
            OSError: It cannot be removed.
        """
        usage = self.usage()
        for path in self._files():
            path.unlink(missing_ok=True)
        return usage

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.analysis"

    def _files(self) -> list[Path]:
        """Return the files that are ours: a user may have named a directory with others."""
        try:
            paths = list(self.folder.iterdir())
        except OSError:
            return []
        return [path for path in paths if _is_entry(path) or path.name.startswith(_UNFINISHED)]

    def _entries(self) -> Iterator[tuple[Path, os.stat_result]]:
        for path in self._files():
            with suppress(OSError):  # another process may have removed it
                yield path, path.stat()

    def _evict(self, newest: Path) -> None:
        """Remove what processes left that were killed, and what was not used for longest."""
        entries = sorted(self._entries(), key=lambda entry: entry[1].st_mtime_ns)
        excess = sum(status.st_size for _, status in entries) - self.limit_bytes
        for path, status in entries:
            is_abandoned = not _is_entry(path) and status.st_mtime < time.time() - _ABANDONED_S
            if is_abandoned or (excess > 0 and path != newest and _is_entry(path)):
                with suppress(OSError):
                    path.unlink(missing_ok=True)
                excess -= status.st_size


def open_cache() -> Cache:
    """Return the cache of the user.

    Raises:
        OptionError: TRACEATTR_CACHE_LIMIT_MB is no number.
    """
    return Cache(cache_folder(), cache_limit_bytes(LIMIT_BYTES))


def _is_entry(path: Path) -> bool:
    return _ENTRY.fullmatch(path.name) is not None


def cache_key(trace: TracePath, rules: RuleSet, choice: Choice, how: str) -> str | None:
    """Return what an analysis depends on, in one word; None when it cannot be told.

    The code is part of it, not only its version: whoever changes a line of it sees the effect.

    Args:
        trace: The export.
        rules: What decides the categories.
        choice: What is looked at.
        how: By which of several ways it is analysed.
    """
    content = fingerprint(trace)
    if content is None:
        return None
    kinds = sorted(choice.graph_kinds.items())
    depends_on = (
        how,
        trace.name,
        content,
        rules.name,
        rules.sha256,
        (choice.window, choice.rounds, [(graph, str(kind)) for graph, kind in kinds]),
        version("traceattr"),
        FORMAT,
        _code(),
    )
    return hashlib.sha256(repr(depends_on).encode("utf-8", "surrogateescape")).hexdigest()


def _code() -> str:
    """Return what changes whenever a file of this program does."""
    digest = hashlib.sha256()
    for root in sorted({os.path.realpath(path) for path in traceattr.__path__}):
        for folder, folders, names in os.walk(root):
            folders[:] = sorted(name for name in folders if name != "__pycache__")
            for name in sorted(names):
                if Path(name).suffix in _SOURCES:
                    status = (Path(folder) / name).stat()
                    digest.update(f"{name} {status.st_size} {status.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def _with_checksum(stored: bytes) -> bytes:
    return _MAGIC + hashlib.sha256(stored).hexdigest().encode() + b"\n" + stored


def _checked(entry: bytes) -> Analysis | None:
    stored = entry[entry.find(b"\n", len(_MAGIC)) + 1 :]
    if entry != _with_checksum(stored):
        return None
    try:
        return load_analysis(stored)
    except StoredAnalysisError:
        return None
