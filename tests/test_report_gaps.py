"""The list of gaps in every format."""

import csv
import json
import re
from dataclasses import replace
from io import StringIO

import pytest

from tests.conftest import CheckGolden
from traceattr.attribution.analysis import Notice, RulesId, Window
from traceattr.attribution.gap_analysis import GapChoice
from traceattr.attribution.gap_figures import (
    Cause,
    Gap,
    GpuGaps,
    LaunchFigures,
    PairTime,
    SeamTime,
)
from traceattr.attribution.gap_report import GapReport
from traceattr.report.gap_view import GapView
from traceattr.report.gaps import render_gaps
from traceattr.report.render import ReportFormat

SUFFIXES = {"terminal": "txt", "markdown": "md", "json": "json", "csv": "csv"}
NASTY = "evil|range`<b>bold</b>` @everyone #1\n\x1b[31mred"


def seam(name: str, cause: Cause, count: int = 100) -> SeamTime:
    return SeamTime(
        seam=name,
        count=count,
        total_ns=cause.total_ns,
        median_ns=cause.total_ns // count,
        p99_ns=3 * cause.total_ns // count,
        longest_ns=4 * cause.total_ns // count,
        per_round_count=count / 25,
        per_round_ns=cause.total_ns // 25,
        cause=cause,
    )


def gpu(number: int = 0) -> GpuGaps:
    return GpuGaps(
        gpu=number,
        rank=number,
        pid=4101 + number,
        wall_ns=1_250_000_000,
        idle_ns=25_150_000,
        completeness="complete",
        rounds=25,
        seams=(
            seam(
                "verify->draft_extend",
                Cause(1_000_000, 500_000, 20_000, 2_000_000, 4_480_000, 2_000_000, 0),
            ),
            seam("draft_extend->draft", Cause(python_ns=4_999_999, sync_ns=1), 25),
        ),
        pairs=(
            PairTime("weight_gemm", "comm", 3_000, 6_000_000, 700, 120.0, 240_000),
            PairTime("norm", "weight_gemm", 2_000, 3_000_000, 600, 80.0, 120_000),
            PairTime("comm", "norm", 1_000, 1_000_000, 500, 40.0, 40_000),
        ),
        no_work=replace(seam("no work", Cause(unknown_ns=100_000), 2), per_round_count=0.0),
        shorter_count=500,
        shorter_ns=50_000,
        longest=(
            Gap(
                1_205_539_097,
                1_205_701_272,
                "seam",
                "verify->draft_extend",
                Cause(sync_ns=3_905, launch_ns=4_383, python_ns=153_887),
                NASTY,
            ),
            Gap(
                1_300_000_000, 1_300_090_000, "in-graph", "norm->comm", Cause(0, 0, 0, 0, 0, 90_000)
            ),
        ),
        launches=(
            LaunchFigures(
                "speculative",
                25,
                3.0,
                167_000,
                21.5,
                1248.0,
                49_645_000,
                47_924_000,
                48_273_000,
                48_569_000,
            ),
        ),
        knows_os_calls=True,
    )


def report(*per_gpu: GpuGaps) -> GapReport:
    return GapReport(
        version="0.1.0",
        rules=RulesId("sglang", "0123456789abcdef" * 4),
        file="decode.sqlite",
        simulated="Qwen3.6-27B, TP2, 3-step MTP on A6000, seed 7",
        window=Window(500_000_000, 1_750_000_000, "steady rounds"),
        round_kind="speculative",
        choice=GapChoice(top=2, min_ns=500),
        per_gpu=per_gpu,
        warnings=(Notice("window-cut", "1.000 s before the steady rounds are left out."),),
    )


def without_rounds() -> GpuGaps:
    made = gpu()
    seams = tuple(
        replace(one, seam="eager", per_round_count=None, per_round_ns=None)
        for one in made.seams[:1]
    )
    return replace(made, rounds=0, seams=seams, pairs=(), no_work=None, launches=())


@pytest.mark.parametrize("view", GapView)
@pytest.mark.parametrize("name", SUFFIXES)
def test_the_list_looks_as_reviewed(name: str, view: GapView, check_golden: CheckGolden) -> None:
    text = render_gaps(report(gpu(), gpu(1)), view, ReportFormat(name), width=80, color=False)

    file = "gaps" if name == "json" else f"gaps-{view}"
    check_golden(f"{file}.{SUFFIXES[name]}", text)


@pytest.mark.parametrize("view", GapView)
@pytest.mark.parametrize("width", [60, 80, 120, 160])
def test_no_line_is_wider_than_the_terminal(view: GapView, width: int) -> None:
    text = render_gaps(report(gpu()), view, ReportFormat.TERMINAL, width=width, color=False)

    lines = text.splitlines()
    assert all(line.isprintable() for line in lines)
    if width >= 80:
        assert max(map(len, lines)) <= width


def test_a_wide_terminal_has_a_column_for_the_host() -> None:
    text = render_gaps(report(gpu()), GapView.SEAM, ReportFormat.TERMINAL, width=140, color=False)

    [line] = [line for line in text.splitlines() if line.startswith("verify->draft_extend")]
    assert line.endswith("python 45 %, os 20 %, dependency 20 %, sync 10 %, launch 5 %")


def test_what_envelopes_hide_is_unknown() -> None:
    hidden = report(replace(gpu(), pairs=None))

    text = render_gaps(hidden, GapView.SEAM, ReportFormat.TERMINAL, width=80, color=False)
    as_json = render_gaps(hidden, GapView.SEAM, ReportFormat.JSON, width=80, color=False)

    [line] = [line for line in text.splitlines() if line.startswith("inside graphs")]
    assert line.split() == ["inside", "graphs", "unknown", "unknown", "unknown"]
    assert json.loads(as_json)["per_gpu"][0]["pairs"] is None


def test_without_rounds_totals_stand_where_means_would() -> None:
    made = replace(report(without_rounds()), round_kind=None)

    text = render_gaps(made, GapView.SEAM, ReportFormat.TERMINAL, width=80, color=False)

    assert "total, ms" in text
    assert "round" not in text.replace("the steady rounds", "")


def test_what_was_not_recorded_of_the_system_is_null_and_not_zero() -> None:
    blind = report(replace(gpu(), knows_os_calls=False))

    document = json.loads(
        render_gaps(blind, GapView.SEAM, ReportFormat.JSON, width=80, color=False)
    )
    rows = csv.DictReader(
        StringIO(render_gaps(blind, GapView.SEAM, ReportFormat.CSV, width=80, color=False))
    )

    assert document["per_gpu"][0]["seams"][0]["cause"]["os_ns"] is None
    assert next(rows)["os_ns"] == ""


def test_names_of_ranges_are_harmless() -> None:
    text = render_gaps(report(gpu()), GapView.GAP, ReportFormat.MARKDOWN, width=80, color=False)

    assert "<b>" not in text
    assert "@everyone" not in text
    assert "\x1b" not in text
    assert r"evil\|range" in text


def test_an_empty_table_says_so() -> None:
    made = report(replace(gpu(), pairs=()))

    for report_format in (ReportFormat.TERMINAL, ReportFormat.MARKDOWN):
        assert "none\n" in render_gaps(made, GapView.PAIR, report_format, width=80, color=False)


def test_unknown_os_calls_are_no_zero_and_host_code_is_not_called_python() -> None:
    made = report(replace(gpu(), knows_os_calls=False))

    by_cause = render_gaps(made, GapView.CAUSE, ReportFormat.TERMINAL, width=100, color=False)
    by_seam = render_gaps(made, GapView.SEAM, ReportFormat.TERMINAL, width=100, color=False)

    assert re.search(r"^os +unknown +unknown ", by_cause, re.MULTILINE)
    assert re.search(r"^host code +9.480 ", by_cause, re.MULTILINE)
    assert "python" not in by_cause
    assert "host code 45 %" in by_seam
    assert "os 20 %" not in by_seam


def test_every_cause_that_occurs_is_explained_in_one_line() -> None:
    text = render_gaps(report(gpu()), GapView.SEAM, ReportFormat.TERMINAL, width=1000, color=False)

    [legend] = [line for line in text.splitlines() if line.startswith("- The host was: ")]
    assert "; os = in an operating-system call; python = in no recorded call; " in legend
    assert "unknown = " not in legend
