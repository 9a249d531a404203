"""Recording with a real nsys; of a program on the CPU, since the machines have no GPU."""

import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from traceattr.cli import app

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


def command(seconds: float) -> list[str]:
    pytest.importorskip("nvidia.nvtx")
    return ["--", sys.executable, "-c", PROGRAM, str(seconds)]


@pytest.fixture(scope="module")
def recorded(nsys: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    """Record a program once, and return its report and what the command said."""
    folder = tmp_path_factory.mktemp("100% real")
    result = run("profile", "--nsys", nsys, "-o", folder / "cpu", *command(0.1))
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


def test_a_recording_that_never_begins_is_one_line(nsys: str, tmp_path: Path) -> None:
    result = run("profile", "--nsys", nsys, "-o", tmp_path / "a", "--on-demand", *command(0.1))

    assert result.exit_code == 2
    assert result.stderr.splitlines()[-1].startswith(
        "error: nsys made no report: the command ended before anything called cudaProfilerStart"
    )


def test_stopping_ends_the_program_and_keeps_the_report(nsys: str, tmp_path: Path) -> None:
    arguments = ["profile", "--nsys", nsys, "-o", str(tmp_path / "a"), *command(60)]
    with subprocess.Popen(
        [sys.executable, "-m", "traceattr", *arguments], stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        while "running" not in process.stderr.readline():
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        said = process.stderr.read()

    assert process.returncode == 130
    assert said.splitlines()[-1] == f"stopped; report on it: traceattr report {tmp_path}/a.nsys-rep"
