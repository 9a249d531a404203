"""The cheapest way to turn one sequence of kernels into another."""

from functools import cache

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from traceattr.report.diff.alignment import GAP, Pair, align

KINDS = 5
COSTS = np.full((KINDS, KINDS), 3 * GAP)
COSTS[0, 1] = COSTS[1, 0] = GAP // 2
COSTS[2, 3] = COSTS[3, 2] = GAP + 2
np.fill_diagonal(COSTS, 0)

sequences = st.lists(st.integers(0, KINDS - 1), max_size=12)


def aligned(first: list[int], second: list[int]) -> tuple[Pair, ...]:
    return align(np.array(first, np.int64), np.array(second, np.int64), COSTS)


def cost(pairs: tuple[Pair, ...], first: list[int], second: list[int]) -> int:
    return sum(
        GAP
        if pair.first is None or pair.second is None
        else int(COSTS[first[pair.first], second[pair.second]])
        for pair in pairs
    )


def least_cost(first: list[int], second: list[int]) -> int:
    """Return the cost of the cheapest alignment, by trying everything."""

    @cache
    def rest(at: int, other: int) -> int:
        if at == len(first) or other == len(second):
            return GAP * (len(first) - at + len(second) - other)
        pair = int(COSTS[first[at], second[other]]) + rest(at + 1, other + 1)
        return min(pair, GAP + rest(at + 1, other), GAP + rest(at, other + 1))

    return rest(0, 0)


@given(sequences, sequences)
def test_every_item_is_used_once_in_order_at_the_least_cost(
    first: list[int], second: list[int]
) -> None:
    pairs = aligned(first, second)

    assert [pair.first for pair in pairs if pair.first is not None] == list(range(len(first)))
    assert [pair.second for pair in pairs if pair.second is not None] == list(range(len(second)))
    assert cost(pairs, first, second) == least_cost(first, second)


def test_equal_sequences_are_paired_item_by_item() -> None:
    assert aligned([4, 0, 2], [4, 0, 2]) == (Pair(0, 0), Pair(1, 1), Pair(2, 2))


def test_a_kernel_gone_from_each_layer_is_left_out_in_each_layer() -> None:
    layer = [4, 0, 2, 0, 4]

    pairs = aligned(layer * 40, [4, 0, 0, 4] * 40)

    assert [pair.first for pair in pairs if pair.second is None] == list(range(2, 200, 5))
    assert all(pair.first is not None for pair in pairs)
