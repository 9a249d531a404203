"""Decoding SQLite records of many rows at once: a block of leaf pages to Arrow arrays.

Section numbers are those of https://www.sqlite.org/fileformat2.html.
"""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from traceattr.ingest.arrow_arrays import binary_array, integer_array
from traceattr.ingest.selection import ColumnType
from traceattr.ingest.sqlite_btree import (
    Block,
    Bytes,
    Declined,
    Integers,
    Malformed,
    cell_offsets,
    varint,
)

# Section 2.1, serial types: NULL, integers of 1, 2, 3, 4, 6 and 8 bytes, REAL, the constants 0 and
# 1, two that never occur in a file, then blobs (even) and texts (odd).
_NULL, _REAL, _ZERO, _ONE, _FIRST_BLOB = 0, 7, 8, 9, 12
_ABSENT = -1
_ONE_BYTE_TYPES = 128
_WIDTH_BYTES = np.array(
    [0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0] + [(kind - 12) // 2 for kind in range(12, 128)], np.uint8
)
# An integer of n bytes is read as the 8 bytes that start with it, then shifted down.
_SHIFT_BITS = np.array([63, 56, 48, 40, 32, 16, 0] + [63] * 9, np.int64)
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
        has_default: Rows older than the column read as its DEFAULT, which is not NULL.
    """

    name: str
    kind: ColumnType
    index: int | None
    is_rowid: bool = False
    has_default: bool = False


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
    def has_rowid(self) -> bool:
        """Whether a row number is wanted."""
        return any(field.is_rowid for field in self.fields)


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
        overflow_rowids: Row numbers of those.
    """

    whole: Cells
    overflow: NDArray[np.bool_]
    overflow_rowids: Integers


@dataclass(frozen=True, slots=True)
class _Records:
    """Serial types of the records, one row per column; where the values start and must end."""

    types: NDArray[np.unsignedinteger] | Integers
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
    overflow = length > block.page_bytes - 35
    if bool((length < 0).any()):
        raise Malformed("malformed page")
    rowids: Integers | None = None
    if with_rowids or bool(overflow.any()):
        rowids, start = varint(block.data, at)
    else:
        start = _after_rowid(block.data, at)
    page_end = cells - cells % block.page_bytes + block.page_bytes
    stop = start + np.where(overflow, 0, length)
    if bool((stop > page_end).any()):
        raise Malformed("malformed page")
    if rowids is None or not bool(overflow.any()):
        return SplitCells(Cells(start, stop, rowids), overflow, np.empty(0, np.int64))
    if bool((rowids[1:] <= rowids[:-1]).any()):
        raise Malformed("row numbers out of order")
    whole = ~overflow
    return SplitCells(Cells(start[whole], stop[whole], rowids[whole]), overflow, rowids[overflow])


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
        if bool(((_words(data)[at] & mask) == goes_on).all()):
            return at + int(first)
    return varint(data, at)[1]


def decode(block: Block, cells: Cells, layout: Layout) -> list[pa.Array]:
    """Decode the wanted columns of some rows.

    Args:
        block: The pages.
        cells: Rows that lie in them completely.
        layout: What to decode.

    Returns:
        One array per field.

    Raises:
        Declined: A value is not of the type asked for, or a record is malformed.
    """
    rows = len(cells.start)
    if not rows:
        return [pa.nulls(0, field.kind.arrow) for field in layout.fields]
    try:
        records = _records(block.data, cells, layout)
        _fill_absent(records, layout)
        return _columns(block.data, cells, records, layout)
    except IndexError as error:
        # numpy checks every position against the block; inside it, `_columns` checks the records.
        raise Malformed("malformed record") from error


def _records(data: Bytes, cells: Cells, layout: Layout) -> _Records:
    """Read the record headers (section 2.1)."""
    header_bytes = data[cells.start]
    low, high = int(header_bytes.min()), int(header_bytes.max())
    if high > 0x7F:
        raise Declined("records with long headers")
    values = cells.start + header_bytes
    if low < 1 or bool((values > cells.stop).any()):
        raise Malformed("malformed record")
    if low == high == layout.columns + 1 and layout.last:
        types = _one_byte_types(data, cells.start + 1, layout.last)
        if int(types.max()) < _ONE_BYTE_TYPES:
            complete = np.full(len(values), layout.last == layout.columns)
            return _Records(types, complete, values, cells.stop)
    return _any_types(data, cells, values, layout.last)


def _one_byte_types(data: Bytes, at: Integers, count: int) -> Bytes:
    """`count` bytes from each position, one row per column."""
    windows = as_strided(
        data[:count].view(f"V{count}"), (len(data) - count + 1,), (1,), writeable=False
    )
    return np.ascontiguousarray(windows[at].view(np.uint8).reshape(len(at), count).T)


def _any_types(data: Bytes, cells: Cells, values: Integers, count: int) -> _Records:
    """Serial types of any length; columns that a record ends before are absent."""
    types = np.zeros((count, len(values)), np.int64)
    at = cells.start + 1
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


def _fill_absent(records: _Records, layout: Layout) -> None:
    """Turn absent values into NULL, unless the column has another default."""
    if records.types.dtype == np.uint8:
        return
    for field in layout.fields:
        if field.index is None or not field.has_default:
            continue
        if bool((records.types[field.index] == _ABSENT).any()):
            raise Declined(f"rows older than column {field.name}, which has a default")
    np.maximum(records.types, _NULL, out=records.types)


def _columns(data: Bytes, cells: Cells, records: _Records, layout: Layout) -> list[pa.Array]:
    """Walk the values of all records, column by column."""
    wanted: dict[int | None, list[int]] = {}
    for place, field in enumerate(layout.fields):
        wanted.setdefault(field.index, []).append(place)
    arrays = [pa.nulls(len(cells.start), field.kind.arrow) for field in layout.fields]
    at, skipped = records.values, 0
    for column in range(layout.last):
        types = records.types[column]
        low, high = int(types.min()), int(types.max())
        for place in wanted.get(column, ()):
            at, skipped = at + skipped, 0
            values = _Values(data, at, types, low, high, records.stop)
            arrays[place] = _array(values, layout.fields[place], cells)
        # Values of one width move all positions alike: add them up and move once.
        if low == high:
            skipped += int(_widths(types[:1])[0])
        else:
            at, skipped = at + skipped + _widths(types), 0
    at = at + skipped
    if bool(((at > records.stop) | (records.complete & (at != records.stop))).any()):
        raise Malformed("malformed record")
    return arrays


@dataclass(frozen=True, slots=True)
class _Values:
    """One column of the rows of a block: where, of which serial types, lowest and highest."""

    data: Bytes
    at: Integers
    types: NDArray[np.unsignedinteger] | Integers
    low: int
    high: int
    stop: Integers


def _array(values: _Values, field: Field, cells: Cells) -> pa.Array:
    if field.is_rowid and field.kind is ColumnType.INTEGER:
        if values.high != _NULL or cells.rowids is None:
            raise Malformed("malformed record")
        return integer_array(cells.rowids)
    if field.is_rowid:
        raise Declined(f"numbers in text column {field.name}")
    if field.kind is ColumnType.TEXT:
        return _texts(values, field.name)
    return _integers(values, field.name)


def _integers(values: _Values, name: str) -> pa.Array:
    types, low, high = values.types, values.low, values.high
    if high > _ONE or (low <= _REAL <= high and bool((types == _REAL).any())):
        raise Declined(f"values in column {name} that are not integers")
    if low == high and low in (_NULL, _ZERO, _ONE):
        if low == _NULL:
            return pa.nulls(len(types), pa.int64())
        return integer_array(np.full(len(types), low - _ZERO, np.int64))
    numbers = _words(values.data)[values.at]
    numbers.byteswap(inplace=True)
    numbers >>= _SHIFT_BITS[low] if low == high else _SHIFT_BITS[types]
    if low == _NULL or high >= _ZERO:
        constant = (types == _NULL) | (types >= _ZERO)
        np.copyto(numbers, types == _ONE, where=constant)
    return integer_array(numbers, types != _NULL if low == _NULL else None)


def _texts(values: _Values, name: str) -> pa.Array:
    types = values.types
    stored = types >= _FIRST_BLOB
    if not bool((stored | (types == _NULL)).all()):
        raise Declined(f"numbers in text column {name}")
    lengths = np.where(stored, _widths(types), 0).astype(np.int64)
    if bool((values.at + lengths > values.stop).any()):
        raise Malformed("malformed record")
    offsets = np.zeros(len(types) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    source = np.repeat(values.at - offsets[:-1], lengths)
    source += np.arange(len(source))
    # A block is a few MiB at most, so that its texts fit 32-bit offsets.
    return binary_array(offsets, values.data[source], stored)


def _widths(types: NDArray[np.unsignedinteger] | Integers) -> Integers | Bytes:
    """Bytes that values of these serial types take."""
    if types.dtype == np.uint8 or int(types.max()) < _ONE_BYTE_TYPES:
        return _WIDTH_BYTES[types]
    small = _WIDTH_BYTES[np.minimum(types, _FIRST_BLOB)]
    return np.where(types < _FIRST_BLOB, small, (types - _FIRST_BLOB) >> 1)


def _words(data: Bytes) -> Integers:
    """The little-endian 8-byte words that start at each byte."""
    return as_strided(data[:8].view("<i8"), (len(data) - 7,), (1,), writeable=False)
