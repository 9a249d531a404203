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
        inside_ns: How long each operation runs inside the window; shape (n,).
        exclusive_ns: What each operation owns of it; shape (n,).
        busy: Where anything runs.
        kernel_ns: Length in which a kernel or an envelope runs, copies aside.
        idle: Where nothing runs.
    """

    inside_ns: Times
    exclusive_ns: Times
    busy: Cover
    kernel_ns: int
    idle: Cover


def partition(operations: Operations, start_ns: int, end_ns: int) -> Partition:
    """Return who owns each nanosecond of ``[start_ns, end_ns)``.

    The sum of `Partition.exclusive_ns` and the idle length is the length of the window.
    """
    # Cutting after sorting keeps the order of those that began before the window.
    starts = np.clip(operations.start_ns, start_ns, end_ns)
    ends = np.clip(operations.end_ns, start_ns, end_ns)
    exclusive = np.zeros(len(starts), np.int64)
    taken = Cover(np.empty(0, np.int64), np.empty(0, np.int64))
    kernel_ns = 0
    for precedence in Precedence:
        if precedence is Precedence.COPY:
            kernel_ns = taken.total_ns
        of_class = operations.precedence == precedence
        if not of_class.any():
            continue
        end = ends[of_class]
        own_start = first_wins(starts[of_class], end)
        exclusive[of_class] = (end - own_start) - (
            taken.covered_before(end) - taken.covered_before(own_start)
        )
        so_far = operations.precedence <= precedence
        taken = union(starts[so_far], ends[so_far])
    return Partition(ends - starts, exclusive, taken, kernel_ns, taken.gaps(start_ns, end_ns))
