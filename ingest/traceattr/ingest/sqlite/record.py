"""Decoding SQLite records of many rows at once: a block of leaf pages to Arrow arrays.

Section numbers are those of https://www.sqlite.org/fileformat2.html.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from traceattr.ingest.arrow_arrays import integer_array
from traceattr.ingest.selection import ColumnType
from traceattr.ingest.sqlite.btree import (
    Block,
    Bytes,
    Integers,
    Malformed,
    cell_offsets,
    varint,
    words,
)
from traceattr.ingest.sqlite.rows import to_arrow
from traceattr.ingest.sqlite.values import NULL, SerialTypes, Values, integers, texts, widths

_ABSENT = -1
_ONE_BYTE_TYPES = 128
# Longer values are legal only up to SQLite's own limit of 2**31 - 1 bytes.
_MAX_TYPE = 2**32 + 11
_LEAF_TABLE = 13


@dataclass(frozen=True, slots=True)
class Field:
    """A column to decode.

    Attributes:
        name: For messages.
        kind: How to read it.
        index: Its place in the record; None when the table lacks it.
        is_rowid: It is the INTEGER PRIMARY KEY: stored as NULL, its value is the row number.
        has_default: Rows older than the column read as its DEFAULT.
        is_real: It is declared REAL: whole numbers are stored as integers and mean REALs.
    """

    name: str
    kind: ColumnType
    index: int | None
    is_rowid: bool = False
    has_default: bool = False
    is_real: bool = False


@dataclass(frozen=True, slots=True)
class Layout:
    """What the records of a table look like, and which parts are wanted.

    Attributes:
        fields: The columns to decode, in the order wanted.
        columns: Columns in a complete record.
    """

    fields: tuple[Field, ...]
    columns: int

    @property
    def last(self) -> int:
        """How many columns of each record have to be looked at."""
        return max((field.index + 1 for field in self.fields if field.index is not None), default=0)

    @property
    def needs_rowids(self) -> bool:
        """Whether a row number is wanted, or finds a row that has a default."""
        return any(field.is_rowid or field.has_default for field in self.fields)


@dataclass(frozen=True, slots=True)
class Cells:
    """Rows of a block, in row order.

    Attributes:
        start: Where the record of each row starts in the block's data.
        stop: Where it stops.
        rowids: Row numbers, where somebody wants them.
    """

    start: Integers
    stop: Integers
    rowids: Integers | None


@dataclass(frozen=True, slots=True)
class SplitCells:
    """The cells of a block by whether they lie in it completely.

    Attributes:
        whole: Rows that do.
        overflow: One flag per row of the block: its record goes on in overflow pages.
        rowids: Row numbers of all, ascending, where somebody wants them or a row overflows.
    """

    whole: Cells
    overflow: NDArray[np.bool_]
    rowids: Integers | None


@dataclass(frozen=True, slots=True)
class Decoded:
    """The wanted columns of some rows.

    Attributes:
        arrays: One per field.
        unreadable: Values that mean nothing in the type asked for and became NULL.
        older: For fields with a default, by place: rows older than the column, whose value is NULL
            here and the default in truth.
    """

    arrays: list[pa.Array]
    unreadable: int
    older: Mapping[int, NDArray[np.bool_]]


@dataclass(frozen=True, slots=True)
class _Records:
    """Serial types of the records, one row per column; where the values start and must end."""

    types: SerialTypes
    complete: NDArray[np.bool_]
    values: Integers
    stop: Integers


def split_cells(block: Block, *, with_rowids: bool) -> SplitCells:
    """Find the records in a block of leaf pages (section 1.6).

    Raises:
        Declined: A page is malformed.
    """
    if not bool((block.headers[:, 0] == _LEAF_TABLE).all()) or not bool(block.cell_counts.all()):
        raise Malformed("malformed page")
    cells = cell_offsets(block, header_bytes=8, cell_bytes=4)
    length, at = varint(block.data, cells)
    overflow = length > block.usable_bytes - 35
    if bool((length < 0).any()):
        raise Malformed("malformed page")
    rowids: Integers | None = None
    if with_rowids or bool(overflow.any()):
        rowids, start = varint(block.data, at)
    else:
        start = _after_rowid(block.data, at)
    page_end = cells - cells % block.page_bytes + block.usable_bytes
    stop = start + np.where(overflow, 0, length)
    if bool((stop > page_end).any()):
        raise Malformed("malformed page")
    if rowids is None:
        return SplitCells(Cells(start, stop, None), overflow, None)
    if bool((rowids[1:] <= rowids[:-1]).any()):
        raise Malformed("row numbers out of order")
    whole = ~overflow
    return SplitCells(Cells(start[whole], stop[whole], rowids[whole]), overflow, rowids)


def _after_rowid(data: Bytes, at: Integers) -> Integers:
    """Where the row numbers end.

    Neighbours nearly always take equally many bytes, and one masked comparison of 8-byte words
    proves it for a whole block.
    """
    _, ends = varint(data, at[[0, -1]])
    first, last = (ends - at[[0, -1]]).tolist()
    if first == last <= 8:
        goes_on = int.from_bytes(b"\x80" * (first - 1), "little")
        mask = int.from_bytes(b"\x80" * first, "little", signed=first == 8)
        if bool(((words(data)[at] & mask) == goes_on).all()):
            return at + int(first)
    return varint(data, at)[1]


def decode(block: Block, cells: Cells, layout: Layout) -> Decoded:
    """Decode the wanted columns of some rows.

    Args:
        block: The pages.
        cells: Rows that lie in them completely.
        layout: What to decode.

    Raises:
        Declined: Only libsqlite3 knows what a value is, or a record is malformed.
    """
    rows = len(cells.start)
    if not rows:
        return Decoded([pa.nulls(0, field.kind.arrow) for field in layout.fields], 0, {})
    try:
        records = _records(block.data, cells, layout)
        older = _older(records, layout)
        arrays, unreadable = _columns(block.data, cells, records, layout)
    except IndexError as error:
        # numpy checks every position against the block; inside it, `_columns` checks the records.
        raise Malformed("malformed record") from error
    return Decoded(arrays, unreadable, older)


def _records(data: Bytes, cells: Cells, layout: Layout) -> _Records:
    """Read the record headers (section 2.1)."""
    header_bytes: Bytes | Integers = data[cells.start]
    at, length_bytes = cells.start + 1, 1
    if int(header_bytes.max()) > 0x7F:
        header_bytes, at = varint(data, cells.start)
        length_bytes = int((at - cells.start).max())
    low, high = int(header_bytes.min()), int(header_bytes.max())
    values = cells.start + header_bytes
    if low < 1 or bool((values > cells.stop).any()):
        raise Malformed("malformed record")
    if low == high == layout.columns + length_bytes and layout.last:
        types = _one_byte_types(data, at, layout.last)
        if int(types.max()) < _ONE_BYTE_TYPES:
            complete = np.full(len(values), layout.last == layout.columns)
            return _Records(types, complete, values, cells.stop)
    return _any_types(data, cells, at, values, layout.last)


def _one_byte_types(data: Bytes, at: Integers, count: int) -> Bytes:
    """`count` bytes from each position, one row per column."""
    windows = as_strided(
        data[:count].view(f"V{count}"), (len(data) - count + 1,), (1,), writeable=False
    )
    return np.ascontiguousarray(windows[at].view(np.uint8).reshape(len(at), count).T)


def _any_types(data: Bytes, cells: Cells, at: Integers, values: Integers, count: int) -> _Records:
    """Serial types of any length; columns that a record ends before are absent."""
    types = np.zeros((count, len(values)), np.int64)
    for column in range(count):
        present = at < values
        kind, after = varint(data, at)
        if bool((present & ((kind < 0) | (kind > _MAX_TYPE))).any()):
            raise Malformed("malformed record")
        types[column] = np.where(present, kind, _ABSENT)
        at = np.where(present, after, at)
    if bool((at > values).any()):
        raise Malformed("malformed record")
    return _Records(types, at == values, values, cells.stop)


def _older(records: _Records, layout: Layout) -> dict[int, NDArray[np.bool_]]:
    """Note which rows lack a column that has a default, and turn absent values into NULL."""
    if records.types.dtype == np.uint8:
        return {}
    absent = {
        place: records.types[field.index] == _ABSENT
        for place, field in enumerate(layout.fields)
        if field.index is not None and field.has_default
    }
    np.maximum(records.types, NULL, out=records.types)
    return {place: rows for place, rows in absent.items() if bool(rows.any())}


def _columns(
    data: Bytes, cells: Cells, records: _Records, layout: Layout
) -> tuple[list[pa.Array], int]:
    """Walk the values of all records, column by column, and count the unreadable ones."""
    wanted: dict[int | None, list[int]] = {}
    for place, field in enumerate(layout.fields):
        wanted.setdefault(field.index, []).append(place)
    arrays = [pa.nulls(len(cells.start), field.kind.arrow) for field in layout.fields]
    at, skipped, unreadable = records.values, 0, 0
    for column in range(layout.last):
        types = records.types[column]
        low, high = int(types.min()), int(types.max())
        for place in wanted.get(column, ()):
            at, skipped = at + skipped, 0
            values = Values(data, at, types, low, high, records.stop)
            arrays[place], lost = _array(values, layout.fields[place], cells)
            unreadable += lost
        # Values of one width move all positions alike: add them up and move once.
        if low == high:
            skipped += int(widths(types[:1])[0])
        else:
            at, skipped = at + skipped + widths(types), 0
    at = at + skipped
    if bool(((at > records.stop) | (records.complete & (at != records.stop))).any()):
        raise Malformed("malformed record")
    return arrays, unreadable


def _array(values: Values, field: Field, cells: Cells) -> tuple[pa.Array, int]:
    if field.is_rowid:
        if values.high != NULL or cells.rowids is None:
            raise Malformed("malformed record")
        if field.kind is ColumnType.INTEGER:
            return integer_array(cells.rowids), 0
        return to_arrow(cells.rowids.tolist(), field.kind)
    if field.kind is ColumnType.TEXT:
        return texts(values, field.name, is_real=field.is_real), 0
    return integers(values, field.name)
