"""Read-only SQL of the user over the tables of a trace."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import duckdb

from traceattr.attribution.tables import ANALYSIS_TABLES
from traceattr.errors import QueryError
from traceattr.ingest.catalogue import TRACE_TABLES
from traceattr.ingest.database import open_database

_BATCH_ROWS = 2_000
_READING = (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN)
_CATALOGUES = ("duckdb_", "information_schema", "pg_", "show", "sqlite_", "_")
"""How words begin that ask for tables without their names, or for internal ones."""

_MISSING = (duckdb.CatalogException, duckdb.BinderException)
_NUMBERS = re.compile(r"u?(tiny|small|big|huge)?int(eger)?|float|double|decimal.*", re.IGNORECASE)

TABLES = (
    'SELECT table_name AS "table", column_name AS "column", lower(data_type) AS type,'
    " comment AS meaning FROM duckdb_columns()"
    " WHERE NOT internal AND table_name[1] != '_' ORDER BY table_name, column_index"
)
"""What lists every documented table."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a query returns.

    Attributes:
        columns: Names of its columns.
        is_number: Whether each holds numbers.
        batches: Its rows, some at a time, read when they are asked for.
    """

    columns: tuple[str, ...]
    is_number: tuple[bool, ...]
    batches: Iterator[Sequence[Sequence[Any]]]


def tables_of(query: str) -> frozenset[str] | None:
    """Return the words of a query, its tables among them; None when it may ask for any table.

    Raises:
        QueryError: It is not one statement that only reads.
    """
    with open_database() as connection:
        try:
            statements = connection.extract_statements(query)
        except duckdb.Error as error:
            raise _query_error(error) from error
    if len(statements) != 1:
        raise QueryError(f"query: {len(statements)} statements (expected one)")
    if statements[0].type not in _READING:
        kind = statements[0].type.name
        raise QueryError(f"query: {kind} is not allowed (expected SELECT: it only reads)")
    words = frozenset(re.findall(r"\w+", query.lower()))
    lists_tables = any(word.startswith(_CATALOGUES) for word in words)
    names_one = bool(words & (TRACE_TABLES | ANALYSIS_TABLES))
    return words if names_one and not lists_tables else None


def answer(connection: duckdb.DuckDBPyConnection, query: str) -> Answer:
    """Run a query.

    Raises:
        QueryError: DuckDB does not accept it; also while its rows are read.
    """
    try:
        connection.execute(query)
    except duckdb.Error as error:
        raise _query_error(error) from error
    columns = connection.description or []
    return Answer(
        columns=tuple(column[0] for column in columns),
        is_number=tuple(bool(_NUMBERS.fullmatch(str(column[1]))) for column in columns),
        batches=_batches(connection),
    )


def _batches(connection: duckdb.DuckDBPyConnection) -> Iterator[Sequence[Sequence[Any]]]:
    """Yield the rows, fetched one by one: only so Ctrl-C reaches DuckDB while it computes."""
    rows = iter(connection.fetchone, None)
    while True:
        try:
            batch = list(islice(rows, _BATCH_ROWS))
        except duckdb.Error as error:
            raise _query_error(error) from error
        if not batch:
            return
        yield batch


def _query_error(error: duckdb.Error) -> QueryError:
    """Return DuckDB's words and hint on one line, without the query that it repeats."""
    if isinstance(error, duckdb.InternalException | duckdb.FatalException):
        raise error
    text, _, _ = str(error).partition("\nLINE ")
    words = " ".join(text.split())
    where = "; --tables lists tables and columns" if isinstance(error, _MISSING) else ""
    return QueryError(f"query: {words}{where}")
