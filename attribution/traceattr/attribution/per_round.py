"""Figures per round: the same partition, cut at the begins of rounds."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from traceattr.attribution.account import Account
from traceattr.attribution.analysis import Window
from traceattr.attribution.intervals import Times
from traceattr.attribution.round_figures import Spread
from traceattr.attribution.rounds import RoundKind
from traceattr.attribution.spread import spread


@dataclass(frozen=True, slots=True)
class RoundSample:
    """The rounds that figures per round are about; arrays of shape (rounds,).

    A round lasts from its begin to the begin of the next, so that its parts sum to it.  Rounds
    that a pause or the end of the window follows have no such length and are left out, unless
    there is no other.

    Attributes:
        start_ns: Begins.
        end_ns: Begin of the next round.
    """

    start_ns: Times
    end_ns: Times

    def __len__(self) -> int:
        return len(self.start_ns)

    def index_of(self, times_ns: Times) -> npt.NDArray[np.int64]:
        """Return the round that each time lies in, -1 for none."""
        at = np.searchsorted(self.start_ns, times_ns, side="right")
        at -= 1
        at[times_ns >= np.append(self.end_ns, 0)[at]] = -1
        return at

    def sums(self, times_ns: Times, values_ns: Times) -> Times:
        """Return the sum of the values of each round by when they begin, shape (rounds,)."""
        at = self.index_of(times_ns)
        inside = at >= 0
        sums = np.bincount(at[inside], weights=values_ns[inside], minlength=len(self))
        return sums.astype(np.int64)

    @property
    def wall_ns(self) -> Times:
        """Return how long each round lasts."""
        return self.end_ns - self.start_ns

    @property
    def wall(self) -> Spread | None:
        """Return how long rounds last."""
        return spread(self.wall_ns)

    @property
    def is_slow(self) -> npt.NDArray[np.bool_]:
        """Return which rounds are of the slowest hundredth, of which there is at least one."""
        return self.wall_ns >= np.quantile(self.wall_ns, 0.99, method="inverted_cdf")


def sample_rounds(
    account: Account, window: Window, kind: RoundKind | None, pause_ns: int | None
) -> RoundSample:
    """Return the rounds of one kind that lie in the window."""
    rounds = account.rounds
    is_kind = np.array([found == kind for found in rounds.kind], np.bool_)
    inside = is_kind & (rounds.start_ns >= window.start_ns) & (rounds.end_ns <= window.end_ns)
    following = np.append(rounds.start_ns[1:], np.iinfo(np.int64).max)
    lasts = (following <= window.end_ns) & (following - rounds.end_ns <= (pause_ns or 0))
    if (inside & lasts).any():
        return RoundSample(rounds.start_ns[inside & lasts], following[inside & lasts])
    return RoundSample(rounds.start_ns[inside], rounds.end_ns[inside])


def largest_excess(
    parts: Sequence[tuple[str, Times]], slow: npt.NDArray[np.bool_]
) -> tuple[str, int]:
    """Return the part that exceeds its own median most in the slow rounds, and by how much.

    Args:
        parts: Name of each part and its time per round, each of shape (rounds,).
        slow: Which rounds are slow, shape (rounds,).
    """
    excess = [(name, round(float(ns[slow].mean() - np.median(ns)))) for name, ns in parts]
    return max(excess, key=lambda part: part[1], default=("", 0))
