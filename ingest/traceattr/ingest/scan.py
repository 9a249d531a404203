"""Columns of a table of an export as a stream of Arrow batches, the fastest way that is right."""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace

import pyarrow as pa

from traceattr.errors import ExportError
from traceattr.ingest.cache.kept import Kept
from traceattr.ingest.columnar import read_columns
from traceattr.ingest.export import Export, sqlite_failure
from traceattr.ingest.nearby import Near
from traceattr.ingest.selection import ColumnType, Piece, Selection, select
from traceattr.ingest.sqlite.btree import Damaged, Declined, Malformed
from traceattr.ingest.sqlite.pages import check_table, find_pages, read_pages
from traceattr.ingest.sqlite.rows import read_rows

__all__ = ["ColumnType", "Scan", "scan_kept", "scan_small_table", "scan_table"]


@dataclass(slots=True)
class _Progress:
    """What came up while the batches were pulled."""

    rows: int = 0
    slow_rows: int = 0
    unreadable: int = 0
    reason: str | None = None
    failure: ExportError | KeyboardInterrupt | None = None


@dataclass(frozen=True, slots=True)
class Scan:
    """A running read of one table.

    Attributes:
        batches: The columns in the order asked for. Pulling raises `ExportError` when the table is
            damaged. A consumer that pulls through Arrow's C interface, such as DuckDB, raises an
            error of its own then; `failure` holds ours.
    """

    batches: pa.RecordBatchReader
    _table: str
    _progress: _Progress = field(repr=False)

    @property
    def declined(self) -> str | None:
        """Why some or all rows were read the slow way, in one line; None when none were.

        Complete once `batches` is exhausted: one odd value can sit in the last row.
        """
        if self._progress.reason is None:
            return None
        return (
            f"{self._table}: {self._progress.slow_rows} of {self._progress.rows} rows read through "
            f"libsqlite3, which is slow: {self._progress.reason}"
        )

    @property
    def unreadable(self) -> int:
        """Values that meant nothing in the type asked for and became NULL, so far."""
        return self._progress.unreadable

    @property
    def failure(self) -> ExportError | KeyboardInterrupt | None:
        """The error that ended `batches`, if one did."""
        return self._progress.failure


def scan_table(
    export: Export,
    table: str,
    columns: Mapping[str, ColumnType],
    *,
    workers: int = 2,
    leaves: range | None = None,
    kept: Kept | None = None,
) -> Scan:
    """Read columns of a table.

    Args:
        export: The open export; it must stay open until the batches are exhausted.
        table: Name of the table, in any case.
        columns: Names of the columns, in any case, and how to read them. A column that the table
            lacks comes back as NULLs.
        workers: Threads that decode pages.
        leaves: Positions of the leaf pages to read; None for the whole table.
        kept: Where the whole table may be kept.

    Raises:
        KeyError: The export has no such table.
    """
    wanted = select(export, table, columns)
    pieces = _pieces(export, wanted, workers, leaves)
    if kept is not None:
        pieces = kept.while_read(wanted, pieces)
    return _scan(export, wanted, pieces, _Progress())


def scan_small_table(export: Export, table: str, columns: Mapping[str, ColumnType]) -> Scan:
    """Read columns of a table of a few rows.

    As `scan_table`, and always through libsqlite3: to find its pages takes four times as long.
    But for a remote file it would have to be fetched from end to end.
    """
    if export.copy is not None:
        return scan_table(export, table, columns)
    wanted = select(export, table, columns)
    if export.files:
        pieces = read_columns(export.files[wanted.table], wanted)
        return _scan(export, wanted, pieces, _Progress())
    return _scan(export, wanted, _slow_pieces(export, wanted), _Progress())


def scan_kept(
    export: Export, table: str, columns: Mapping[str, ColumnType], near: Near | None = None
) -> Scan | None:
    """Read the same from what was kept of the export; None when it was not.

    Args:
        export: The open export.
        table: Name of the table, in any case.
        columns: Names of the columns, in any case, and how to read them.
        near: Which rows, and perhaps more; None for all.

    Raises:
        KeyError: The export has no such table.
    """
    wanted = select(export, table, columns)
    found = None if export.kept is None else export.kept.find(wanted, near)
    if found is None:
        return None
    odd = found.columns.odd
    progress = _Progress(slow_rows=odd.slow_rows, unreadable=odd.unreadable, reason=odd.reason)
    return _scan(export, wanted, found.pieces(wanted.schema), progress)


def _scan(export: Export, wanted: Selection, pieces: Iterator[Piece], progress: _Progress) -> Scan:
    batches = _watched(export, wanted.table, pieces, progress)
    reader = pa.RecordBatchReader.from_batches(wanted.schema, batches)
    return Scan(reader, wanted.table, progress)


def _pieces(
    export: Export, wanted: Selection, workers: int, leaves: range | None
) -> Iterator[Piece]:
    if export.files:
        yield from read_columns(export.files[wanted.table], wanted)
        return
    try:
        pages = find_pages(export, wanted)
    except Declined as declined:
        if isinstance(declined, Malformed):
            with closing(export.connect()) as connection:
                check_table(connection, wanted.table)
        for piece in _slow_pieces(export, wanted):
            yield replace(piece, declined=str(declined))
    else:
        yield from read_pages(pages, workers, leaves=leaves)


def _slow_pieces(export: Export, wanted: Selection) -> Iterator[Piece]:
    with closing(export.connect()) as connection:
        yield from read_rows(connection, wanted)


def _watched(
    export: Export, table: str, pieces: Iterator[Piece], progress: _Progress
) -> Iterator[pa.RecordBatch]:
    """The rows of the pieces, keeping the books and naming file and table when it fails."""
    try:
        for piece in pieces:
            progress.rows += piece.rows.num_rows
            progress.unreadable += piece.unreadable
            if piece.declined is not None:
                progress.slow_rows += piece.rows.num_rows
                progress.reason = progress.reason or piece.declined
            yield piece.rows
        export.check_unchanged()
    except (ExportError, KeyboardInterrupt) as error:
        progress.failure = error
        raise
    except (sqlite3.DatabaseError, Damaged, pa.ArrowException) as error:
        progress.failure = sqlite_failure(export.path, f"table {table}", error)
        raise progress.failure from error
    except OSError as error:
        progress.failure = ExportError(f"{export.path}: cannot be read ({error.strerror or error})")
        raise progress.failure from error
