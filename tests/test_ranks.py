from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.decoding import ATTENTION, served, titled
from tests.synthetic import rounds_only
from traceattr.attribution.ranks import align_rounds, tensor_parallel_groups

Span = tuple[int, int]


def numbers(*spans_of: Sequence[Span]) -> list[list[int]]:
    accounts = [rounds_only(gpu, spans) for gpu, spans in enumerate(spans_of)]
    return [number.tolist() for number in align_rounds(accounts)]


def test_rounds_at_the_same_time_have_the_same_number() -> None:
    assert numbers([(0, 100), (105, 200)], [(5, 102), (107, 203)]) == [[0, 1], [0, 1]]


def test_a_rank_whose_capture_begins_later_goes_on_with_the_number_of_the_others() -> None:
    first = [(0, 100), (105, 200), (205, 300), (305, 400)]

    assert numbers(first, [(206, 299), (304, 401)]) == [[0, 1, 2, 3], [2, 3]]
    assert numbers([(206, 299), (304, 401)], first) == [[2, 3], [0, 1, 2, 3]]


def test_a_round_cut_by_the_begin_of_the_capture_is_the_round_that_the_others_see_whole() -> None:
    assert numbers([(0, 100), (105, 200)], [(80, 102), (107, 203)]) == [[0, 1], [0, 1]]


def test_a_rank_that_lost_a_round_skips_its_number() -> None:
    assert numbers([(0, 100), (105, 200), (205, 300)], [(2, 99), (207, 301)]) == [
        [0, 1, 2],
        [0, 2],
    ]


def test_two_rounds_of_a_rank_never_share_a_number() -> None:
    assert numbers([(0, 100), (100, 200), (200, 300)], [(0, 200), (200, 300)]) == [
        [0, 1, 2],
        [0, 2],
    ]


def test_ranks_without_rounds_have_no_numbers() -> None:
    assert numbers([], []) == [[], []]
    assert numbers([(0, 100)], []) == [[0], []]


LENGTHS = st.lists(st.integers(100, 5_000), min_size=1, max_size=12)


@given(LENGTHS, st.integers(0, 11), st.integers(0, 11), st.integers(-(10**15), 10**15))
def test_numbers_follow_time_wherever_a_capture_begins_and_ends(
    lengths: list[int], skipped: int, dropped: int, shift: int
) -> None:
    ends = np.cumsum(lengths).tolist()
    whole = [
        (end - length + shift, end - 1 + shift) for end, length in zip(ends, lengths, strict=True)
    ]
    late = [(start + 30, end + 30) for start, end in whole][skipped : len(whole) - dropped]

    first, second = numbers(whole, late)

    assert first == list(range(len(whole)))
    assert second == first[skipped : len(whole) - dropped]


@pytest.mark.parametrize(
    ("titles", "groups"),
    [
        (("sglang::scheduler_TP0", "sglang::scheduler_TP1"), ((0, 1),)),
        (("python3", "python3"), ((0, 1),)),
        ((None, None), ((0, 1),)),
        (("sglang::scheduler_DP0", "sglang::scheduler_DP1"), ((0,), (1,))),
        (("scheduler_DP0_TP0", "scheduler_DP0_TP1", "scheduler_DP1_TP0"), ((0, 1), (2,))),
        (("scheduler_DP0_TP0_EP0", "scheduler_DP1_TP1_EP1"), ((0, 1),)),
        (("scheduler_DP0_MOE_DP0_TP0", "scheduler_DP1_MOE_DP0_TP0"), ((0,), (1,))),
        (("scheduler_PP0_TP0", "scheduler_PP0_TP1", "scheduler_PP1_TP0"), ((0, 1), (2,))),
        (("scheduler_TP0", "scheduler_TP1", "python3"), ((0, 1), (2,))),
        ((), ()),
    ],
)
def test_titles_tell_which_gpus_share_collectives(
    titles: tuple[str | None, ...], groups: tuple[tuple[int, ...], ...]
) -> None:
    gpus = [titled(gpu, title) for gpu, title in enumerate(titles)]

    assert tensor_parallel_groups(gpus) == groups


def test_ranks_of_a_file_get_the_same_numbers(tmp_path: Path) -> None:
    whole = [[(ATTENTION, at, at + 80)] for at in range(1_000, 1_500, 100)]
    late = [[(ATTENTION, at + 3, at + 82)] for at in range(1_200, 1_500, 100)]

    server = served(tmp_path / "trace.sqlite", {"s_TP0": whole, "s_TP1": late})

    found = [number.tolist() for number in align_rounds(server.accounts)]
    assert found == [[0, 1, 2, 3, 4], [2, 3, 4]]
