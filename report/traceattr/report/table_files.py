"""The documented tables of a trace as files that other programs read."""

from collections.abc import Callable, Mapping
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from duckdb import ColumnExpression, ConstantExpression

from traceattr.attribution.analysis import Window
from traceattr.ingest.catalogue import Table
from traceattr.report.escape import csv_text

_BATCH_ROWS = 100_000
_FIRST_COLUMNS = ("gpu_id", "global_pid", "start_ns", "end_ns")
"""What rows are ordered by first, where a table has it."""


def write_csv(rows: pa.RecordBatchReader, table: Table, path: Path) -> None:
    """Write a table as CSV whose strings are harmless in a spreadsheet; NULL is an empty cell."""
    schema = pa.schema([(field.name, _plain(field.type)) for field in rows.schema])
    with pa.csv.CSVWriter(path, schema) as writer:
        for batch in rows:
            columns = [_harmless(column) for column in batch.columns]
            writer.write_batch(pa.record_batch(columns, schema=schema))


def write_parquet(rows: pa.RecordBatchReader, table: Table, path: Path) -> None:
    """Write a table as Parquet, with the meaning of each column in its metadata."""
    comments = {column.name: column.comment for column in table.columns}
    fields = [
        field.with_metadata({"comment": comments[field.name]}).with_type(_plain(field.type))
        for field in rows.schema
    ]
    schema = pa.schema(fields, metadata={"comment": table.comment})
    with pa.parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        for batch in rows:
            writer.write_batch(pa.record_batch(list(map(_decoded, batch.columns)), schema=schema))


WRITERS: Mapping[str, Callable[[pa.RecordBatchReader, Table, Path], None]] = {
    "csv": write_csv,
    "parquet": write_parquet,
}
"""How one table is written, by the ending of its file."""


def write_database(
    connection: duckdb.DuckDBPyConnection,
    tables: tuple[Table, ...],
    window: Window | None,
    path: Path,
) -> None:
    """Write all tables into one new DuckDB file, with their comments."""
    with duckdb.connect(path) as target:
        for table in tables:
            target.from_arrow(read_table(connection, table, window)).create(table.name)
            target.execute(f"COMMENT ON TABLE {table.name} IS {_literal(table.comment)}")
            for column in table.columns:
                target.execute(
                    f"COMMENT ON COLUMN {table.name}.{column.name} IS {_literal(column.comment)}"
                )


def read_table(
    connection: duckdb.DuckDBPyConnection, table: Table, window: Window | None
) -> pa.RecordBatchReader:
    """Return the rows of a table, those that touch a window, always in the same order."""
    names = [column.name for column in table.columns]
    rows = connection.table(table.name)
    if window is not None and {"start_ns", "end_ns"} <= set(names):
        begins = ColumnExpression("start_ns") <= ConstantExpression(window.end_ns)
        ends = ColumnExpression("end_ns") >= ConstantExpression(window.start_ns)
        rows = rows.filter(begins & ends)
    first = [name for name in _FIRST_COLUMNS if name in names]
    order = [*first, *(name for name in names if name not in first)]
    return rows.sort(*map(ColumnExpression, order)).to_arrow_reader(_BATCH_ROWS)


def _plain(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _decoded(column: pa.Array) -> pa.Array:
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _harmless(column: pa.Array) -> pa.Array:
    """Return a column with each distinct string made harmless."""
    if pa.types.is_string(column.type):
        column = column.dictionary_encode()
    if not pa.types.is_dictionary(column.type):
        return column
    texts = pa.array([csv_text(text) for text in column.dictionary.to_pylist()], pa.string())
    return texts.take(column.indices)


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
