"""``traceattr profile`` with programs that answer like nsys."""

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tests.fake_nsys import exports, says, write_nsys
from tests.loading import PID
from traceattr.cli import app
from traces.export_writer import ExportWriter


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the empty directory that commands run in, with an nsys on the path."""
    programs = tmp_path / "bin"
    programs.mkdir()
    with ExportWriter(tmp_path / "export.sqlite") as export:
        export.kernel("gemm", 1_000, 2_000, pid=PID)
    write_nsys(programs / "nsys", export=exports(tmp_path / "export.sqlite"))
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.delenv("TRACEATTR_NSYS", raising=False)
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    return here


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["profile", *map(str, arguments)])


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def another_nsys(folder: Path, **behaviour: str) -> Path:
    return write_nsys(folder.parent / "another", **behaviour)


def test_a_command_is_recorded_exported_and_reported_on(folder: Path) -> None:
    result = run("--format", "json", "--", "echo", "hello from the server")

    assert result.exit_code == 0
    assert json.loads(result.stdout)["trace"]["file"] == "profile.sqlite"
    assert "hello from the server" in result.stderr
    assert result.stderr.endswith("Wrote profile.nsys-rep\nWrote profile.sqlite\n")
    assert names(folder) == ["profile.nsys-rep", "profile.sqlite"]


def test_a_dry_run_prints_three_commands_and_runs_none(folder: Path) -> None:
    result = run("--dry-run", "-o", "my trace", "--delay", "60", "--", "python", "-c", "a b")

    record, export, report = map(shlex.split, result.stdout.splitlines())
    assert result.exit_code == 0
    assert record[1:] == [
        "profile",
        "--trace=cuda,nvtx",
        "--sample=none",
        "--cpuctxsw=none",
        "--cuda-graph-trace=node",
        "--trace-fork-before-exec=true",
        "--delay=60",
        "--output=my trace",
        "python",
        "-c",
        "a b",
    ]
    assert export[1:] == [
        "export",
        "--type=sqlite",
        "--output=my trace.sqlite",
        "my trace.nsys-rep",
    ]
    assert report == ["traceattr", "report", "my trace.sqlite"]
    assert names(folder) == []


def test_a_dry_run_needs_no_nsys(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(folder))

    result = run("--dry-run", "--", "server")

    assert result.exit_code == 0
    assert result.stdout.startswith("nsys profile --trace=cuda,nvtx ")
    assert result.stderr.startswith("note: nsys: not found on PATH; ")


def test_options_after_the_command_are_those_of_the_command(folder: Path) -> None:
    result = run("--dry-run", "server", "--output", "x", "--force")

    assert result.stdout.splitlines()[0].endswith(" --output=profile server --output x --force")


@pytest.mark.parametrize("name", ["profile.nsys-rep", "profile.sqlite", "profile.qdstrm"])
def test_earlier_files_are_kept_unless_forced(folder: Path, name: str) -> None:
    (folder / name).write_text("mine", encoding="utf-8")

    refused = run("--", "true")

    assert (refused.exit_code, refused.stdout) == (2, "")
    assert refused.stderr == (
        f"error: {name}: exists; overwrite it with --force, or choose another name with -o NAME\n"
    )
    assert names(folder) == [name]
    assert run("--force", "--", "true").exit_code == 0


def test_a_suffix_that_we_give_is_not_given_twice(folder: Path) -> None:
    run("-o", "a.nsys-rep", "--", "true")
    run("-o", "b.v1", "--", "true")

    assert names(folder) == ["a.nsys-rep", "a.sqlite", "b.v1.nsys-rep", "b.v1.sqlite"]


def test_the_failure_of_the_command_is_said_after_the_report(folder: Path) -> None:
    result = run("--", "sh", "-c", "exit 7")

    assert result.exit_code == 1
    assert result.stdout
    assert result.stderr.splitlines()[-1] == (
        "the command ended with exit code 7 while it was recorded"
    )


def test_a_command_that_nsys_ends_has_not_failed(folder: Path) -> None:
    assert run("--duration", "1", "--", "sh", "-c", "exit 143").exit_code == 0
    assert run("--force", "--duration", "1", "--", "sh", "-c", "exit 7").exit_code == 1


@pytest.mark.parametrize(
    ("profile", "options", "message"),
    [
        ("", [], "nsys made no report: it ended"),
        (
            says("Illegal --trace argument 'cuda-hw'\nusage: nsys"),
            ["--trace", "cuda-hw"],
            "nsys made no report: it ended with exit code 1"
            " (it says: \"Illegal --trace argument 'cuda-hw'\")",
        ),
        (
            says("done", 3),
            ["--delay", "60"],
            "nsys made no report: the command ended with exit code 3 after 0 s, before the"
            " recording began; use a --delay below 60",
        ),
        (
            says("Generated:", 0),
            ["--on-demand"],
            "nsys made no report: the command ended before anything called cudaProfilerStart; ask",
        ),
        (
            "import os; os.kill(os.getpid(), signal.SIGSEGV)",
            [],
            "nsys made no report: it was killed by signal 11; what it started was ended",
        ),
        (
            "import os; print('sem_open: ProcessWaiter', flush=True); os.abort()",
            ["--delay", "60"],
            "nsys made no report: it crashed as it started, which versions of 2022 do now and",
        ),
        (
            "output.with_name(output.name + '.qdstrm').write_bytes("
            "b'U3w[END]NVIDIA Nsight Systems Stream')",
            [],
            "profile.qdstrm: an unfinished nsys capture (.qdstrm); import it with the Qdstrm",
        ),
    ],
)
def test_without_a_report_the_reason_is_one_line(
    folder: Path, profile: str, options: list[str], message: str
) -> None:
    nsys = another_nsys(folder, profile=profile or "pass")

    result = run("--nsys", nsys, *options, "--", "true")

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.splitlines()[-1].startswith(f"error: {message}")


def test_a_report_that_nsys_left_elsewhere_is_named(folder: Path) -> None:
    """As it does when the disk is full."""
    left = folder.parent / "nsys-report-7114.nsys-rep"
    nsys = another_nsys(folder, profile=f"write_report(pathlib.Path({str(left)!r}))")

    result = run("--nsys", nsys, "--", "true")

    assert result.exit_code == 2
    assert result.stderr.splitlines()[-1] == (
        f"error: profile.nsys-rep: nsys could not write it and left {left}; make room, then:"
        f" mv {left} profile.nsys-rep"
    )


def test_an_old_report_is_not_taken_for_the_new_one(folder: Path) -> None:
    (folder / "profile.nsys-rep").write_text("old", encoding="utf-8")
    nsys = another_nsys(folder, profile="pass")

    result = run("--nsys", nsys, "--force", "--", "true")

    assert result.exit_code == 2
    assert "nsys made no report" in result.stderr


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (
            "Exportation error: Version number is invalid: 2027@6@2@225-246235244400v0",
            "profile.nsys-rep: recorded by nsys 2027.6.2, and ANOTHER is 2026.2.1.210: an older"
            " nsys cannot read it; where the newer one is, run: nsys export --type sqlite --output"
            " profile.sqlite profile.nsys-rep (or name that nsys with --nsys or TRACEATTR_NSYS)",
        ),
        (
            "Exporting 9 events: [1%]\rExportation error: database or disk is full",
            "profile.nsys-rep: nsys 2026.2.1.210 cannot export it: Exportation error: database or"
            " disk is full",
        ),
        ("", "profile.nsys-rep: nsys 2026.2.1.210 cannot export it: it says nothing"),
    ],
)
def test_an_export_that_fails_leaves_the_report_and_says_why(
    folder: Path, said: str, message: str
) -> None:
    nsys = another_nsys(folder, export=says(said))

    result = run("--nsys", nsys, "--", "true")

    assert result.exit_code == 2
    assert result.stderr.splitlines()[-2:] == [
        "Wrote profile.nsys-rep",
        f"error: {message}".replace("ANOTHER", str(nsys)),
    ]
    assert names(folder) == ["profile.nsys-rep"]


def test_what_is_left_out_for_an_old_nsys_is_said(folder: Path) -> None:
    nsys = another_nsys(folder, options="--trace --sample --output --trace-fork-before-exec")

    result = run("--nsys", nsys, "--dry-run", "--", "server")

    assert result.stderr == (
        "note: nsys 2026.2.1.210 does not know --cpuctxsw=none; it is left out\n"
        "note: nsys 2026.2.1.210 does not know --cuda-graph-trace=node; it is left out\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "nothing to record (expected: traceattr profile [options] -- COMMAND...)"),
        (("-o", "none/profile", "--", "true"), "none: no such directory; create it: mkdir -p none"),
        (("--nsys", "none", "--", "true"), "none: no such program (expected the program nsys)"),
    ],
)
def test_a_mistake_is_one_line(folder: Path, arguments: tuple[str, ...], message: str) -> None:
    result = run(*arguments)

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"error: {message}\n"


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_stopping_keeps_what_was_recorded_and_ends_the_command(
    folder: Path, number: int, code: int
) -> None:
    command = [sys.executable, "-m", "traceattr", "profile", "--", "sleep", "60"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        child = int(process.stderr.readline().split()[1])
        process.send_signal(number)
        said = process.stderr.read()

    assert process.returncode == code
    assert said.endswith(
        "Wrote profile.nsys-rep\nstopped; report on it: traceattr report profile.nsys-rep\n"
    )
    assert names(folder) == ["profile.nsys-rep"]
    assert not Path(f"/proc/{child}").exists() or is_dead(child)


def is_dead(pid: int) -> bool:
    """Return whether only the entry of a process is left, for a parent that never asks."""
    return (
        Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "Z"
    )


def test_both_modes_record_whole_graphs_first_and_report_on_the_nodes(folder: Path) -> None:
    result = run("--both-modes", "--dry-run", "-o", "a", "--", "server")

    lines = result.stdout.splitlines()
    assert "--cuda-graph-trace=graph" in lines[0]
    assert "--output=a-graph server" in lines[0]
    assert "--cuda-graph-trace=node" in lines[3]
    assert "--output=a server" in lines[3]
