"""What a report says about rounds and graphs."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analyses import analysis, one_gpu
from tests.round_analyses import (
    ROUNDS,
    cut_rounds,
    decode_rounds,
    opaque_rounds,
    speculative,
    speculative_two_gpus,
    unsure_rounds,
)
from traceattr.attribution.analysis import Analysis, SlowRounds
from traceattr.report.rounds_text import (
    graph_rows,
    graphs_note,
    ids_text,
    no_rounds_sentence,
    rounds_facts,
    rounds_title,
)


def with_slow(made: Analysis, slow: SlowRounds | None, count: int = 120) -> Analysis:
    return replace(made, rounds=replace(made.rounds, slow=slow, count=count, sampled=count))


def fact(made: Analysis, label: str) -> str:
    return dict(rounds_facts(made))[label]


def test_the_title_counts_rounds_and_prefills_and_names_the_gpu_among_several() -> None:
    assert rounds_title(speculative()) == "Rounds (120 speculative)"
    assert rounds_title(speculative_two_gpus()) == "Rounds (120 speculative; on GPU 0)"
    assert rounds_title(decode_rounds()) == "Rounds (120 decode, 3 prefills)"


def test_rounds_are_described_in_a_few_lines() -> None:
    assert rounds_facts(speculative()) == (
        (
            "length",
            "median 11.113 ms, p99 11.211, min 11.081, max 11.243, mean 11.121",
        ),
        (
            "slow",
            "the 2 slowest take 125.0 us more than the median on average; 56.8 % of that in "
            "host gaps, 71.0 us above its own median",
        ),
        ("replays", "verify 1, draft 1, draft_extend 1 per round"),
        ("phases", "target 71.5 %, draft 12.4 %, other 1.6 %, idle 14.6 % of the window"),
    )


def test_a_percentile_of_few_rounds_is_called_what_it_is() -> None:
    assert fact(cut_rounds(), "length").endswith("(p99 of so few is the slowest)")


@pytest.mark.parametrize(
    ("slow", "count", "text"),
    [
        (
            SlowRounds(1, "host gaps", 37_489, 0.391),
            60,
            "the slowest takes 95.9 us more than the median; 39.1 % of that in host gaps, "
            "37.5 us above its own median",
        ),
        (
            SlowRounds(1, "no work", 1_014_000_000, 1.2),
            60,
            "the slowest takes 0.845 s more than the median; all of that in no work, "
            "1.014 s above its own median",
        ),
        (None, 60, "the slowest takes 130.0 us more than the median; no group stands out"),
        (None, 29, "the slowest takes 130.0 us more than the median; to say why takes 30 rounds"),
    ],
)
def test_slow_rounds_have_a_reason_where_one_can_be_told(
    slow: SlowRounds | None, count: int, text: str
) -> None:
    assert fact(with_slow(speculative(), slow, count), "slow") == text


def few(made: Analysis, sampled: int, count: int) -> Analysis:
    return replace(made, rounds=replace(made.rounds, sampled=sampled, count=count, slow=None))


def test_the_length_says_over_how_many_of_the_rounds_it_is() -> None:
    assert fact(few(speculative(), 19, 20), "length").endswith(
        ", over 19 of 20 rounds; those that no other follows at once are left out"
    )


def test_below_ten_rounds_there_is_no_percentile_and_nothing_about_slow_rounds() -> None:
    labels = dict(rounds_facts(few(speculative(), 9, 10)))

    assert "p99" not in labels["length"]
    assert "slow" not in labels
    assert "p99" in fact(few(speculative(), 10, 10), "length")


def test_what_the_window_leaves_out_is_said_with_the_way_back() -> None:
    assert fact(cut_rounds(), "cut") == (
        "12.345 s before the steady rounds are left out (loading, capture or warm-up); "
        "0.815 s after the steady rounds are left out (no rounds); "
        "`--window` or `--rounds` say otherwise"
    )


def test_prefill_is_a_phase_of_the_window() -> None:
    assert fact(decode_rounds(), "phases") == (
        "target 81.5 %, prefill 7.7 %, other 1.8 %, idle 9.0 % of the window"
    )


def test_without_rounds_there_is_a_reason_and_nothing_else() -> None:
    assert no_rounds_sentence(one_gpu()) == (
        "No rounds: no CUDA graph was replayed, and rounds are told by their graphs. "
        "Figures per round and draft passes are unknown."
    )
    assert rounds_facts(one_gpu()) == ()
    assert no_rounds_sentence(speculative()) is None


def test_graphs_are_listed_in_the_order_of_kinds_with_their_evidence() -> None:
    rows = [row.cells for row in graph_rows(decode_rounds())]

    assert rows == [
        ("decode", "17", "120", "high", "64 layers in 1 pass, right after the target"),
        ("prefill_piece", "300-347, ... (65)", "130", "medium", "a row"),
    ]


def test_gpus_that_agree_have_one_line_for_each_graph() -> None:
    assert [row.cells[0] for row in graph_rows(opaque_rounds())] == [
        "verify",
        "draft",
        "draft_extend",
    ]
    assert graphs_note(opaque_rounds()) == "All 2 GPUs agree; ids and replays are those of GPU 0."
    assert graphs_note(speculative()) is None


def test_a_gpu_that_differs_is_listed_too_and_what_is_unsure_is_marked() -> None:
    rows = graph_rows(unsure_rounds())

    assert [row.cells[0] for row in rows[2:]] == [
        "draft_extend",
        "verify, GPU 1",
        "draft, GPU 1",
        "draft_extend, GPU 1",
        "other, GPU 1",
    ]
    assert [row.is_unsure for row in rows] == [False] * 6 + [True]
    assert graphs_note(unsure_rounds()) == "GPU 1 differs from GPU 0; both are listed."


def test_a_trace_without_gpus_has_no_graphs() -> None:
    assert graph_rows(analysis()) == ()
    assert graphs_note(analysis()) is None


@pytest.mark.parametrize(
    ("ids", "text"),
    [
        ([], ""),
        ([17], "17"),
        ([18, 17], "17-18"),
        ([17, 19], "17, 19"),
        ([1, 2, 3, 9, 10], "1-3, 9-10"),
        ([1, 3, 5], "1, ... (3)"),
    ],
)
def test_ids_in_a_row_are_a_range(ids: list[int], text: str) -> None:
    assert ids_text(ids) == text


@given(st.lists(st.integers(0, 10**9), max_size=30, unique=True))
def test_any_number_of_ids_is_short(ids: list[int]) -> None:
    assert len(ids_text(ids)) <= 42


@pytest.mark.parametrize("name", ROUNDS)
def test_no_text_about_rounds_breaks_a_line(name: str) -> None:
    texts = [text for fact in rounds_facts(ROUNDS[name]) for text in fact]

    assert all(text.isprintable() and text for text in texts)
