"""The cheapest way to turn one sequence into another."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Items = npt.NDArray[np.int64]
Costs = npt.NDArray[np.int64]

MOST_CELLS = 50_000_000
"""Product of two lengths up to which sequences are aligned; a byte is kept for each cell."""

GAP = 10
"""Cost of leaving out an item of either sequence."""

_PAIR, _FIRST, _SECOND = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Pair:
    """Items of both sequences that stand for each other, or an item of one of them alone.

    Attributes:
        first: Position in the first sequence, None for an item that only the second has.
        second: Position in the second.
    """

    first: int | None
    second: int | None


def align(first: Items, second: Items, costs: Costs) -> tuple[Pair, ...]:
    """Return the pairs of the cheapest alignment (Needleman and Wunsch 1970), in order.

    Algorithm: the cost of a cell is that of a pair, or that of one item alone; running minima give
    a whole row at once.  Of equally cheap ways the one that pairs the latest items is taken.

    Args:
        first: Items as rows of `costs`.
        second: Items as columns of `costs`.
        costs: What it costs to pair two items: 0 for the same, from twice `GAP` on for strangers.
    """
    same = _common(first, second, costs)
    end = _common(first[same:][::-1], second[same:][::-1], costs)
    inner_first, inner_second = first[same : len(first) - end], second[same : len(second) - end]
    pairs = [Pair(at, at) for at in range(same)]
    pairs += [
        Pair(
            None if pair.first is None else pair.first + same,
            None if pair.second is None else pair.second + same,
        )
        for pair in _backwards(_steps(inner_first, inner_second, costs))
    ]
    pairs += [Pair(len(first) - at, len(second) - at) for at in range(end, 0, -1)]
    return tuple(pairs)


def _common(first: Items, second: Items, costs: Costs) -> int:
    """Return how many items at the begin are the same."""
    length = min(len(first), len(second))
    differ = np.flatnonzero(costs[first[:length], second[:length]])
    return int(differ[0]) if len(differ) else length


def _steps(first: Items, second: Items, costs: Costs) -> npt.NDArray[np.int8]:
    """Return the last step of the cheapest way to each cell; shape (first + 1, second + 1)."""
    ramp = GAP * np.arange(len(second) + 1)
    steps = np.full((len(first) + 1, len(second) + 1), _SECOND, np.int8)
    steps[1:, 0] = _FIRST
    cost = ramp
    for row, item in enumerate(first, start=1):
        pair = cost[:-1] + costs[item, second]
        alone = cost[1:] + GAP
        best = np.concatenate(([row * GAP], np.minimum(pair, alone)))
        cost = np.minimum.accumulate(best - ramp) + ramp
        steps[row, 1:][cost[1:] == alone] = _FIRST
        steps[row, 1:][cost[1:] == pair] = _PAIR
    return steps


def _backwards(steps: npt.NDArray[np.int8]) -> list[Pair]:
    pairs: list[Pair] = []
    row, column = steps.shape[0] - 1, steps.shape[1] - 1
    while row or column:
        step = int(steps[row, column])
        row -= step != _SECOND
        column -= step != _FIRST
        pairs.append(Pair(None if step == _SECOND else row, None if step == _FIRST else column))
    return pairs[::-1]
