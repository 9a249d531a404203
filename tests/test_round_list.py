"""``traceattr rounds``: which rounds there are, and which are slow."""

import csv
import json
from io import StringIO
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tests.decoding import ATTENTION, GEMM, Kernel, write_replays
from tests.loading import PID
from traceattr.attribution.choice import STEADY_ROUNDS
from traceattr.attribution.round_list import RoundList, list_rounds
from traceattr.cli import app
from traceattr.ingest.trace import open_trace
from traceattr.report.render import ReportFormat
from traceattr.report.rounds import render_rounds
from traceattr.rules.rule_set import load_rules
from traces.export_writer import ExportWriter

LENGTHS_NS = (1_000_000, 1_000_000, 1_400_000, 1_000_000, 1_100_000)


def write_rounds(path: Path, lengths_ns: tuple[int, ...] = LENGTHS_NS) -> Path:
    """Write a server whose rounds have these lengths, and one more after a long pause."""
    starts = [5_000_000]
    for length_ns in lengths_ns:
        starts.append(starts[-1] + length_ns)
    starts[-1] += 900_000_000
    write_replays(path, {"sglang::scheduler_TP0": [round_at(begin) for begin in starts]})
    return path


def round_at(begin: int) -> list[Kernel]:
    return [(ATTENTION, begin, begin + 50_000), (GEMM, begin + 50_000, begin + 700_000)]


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_rounds(tmp_path_factory.mktemp("rounds") / "trace.sqlite")


@pytest.fixture(scope="module")
def found(trace: Path) -> RoundList:
    return listed(trace)


def listed(path: Path) -> RoundList:
    with open_trace(path) as trace:
        return list_rounds(trace, load_rules(), STEADY_ROUNDS)


def shown(
    found: RoundList, report_format: str = "terminal", width: int = 80, slowest: int | None = None
) -> str:
    chosen = ReportFormat(report_format)
    return render_rounds(found, chosen, width=width, color=False, slowest=slowest)


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["rounds", *map(str, arguments)])


def test_rounds_are_listed_in_order_and_the_slowest_is_marked(found: RoundList) -> None:
    rows = shown(found).partition("\n\n")[2].partition("\n\n")[0].splitlines()

    assert rows == [
        "round     start, s  length, ms  vs median  kind",
        "-" * 68,
        "    0  0.005000000       1.000     +0.0 %  decode",
        "    1  0.006000000       1.000     +0.0 %  decode",
        "    2  0.007000000       1.400    +40.0 %  decode  slowest",
        "    3  0.008400000       1.000     +0.0 %  decode",
        "    4  0.009400000       0.700             decode  not in the report",
        "    5  0.910500000       0.700             decode  not in the report",
    ]


def test_the_heading_says_how_to_see_the_slowest(trace: Path) -> None:
    text = " ".join(run(trace).stdout.split("\n\n")[0].split())

    assert text == (
        "6 decode rounds of GPU 0; the report's figures are about 4 of them: median 1.000 ms,"
        " longest 1.400. The slowest alone: `--rounds 2:3`."
    )
    report = CliRunner().invoke(app, ["report", str(trace), "--rounds", "2:3", "--format", "json"])
    assert json.loads(report.stdout)["window"]["wall_ns"] == 1_400_000


def test_only_the_slowest_are_listed_slowest_first(found: RoundList) -> None:
    rows = list(csv.DictReader(StringIO(shown(found, "csv", slowest=2))))

    assert [(row["round"], row["length_ns"], row["mark"]) for row in rows] == [
        ("2", "1400000", "slowest"),
        ("0", "1000000", "usual"),
    ]


def test_json_has_exact_times_and_null_for_rounds_outside_the_report(found: RoundList) -> None:
    document = json.loads(shown(found, "json"))

    assert (document["format"], document["kind"], document["why"]) == (1, "decode", None)
    assert document["wall_ns"]["max"] == 1_400_000
    assert document["rounds"][4] == {
        "round": 4,
        "kind": "decode",
        "start_ns": 9_400_000,
        "end_ns": 10_100_000,
        "length_ns": 700_000,
        "mark": None,
    }


def test_many_rounds_have_a_slowest_hundredth(tmp_path: Path) -> None:
    lengths = [1_000_000] * 200
    lengths[20], lengths[50], lengths[70] = 1_010_000, 1_300_000, 1_200_000
    path = write_rounds(tmp_path / "trace.sqlite", tuple(lengths))

    document = json.loads(shown(listed(path), "json"))

    marked = {each["round"]: each["mark"] for each in document["rounds"]}
    assert {round_: mark for round_, mark in marked.items() if mark not in ("usual", None)} == {
        50: "slowest",
        70: "slow",
    }


def test_markdown_is_a_table(found: RoundList) -> None:
    text = shown(found, "markdown", slowest=1)

    assert "| round | start, s | length, ms | vs median | kind |  |\n" in text
    assert "| 2 | 0.007000000 | 1.400 | \\+40.0 % | decode | slowest |\n" in text


def test_a_narrow_terminal_keeps_round_length_and_mark(found: RoundList) -> None:
    lines = shown(found, width=40).splitlines()

    assert "round  length, ms" in lines
    assert "    2       1.400  slowest" in lines
    assert max(map(len, lines)) <= 40


def test_a_trace_without_rounds_says_why(tmp_path: Path) -> None:
    path = tmp_path / "trace.sqlite"
    with ExportWriter(path) as export:
        export.kernel("a", 1_000, 2_000, pid=PID)

    result = run(path)
    found = listed(path)

    assert result.exit_code == 0
    assert result.stdout.startswith("No rounds: no CUDA graph was replayed")
    assert shown(found, "markdown").startswith("No rounds: no CUDA graph was replayed")
    assert json.loads(shown(found, "json"))["rounds"] == []
