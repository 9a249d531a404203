"""What a report says about gaps and about launching."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analyses import analysis, graph_mode, one_gpu
from tests.round_analyses import (
    decode_rounds,
    opaque_rounds,
    speculative,
    speculative_two_gpus,
)
from tests.round_parts import outside
from tests.test_report_gap_means import CAUSES, analyses
from traceattr.attribution.analysis import Analysis
from traceattr.attribution.gap_figures import Cause
from traceattr.report.gap_means import seam_means
from traceattr.report.gap_tables import host_parts
from traceattr.report.gaps_text import (
    GapRow,
    full_rows,
    full_titles,
    gap_facts,
    gap_rows,
    gap_titles,
    gaps_title,
    pair_rows,
)
from traceattr.report.launch_text import launch_rows, launch_title
from traceattr.report.render import ReportFormat, render
from traceattr.report.terminal_gaps import host_text


def fact(made: Analysis, label: str) -> str | None:
    return dict(gap_facts(made)).get(label)


def test_the_title_says_of_what_the_figures_are_means() -> None:
    assert gaps_title(one_gpu()) == "Gaps (median and p99 of one gap in us)"
    assert gaps_title(speculative()) == "Gaps (mean of 120 rounds; median and p99 of one gap in us)"
    assert gaps_title(speculative_two_gpus()) == (
        "Gaps (mean of 120 rounds and 2 GPUs; median and p99 of one gap in us)"
    )


def test_seams_have_their_time_in_a_round_or_else_in_the_window() -> None:
    assert gap_titles(speculative()) == ("seam", "gaps", "ms/round", "median", "p99")
    assert gap_rows(speculative(), 4)[0].cells == (
        "verify->draft_extend",
        "16.0",
        "0.301",
        "4.7",
        "150.4",
    )
    assert gap_titles(one_gpu()) == ("seam", "gaps", "total, ms", "median", "p99")
    assert [row.cells for row in gap_rows(one_gpu(), 4)] == [
        ("eager", "16", "16.251", "253.9", "8,125.5")
    ]


def test_seams_beyond_the_longest_are_one_line() -> None:
    rows = gap_rows(speculative(), 2)

    assert [row.cells for row in rows[2:]] == [("2 more", "32.0", "0.130", "", "")]
    assert len(gap_rows(speculative(), 3)) == 4


@given(analyses(), st.integers(1, 5))
def test_no_time_is_lost_in_a_short_list(made: Analysis, most: int) -> None:
    shown = sum(row.cause.total_ns for row in gap_rows(made, most))
    elsewhere = [one for one in seam_means(made) if not one.is_in_rounds]

    assert len(gap_rows(made, most)) <= most + 1
    assert shown + sum(one.cause.total_ns for one in elsewhere) == sum(
        gaps.seams_ns for gaps in made.gaps
    )


def test_seams_outside_rounds_are_named_with_their_time_in_the_window() -> None:
    (gaps,) = speculative().gaps
    for name in ("prefill", "eager->prefill", "draft_extend->prefill", "draft->prefill"):
        gaps = outside(gaps, name, 2_117_000)
    made = replace(speculative(), gaps=(gaps,))

    assert "prefill" not in [row.cells[0] for row in gap_rows(made, 9)]
    assert fact(made, "elsewhere") == (
        "in the window, but not in these rounds: draft->prefill 2.117 ms, "
        "draft_extend->prefill 2.117 ms, eager->prefill 2.117 ms, 1 more"
    )
    assert fact(speculative(), "elsewhere") is None


def test_gaps_in_graphs_are_named_by_the_pairs_with_most_of_them() -> None:
    assert fact(speculative(), "in graphs") == (
        "0.937 ms/round in 650 gaps: weight_gemm->comm 0.239, norm->weight_gemm 0.239, "
        "comm->norm 0.219, 2 more"
    )
    assert (fact(one_gpu(), "in graphs") or "").startswith("9.000 ms in 650 gaps: ")


def test_gaps_in_hidden_graphs_are_unknown_and_without_graphs_there_are_none() -> None:
    (gaps,) = one_gpu().gaps

    unknown = "unknown: graphs were recorded without what they ran"
    assert fact(graph_mode(), "in graphs") == fact(opaque_rounds(), "in graphs") == unknown
    assert fact(replace(one_gpu(), gaps=(replace(gaps, pairs=()),)), "in graphs") is None


def test_only_words_that_are_used_are_explained() -> None:
    (gaps,) = speculative().gaps
    (seam, *_) = gaps.seams
    known = replace(
        gaps, seams=(replace(seam, cause=Cause(os_ns=3, unknown_ns=5)),), knows_os_calls=True
    )

    assert fact(replace(speculative(), gaps=(known,)), "host") == (
        "os: an OS call; unknown: work whose launch is not in the trace; `traceattr gaps` has more"
    )


def test_host_time_is_called_python_only_where_os_calls_are_known() -> None:
    made = speculative()
    known = replace(made, gaps=tuple(replace(gaps, knows_os_calls=True) for gaps in made.gaps))

    assert fact(made, "host") == (
        "sync: a call that waits for the GPU; launch: one that launches; host code: no CUDA call; "
        "dependency: a wait on the GPU's side; "
        "`traceattr gaps` tells OS calls apart if they were recorded"
    )
    for report_format in (ReportFormat.TERMINAL, ReportFormat.MARKDOWN):
        assert "python" not in render(made, report_format, width=80, color=False)
        assert "host code" not in render(known, report_format, width=80, color=False)


@pytest.mark.parametrize("room", [24, 30, 80])
def test_what_a_narrow_list_has_no_room_for_is_one_number(room: int) -> None:
    cause = Cause(sync_ns=9, launch_ns=8, python_ns=63, dependency_ns=20)
    row = GapRow(("", "", "", "", ""), cause, knows_os_calls=True)

    text = host_text(row, room)
    numbers = [int(number) for number in re.findall(r"\d+", text)]

    assert sum(numbers) == 100
    assert len(text.splitlines()) <= 2
    assert max(map(len, text.splitlines())) <= room
    assert ("other" in text) == (room == 24)


@given(CAUSES)
def test_parts_are_whole_percents_of_which_100_is_exact(cause: Cause) -> None:
    parts = dict(host_parts(cause, knows_os_calls=True))

    assert sum(int(percent.removeprefix(">")) for percent in parts.values()) <= 104
    assert "0" not in parts.values()
    assert ("100" in parts.values()) == (len([ns for ns in parts_of(cause) if ns]) == 1)


def parts_of(cause: Cause) -> list[int]:
    return [getattr(cause, f"{name}_ns") for name in NAMES]


NAMES = ("sync", "launch", "api", "os", "python", "dependency", "unknown")


def test_a_seam_of_some_rounds_says_of_how_many() -> None:
    (gaps,) = speculative().gaps
    first, second, *others = gaps.seams
    seams = (replace(first, rounds_with=120), replace(second, rounds_with=7), *others)

    assert fact(replace(speculative(), gaps=(replace(gaps, seams=seams),)), "partly") == (
        f"{second.seam} in 7 of 120 rounds; means are over all of them"
    )
    assert fact(speculative(), "partly") is None


def test_rare_gaps_are_more_than_none() -> None:
    (gaps,) = speculative().gaps
    rare = replace(gaps, seams=(replace(gaps.seams[0], per_round_count=0.01),))

    assert gap_rows(replace(speculative(), gaps=(rare,)), 4)[0].cells[1] == "<0.1"


def test_an_unfolded_list_has_the_time_of_the_window_too() -> None:
    assert full_titles(speculative())[-1] == "window, ms"
    assert [cells[-1] for _, cells in full_rows(speculative())][:2] == ["36.106", "30.088"]
    assert full_titles(one_gpu()) == gap_titles(one_gpu())
    assert pair_rows(speculative())[0] == (
        "weight_gemm->comm",
        "130",
        "0.239",
        "1.8",
        "",
        "28.708",
    )


def test_launching_has_a_line_for_each_kind_of_round() -> None:
    assert launch_title(speculative_two_gpus()) == (
        "Launching (mean of 120 speculative rounds, on 2 GPUs; times in ms)"
    )
    assert launch_rows(speculative()) == (
        (
            *("speculative", "3", "1,248", "20.5"),
            *("0.156", "10.663", "11.113", "9.494", "9.494"),
        ),
    )
    assert [row[0] for row in launch_rows(decode_rounds())] == ["decode", "prefill"]
    assert launch_rows(opaque_rounds())[0][2] == "unknown"


@pytest.mark.parametrize("made", [analysis(), replace(speculative(), gaps=())])
def test_without_gaps_nothing_is_said(made: Analysis) -> None:
    assert gap_rows(made, 4) == ()
    assert gap_facts(made) == ()
    assert launch_rows(made) == ()
