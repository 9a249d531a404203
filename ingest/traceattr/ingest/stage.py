"""Taking a table of the export into the database, as one stream."""

from dataclasses import dataclass

import duckdb
import pyarrow as pa

from traceattr.ingest.database import run_sql
from traceattr.ingest.export import Export
from traceattr.ingest.held import Held, hold
from traceattr.ingest.machine import cores
from traceattr.ingest.nearby import Near, leaves_near
from traceattr.ingest.scan import Scan, scan_kept, scan_table
from traceattr.ingest.sources import Source

_MOST_THREADS = 8
"""Threads that decode pages; more would wait for the interpreter."""


@dataclass(frozen=True, slots=True)
class Staged:
    """How taking in one table went.

    Attributes:
        unreadable: Values that meant nothing in their column and became NULL.
        declined: Why the fast reader was not used, None when it was.
    """

    unreadable: int = 0
    declined: str | None = None


def stage(connection: duckdb.DuckDBPyConnection, export: Export, source: Source) -> Staged:
    """Run the statement of `source` over its table; a table that the export lacks has no row.

    Raises:
        ExportError: The table is damaged.
    """
    if source.table not in export.tables:
        run_over(connection, source.statement, pa.Table.from_batches([], source.schema))
        return Staged()
    scan = scan_source(export, source, None)
    try:
        run_over(connection, source.statement, scan.batches)
    except duckdb.Error:
        if scan.failure:
            raise scan.failure from None
        raise
    return Staged(scan.unreadable, scan.declined)


def read(export: Export, source: Source, near: Near | None = None) -> tuple[Held, Staged]:
    """Hold a table in memory; one that the export lacks has no row.

    Args:
        export: The open export.
        source: The table.
        near: Which rows; None for all.

    Raises:
        ExportError: The table is damaged.
    """
    if source.table not in export.tables:
        return hold(source.schema, ()), Staged()
    scan = scan_source(export, source, near, workers=min(cores(), _MOST_THREADS))
    rows = scan.batches if near is None else map(near.of, scan.batches)
    return hold(source.schema, rows), Staged(scan.unreadable, scan.declined)


def scan_source(export: Export, source: Source, near: Near | None, workers: int = 2) -> Scan:
    """Read what was kept of a table, or the table, of which all is kept then."""
    kept = export.kept if source.may_be_kept else None
    found = None if kept is None else scan_kept(export, source.table, source.columns, near)
    if found is not None:
        return found
    leaves = None if near is None else leaves_near(export, source.table, near)
    keeps = kept if near is None else None
    return scan_table(
        export, source.table, source.columns, workers=workers, leaves=leaves, kept=keeps
    )


def run_over(
    connection: duckdb.DuckDBPyConnection, statement: str, data: pa.Table | pa.RecordBatchReader
) -> None:
    """Run an ingest SQL file that reads `data` as the view ``batch``."""
    connection.register("batch", data)
    try:
        run_sql(connection, statement)
    finally:
        connection.unregister("batch")
