"""``traceattr sql`` as a person uses it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tests.loading import PID
from traceattr.cli import app
from traceattr.report.query_result import Result as Rows
from traceattr.report.query_result import render_result
from traceattr.report.render import ReportFormat
from traces.export_writer import ExportWriter

BEGIN_NS = 1_777_000_000_123_456_789


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sql") / "trace.sqlite"
    with ExportWriter(path) as export:
        export.kernel("void f<int>(int *)", BEGIN_NS, BEGIN_NS + 100, pid=PID)
        export.kernel("b|c", BEGIN_NS + 200, BEGIN_NS + 300, pid=PID)
    return path


def ask(*arguments: str | Path, text: str | None = None) -> Result:
    return CliRunner().invoke(app, ["sql", *map(str, arguments)], input=text)


def test_a_query_prints_a_table(trace: Path) -> None:
    result = ask(trace, "SELECT name_id, name FROM kernel_name ORDER BY name_id")

    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "name_id  name",
        "---------------------------",
        "      0  b|c",
        "      1  void f<int>(int *)",
        "(2 rows)",
    ]


def test_the_query_may_come_from_a_file_or_standard_input(trace: Path, tmp_path: Path) -> None:
    query = "SELECT count(*) AS n FROM gpu_op -- two\n;"
    file = tmp_path / "query.sql"
    file.write_text(query, encoding="utf-8")

    assert ask(trace, "--file", file, "--format", "csv").stdout == "n\n2\n"
    assert ask(trace, "-", "--format", "csv", text=query).stdout == "n\n2\n"


def test_json_keeps_every_digit_and_every_column(trace: Path) -> None:
    result = ask(
        trace,
        "SELECT min(start_ns), 1 AS n, 2 AS n, 170141183460469231731687303715884105727::HUGEINT AS"
        " h, 1.10 AS d, 'NaN'::DOUBLE AS x, NULL AS z, true AS t, [1, NULL] AS l,"
        " DATE '2026-01-02' AS day FROM gpu_op",
        *("--format", "json"),
    )

    assert '"d": 1.10' in result.stdout
    assert json.loads(result.stdout) == [
        {
            "min(start_ns)": BEGIN_NS,
            "n": 1,
            "n_1": 2,
            "h": 2**127 - 1,
            "d": 1.1,
            "x": None,
            "z": None,
            "t": True,
            "l": [1, None],
            "day": "2026-01-02",
        }
    ]


def test_markdown_escapes_names(trace: Path) -> None:
    result = ask(trace, "SELECT name, 1 AS n FROM kernel_name ORDER BY 1", "--format", "markdown")

    assert result.stdout.splitlines() == [
        "| name | n |",
        "| --- | ---: |",
        r"| b\|c | 1 |",
        r"| void f&lt;int&gt;(int \*) | 1 |",
    ]


def test_only_a_screen_cuts_texts() -> None:
    rows = [[(1, "short")], [(2, "a text that is longer than those before")]]
    result = Rows(("n", "text"), (True, False), rows)
    long = Rows(("n", "text"), (True, False), rows[::-1])

    assert "a text that is longer than those before" in "".join(
        render_result(result, ReportFormat.TERMINAL, width=None)
    )
    screen = "".join(render_result(long, ReportFormat.TERMINAL, width=20))
    assert max(map(len, screen.splitlines())) == 20
    assert "2  a text that is..." in screen


def test_no_rows_are_an_empty_result(trace: Path) -> None:
    query = "SELECT name FROM host_range"

    assert ask(trace, query).stdout == "name\n----\n(0 rows)\n"
    assert ask(trace, query, "--format", "json").stdout == "[]\n"
    assert ask(trace, query, "--format", "csv").stdout == "name\n"


def test_tables_of_the_analysis_are_there(trace: Path) -> None:
    query = "SELECT report_group, sum(end_ns - start_ns)::BIGINT AS ns FROM segment GROUP BY ALL"

    rows = json.loads(ask(trace, f"{query} ORDER BY 1", "--format", "json").stdout)

    assert rows == [
        {"report_group": "host gaps", "ns": 100},
        {"report_group": "unclassified", "ns": 200},
    ]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT count(*) AS n FROM operation JOIN kernel_name USING (name_id)",
        "SELECT count(DISTINCT start_ns) AS n FROM gpu_op, kernel_name",
        "WITH gap AS (SELECT 1 AS n) SELECT n + 1 AS n FROM gap",
        "SELECT count(*) AS n FROM (SHOW TABLES) WHERE name IN ('segment', 'host_range')",
    ],
)
def test_what_a_query_names_is_there(trace: Path, query: str) -> None:
    assert ask(trace, query, "--format", "csv").stdout == "n\n2\n"


def test_tables_are_listed_with_their_meaning(trace: Path) -> None:
    rows = json.loads(ask(trace, "--tables", "--format", "json").stdout)

    assert {row["table"] for row in rows} >= {"gap", "gpu_op", "host_range", "segment"}
    assert not any(row["table"].startswith("_") for row in rows)
    assert all(row["meaning"] for row in rows)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT * FROM gpu_ops", 'Did you mean "gpu_op"?; --tables lists'),
        ("SELECT nope FROM gpu_op", 'Referenced column "nope" not found'),
        ("SELEC 1", "syntax error"),
        ("", "is empty"),
        ("SELECT 1; SELECT 2", "2 statements (expected one)"),
        ("DROP VIEW api_call", "DROP is not allowed"),
        ("COPY gpu TO 'here.csv'", "COPY is not allowed"),
        ("ATTACH 'here.db'", "ATTACH is not allowed"),
        ("INSTALL httpfs", "LOAD is not allowed"),
        ("SET enable_external_access = true", "SET is not allowed"),
        ("SELECT * FROM read_text('/etc/hosts')", "file system operations are disabled"),
        ("SELECT * FROM sqlite_scan('a', 'b')", "not in the catalog"),
        ("SELECT * FROM choice", "does not exist"),
        ("SELECT name::INTEGER FROM kernel_name", "Could not convert string"),
    ],
)
def test_a_query_that_cannot_run_is_one_line(trace: Path, query: str, message: str) -> None:
    before = sorted(path.name for path in trace.parent.iterdir())

    result = ask(trace, query)

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("error: query: ")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert sorted(path.name for path in trace.parent.iterdir()) == before


def test_one_source_of_the_query_is_needed(trace: Path, tmp_path: Path) -> None:
    assert ask(trace).exit_code == 2
    assert ask(trace, "SELECT 1", "--file", tmp_path / "q.sql").exit_code == 2
    missing = ask(trace, "--file", tmp_path / "q.sql")
    assert missing.stderr == (
        f"error: {tmp_path / 'q.sql'}: cannot be read: No such file or directory"
        " (expected a query)\n"
    )


def test_a_reader_that_stops_early_is_no_error(trace: Path) -> None:
    """As with `traceattr sql ... | head -1`, while rows are still being computed."""
    with subprocess.Popen(
        [
            *(sys.executable, "-m", "traceattr", "sql", str(trace)),
            *("SELECT range FROM range(100000000)", "--format", "csv"),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"range\n"
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == b""


def test_a_result_goes_to_a_file_whole(trace: Path, tmp_path: Path) -> None:
    target = tmp_path / "names.csv"

    result = ask(trace, "SELECT 1 AS a", "--format", "csv", "-o", target)

    assert (result.stdout, result.stderr) == ("", f"Wrote {target}\n")
    assert target.read_text(encoding="utf-8") == "a\n1\n"
    failed = ask(trace, "SELECT name::INTEGER FROM kernel_name", "-o", target, "--force")
    assert failed.exit_code == 2
    assert target.read_text(encoding="utf-8") == "a\n1\n"
