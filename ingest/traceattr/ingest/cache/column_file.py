"""Columns of one table in a Parquet file that is believed only where its checksums are right.

Parquet's own checksums cover the values, not what says how they are encoded.  So the footer holds
one for the bytes of each group of rows, and whoever names the file remembers that of the footer.
"""

import hashlib
import io
import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from traceattr.ingest.nearby import Near
from traceattr.ingest.selection import Piece

_NUMBERED = ("start", "end", "correlationId")
"""Columns whose values grow from row to row; others hold few distinct values each."""

_TIMES = ("start", "end")
"""Columns of which each group says the least and the greatest value."""

_TAIL_BYTES = 8
"""Length of the footer and magic number, with which a Parquet file ends."""

_FACTS = b"traceattr"


@dataclass(frozen=True, slots=True)
class Odd:
    """What was odd about rows when they were read from the export.

    Attributes:
        unreadable: Values that became NULL.
        slow_rows: Rows that were read the slow way.
        reason: Why.
    """

    unreadable: int = 0
    slow_rows: int = 0
    reason: str | None = None

    def and_of(self, piece: Piece) -> "Odd":
        """Return the same about these rows and a piece more."""
        if not piece.unreadable and piece.declined is None:
            return self
        return Odd(
            self.unreadable + piece.unreadable,
            self.slow_rows + (0 if piece.declined is None else piece.rows.num_rows),
            self.reason or piece.declined,
        )


class ColumnWriter:
    """Writes columns, one group of rows at a time."""

    def __init__(self, file: IO[bytes], schema: pa.Schema) -> None:
        """Begin a file."""
        self._sink = _Sink(file)
        self._groups: list[tuple[int, int]] = []
        self._writer = pq.ParquetWriter(
            self._sink,
            schema,
            compression="zstd",
            compression_level=1,
            use_dictionary=[name for name in schema.names if name not in _NUMBERED],
            column_encoding={
                name: "DELTA_BINARY_PACKED" for name in schema.names if name in _NUMBERED
            },
            write_statistics=[name for name in schema.names if name in _TIMES],
        )

    @property
    def bytes(self) -> int:
        """How long the file is by now."""
        return self._sink.tell()

    def add(self, batches: Sequence[pa.RecordBatch]) -> None:
        """Write a group.

        Raises:
            OSError: It cannot be written.
        """
        rows = pa.Table.from_batches(batches)
        self._writer.write_table(rows, row_group_size=rows.num_rows)
        self._groups.append((self._sink.tell(), zlib.crc32(self._sink.taken())))

    def finish(self, odd: Odd) -> str:
        """End the file and return the digest of its footer.

        Raises:
            OSError: It cannot be written.
        """
        facts = [self._groups, odd.unreadable, odd.slow_rows, odd.reason]
        self._writer.add_key_value_metadata({_FACTS: json.dumps(facts)})
        self._writer.close()
        return _digest(self._sink.taken())

    def abandon(self) -> None:
        """End without a word; otherwise the writer would do so when its file is closed already."""
        self._sink.is_open = False
        with suppress(OSError, pa.ArrowException):
            self._writer.close()


class _Sink(io.RawIOBase):
    """Writes into a file and remembers what was written since it was last asked."""

    def __init__(self, file: IO[bytes]) -> None:
        self.is_open = True
        self._file = file
        self._taken_bytes = 0
        self._recent = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        if self.is_open:
            self._file.write(data)
            self._recent += data
        return len(data)

    def tell(self) -> int:
        return self._taken_bytes + len(self._recent)

    def taken(self) -> bytes:
        recent = bytes(self._recent)
        self._taken_bytes += len(recent)
        self._recent.clear()
        return recent


@dataclass(frozen=True, slots=True)
class ColumnFile:
    """A file of columns.

    Attributes:
        odd: What was odd about its rows.
    """

    odd: Odd
    _file: pa.NativeFile
    _parquet: pq.ParquetFile
    _groups: Sequence[tuple[int, int]]

    def groups(self, near: Near | None) -> list[int]:
        """Return which groups of rows hold what is wanted, or some of it; None is all."""
        every = range(len(self._groups))
        return [at for at in every if near is None or self._may_hold(at, near)]

    def is_sound(self, groups: Iterable[int]) -> bool:
        """Return whether groups are as they were written."""
        return all(self._checksum(at) == self._groups[at][1] for at in groups)

    def rows(self, groups: Iterable[int]) -> Iterator[pa.RecordBatch]:
        """Yield the rows of groups, one batch for each.

        Threads of Arrow would each leave a heap of their own, and hardly be faster: groups are
        small.
        """
        for at in groups:
            rows = self._parquet.read_row_group(at, use_threads=False)
            yield from rows.combine_chunks().to_batches()

    def _checksum(self, at: int) -> int:
        begin = self._groups[at - 1][0] if at else 0
        return zlib.crc32(self._file.read_at(self._groups[at][0] - begin, begin))

    def _may_hold(self, at: int, near: Near) -> bool:
        group = self._parquet.metadata.row_group(at)
        columns = (group.column(number) for number in range(group.num_columns))
        bounds = {column.path_in_schema: column.statistics for column in columns}
        start, end = (bounds[name] for name in _TIMES)
        # Without bounds no row has a time, and none is wanted.
        return bool(
            start.has_min_max
            and end.has_min_max
            and start.min <= near.end_ns
            and end.max >= near.start_ns
        )


def open_columns(path: Path, digest: str) -> ColumnFile | None:
    """Open a file of columns, None when its footer is not the one with that digest.

    Raises:
        OSError: It cannot be read.
    """
    file = pa.OSFile(str(path))
    size = file.size()
    tail = file.read_at(_TAIL_BYTES, max(0, size - _TAIL_BYTES))
    footer_bytes = _TAIL_BYTES + int.from_bytes(tail[:4], "little")
    if footer_bytes > size or _digest(file.read_at(footer_bytes, size - footer_bytes)) != digest:
        return None
    parquet = pq.ParquetFile(file)
    groups, *odd = json.loads(parquet.metadata.metadata[_FACTS])
    return ColumnFile(Odd(*odd), file, parquet, groups)


def _digest(footer: bytes) -> str:
    return hashlib.sha256(footer).hexdigest()[:16]
