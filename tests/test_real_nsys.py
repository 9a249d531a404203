"""Recording with a real nsys; of a program on the CPU, since the machines have no GPU."""

import json
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from traceattr.cli import app
from traceattr.ingest.export import open_export
from traceattr.ingest.scan import ColumnType, scan_table

PROGRAM = """
import ctypes, sys, time
import nvidia.nvtx

nvtx = ctypes.CDLL(nvidia.nvtx.__path__[0] + "/lib/libnvToolsExt.so.1")
nvtx.nvtxRangePushA(b"a decode round")
print("running", flush=True)
time.sleep(float(sys.argv[1]))
nvtx.nvtxRangePop()
"""


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


# nsys 2022 loses a race at its start now and then, on a busy machine.
RACE = "ProcessWaiter"
TRIES = 5


def record(*arguments: str | Path) -> Result:
    for _ in range(TRIES):
        result = run("profile", *arguments)
        if RACE not in result.stderr:
            break
    return result


def command(seconds: float) -> list[str]:
    pytest.importorskip("nvidia.nvtx")
    return ["--", sys.executable, "-c", PROGRAM, str(seconds)]


@pytest.fixture(scope="module")
def recorded(nsys: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    """Record a program once, and return its report and what the command said."""
    folder = tmp_path_factory.mktemp("100% real")
    result = record("--nsys", nsys, "-o", folder / "cpu", *command(0.1))
    return folder / "cpu.nsys-rep", result


def test_a_program_is_recorded_and_its_ranges_are_exported(
    recorded: tuple[Path, Result],
) -> None:
    report, result = recorded

    assert report.exists(), result.stderr
    with closing(sqlite3.connect(report.with_suffix(".sqlite"))) as export:
        names = export.execute("SELECT text FROM NVTX_EVENTS").fetchall()
    assert names == [("a decode round",)]


def test_a_recording_without_gpu_work_is_kept_and_said_to_have_none(
    recorded: tuple[Path, Result],
) -> None:
    report, result = recorded

    *_, first, second, error = result.stderr.splitlines()
    export = report.with_suffix(".sqlite")
    assert result.exit_code == 2
    assert (first, second) == (f"Wrote {report}", f"Wrote {export}")
    assert error.startswith(f"error: {export}: no CUDA kernel, copy or graph was recorded")
    assert sorted(path.name for path in report.parent.iterdir()) == ["cpu.nsys-rep", "cpu.sqlite"]


def test_the_doctor_finds_no_cuda_events_and_says_how_to_record_them(
    recorded: tuple[Path, Result],
) -> None:
    report, _ = recorded

    result = run("doctor", report.with_suffix(".sqlite"), "--format", "json")

    checks = {each["code"]: each for each in json.loads(result.stdout)["checks"]}
    assert result.exit_code == 1
    assert checks["cuda-events"]["status"] == "fail"
    assert "traceattr profile" in checks["cuda-events"]["remedy"]


def test_a_recording_that_never_begins_is_one_line(nsys: str, tmp_path: Path) -> None:
    result = record("--nsys", nsys, "-o", tmp_path / "a", "--on-demand", *command(0.1))

    assert result.exit_code == 2
    assert result.stderr.splitlines()[-1].startswith(
        "error: nsys made no report: the command ended before anything called cudaProfilerStart"
    )


def test_stopping_ends_the_program_and_keeps_the_report(nsys: str, tmp_path: Path) -> None:
    arguments = ["profile", "--nsys", nsys, "-o", str(tmp_path / "a"), *command(60)]
    for _ in range(TRIES):
        code, said = stopped_when_running([sys.executable, "-m", "traceattr", *arguments])
        if RACE not in said:
            break

    assert code == 130
    assert said.splitlines()[-1] == f"stopped; report on it: traceattr report {tmp_path}/a.nsys-rep"


def stopped_when_running(arguments: list[str]) -> tuple[int, str]:
    """Start it, send Ctrl-C when the program runs, and return its exit code and what it said."""
    with subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        said = ""
        while "running" not in said and (line := process.stderr.readline()):
            said += line
        process.send_signal(signal.SIGINT)
        said += process.stderr.read()
    return process.returncode, said


def test_a_report_is_exported_into_the_cache(
    nsys: str, recorded: tuple[Path, Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There it is found to hold no GPU work, which only an export can tell."""
    monkeypatch.setenv("TRACEATTR_NSYS", nsys)
    monkeypatch.setenv("TRACEATTR_CACHE_DIR", str(tmp_path))

    result = run("report", recorded[0])

    assert result.stderr.startswith(f"error: {recorded[0]}: no CUDA kernel, copy or graph was")
    [export] = (tmp_path / "exports").iterdir()
    assert export.suffix == ".sqlite"


def test_a_damaged_report_is_refused_in_the_words_of_nsys(
    nsys: str, recorded: tuple[Path, Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    half = tmp_path / "half.nsys-rep"
    whole = recorded[0].read_bytes()
    half.write_bytes(whole[: len(whole) // 2])
    monkeypatch.setenv("TRACEATTR_NSYS", nsys)
    monkeypatch.setenv("TRACEATTR_CACHE_DIR", str(tmp_path / "cache"))

    result = run("report", half)

    assert result.exit_code == 2
    assert result.stderr.startswith(f"error: {half}: nsys 20")
    assert "cannot export it: Exportation error" in result.stderr


def test_arrow_streams_are_read_as_nsys_writes_them(
    nsys: str, recorded: tuple[Path, Result], tmp_path: Path
) -> None:
    target = tmp_path / "cpu.arrow"
    command = [nsys, "export", "--type=arrow", f"--output={target}", "--quiet=true"]
    if subprocess.run([*command, recorded[0]], check=False, capture_output=True).returncode:
        pytest.skip("this nsys has no arrow export")

    with open_export(target) as export:
        events = scan_table(export, "NVTX_EVENTS", {"text": ColumnType.TEXT}).batches.read_all()
        ids = scan_table(export, "StringIds", {"id": ColumnType.INTEGER}).batches.read_all()

    assert events.to_pydict() == {"text": [b"a decode round"]}
    assert ids.num_rows > 0
