"""Reading rows through libsqlite3: slow, but right for whatever an SQLite table can hold."""

import gc
import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from traceattr.ingest.arrow_arrays import binary_array, integer_array
from traceattr.ingest.selection import ColumnType, Piece, Selection

_FETCH_ROWS = 4096
_NONE = np.array(None, np.object_)
_UINT64 = 2**64
_INT64_MAX = 2**63 - 1
_INTEGER_TEXT = re.compile(rb"\s*[+-]?[0-9]{1,20}\s*")


def read_rows(connection: sqlite3.Connection, wanted: Selection) -> Iterator[Piece]:
    """Read all rows of a table.

    Args:
        connection: Open on the file. Its `text_factory` is set to `bytes`.
        wanted: The columns to read.

    Yields:
        The rows in the order in which the table holds them.

    Raises:
        sqlite3.Error: The file is damaged.
    """
    yield from _pieces(connection, wanted, wanted.sql, ())


def read_span(
    connection: sqlite3.Connection, wanted: Selection, first: int, last: int
) -> Iterator[Piece]:
    """Read the rows whose row numbers lie in `first` to `last`, both included.

    As `read_rows`; `wanted.rowid` must not be None.
    """
    query = f"{wanted.sql} WHERE {wanted.rowid} BETWEEN ? AND ?"
    yield from _pieces(connection, wanted, query, (first, last))


def read_rowids(connection: sqlite3.Connection, wanted: Selection, rowids: Sequence[int]) -> Piece:
    """Read the rows with these row numbers, in the order given; numbers without a row are skipped.

    As `read_rows`; `wanted.rowid` must not be None.
    """
    connection.text_factory = bytes
    query = f"{wanted.sql} WHERE {wanted.rowid} = ?"
    rows = [row for rowid in rowids for row in connection.execute(query, (rowid,))]
    return rows_to_arrow(rows, wanted)


def _pieces(
    connection: sqlite3.Connection, wanted: Selection, query: str, values: Sequence[int]
) -> Iterator[Piece]:
    connection.text_factory = bytes
    cursor = connection.execute(query, values)
    while True:
        # Thousands of short-lived tuples make the collector run again and again for nothing.
        with _collector_paused():
            rows = cursor.fetchmany(_FETCH_ROWS)
            if not rows:
                return
            pieces = list(_split(rows, wanted))
        yield from pieces


def _split(rows: Sequence[tuple[Any, ...]], wanted: Selection) -> Iterator[Piece]:
    """As `rows_to_arrow`, in as many pieces as very long texts need."""
    try:
        yield rows_to_arrow(rows, wanted)
    except OverflowError:
        half = len(rows) // 2
        yield from _split(rows[:half], wanted)
        yield from _split(rows[half:], wanted)


def rows_to_arrow(rows: Sequence[tuple[Any, ...]], wanted: Selection) -> Piece:
    """Turn rows as libsqlite3 gives them, texts as bytes, into an Arrow batch.

    Args:
        rows: One value per column of `wanted` each.
        wanted: The columns and their types.

    Raises:
        OverflowError: A column has 2 GiB of text or more.
    """
    columns = zip(*rows, strict=True) if rows else [()] * len(wanted.names)
    arrays, unreadable = [], 0
    for values, kind in zip(columns, wanted.types, strict=True):
        array, lost = to_arrow(values, kind)
        arrays.append(array)
        unreadable += lost
    return Piece(pa.RecordBatch.from_arrays(arrays, schema=wanted.schema), unreadable)


def to_arrow(values: Sequence[Any], kind: ColumnType) -> tuple[pa.Array, int]:
    """Turn values of any type into an array, and count those that mean nothing in its type."""
    plain, coerce, to_array = _KINDS[kind]
    if set(map(type, values)) <= plain:
        return to_array(values), 0
    coerced = [coerce(value) for value in values]
    return to_array(coerced), coerced.count(None) - values.count(None)


def _integers(values: Sequence[int | None]) -> pa.Array:
    if None not in values:
        return integer_array(np.fromiter(values, np.int64, len(values)))
    objects, valid = _objects(values)
    objects[~valid] = 0
    return integer_array(objects.astype(np.int64), valid)


def _texts(values: Sequence[bytes | None]) -> pa.Array:
    objects, valid = _objects(values)
    offsets = np.zeros(len(values) + 1, np.int64)
    offsets[1:][valid] = np.fromiter(map(len, objects[valid]), np.int64)
    return binary_array(np.cumsum(offsets), b"".join(objects[valid]), valid)


def _objects(values: Sequence[object]) -> tuple[NDArray[np.object_], NDArray[np.bool_]]:
    """The values as they are, and which of them are not None."""
    objects = np.fromiter(values, np.object_, len(values))
    return objects, np.not_equal(objects, _NONE).astype(np.bool_)


def _to_integer(value: Any) -> int | None:
    """The 64-bit integer a value stands for; None when it stands for none.

    SQLite keeps an integer of 2**63 or more as REAL (fileformat2.html section 2.1 has no wider
    serial type), so such a REAL was an unsigned value. Its low bits are gone.
    """
    match value:
        case int():
            number = value
        case float() if value.is_integer():
            number = int(value)
        case bytes() if _INTEGER_TEXT.fullmatch(value):
            number = int(value)
        case _:
            return None
    if not -(2**63) <= number < _UINT64:
        return None
    return number - _UINT64 if number > _INT64_MAX else number


def _to_bytes(value: Any) -> bytes | None:
    return value if value is None or isinstance(value, bytes) else str(value).encode()


_Coercion = Callable[[Any], Any]
_ToArray = Callable[[Sequence[Any]], pa.Array]
_KINDS: dict[ColumnType, tuple[frozenset[type], _Coercion, _ToArray]] = {
    ColumnType.INTEGER: (frozenset({int, type(None)}), _to_integer, _integers),
    ColumnType.TEXT: (frozenset({bytes, type(None)}), _to_bytes, _texts),
}


@contextmanager
def _collector_paused() -> Iterator[None]:
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
