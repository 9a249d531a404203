"""Promises of the public tables."""

from collections.abc import Iterator

import pytest

from tests.loading import PID
from traceattr.attribution.choice import Choice
from traceattr.attribution.tables import add_tables
from traceattr.ingest.host import load_host_ranges, load_os_calls
from traceattr.ingest.trace import Trace, open_trace
from traceattr.rules.rule_set import load_rules
from traces.export_writer import ExportWriter

PUBLIC = {
    "analysis",
    "api_call",
    "capture",
    "diagnostic",
    "gap",
    "gpu",
    "gpu_op",
    "host_range",
    "kernel_category",
    "kernel_name",
    "operation",
    "os_call",
    "pass",
    "replay",
    "round",
    "segment",
}


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trace]:
    path = tmp_path_factory.mktemp("schema") / "trace.sqlite"
    with ExportWriter(path) as export:
        export.kernel("f", 1, 2, pid=PID)
    with open_trace(path) as trace:
        load_host_ranges(trace)
        load_os_calls(trace)
        add_tables(trace, load_rules(), Choice())
        yield trace


def test_the_public_tables_are_those_of_the_design(trace: Trace) -> None:
    found = trace.connection.execute(
        "SELECT table_name FROM duckdb_tables() WHERE NOT internal"
        " UNION ALL SELECT view_name FROM duckdb_views() WHERE NOT internal"
    ).fetchall()

    assert {name for (name,) in found if not name.startswith("_")} == PUBLIC


def test_every_public_table_is_documented(trace: Trace) -> None:
    undocumented = trace.connection.execute(
        "SELECT table_name FROM duckdb_tables()"
        " WHERE NOT internal AND NOT starts_with(table_name, '_') AND comment IS NULL"
        " UNION ALL SELECT view_name FROM duckdb_views()"
        " WHERE NOT internal AND NOT starts_with(view_name, '_') AND comment IS NULL"
    ).fetchall()

    assert undocumented == []


def test_every_public_column_is_documented(trace: Trace) -> None:
    undocumented = trace.connection.execute(
        "SELECT table_name || '.' || column_name FROM duckdb_columns()"
        " WHERE NOT internal AND NOT starts_with(table_name, '_') AND comment IS NULL"
    ).fetchall()

    assert undocumented == []


def test_the_database_reaches_neither_files_nor_the_network(trace: Trace) -> None:
    import duckdb

    with pytest.raises(duckdb.Error, match="disabled"):
        trace.connection.execute("SELECT content FROM read_text('/etc/hostname')")
