"""The exact partition of one GPU's window: each nanosecond is owned by one operation or is idle.

Policy at each instant among running operations: compute beats a graph envelope beats communication
beats copies; inside a class the one that started first owns it.  An envelope stands for work that
was not traced, most likely compute, so only known compute goes before it.
"""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from traceattr.attribution.intervals import Cover, Times, first_wins, union


class Precedence(IntEnum):
    """Who owns an instant in which several run; the smallest wins."""

    COMPUTE = 0
    ENVELOPE = 1
    COMMUNICATION = 2
    COPY = 3


@dataclass(frozen=True, slots=True)
class Operations:
    """Operations of one GPU, in order of start; arrays of shape (n,).

    Attributes:
        start_ns: Begins.
        end_ns: Ends.
        precedence: Values of `Precedence`.
    """

    start_ns: Times
    end_ns: Times
    precedence: npt.NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class Partition:
    """Who owns the window.

    Attributes:
        exclusive_ns: What each operation owns of it; shape (n,).
        busy: Where anything runs.
        kernel_ns: Length in which a kernel or an envelope runs, copies aside.
        idle: Where nothing runs.
    """

    exclusive_ns: Times
    busy: Cover
    kernel_ns: int
    idle: Cover


def partition(operations: Operations, start_ns: int, end_ns: int) -> Partition:
    """Return who owns each nanosecond of ``[start_ns, end_ns)``.

    The sum of `Partition.exclusive_ns` and the idle length is the length of the window.
    """
    # Cutting after sorting keeps the order of those that began before the window.
    starts, ends = _cut(operations, start_ns, end_ns)
    exclusive = ends - starts
    is_copy = operations.precedence == Precedence.COPY
    # Most operations run alone and own all of their time; the rest overlap only among themselves.
    shared = _overlapping(starts, ends)
    owned, kernel_ns = _share(starts[shared], ends[shared], operations.precedence[shared])
    is_copy[shared] = True  # their kernels have been counted
    kernel_ns += int(exclusive.sum(where=~is_copy))
    exclusive[shared] = owned
    busy, idle = union(starts, ends).with_gaps(start_ns, end_ns)
    return Partition(exclusive, busy, kernel_ns, idle)


def inside(operations: Operations, start_ns: int, end_ns: int) -> Times:
    """Return how long each operation runs inside ``[start_ns, end_ns)``, shape (n,)."""
    starts, ends = _cut(operations, start_ns, end_ns)
    return ends - starts


def _cut(operations: Operations, start_ns: int, end_ns: int) -> tuple[Times, Times]:
    """Return begins and ends inside a window; not copies where no operation reaches out of it."""
    starts, ends = operations.start_ns, operations.end_ns
    if not len(starts) or (starts[0] >= start_ns and ends.max() <= end_ns):
        return starts, ends
    return np.clip(starts, start_ns, end_ns), np.clip(ends, start_ns, end_ns)


def _overlapping(start_ns: Times, end_ns: Times) -> npt.NDArray[np.intp]:
    """Return the positions of operations that run while others do."""
    begins_alone = start_ns[1:] >= np.maximum.accumulate(end_ns)[:-1]
    return np.flatnonzero(~(np.append(True, begins_alone) & np.append(begins_alone, True)))


def _share(starts: Times, ends: Times, precedences: npt.NDArray[np.int8]) -> tuple[Times, int]:
    """Return what each operation owns, and the length in which one that is no copy runs."""
    exclusive = np.zeros(len(starts), np.int64)
    taken = Cover(np.empty(0, np.int64), np.empty(0, np.int64))
    kernel_ns = 0
    for precedence in Precedence:
        if precedence is Precedence.COPY:
            kernel_ns = taken.total_ns
        of_class = precedences == precedence
        if not of_class.any():
            continue
        end = ends[of_class]
        own_start = first_wins(starts[of_class], end)
        exclusive[of_class] = (end - own_start) - (
            taken.covered_before(end) - taken.covered_before(own_start)
        )
        so_far = precedences <= precedence
        taken = union(starts[so_far], ends[so_far])
    return exclusive, kernel_ns


@dataclass(frozen=True, slots=True)
class Segments:
    """Stretches of one owner each that tile a window, in order; arrays of shape (segments,).

    Attributes:
        start_ns: Begins.
        end_ns: Ends, which are the begins of the next.
        operation: Position of the operation that owns it, -1 where nothing runs.
    """

    start_ns: Times
    end_ns: Times
    operation: npt.NDArray[np.int64]


def segments(operations: Operations, start_ns: int, end_ns: int) -> Segments:
    """Return who owns ``[start_ns, end_ns)`` from when to when, by the policy of `partition`.

    Algorithm: inside a class no two operations own the same instant, so at each instant at most
    one of each class is a candidate, and the strongest class wins.
    """
    starts, ends = _cut(operations, start_ns, end_ns)
    of_class = [_own_parts(operations.precedence == p, starts, ends) for p in Precedence]
    edges = np.unique(np.concatenate([[start_ns, end_ns], *(e for o in of_class for e in o[:2])]))
    begins = edges[:-1]
    owner = np.full(len(begins), -1)
    for own_start, own_end, position in reversed(of_class):
        at = np.searchsorted(own_start, begins, side="right") - 1
        is_running = (at >= 0) & (np.append(own_end, start_ns)[at] > begins)
        owner[is_running] = position[at[is_running]]
    first = np.flatnonzero(np.append(True, owner[1:] != owner[:-1])[: len(owner)])
    return Segments(begins[first], np.append(begins[first[1:]], end_ns)[: len(first)], owner[first])


def _own_parts(
    is_chosen: npt.NDArray[np.bool_], starts: Times, ends: Times
) -> tuple[Times, Times, npt.NDArray[np.int64]]:
    """Return begin, end and position of what operations of one class own among themselves."""
    own_start = first_wins(starts[is_chosen], ends[is_chosen])
    end = ends[is_chosen]
    is_real = own_start < end
    return own_start[is_real], end[is_real], np.flatnonzero(is_chosen)[is_real]
