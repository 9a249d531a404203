"""``traceattr export`` as a person uses it."""

import csv
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner, Result

from tests.loading import PID, rows
from traceattr.attribution.tables import ANALYSIS_TABLES
from traceattr.cli import app
from traceattr.ingest.catalogue import TRACE_TABLES
from traces.export_writer import ExportWriter


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "trace.sqlite"
    with ExportWriter(path) as export:
        export.process(PID, "sglang::scheduler_TP0")
        export.api("cudaLaunchKernel_v7000", 50, 60, pid=PID, correlation=1)
        export.kernel("a", 100, 200, pid=PID, correlation=1)
        export.kernel("b", 300, 400, pid=PID)
        export.nvtx("=cmd|' /C calc'!A0", 100, 400, pid=PID)
        export.capture_metadata("ENVIRONMENT", "HF_TOKEN=hf_secret")
    return path


def export(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["export", *map(str, arguments)])


def test_several_outputs_are_written_in_one_go(trace: Path, tmp_path: Path) -> None:
    csv_folder, parquet_folder = tmp_path / "csv", tmp_path / "parquet"
    database, timeline = tmp_path / "t.duckdb", tmp_path / "t.pftrace"

    result = export(
        trace,
        *("--csv", csv_folder, "--parquet", parquet_folder),
        *("--duckdb", database, "--perfetto", timeline),
    )

    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr.splitlines() == [
        f"Wrote {path}" for path in (timeline, database, csv_folder, parquet_folder)
    ]
    with duckdb.connect(database, read_only=True) as connection:
        tables = {name for (name,) in connection.execute("SHOW TABLES").fetchall()}
    assert tables == TRACE_TABLES | ANALYSIS_TABLES
    assert {path.stem for path in csv_folder.iterdir()} == tables
    assert {path.stem for path in parquet_folder.iterdir()} == tables
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "csv",
        "parquet",
        "t.duckdb",
        "t.pftrace",
        "trace.sqlite",
    ]


def test_every_format_holds_the_rows_of_the_trace(trace: Path, tmp_path: Path) -> None:
    export(trace, "--csv", tmp_path, "--parquet", tmp_path, "--duckdb", tmp_path / "t.duckdb")

    query = "SELECT * FROM gpu_op ORDER BY start_ns"
    expected = rows(trace, query)
    with duckdb.connect(tmp_path / "t.duckdb", read_only=True) as connection:
        assert connection.execute(query).fetchall() == expected
    table = pq.read_table(tmp_path / "gpu_op.parquet")
    assert [tuple(row.values()) for row in table.to_pylist()] == expected
    with (tmp_path / "gpu_op.csv").open(newline="") as file:
        _, *lines = csv.reader(file)
    assert lines == [["" if cell is None else str(cell) for cell in row] for row in expected]


def test_meanings_go_along(trace: Path, tmp_path: Path) -> None:
    export(trace, "--parquet", tmp_path, "--duckdb", tmp_path / "t.duckdb")

    schema = pq.read_schema(tmp_path / "gap.parquet")
    assert schema.field("joins").metadata[b"comment"].startswith(b"What it joins")
    with duckdb.connect(tmp_path / "t.duckdb", read_only=True) as connection:
        missing = connection.execute(
            "SELECT table_name, column_name FROM duckdb_columns()"
            " WHERE NOT internal AND comment IS NULL"
        ).fetchall()
    assert missing == []


def test_a_window_cuts_every_table_that_has_times(trace: Path, tmp_path: Path) -> None:
    export(trace, "--parquet", tmp_path, "--window", "0.00000025:")

    assert pq.read_table(tmp_path / "gpu_op.parquet")["start_ns"].to_pylist() == [300]
    assert pq.read_table(tmp_path / "api_call.parquet").num_rows == 0
    assert pq.read_table(tmp_path / "analysis.parquet").to_pylist()[0]["why"] == "--window"


def test_no_secret_goes_along_and_no_cell_is_a_formula(trace: Path, tmp_path: Path) -> None:
    folder = tmp_path / "tables"
    export(trace, "--csv", folder, "--parquet", folder)

    assert all(b"hf_secret" not in path.read_bytes() for path in folder.iterdir())
    with (folder / "host_range.csv").open(newline="") as file:
        [row] = csv.DictReader(file)
    assert row["name"] == "'=cmd|' /C calc'!A0"
    assert pq.read_table(folder / "host_range.parquet")["name"].to_pylist() == [
        "=cmd|' /C calc'!A0"
    ]


def test_files_of_others_are_kept(trace: Path, tmp_path: Path) -> None:
    folder = tmp_path / "tables"
    folder.mkdir()
    (folder / "notes.txt").write_text("mine", encoding="utf-8")
    (folder / "gpu.csv").write_text("old", encoding="utf-8")

    refused = export(trace, "--csv", folder)
    assert refused.exit_code == 2
    assert refused.stderr == (
        f"error: {folder / 'gpu.csv'}: exists; overwrite such files with --force\n"
    )
    assert sorted(path.name for path in folder.iterdir()) == ["gpu.csv", "notes.txt"]

    assert export(trace, "--csv", folder, "--force").exit_code == 0
    assert (folder / "notes.txt").read_text(encoding="utf-8") == "mine"
    assert (folder / "gpu.csv").read_text(encoding="utf-8").startswith('"gpu_id"')


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "nothing to write"),
        (("--perfetto", "TRACE"), "is the same file as the input"),
        (("--perfetto", "TRACE", "--force"), "is the same file as the input"),
        (("--duckdb", "TRACE-wal"), "SQLite's -wal file of the input"),
        (("--perfetto", "nowhere/t"), "mkdir -p nowhere"),
        (("--csv", "nowhere/t"), "mkdir -p nowhere"),
        (("--csv", "TRACE"), "is a file (expected a directory"),
        (("--perfetto", "-"), "not a regular file"),
        (("--perfetto", "x", "--duckdb", "x"), "named for two outputs"),
        (("--perfetto", "x", "--window", "7:9"), "nothing was recorded there"),
    ],
)
def test_a_mistake_writes_nothing(
    trace: Path, arguments: tuple[str, ...], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(trace.parent)

    result = export(trace, *(text.replace("TRACE", str(trace)) for text in arguments))

    assert result.exit_code == 2
    assert message in " ".join(result.stderr.replace("│", " ").split())
    assert [path.name for path in trace.parent.iterdir()] == ["trace.sqlite"]


def test_a_directory_that_cannot_be_written_is_said_in_one_line(
    trace: Path, tmp_path: Path
) -> None:
    result = export(trace, "--duckdb", "/proc/t.duckdb")

    assert result.exit_code == 2
    assert result.stderr.startswith("error: /proc/t.duckdb: cannot be written")
    assert result.stderr.count("\n") == 1
