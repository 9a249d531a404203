"""Columns of large tables that an earlier command read, kept for the next one.

Reading them takes less than half of what reading an export takes, and writing them half of it.  Who
comes back to a trace will come back again: so they are written when it is read for the second time,
and at once where the export is read the slow way.
"""

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO

import pyarrow as pa

from traceattr import ingest
from traceattr.ingest.cache.column_file import ColumnFile, ColumnWriter, Odd, open_columns
from traceattr.ingest.cache.files import COLUMNS, CacheFiles, open_files
from traceattr.ingest.cache.fingerprint import code_of, fingerprint
from traceattr.ingest.nearby import Near
from traceattr.ingest.remote.name import TracePath
from traceattr.ingest.selection import Piece, Selection

GROUP_ROWS = 2**17
"""Rows that are written and read at once; a table of fewer is read before a file is opened."""


@dataclass(frozen=True, slots=True)
class KeptRows:
    """Rows of a table that were found.

    Attributes:
        columns: The file.
        groups: Which of its groups hold what is wanted.
    """

    columns: ColumnFile
    groups: list[int]

    def pieces(self, schema: pa.Schema) -> Iterator[Piece]:
        """Yield the rows."""
        for rows in self.columns.rows(self.groups):
            yield Piece(pa.RecordBatch.from_arrays(rows.columns, schema=schema))


@dataclass(slots=True)
class Kept:
    """What is kept of one trace.

    Attributes:
        trace: The trace.
        content: Its fingerprint.
        files: Where it is kept.
        failure: What prevented something from being kept.
    """

    trace: TracePath
    content: str
    files: CacheFiles
    failure: OSError | None = None
    _key: str = field(init=False)
    _was_read: bool = field(init=False)
    _was_current: bool | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        depends_on = self.content, code_of(ingest.__path__), pa.__version__
        self._key = hashlib.sha256(repr(depends_on).encode()).hexdigest()
        self._was_read = (self.files.folder / f"{self._key}.read").exists()

    def find(self, wanted: Selection, near: Near | None) -> KeptRows | None:
        """Return rows that are kept and sound.

        Args:
            wanted: Columns of a table.
            near: Which rows, and perhaps more; None for all. Of a part it is not known what was
                odd about it, so that a part of odd columns is not returned.
        """
        if not self._is_current():
            return None
        for path in self.files.folder.glob(f"{self._name(wanted)}.*.parquet"):
            found = _sound(path, near)
            with suppress(OSError):
                if found is None:
                    path.unlink()
                else:
                    os.utime(path)
            if found is not None and (near is None or found.columns.odd == Odd()):
                return found
        return None

    def _is_current(self) -> bool:
        """Return whether the trace is that of the fingerprint, now that it is open.

        From then on whoever reads it notices a change.  Of a trace that lies elsewhere a server is
        asked, so that once must do.
        """
        if self._was_current is None:
            self._was_current = fingerprint(self.trace) == self.content
        return self._was_current

    def while_read(self, wanted: Selection, pieces: Iterator[Piece]) -> Iterator[Piece]:
        """Yield pieces of a whole table, and keep them if that is likely to pay."""
        file = _Writing(self.files, wanted.schema, was_read=self._was_read)
        try:
            for piece in pieces:
                if self.failure is None:
                    self.attempt(partial(file.take, piece))
                yield piece
            if self.failure is None:
                self.attempt(partial(self._finish, file, self._name(wanted)))
        finally:
            file.close()

    def attempt(self, step: Callable[[], None]) -> None:
        """Do what keeps something; that it fails is no reason not to go on."""
        try:
            step()
        except OSError as error:
            self.failure = self.failure or error

    def _finish(self, file: "_Writing", name: str) -> None:
        if file.is_first_time:
            self.files.mark(f"{self._key}.read")
        elif fingerprint(self.trace) == self.content:
            file.finish(name)

    def _name(self, wanted: Selection) -> str:
        columns = wanted.table, wanted.names, wanted.types, wanted.stored
        return hashlib.sha256(repr((self._key, columns)).encode()).hexdigest()


def open_kept(trace: TracePath) -> Kept | None:
    """Return what is kept of a trace, None where it cannot be known whether it changes.

    Raises:
        OptionError: TRACEATTR_CACHE_LIMIT_MB is no number.
    """
    content = fingerprint(trace)
    return None if content is None else Kept(trace, content, open_files(COLUMNS))


def _sound(path: Path, near: Near | None) -> KeptRows | None:
    """Return rows of a file, None when it is not as it was written."""
    try:
        columns = open_columns(path, path.suffixes[-2][1:])
        if columns is None:
            return None
        groups = columns.groups(near)
        return KeptRows(columns, groups) if columns.is_sound(groups) else None
    except OSError:
        return None


class _Writing:
    """A file of columns, begun when a first group of rows is there and is worth it.

    Attributes:
        is_first_time: Whether a group was there, but hardly worth it yet.
    """

    def __init__(self, files: CacheFiles, schema: pa.Schema, *, was_read: bool) -> None:
        self.is_first_time = False
        self._is_over = False
        self._files, self._schema, self._was_read = files, schema, was_read
        self._waiting: list[pa.RecordBatch] = []
        self._odd = Odd()
        self._opened = ExitStack()
        self._file: IO[bytes] | None = None
        self._writer: ColumnWriter | None = None

    def take(self, piece: Piece) -> None:
        """Take in the next rows."""
        if self._is_over:
            return
        self._odd = self._odd.and_of(piece)
        self._waiting.append(piece.rows)
        if sum(rows.num_rows for rows in self._waiting) < GROUP_ROWS:
            return
        if self._was_read or self._odd.reason is not None:
            self._write()
        else:
            self.is_first_time = self._is_over = True
        self._waiting.clear()

    def _write(self) -> None:
        if self._writer is None:
            self._file = self._opened.enter_context(self._files.unfinished())
            self._writer = ColumnWriter(self._file, self._schema)
            self._opened.callback(self._writer.abandon)
        self._writer.add(self._waiting)
        if self._writer.bytes > self._files.limit_bytes:
            self.close()

    def finish(self, name: str) -> None:
        """Give the file its name, if it was begun and did not become too large."""
        if self._waiting and self._writer is not None:
            self._write()
        if self._file is None or self._writer is None or self._is_over:
            return
        digest = self._writer.finish(self._odd)
        self._files.finish(self._file, f"{name}.{digest}.parquet")

    def close(self) -> None:
        """End, and remove what has no name."""
        self._is_over = True
        self._waiting.clear()
        with suppress(OSError):
            self._opened.close()
