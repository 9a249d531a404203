"""Slices that overlap on several lanes: those of one track of Perfetto must nest."""

import heapq
from collections.abc import Iterator, Sequence
from typing import TypeVar

_What = TypeVar("_What")


def lanes(start_ns: Sequence[int], end_ns: Sequence[int]) -> list[int]:
    """Return the lane of each interval, given in order of start; no two on a lane overlap.

    As few lanes as possible are used, and the lowest free one is taken.
    """
    found: list[int] = []
    free: list[int] = []
    busy: list[tuple[int, int]] = []
    for start, end in zip(start_ns, end_ns, strict=True):
        while busy and busy[0][0] <= start:
            heapq.heappush(free, heapq.heappop(busy)[1])
        lane = heapq.heappop(free) if free else len(busy)
        heapq.heappush(busy, (end, lane))
        found.append(lane)
    return found


def nesting_lanes(start_ns: Sequence[int], end_ns: Sequence[int]) -> list[int]:
    """Return the lane of each interval, on which each lies inside the ones around it.

    Args:
        start_ns: Begins in order; of intervals that begin together the outer comes first.
        end_ns: Ends.
    """
    found: list[int] = []
    open_ends: list[list[int]] = []
    for start, end in zip(start_ns, end_ns, strict=True):
        lane = next(
            (at for at, ends in enumerate(open_ends) if _fits(ends, start, end)), len(open_ends)
        )
        if lane == len(open_ends):
            open_ends.append([])
        open_ends[lane].append(end)
        found.append(lane)
    return found


def _fits(ends: list[int], start: int, end: int) -> bool:
    """Return whether an interval nests on a lane, whose intervals that are over are dropped."""
    while ends and ends[-1] <= start:
        ends.pop()
    return not ends or end <= ends[-1]


def edges(
    start_ns: Sequence[int], end_ns: Sequence[int], what: Sequence[_What]
) -> Iterator[tuple[int, _What | None]]:
    """Yield the begins and ends of intervals that nest, in order of time.

    Args:
        start_ns: Begins in order.
        end_ns: Ends.
        what: What is yielded with each begin; an end comes with None.
    """
    open_ends: list[int] = []
    for start, end, each in zip(start_ns, end_ns, what, strict=True):
        while open_ends and open_ends[-1] <= start:
            yield open_ends.pop(), None
        yield start, each
        open_ends.append(end)
    while open_ends:
        yield open_ends.pop(), None
