"""``traceattr gaps`` as a person uses it."""

import csv
import json
from io import StringIO
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
        export.api("cudaLaunchKernel_v7000", 1_000, 1_500, pid=PID, correlation=1)
        export.kernel("a", 3_000, 10_000, pid=PID, correlation=1)
        export.api("cudaLaunchKernel_v7000", 2_000, 2_500, pid=PID, correlation=2)
        export.kernel("b", 11_000, 20_000, pid=PID, correlation=2)
        export.nvtx("scheduler.process_batch_result", 15_000, 80_000, pid=PID)
        export.osrt("poll", 30_000, 40_000, pid=PID)
        export.api("cudaLaunchKernel_v7000", 90_000, 95_000, pid=PID, correlation=3)
        export.kernel("c", 100_000, 110_000, pid=PID, correlation=3)
    return path


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["gaps", *map(str, arguments)])


def test_gaps_are_listed_with_what_the_host_was_doing(trace: Path) -> None:
    result = run(trace, "--by", "gap")

    assert result.exit_code == 0
    assert result.stderr == ""
    assert "80.000  eager" in result.stdout
    assert "python 75 %, os 12 %, launch 6 %, dependency 6 %; in scheduler." in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_short_gaps_are_left_out(trace: Path) -> None:
    document = json.loads(run(trace, "--min-us", "1.5", "--format", "json").stdout)

    [gpu] = document["per_gpu"]
    assert [(gap["start_ns"], gap["end_ns"]) for gap in gpu["longest"]] == [(20_000, 100_000)]
    assert (gpu["shorter_count"], gpu["shorter_ns"]) == (1, 1_000)
    assert document["min_ns"] == 1_500


@pytest.mark.parametrize("number", ["inf", "1e999"])
def test_a_number_without_end_is_a_usage_error(trace: Path, number: str) -> None:
    result = run(trace, "--min-us", number)

    assert result.exit_code == 2
    assert "'--min-us': inf is no number to count with" in result.stderr


def test_top_limits_the_list(trace: Path) -> None:
    rows = list(
        csv.DictReader(StringIO(run(trace, "--by", "gap", "--top", "1", "--format", "csv").stdout))
    )

    assert [row["start_ns"] for row in rows] == ["20000"]


def test_a_window_cuts_gaps_and_their_causes(trace: Path) -> None:
    document = json.loads(run(trace, "--window", "0.00003:0.00005", "--format", "json").stdout)

    [seam] = document["per_gpu"][0]["seams"]
    assert seam["total_ns"] == 20_000
    assert (seam["cause"]["os_ns"], seam["cause"]["python_ns"]) == (10_000, 10_000)


def test_a_report_is_written_once(trace: Path, tmp_path: Path) -> None:
    target = tmp_path / "gaps.md"

    first = run(trace, "--format", "markdown", "-o", target)
    second = run(trace, "--format", "markdown", "-o", target)

    assert (first.exit_code, second.exit_code) == (0, 2)
    assert target.read_text(encoding="utf-8").startswith("**GPU 0")


def test_an_unknown_view_is_a_usage_error(trace: Path) -> None:
    assert run(trace, "--by", "colour").exit_code == 2
