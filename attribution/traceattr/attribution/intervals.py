"""Arithmetic on half-open intervals of integer ns; knows nothing about GPUs.

All functions are vectorised.  Intervals are pairs of int64 arrays of shape (n,), with
``start <= end``; those of length zero cover nothing.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Times = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Cover:
    """A union of intervals: disjoint, not touching, in order.

    Attributes:
        start_ns: Begins, shape (n,).
        end_ns: Ends, shape (n,).
    """

    start_ns: Times
    end_ns: Times

    @property
    def total_ns(self) -> int:
        """Return the covered length."""
        return int((self.end_ns - self.start_ns).sum())

    def gaps(self, start_ns: int, end_ns: int) -> "Cover":
        """Return what of ``[start_ns, end_ns)`` is not covered; the cover must lie inside."""
        begins = np.append(start_ns, self.end_ns)
        ends = np.append(self.start_ns, end_ns)
        return _trimmed(begins, ends)

    def with_gaps(self, start_ns: int, end_ns: int) -> tuple["Cover", "Cover"]:
        """Return the cover and its gaps, which share their memory: each ends where one begins."""
        begins = np.append(start_ns, self.end_ns)
        ends = np.append(self.start_ns, end_ns)
        return Cover(ends[:-1], begins[1:]), _trimmed(begins, ends)

    def covered_before(self, times_ns: Times) -> Times:
        """Return, for each time, how much of the cover lies before it."""
        if not len(self.start_ns):
            return np.zeros(len(times_ns), np.int64)
        length = self.end_ns - self.start_ns
        before = np.cumsum(length) - length
        at = np.searchsorted(self.start_ns, times_ns, side="right") - 1
        inside = np.clip(times_ns - self.start_ns[at], 0, length[at])
        return np.where(at < 0, 0, before[at] + inside)


def _trimmed(begins: Times, ends: Times) -> Cover:
    """Return gaps; parts of a cover do not touch, so that only the outermost can be empty."""
    first = int(begins[0] == ends[0])
    last = len(ends) - int(len(ends) > first and begins[-1] == ends[-1])
    return Cover(begins[first:last], ends[first:last])


def first_wins(start_ns: Times, end_ns: Times) -> Times:
    """Return where each interval's own part begins when an earlier one keeps what it covers.

    Algorithm: an interval owns an instant when all that began before it have ended, so its own
    part is ``[max(start, latest earlier end), end)``, empty when that is no interval.

    Args:
        start_ns: Begins in ascending order.
        end_ns: Ends.
    """
    if not len(end_ns):
        return start_ns
    latest = np.maximum.accumulate(end_ns)
    own_start = start_ns.copy()
    np.maximum(own_start[1:], latest[:-1], out=own_start[1:])
    return np.minimum(own_start, end_ns)


def union(start_ns: Times, end_ns: Times) -> Cover:
    """Return the union of intervals whose begins are in ascending order."""
    is_real = end_ns > start_ns
    start, end = start_ns, end_ns
    if not is_real.all():
        start, end = start_ns[is_real], end_ns[is_real]
    if not len(start):
        return Cover(start, end)
    latest = np.maximum.accumulate(end)
    begins = np.flatnonzero(np.append(True, start[1:] > latest[:-1]))
    return Cover(start[begins], latest[np.append(begins[1:] - 1, len(end) - 1)])
