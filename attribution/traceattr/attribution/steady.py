"""The part of a trace in which the server does what it repeats.

Loading, graph capture, warm-up and the time without requests say nothing about a round.  They are
told apart by pauses: nothing runs on any GPU for longer than several rounds.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from traceattr.attribution.account import Account
from traceattr.attribution.analysis import Window
from traceattr.attribution.intervals import Cover, Times, union
from traceattr.attribution.rounds import RoundKind

PAUSE_ROUNDS = 4
"""A pause is longer than this many median rounds ..."""

PAUSE_NS = 50_000_000
"""... and than this; a garbage collection of the host takes less."""

WARM_UP_ROUNDS = 4
"""Activity at either end with fewer rounds than this is a warm-up or a stray request."""

MAIN_KINDS = (RoundKind.SPECULATIVE, RoundKind.DECODE)


@dataclass(frozen=True, slots=True)
class Steady:
    """Which part to report.

    Attributes:
        window: The part.
        pause_ns: Idle time from which on no request can be in flight; None without rounds.
        cut: What lies outside and why, one sentence each.
    """

    window: Window
    pause_ns: int | None
    cut: tuple[str, ...]


def main_kind(account: Account) -> RoundKind | None:
    """Return what the server mostly does, None when no round was found."""
    counts = {kind: account.rounds.kind.count(kind) for kind in MAIN_KINDS}
    best = max(counts, key=lambda kind: counts[kind])
    return best if counts[best] else None


def pause_length(account: Account) -> int | None:
    """Return the idle time from which on no request can be in flight, None without rounds."""
    kind = main_kind(account)
    if kind is None:
        return None
    is_main = np.array([found == kind for found in account.rounds.kind])
    starts = account.rounds.start_ns[is_main]
    lengths = np.diff(starts) if len(starts) > 1 else account.rounds.end_ns[is_main] - starts
    return max(PAUSE_NS, PAUSE_ROUNDS * int(np.median(lengths)))


def find_steady(accounts: Sequence[Account], whole: Window) -> Steady:
    """Return the steady part of ``whole``, which is all of it where nothing tells otherwise."""
    leader = max(accounts, key=lambda account: len(account.rounds.kind))
    pause_ns = pause_length(leader)
    if pause_ns is None:
        return Steady(whole, None, ())
    starts, ends = _activity(accounts, pause_ns)
    busy = _main_rounds(leader, starts, ends) >= WARM_UP_ROUNDS
    if not busy.any():
        return Steady(whole, pause_ns, ())
    kept = np.flatnonzero(busy)
    first, last = int(kept[0]), int(kept[-1])
    if first == 0 and last == len(starts) - 1:
        return Steady(whole, pause_ns, ())
    window = Window(int(starts[first]), int(ends[last]), "steady rounds")
    return Steady(window, pause_ns, _cuts(whole, window))


def _activity(accounts: Sequence[Account], pause_ns: int) -> tuple[Times, Times]:
    """Return the stretches between pauses, over all GPUs."""
    covers = [union(a.timeline.start_ns, a.timeline.end_ns) for a in accounts]
    start_ns = np.concatenate([cover.start_ns for cover in covers])
    end_ns = np.concatenate([cover.end_ns for cover in covers])
    order = np.argsort(start_ns, kind="stable")
    cover = union(start_ns[order], end_ns[order])
    return _joined(cover, pause_ns)


def _joined(cover: Cover, pause_ns: int) -> tuple[Times, Times]:
    is_pause = cover.start_ns[1:] - cover.end_ns[:-1] > pause_ns
    starts = cover.start_ns[np.append(True, is_pause)]
    ends = cover.end_ns[np.append(is_pause, True)]
    return starts, ends


def _main_rounds(account: Account, starts: Times, ends: Times) -> Times:
    """Return how many rounds of the main kind lie in each stretch."""
    kind = main_kind(account)
    is_main = np.array([found == kind for found in account.rounds.kind])
    at = np.searchsorted(starts, account.rounds.start_ns[is_main], side="right") - 1
    return np.bincount(at[at >= 0], minlength=len(starts))


def _cuts(whole: Window, window: Window) -> tuple[str, ...]:
    before_s = (window.start_ns - whole.start_ns) / 1e9
    after_s = (whole.end_ns - window.end_ns) / 1e9
    sides = ((before_s, "before", "loading, capture or warm-up"), (after_s, "after", "idle"))
    return tuple(
        f"{seconds:.3f} s {side} the steady rounds are left out ({what})"
        for seconds, side, what in sides
        if seconds > 0
    )
