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


def write(path: Path) -> Path:
    with ExportWriter(path) as export:
        export.process(PID, "sglang::scheduler_TP0")
        export.api("cudaLaunchKernel_v7000", 50, 60, pid=PID, correlation=1)
        export.kernel("a", 100, 200, pid=PID, correlation=1)
        export.kernel("b", 300, 400, pid=PID)
        export.nvtx("=cmd|' /C calc'!A0", 100, 400, pid=PID)
        export.capture_metadata("ENVIRONMENT", "HF_TOKEN=hf_secret")
    return path


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return write(tmp_path / "trace.sqlite")


def export(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["export", *map(str, arguments)])


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory with a trace and one output of each kind."""
    folder = tmp_path_factory.mktemp("exported")
    result = export(
        write(folder / "trace.sqlite"),
        *("--csv", folder / "csv", "--parquet", folder / "parquet"),
        *("--duckdb", folder / "t.duckdb", "--perfetto", folder / "t.pftrace"),
    )
    assert (result.exit_code, result.stdout) == (0, "")
    names = ("t.pftrace", "t.duckdb", "csv", "parquet")
    assert result.stderr.splitlines() == [f"Wrote {folder / name}" for name in names]
    return folder


def test_several_outputs_are_written_in_one_go(exported: Path) -> None:
    with duckdb.connect(exported / "t.duckdb", read_only=True) as connection:
        tables = {name for (name,) in connection.execute("SHOW TABLES").fetchall()}

    assert tables == TRACE_TABLES | ANALYSIS_TABLES
    assert {path.stem for path in (exported / "csv").iterdir()} == tables
    assert {path.stem for path in (exported / "parquet").iterdir()} == tables
    assert sorted(path.name for path in exported.iterdir()) == [
        "csv",
        "parquet",
        "t.duckdb",
        "t.pftrace",
        "trace.sqlite",
    ]


def test_every_format_holds_the_rows_of_the_trace(exported: Path) -> None:
    query = "SELECT * FROM gpu_op ORDER BY start_ns"
    expected = rows(exported / "trace.sqlite", query)

    with duckdb.connect(exported / "t.duckdb", read_only=True) as connection:
        assert connection.execute(query).fetchall() == expected
    table = pq.read_table(exported / "parquet" / "gpu_op.parquet")
    assert [tuple(row.values()) for row in table.to_pylist()] == expected
    with (exported / "csv" / "gpu_op.csv").open(newline="") as file:
        _, *lines = csv.reader(file)
    assert lines == [["" if cell is None else str(cell) for cell in row] for row in expected]


def test_meanings_go_along(exported: Path) -> None:
    schema = pq.read_schema(exported / "parquet" / "gap.parquet")
    assert schema.field("joins").metadata[b"comment"].startswith(b"What it joins")
    with duckdb.connect(exported / "t.duckdb", read_only=True) as connection:
        missing = connection.execute(
            "SELECT table_name, column_name FROM duckdb_columns()"
            " WHERE NOT internal AND comment IS NULL"
        ).fetchall()
    assert missing == []


def test_no_secret_goes_along_and_no_cell_is_a_formula(exported: Path) -> None:
    files = [path for path in exported.rglob("*") if path.is_file() and path.suffix != ".sqlite"]
    assert all(b"hf_secret" not in path.read_bytes() for path in files)

    with (exported / "csv" / "host_range.csv").open(newline="") as file:
        [row] = csv.DictReader(file)
    assert row["name"] == "'=cmd|' /C calc'!A0"
    parquet = exported / "parquet" / "host_range.parquet"
    assert pq.read_table(parquet)["name"].to_pylist() == ["=cmd|' /C calc'!A0"]


def test_a_window_cuts_every_table_that_has_times(trace: Path, tmp_path: Path) -> None:
    export(trace, "--parquet", tmp_path, "--window", "0.00000025:")

    assert pq.read_table(tmp_path / "gpu_op.parquet")["start_ns"].to_pylist() == [300]
    assert pq.read_table(tmp_path / "api_call.parquet").num_rows == 0
    assert pq.read_table(tmp_path / "analysis.parquet").to_pylist()[0]["why"] == "--window"


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
