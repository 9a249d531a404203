"""Columns of Parquet and Arrow tables in the types in which SQLite exports have them."""

from collections.abc import Iterator

import pyarrow as pa

from traceattr.ingest.selection import ColumnType, Piece, Selection
from traceattr.ingest.sqlite.rows import to_arrow
from traceattr.ingest.table_files import TableFile, read_batches


def read_columns(table: TableFile, wanted: Selection) -> Iterator[Piece]:
    """Read columns of a table.

    Columns that nsys declares unsigned come back wrapped, as it writes them to SQLite.

    Yields:
        The rows in the order in which the file holds them.

    Raises:
        pa.ArrowException: The file is damaged.
        OSError: The file cannot be read.
    """
    stored = [name for name in wanted.stored if name is not None]
    for batch in read_batches(table, stored):
        yield _piece(batch, wanted)


def _piece(batch: pa.RecordBatch, wanted: Selection) -> Piece:
    arrays: list[pa.Array] = []
    unreadable = 0
    for name, kind in zip(wanted.stored, wanted.types, strict=True):
        if name is None:
            arrays.append(pa.nulls(batch.num_rows, kind.arrow))
            continue
        array, lost = _converted(batch.column(name), kind)
        arrays.append(array)
        unreadable += lost
    return Piece(pa.RecordBatch.from_arrays(arrays, schema=wanted.schema), unreadable)


def _converted(array: pa.Array, kind: ColumnType) -> tuple[pa.Array, int]:
    """Return a column in the type wanted, and how many values meant nothing in it."""
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if _is_text(array.type):
        array = array.cast(pa.binary())
    if array.type == kind.arrow:
        return array, 0
    if kind is ColumnType.INTEGER:
        if pa.types.is_uint64(array.type):
            return array.view(pa.int64()), 0
        if pa.types.is_integer(array.type) or pa.types.is_boolean(array.type):
            return array.cast(pa.int64()), 0
        if pa.types.is_temporal(array.type) and array.type.bit_width == 64:
            return array.view(pa.int64()), 0
    return to_arrow(array.to_pylist(), kind)


def _is_text(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_large_binary(kind)
    )
