"""A report of nsys where an export is expected."""

import os
import stat
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tests.fake_nsys import MAGIC, exports, says, write_nsys
from tests.loading import PID
from traceattr.cli import app
from traces.export_writer import ExportWriter


@pytest.fixture
def report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a report that the nsys of the environment can export."""
    export = tmp_path / "export.sqlite"
    with ExportWriter(export) as writer:
        writer.kernel("gemm", 1_000, 2_000, pid=PID)
    program = write_nsys(tmp_path / "nsys", export=f"{exports(export)}; print('exported')")
    monkeypatch.setenv("TRACEATTR_NSYS", str(program))
    monkeypatch.setenv("TRACEATTR_CACHE_DIR", str(tmp_path / "cache"))
    path = tmp_path / "home" / "trace.nsys-rep"
    path.parent.mkdir()
    path.write_bytes(MAGIC + b"\n" + bytes(100))
    return path


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def cached(report: Path) -> list[Path]:
    return sorted((report.parent.parent / "cache" / "exports").glob("*"))


def break_nsys(report: Path) -> None:
    write_nsys(report.parent.parent / "nsys", export=says("must not be asked"))


def test_it_is_exported_once_and_read_from_the_cache_after_that(report: Path) -> None:
    first = run("report", report)
    break_nsys(report)
    second = run("report", report)

    assert (first.exit_code, first.stderr) == (0, "")
    assert "trace.nsys-rep" in first.stdout
    assert second.stdout == first.stdout
    assert len(cached(report)) == 1
    assert list(report.parent.iterdir()) == [report]


def test_every_command_that_reads_a_trace_takes_it(report: Path) -> None:
    for command in ("kernels", "gaps"):
        assert run(command, report).exit_code == 0


def test_others_cannot_look_into_the_cache(report: Path) -> None:
    run("report", report)

    [export] = cached(report)
    assert stat.S_IMODE(export.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("change", ["content", "time"])
def test_a_report_that_changed_is_exported_again(report: Path, change: str) -> None:
    run("report", report)
    before = report.stat()

    if change == "content":
        report.write_bytes(MAGIC + b"\n" + bytes(99) + b"x")
        os.utime(report, ns=(before.st_atime_ns, before.st_mtime_ns))
    else:
        os.utime(report, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    run("report", report)

    assert len(cached(report)) == 2


def test_an_export_that_nobody_read_for_a_month_goes_when_another_comes(report: Path) -> None:
    run("report", report)
    [old] = cached(report)
    long_ago = time.time() - 31 * 86400
    os.utime(old, (long_ago, long_ago))

    report.write_bytes(MAGIC + b"\n" + bytes(200))
    run("report", report)

    assert len(cached(report)) == 1
    assert not old.exists()


def test_a_report_of_a_newer_nsys_is_refused_with_the_command_to_run_there(report: Path) -> None:
    write_nsys(
        report.parent.parent / "nsys",
        export=says("Exportation error: Version number is invalid: 2027@1@0@12-34v0"),
    )

    result = run("report", report)

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"error: {report}: recorded by nsys 2027.1.0, and ")
    assert (
        f"run: nsys export --type sqlite --output {report.with_suffix('.sqlite')} {report} "
        in result.stderr
    )
    assert cached(report) == []


def test_a_cache_that_cannot_be_made_is_one_line_with_two_ways_out(
    report: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRACEATTR_CACHE_DIR", str(report))

    result = run("report", report)

    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert (
        "set TRACEATTR_CACHE_DIR to a directory that can be written, or run: nsys" in result.stderr
    )
