"""What a report says about communication across ranks."""

from dataclasses import replace

import pytest

from tests.analyses import analysis, one_gpu, two_gpus
from tests.round_analyses import opaque_rounds, speculative, speculative_four_gpus
from tests.round_parts import waiting_ranks
from traceattr.attribution.analysis import Analysis
from traceattr.attribution.rank_figures import IDLE, RankGroup, Straggler
from traceattr.report.ranks_text import (
    has_ranks,
    rank_rows,
    rank_sentences,
    ranks_summary,
    ranks_title,
)

WAITING = waiting_ranks(4, 120)


def with_groups(*groups: RankGroup) -> Analysis:
    return replace(speculative_four_gpus(), ranks=groups)


def with_straggler(straggler: Straggler | None) -> str:
    (sentence,) = rank_sentences(with_groups(replace(WAITING, straggler=straggler)))
    return sentence


def test_each_gpu_has_a_line_with_wire_wait_and_its_part_of_the_waiting() -> None:
    assert ranks_title(speculative_four_gpus()) == (
        "Communication across ranks (ms/round, median over 120 rounds)"
    )
    assert rank_rows(speculative_four_gpus())[1:] == (
        ("1", "1.043", "1.045", "0.200", "0.400", "1.1 %", "10.0 %"),
        ("2", "1.043", "1.045", "0.200", "0.400", "1.1 %", "10.0 %"),
        ("3", "1.043", "1.045", "0.020", "0.040", "96.8 %", "69.2 %"),
    )


@pytest.mark.parametrize(
    ("straggler", "text"),
    [
        (
            Straggler(3, 43_200_000, "weight_gemm", 27_000_000),
            "It is 4.00 us behind each time, with 2.50 us more weight_gemm than the others.",
        ),
        (
            Straggler(3, 43_200_000, IDLE, 54_000_000),
            "It is 4.00 us behind each time, idle 5.00 us longer than the others: its host is "
            "late.",
        ),
        (Straggler(3, 43_200_000, None, None), "No category shows what keeps it."),
        (Straggler(3, -5, "gdn", 7), "No category shows what keeps it."),
    ],
)
def test_a_straggler_is_named_with_what_keeps_it(straggler: Straggler, text: str) -> None:
    assert with_straggler(straggler) == (
        "GPU 3 keeps the others waiting: it causes 96.8 % of the waiting, and arrives last at "
        f"69.2 % of 15,600 collectives. {text}"
    )


def test_ranks_that_take_turns_have_no_straggler() -> None:
    assert with_straggler(None) == "No rank keeps the others waiting more than chance would."


def test_what_was_not_compared_is_said_where_it_is_much() -> None:
    group = replace(waiting_ranks(2, 120, unmatched_ns=20_000_000), rounds_left_out=3)

    (sentence,) = rank_sentences(with_groups(group))

    assert sentence.endswith(
        "Left out: 3 of 123 rounds, in which the ranks run different collectives. Not compared: "
        "12.6 % of communication, outside such rounds or in kernels that do not wait for all "
        "ranks."
    )
    assert "Not compared" not in rank_sentences(with_groups(waiting_ranks(2, 120, 100)))[0]


def test_without_rounds_of_decoding_wire_and_wait_per_round_are_unknown() -> None:
    per_gpu = [
        replace(one, wire_per_round=None, wait_per_round=None) for one in WAITING.per_gpu or ()
    ]
    made = with_groups(replace(WAITING, per_gpu=tuple(per_gpu)))

    assert rank_rows(made)[0][1:5] == ("unknown",) * 4
    assert ranks_summary(made) == rank_sentences(made)


def test_a_summary_has_the_means_of_the_gpus() -> None:
    (text,) = ranks_summary(speculative_four_gpus())

    assert text.startswith("1.043 ms/round on the wire, 0.155 ms waiting for others. GPU 3 keeps")


def test_where_nothing_can_be_said_there_is_a_reason() -> None:
    assert rank_rows(opaque_rounds()) == ()
    assert rank_sentences(opaque_rounds()) == (
        "Waiting for other ranks cannot be told from transfer: collectives are hidden in graphs "
        "that were not traced per node.",
    )
    assert ranks_summary(two_gpus()) == rank_sentences(two_gpus())


@pytest.mark.parametrize("made", [analysis(), one_gpu(), speculative()])
def test_a_gpu_alone_waits_for_nobody(made: Analysis) -> None:
    assert not has_ranks(made)
    assert rank_rows(made) == ()
    assert rank_sentences(made) == ranks_summary(made) == ()


def test_several_groups_are_told_apart() -> None:
    made = with_groups(waiting_ranks(2, 120), RankGroup((2, 3), reason="no collectives"))

    first, second = rank_sentences(made)

    assert first.startswith("GPUs 0, 1: GPU 1 keeps the others waiting")
    assert second.startswith("GPUs 2, 3: Waiting for other ranks cannot be told")
    assert [row[0] for row in rank_rows(made)] == ["0", "1"]
