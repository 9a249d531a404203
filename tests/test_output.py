"""Where the command line writes, and what it never overwrites."""

import io
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tests.loading import PID
from traceattr.cli import app
from traceattr.cli.output import check_page
from traceattr.errors import OptionError
from traces.export_writer import ExportWriter

COMMANDS = ("report", "kernels", "gaps")


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "trace.sqlite"
    with ExportWriter(path) as export:
        export.kernel("a", 1_000, 2_000, pid=PID)
        export.kernel("b", 3_000, 4_000, pid=PID)
    return path


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def shell(line: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a line of shell in which ``"$@"`` is traceattr with these arguments."""
    command = [sys.executable, "-m", "traceattr", *map(str, arguments)]
    return subprocess.run(
        ["sh", "-c", line, "sh", *command], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", ["trace.sqlite", "hard", "soft"])
def test_a_trace_is_not_overwritten_by_any_of_its_names(
    command: str, name: str, trace: Path
) -> None:
    (trace.parent / "hard").hardlink_to(trace)
    (trace.parent / "soft").symlink_to(trace)
    before = trace.read_bytes()

    result = run(command, trace, "-o", trace.parent / name, "--force")

    assert result.exit_code == 2
    assert result.stderr == (
        f"error: {trace.parent / name}: is the same file as the input {trace};"
        " name another output file\n"
    )
    assert trace.read_bytes() == before


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("suffix", ["-wal", "-shm"])
@pytest.mark.parametrize("exists", [False, True])
def test_what_sqlite_keeps_beside_a_trace_is_not_overwritten(
    command: str, suffix: str, exists: bool, trace: Path
) -> None:
    soft, beside = trace.parent / "soft", Path(f"{trace}{suffix}")
    soft.symlink_to(trace)
    if exists:
        beside.write_text("", encoding="utf-8")

    result = run(command, soft, "-o", beside, "--force")

    assert result.exit_code == 2
    assert f"is SQLite's {suffix} file of the input {soft}" in result.stderr
    assert beside.exists() is exists


@pytest.mark.parametrize("command", COMMANDS)
def test_rules_are_not_overwritten(command: str, trace: Path) -> None:
    rules = trace.parent / "mine.toml"
    rules.write_text("", encoding="utf-8")

    result = run(command, trace, "--rules", rules, "-o", rules, "--force")

    assert result.exit_code == 2
    assert "is the same file as the input" in result.stderr
    assert rules.read_text(encoding="utf-8") == ""


@pytest.mark.parametrize("command", COMMANDS)
def test_a_pipe_is_written_to_and_stays_a_pipe(command: str, trace: Path) -> None:
    pipe = trace.parent / "pipe"
    os.mkfifo(pipe)
    received: list[str] = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_text(encoding="utf-8")))
    reader.start()

    result = run(command, trace, "-o", pipe, "--format", "json")
    reader.join()

    assert result.exit_code == 0
    assert received == [run(command, trace, "--format", "json").stdout]
    assert pipe.is_fifo()


def test_an_open_file_is_written_at_its_end(trace: Path) -> None:
    target = trace.parent / "log"

    result = shell(
        f"echo first > '{target}'; \"$@\" >> '{target}'", "kernels", trace, "-o", "/dev/stdout"
    )

    assert (result.returncode, result.stderr) == (0, "Wrote /dev/stdout\n")
    first, *rest = target.read_text(encoding="utf-8").splitlines(keepends=True)
    assert (first, "".join(rest)) == ("first\n", run("kernels", trace).stdout)


def test_a_symbolic_link_stays_one_and_its_target_is_written(trace: Path) -> None:
    folder = trace.parent / "folder"
    folder.mkdir()
    link, target = trace.parent / "link", folder / "target"
    link.symlink_to(target)

    assert run("kernels", trace, "-o", link).exit_code == 0
    first = target.read_text(encoding="utf-8")
    refused = run("kernels", trace, "-o", link)
    assert run("report", trace, "-o", link, "--force").exit_code == 0

    assert refused.stderr == f"error: {link}: exists; overwrite it with --force\n"
    assert link.readlink() == target
    assert target.read_text(encoding="utf-8") != first
    assert [each.name for each in folder.iterdir()] == ["target"]


def test_a_link_to_itself_is_refused(trace: Path) -> None:
    link = trace.parent / "link"
    link.symlink_to(link)

    result = run("kernels", trace, "-o", link)

    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert "leads nowhere" in result.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("command", ["report", "gaps"])
def test_a_full_disk_behind_standard_output_is_one_line(command: str, trace: Path) -> None:
    result = shell('"$@" > /dev/full', command, trace)

    assert result.returncode == 2
    assert result.stderr == "error: standard output: cannot be written (No space left on device)\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("arguments", [("--help",), ("report", "--help"), ("--version",)])
def test_help_that_a_full_disk_does_not_take_is_one_line(arguments: tuple[str, ...]) -> None:
    result = shell('"$@" > /dev/full', *arguments)

    assert result.returncode == 2
    assert result.stderr == "error: standard output: cannot be written (No space left on device)\n"


@pytest.mark.parametrize("command", ["kernels"])
def test_a_closed_standard_output_is_one_line(command: str, trace: Path) -> None:
    result = shell('"$@" >&-', command, trace)

    assert result.returncode == 2
    assert result.stderr == "error: standard output is closed; name a file to write with -o FILE\n"


def test_a_closed_standard_output_does_not_matter_to_a_file(trace: Path) -> None:
    target = trace.parent / "report.txt"

    result = shell('"$@" >&-', "report", trace, "-o", target)

    assert (result.returncode, result.stderr) == (0, f"Wrote {target}\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("arguments", [("list",), ("explain", "name")])
def test_a_full_disk_is_one_line_for_rules_too(arguments: tuple[str, ...]) -> None:
    full = shell('"$@" > /dev/full', "rules", *arguments)

    assert (full.returncode, full.stderr.count("\n")) == (2, 1)
    assert full.stderr.startswith("error: standard output: cannot be written")


@pytest.mark.parametrize("arguments", [("check",), ("classify", "name")])
def test_a_closed_standard_output_is_one_line_for_rules_too(arguments: tuple[str, ...]) -> None:
    closed = shell('"$@" >&-', "rules", *arguments)

    assert (closed.returncode, closed.stderr.count("\n")) == (2, 1)
    assert closed.stderr.startswith("error: standard output is closed")


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("report_format", ["terminal", "markdown", "json", "csv"])
def test_a_name_that_is_not_utf8_is_escaped(command: str, report_format: str, trace: Path) -> None:
    odd = trace.rename(trace.parent / os.fsdecode(b"bad\xff.sqlite"))

    result = run(command, odd, "--format", report_format)

    assert result.exit_code == 0
    assert "\udcff" not in result.stdout
    if (command, report_format) == ("report", "terminal"):
        assert "trace        bad\\xff.sqlite" in result.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ("report", ""),
        ("kernels", ""),
        ("gaps", ""),
        ("report", "trace.sqlite", "-o", ""),
        ("report", "trace.sqlite", "--rules", ""),
        ("rules", "check", ""),
    ],
)
def test_an_empty_file_name_is_no_directory(arguments: tuple[str, ...]) -> None:
    result = run(*arguments)

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == (
        "error: no file name given, only this directory (expected the name of a file)\n"
    )


@pytest.mark.parametrize(
    "arguments",
    [("report", "trace.sqlite", "--rules", "none"), ("rules", "check", "none")],
)
def test_missing_rules_have_no_line(arguments: tuple[str, ...]) -> None:
    result = run(*arguments)

    assert result.exit_code == 2
    assert result.stderr == "error: none: no such file (expected a rule file)\n"


def test_one_rule_and_one_example_are_counted_as_one(tmp_path: Path) -> None:
    rules = tmp_path / "mine.toml"
    rules.write_text(
        '[[rule]]\nname = "mine"\ncategory = "gdn"\npattern = "^mine"\nmatches = ["mine_1"]\n',
        encoding="utf-8",
    )

    assert run("rules", "check", rules).stdout == "1 rule, 1 example: no problem found\n"


@pytest.mark.parametrize("command", ["report", "gaps"])
def test_a_graph_has_one_kind(command: str, trace: Path) -> None:
    same = ("--graph-kind", "17=draft", "--graph-kind", "17=draft")

    result = run(command, trace, "--graph-kind", "17=draft", "--graph-kind", "017=verify")

    assert result.exit_code == 2
    assert result.stderr == (
        "error: --graph-kind '017=verify': graph 17 is draft already"
        " (expected one kind for each graph)\n"
    )
    assert "already" not in run(command, trace, *same).stderr


LISTS = ("kernels", "gaps")


@pytest.mark.parametrize("command", LISTS)
@pytest.mark.parametrize("report_format", ["terminal", "markdown"])
def test_a_list_names_its_trace_its_window_and_what_was_simulated(
    command: str, report_format: str
) -> None:
    demo = Path(__file__).parent.parent / "traces" / "demo.sqlite"

    result = run(command, demo, "--format", report_format, "--window", "1.21:1.34")

    text = " ".join(result.stdout.split())
    assert "demo.sqlite" in text
    assert "1.210000000 s to 1.340000000 s (0.130 s)" in text
    assert "SIMULATED by traceattr: Qwen3.6-27B" in text
    assert "this is not a measurement." in text
    assert "so in-graph gaps are upper limits." in text


@pytest.mark.parametrize("command", LISTS)
@pytest.mark.parametrize("report_format", ["terminal", "markdown"])
def test_a_list_says_where_idle_time_is_an_upper_limit(
    command: str, report_format: str, trace: Path
) -> None:
    with_missing_work = trace.parent / "missing.sqlite"
    with ExportWriter(with_missing_work) as export:
        export.kernel("a", 1_000, 2_000, pid=PID)
        export.api("cudaGraphLaunch_v10000", 2_100, 2_200, pid=PID, correlation=7)
        export.kernel("b", 3_000, 4_000, pid=PID)

    missing = run(command, with_missing_work, "--format", report_format).stdout
    complete = run(command, trace, "--format", report_format).stdout

    assert "dle time is an upper limit" in " ".join(missing.split())
    assert "upper limit" not in complete


@pytest.mark.parametrize("view", ["seam", "pair", "cause", "gap"])
@pytest.mark.parametrize("columns", [40, 60])
def test_a_narrow_list_of_gaps_has_fewer_columns_and_whole_lines(view: str, columns: int) -> None:
    demo = Path(__file__).parent.parent / "traces" / "demo.sqlite"

    result = CliRunner().invoke(
        app, ["gaps", str(demo), "--by", view], env={"COLUMNS": str(columns)}
    )

    lines = result.stdout.splitlines()
    assert max(map(len, lines)) <= columns
    titles = [lines[n - 1].split()[0] for n, line in enumerate(lines) if line.startswith("---")]
    first = {"seam": "seam", "pair": "inside", "cause": "cause", "gap": "start,"}[view]
    assert titles == [first, first, *(["GPU"] if view == "seam" else [])]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("report", "x", "--format", "xml"), "'xml' is not one of terminal, markdown, json,"),
        (("kernels", "x", "--format", "xml"), "'xml' is not one of terminal, markdown, json,"),
        (("gaps", "x", "--by", "cat"), "'cat' is not one of seam, pair, cause, gap"),
        (("rules", "classify", "x", "--format", "xml"), "'xml' is not one of tsv, json"),
    ],
)
def test_an_unknown_choice_is_answered_with_the_choices(
    arguments: tuple[str, ...], message: str
) -> None:
    result = run(*arguments)

    assert result.exit_code == 2
    assert message in result.stderr
    assert "Value error" not in result.stderr


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_page_does_not_fill_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", Terminal())

    with pytest.raises(OptionError, match=r"name a file, as in -o report\.html"):
        check_page("html", None)
    check_page("html", Path("report.html"))
    check_page("markdown", None)
