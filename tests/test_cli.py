"""The command line as a person uses it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tests.loading import PID
from traceattr.cli import app
from traces.export_writer import ExportWriter


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "trace.sqlite"
    with ExportWriter(path) as export:
        export.kernel(
            "ncclDevKernel_AllReduce_Sum_bf16_RING_LL()", 1_000_000_000, 1_000_000_600, pid=PID
        )
        export.kernel("nobody_knows_this", 1_000_000_800, 1_000_001_000, pid=PID)
    return path


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_report_prints_a_sentence_and_a_table(trace: Path) -> None:
    result = run("report", trace)

    assert result.exit_code == 0
    assert result.stderr == ""
    assert result.stdout.splitlines()[0].endswith("is idle.")
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert "\x1b" not in result.stdout


def test_json_is_one_document(trace: Path) -> None:
    document = json.loads(run("report", trace, "--format", "json").stdout)

    assert document["format"] == 1
    assert document["window"]["wall_ns"] == 1000
    [gpu] = document["per_gpu"]
    assert sum(group["exclusive_ns"] for group in gpu["groups"]) == gpu["wall_ns"] == 1000


def test_a_window_is_exact_to_the_nanosecond(trace: Path) -> None:
    result = run("report", trace, "--format", "json", "--window", "1.000000100:1.000000900")

    document = json.loads(result.stdout)
    assert document["window"]["wall_ns"] == 800
    assert {c["category"]: c["exclusive_ns"] for c in document["per_gpu"][0]["categories"]} == {
        "comm": 500,
        "unclassified": 100,
    }


def test_own_rules_go_before_ours(trace: Path, tmp_path: Path) -> None:
    rules = tmp_path / "mine.toml"
    rules.write_text(
        '[[rule]]\nname = "mine"\ncategory = "gdn"\npattern = "^nobody"\n'
        'matches = ["nobody_knows_this"]\n',
        encoding="utf-8",
    )

    result = run("kernels", trace, "--rules", rules, "--format", "json")

    assert {k["name"]: k["rule"] for k in json.loads(result.stdout)["kernels"]}[
        "nobody_knows_this"
    ] == "mine"


def test_kernels_lists_those_without_a_rule(trace: Path) -> None:
    result = run("kernels", trace, "--unclassified")

    assert "nobody_knows_this" in result.stdout
    assert "ncclDevKernel" not in result.stdout


def test_output_goes_to_the_file_and_its_name_to_standard_error(
    trace: Path, tmp_path: Path
) -> None:
    target = tmp_path / "report.md"

    result = run("report", trace, "--format", "markdown", "-o", target)

    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == f"Wrote {target}\n"
    assert target.read_text(encoding="utf-8").startswith("**")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["report.md", "trace.sqlite"]


def test_an_existing_file_is_kept_unless_forced(trace: Path, tmp_path: Path) -> None:
    target = tmp_path / "report.md"
    target.write_text("mine", encoding="utf-8")

    refused = run("report", trace, "-o", target)
    assert (refused.exit_code, target.read_text(encoding="utf-8")) == (2, "mine")
    assert refused.stderr == f"error: {target}: exists; overwrite it with --force\n"

    assert run("report", trace, "-o", target, "--force").exit_code == 0
    assert target.read_text(encoding="utf-8") != "mine"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("report", "nope.sqlite"), "nope.sqlite: no such file"),
        (("report", "TRACE", "--window", "2:1"), "ends before it begins"),
        (("report", "TRACE", "--window", "7:9"), "nothing was recorded there"),
        (("report", "TRACE", "--rules", "nope.toml"), "nope.toml"),
        (("report", "TRACE", "-o", "nowhere/report.md"), "mkdir -p nowhere"),
        (("kernels", "nope.sqlite"), "nope.sqlite: no such file"),
    ],
)
def test_a_mistake_is_one_line_on_standard_error(
    trace: Path, arguments: tuple[str, ...], message: str
) -> None:
    result = run(*(trace if argument == "TRACE" else argument for argument in arguments))

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("error: ")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_file_name_cannot_write_to_the_terminal() -> None:
    result = run("report", "evil\x1b[31m\nname.sqlite")

    assert result.stderr.count("\n") == 1
    assert "\x1b" not in result.stderr


@pytest.mark.parametrize("command", [(), ("report",), ("kernels",), ("rules",), ("rules", "check")])
def test_every_command_explains_itself(command: tuple[str, ...]) -> None:
    result = run(*command, "--help")

    assert result.exit_code == 0
    assert "Usage: " in result.stdout


def start(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "traceattr", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | environment,
    )


def test_help_loads_nothing_heavy() -> None:
    result = start("--help")

    assert result.returncode == 0
    loaded = {line.rsplit("|", 1)[-1].strip() for line in result.stderr.splitlines()}
    assert not loaded & {"duckdb", "pyarrow", "numpy", "sqlite_utils", "tomllib", "sqlite3"}
    assert not loaded & {"importlib.metadata", "traceattr.attribution.analysis"}


def test_the_module_runs_and_says_its_version() -> None:
    result = start("--version")

    assert result.stdout.startswith("traceattr 0.")


def test_a_reader_that_stops_early_is_no_error(trace: Path) -> None:
    """As with `traceattr report ... | head -1`."""
    with subprocess.Popen(
        [sys.executable, "-m", "traceattr", "report", str(trace)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert b"Traceback" not in process.stderr.read()


@pytest.mark.parametrize("report_format", ["terminal", "markdown", "json", "csv"])
def test_a_trace_of_one_instant_is_reported(tmp_path: Path, report_format: str) -> None:
    path = tmp_path / "trace.sqlite"
    with ExportWriter(path) as export:
        export.kernel("f", 100, 100, pid=PID)

    assert run("report", path, "--format", report_format).exit_code == 0
    assert run("kernels", path, "--format", report_format).exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("report", "--fromat", "json"), "no such option: --fromat. Did you mean --format?; see"),
        (("reprot",), "no such command 'reprot'. Did you mean 'report'"),
        (("rules", "chek"), "no such command 'chek'. Did you mean 'check'?; see"),
        (("report",), "missing argument 'TRACE...'; see"),
        (("rules", "explain"), "missing argument 'NAME'; see"),
        (("kernels", "a", "b"), "got unexpected extra argument(s) (b); see"),
        (("report", "a", "--format", "x"), "invalid value for '--format': 'x' is not one of "),
        (("report", "a", "--tp", "x"), "invalid value for '--tp': "),
        (("rules", "classify"), "nothing to classify (expected NAME or --from-file FILE); see"),
        (("report", "a", "--rules"), "option '--rules' requires an argument"),
        (("--bogus\x1b[31m\n",), "no such option: --bogus"),
    ],
)
def test_a_usage_error_is_one_line_too(arguments: tuple[str, ...], message: str) -> None:
    result = run(*arguments)

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"error: {message}")
    assert result.stderr.count("\n") == 1
    assert "\x1b" not in result.stderr


def test_a_usage_error_names_the_help_of_its_command() -> None:
    result = CliRunner().invoke(app, ["rules", "list", "x"], prog_name="traceattr")

    assert result.stderr.endswith("; see traceattr rules list --help\n")


@pytest.mark.parametrize(
    "at_import",
    ["raise KeyboardInterrupt", "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n1 / 0"],
)
def test_ctrl_c_during_the_imports_is_one_word(tmp_path: Path, at_import: str) -> None:
    (tmp_path / "typer.py").write_text(at_import, encoding="utf-8")

    result = subprocess.run(
        [sys.executable, "-m", "traceattr", "--help"],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
    )

    assert (result.returncode, result.stdout, result.stderr) == (130, "", "interrupted\n")


def test_ctrl_c_in_code_that_is_made_by_code_has_the_same_exit_code(tmp_path: Path) -> None:
    """As dataclasses are; Python would end by SIGINT after it."""
    (tmp_path / "numpy.py").write_text("exec('raise KeyboardInterrupt')", encoding="utf-8")
    command = [sys.executable, "-m", "traceattr", "report", "--no-cache", "traces/demo.sqlite"]
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}

    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    assert (result.returncode, result.stdout, result.stderr) == (130, "", "interrupted\n")


@pytest.mark.parametrize("error", [KeyboardInterrupt(), RuntimeError("Query interrupted")])
def test_ctrl_c_in_a_command_is_one_word(
    trace: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    """DuckDB has an error of its own for it."""

    def interrupt(*_: object) -> None:
        raise error

    monkeypatch.setattr("traceattr.attribution.analyze.survey", interrupt)

    result = run("report", trace)

    assert (result.exit_code, result.stdout, result.stderr) == (130, "", "interrupted\n")
