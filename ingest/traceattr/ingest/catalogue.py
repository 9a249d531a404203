"""Which tables the database of a trace has, as their comments say."""

from dataclasses import dataclass

import duckdb

TRACE_TABLES = frozenset(
    {
        "api_call",
        "capture",
        "diagnostic",
        "gpu",
        "gpu_op",
        "host_range",
        "kernel_name",
        "os_call",
        "replay",
    }
)
"""Every documented table that a trace becomes."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column.

    Attributes:
        name: Its name.
        type: Its type, in lower case.
        comment: What it means, its unit, and what NULL means.
    """

    name: str
    type: str
    comment: str


@dataclass(frozen=True, slots=True)
class Table:
    """One table or view.

    Attributes:
        name: Its name.
        comment: What a row is.
        columns: Its columns in order.
    """

    name: str
    comment: str
    columns: tuple[Column, ...]


def catalogue(connection: duckdb.DuckDBPyConnection) -> tuple[Table, ...]:
    """Return every documented table in order of name; names that begin with _ are internal."""
    tables = connection.execute(
        "SELECT table_name, comment FROM duckdb_tables() WHERE NOT internal"
        " UNION ALL SELECT view_name, comment FROM duckdb_views() WHERE NOT internal"
        " ORDER BY table_name"
    ).fetchall()
    columns = connection.execute(
        "SELECT table_name, column_name, lower(data_type), comment FROM duckdb_columns()"
        " WHERE NOT internal ORDER BY table_name, column_index"
    ).fetchall()
    return tuple(
        Table(name, comment, tuple(Column(*row[1:]) for row in columns if row[0] == name))
        for name, comment in tables
        if not name.startswith("_")
    )
