"""Reading rows through libsqlite3: slow, but right for whatever an SQLite table can hold."""

import gc
import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from traceattr.ingest.selection import ColumnType, Piece, Selection

# Enough rows to amortise the call; few enough that a column of long texts stays below the 2 GiB
# that one Arrow binary array can hold.
_FETCH_ROWS = 4096
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
            piece = rows_to_arrow(rows, wanted)
        yield piece


def rows_to_arrow(rows: Sequence[tuple[Any, ...]], wanted: Selection) -> Piece:
    """Turn rows as libsqlite3 gives them, texts as bytes, into an Arrow batch.

    Args:
        rows: At least one row, one value per column of `wanted`.
        wanted: The columns and their types.
    """
    columns = zip(*rows, strict=True)
    arrays, unreadable = [], 0
    for values, kind in zip(columns, wanted.types, strict=True):
        array, lost = _column(values, kind)
        arrays.append(array)
        unreadable += lost
    return Piece(pa.RecordBatch.from_arrays(arrays, schema=wanted.schema), unreadable)


def _column(values: Sequence[Any], kind: ColumnType) -> tuple[pa.Array, int]:
    plain, coerce = _KINDS[kind]
    if set(map(type, values)) <= plain:
        return pa.array(values, kind.arrow), 0
    coerced = [coerce(value) for value in values]
    lost = coerced.count(None) - values.count(None)
    return pa.array(coerced, kind.arrow), lost


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


_Coercion = Callable[[Any], int | bytes | None]
_KINDS: dict[ColumnType, tuple[frozenset[type], _Coercion]] = {
    ColumnType.INTEGER: (frozenset({int, type(None)}), _to_integer),
    ColumnType.TEXT: (frozenset({bytes, type(None)}), _to_bytes),
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
