"""Whether a part of a round changed, and whether that is more than chance and worth a word."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from traceattr.report.diff.noise import (
    Estimate,
    Values,
    estimate,
    half_width,
    typical,
    typical_estimate,
)
from traceattr.report.diff.parts import ROUND, Part, Rounds, Times

FEWEST_ROUNDS = 10
"""Rounds below which their noise cannot be told."""

CHANCE = 0.002
"""How likely any part at all is flagged where nothing changed but chance, by either look at it."""

LEAST_SHARE = 0.005
"""Share of itself by which a part must change: from one run of a server to the next, clocks and
temperature alone move times by some tenths of a percent, which rounds of one run do not show."""

LEAST_ROUND_SHARE = 0.0001
"""Share of the round by which a part must change: a ten-thousandth, 3 us of 30 ms, is nothing that
anybody feels, and small parts change by many percent for reasons that nobody looks for."""

LEAST_NS = 1_000
"""Time by which a part must change: timestamps of GPUs are hardly better than this."""

BLIND_SHARE = 0.05
BLIND_ROUND_SHARE = LEAST_SHARE
"""Noise, as a share of the part and of the round, from which on a change that matters could hide:
where it is beyond both, no part is called the same.  A change below the latter would not make the
round slower."""

CLEARER = 0.5
"""Noise of typical rounds, as a share of that of all, up to which they are looked at instead."""

NOISY = "a change that matters could hide in its noise; record more rounds"


Which = Literal["all", "typical"]
"""Which rounds a comparison is about."""

_LOOKS: dict[Which, Callable[[Values], Estimate]] = {
    "all": estimate,
    "typical": typical_estimate,
}


class Verdict(StrEnum):
    """What became of a part."""

    SLOWER = "slower"
    FASTER = "faster"
    SAME = "same"
    CANNOT_TELL = "cannot tell"


@dataclass(frozen=True, slots=True)
class Change:
    """One part of a round in both traces; times are of one GPU, the mean of the GPUs and rounds.

    Attributes:
        part: What it is.
        before_ns: In the first trace; None when that cannot tell.
        after_ns: In the second.
        noise_ns: How large a difference is that chance alone makes; None when it cannot be told.
        verdict: What became of it.
        reason: Why nothing can be told, None when something can.
        per_gpu: Before and after on each GPU; empty where the traces differ in their GPUs.
        rounds: Which rounds these times are of: typical ones where a few others hide them.
    """

    part: Part
    before_ns: int | None
    after_ns: int | None
    noise_ns: int | None
    verdict: Verdict
    reason: str | None
    per_gpu: tuple[tuple[int, int], ...]
    rounds: Which = "all"

    @property
    def difference_ns(self) -> int | None:
        """Return by how much it became longer."""
        if self.before_ns is None or self.after_ns is None:
            return None
        return self.after_ns - self.before_ns

    @property
    def is_changed(self) -> bool:
        """Return whether it became slower or faster."""
        return self.verdict in (Verdict.SLOWER, Verdict.FASTER)


def changes(
    base: Rounds, head: Rounds, why_not: Callable[[Part], str | None]
) -> tuple[Change, ...]:
    """Return what became of every part of either trace.

    Args:
        base: The rounds of the first trace.
        head: Those of the second.
        why_not: Says why a part cannot be compared, None where it can.
    """
    parts = tuple(dict.fromkeys((*base.times, *head.times)))
    obstacles = {part: why_not(part) for part in parts}
    few = _too_few(base.count, head.count)
    reasons = {part: obstacles[part] or few for part in parts}
    walls = base.times.get(ROUND)
    round_ns = 0 if walls is None else _mean(walls)
    tested = sum(
        reasons[part] is None and _matters(base.of(part), head.of(part), round_ns) for part in parts
    )
    test = _Test(CHANCE / max(tested, 1), round_ns)
    return tuple(
        _change(part, *_both(base, head, part, obstacles[part]), reasons[part], test)
        for part in parts
    )


def _both(
    base: Rounds, head: Rounds, part: Part, obstacle: str | None
) -> tuple[Times | None, Times | None]:
    """Return the times of a part; where it cannot be compared, one that is not there is unknown."""
    if obstacle:
        return base.times.get(part), head.times.get(part)
    return base.of(part), head.of(part)


@dataclass(frozen=True, slots=True)
class _Test:
    """What a change is measured by.

    Attributes:
        chance: How likely one part is flagged where nothing changed.
        round_ns: Length of a round before.
    """

    chance: float
    round_ns: int

    def verdict(self, before_ns: int, after_ns: int, noise_ns: int) -> Verdict:
        """Return what became of a part."""
        difference_ns = after_ns - before_ns
        least_ns = max(_least_ns(self.round_ns), LEAST_SHARE * max(before_ns, after_ns))
        if abs(difference_ns) > noise_ns and abs(difference_ns) >= least_ns:
            return Verdict.SLOWER if difference_ns > 0 else Verdict.FASTER
        if noise_ns > max(BLIND_SHARE * before_ns, BLIND_ROUND_SHARE * self.round_ns):
            return Verdict.CANNOT_TELL
        return Verdict.SAME


def _least_ns(round_ns: int) -> float:
    """Return by how much any part must change."""
    return max(LEAST_NS, LEAST_ROUND_SHARE * round_ns)


def _matters(before: Times | None, after: Times | None, round_ns: int) -> bool:
    """Return whether a part is long enough that it could be flagged at all."""
    longest_ns = max(0 if times is None else _mean(times) for times in (before, after))
    return longest_ns >= _least_ns(round_ns)


def _too_few(*counts: int) -> str | None:
    if min(counts) >= FEWEST_ROUNDS:
        return None
    before, after = counts
    return (
        f"fewer than {FEWEST_ROUNDS} rounds ({before:,} before, {after:,} after) do not show their"
        " own noise"
    )


def _change(
    part: Part, before: Times | None, after: Times | None, reason: str | None, test: _Test
) -> Change:
    if before is None or after is None or reason:
        return Change(
            part=part,
            before_ns=None if before is None else _mean(before),
            after_ns=None if after is None else _mean(after),
            noise_ns=None,
            verdict=Verdict.CANNOT_TELL,
            reason=reason or "a trace does not show it",
            per_gpu=() if before is None or after is None else _per_gpu(before, after, "all"),
        )
    return _judged(part, before, after, test)


def _judged(part: Part, before: Times, after: Times, test: _Test) -> Change:
    """Return what became of all rounds; of typical ones where that says more."""
    of_all = _compared(part, before, after, test, "all")
    if of_all.is_changed:
        return of_all
    typical = _compared(part, before, after, test, "typical")
    is_clearer = (typical.noise_ns or 0) <= CLEARER * (of_all.noise_ns or 0)
    return typical if is_clearer and typical.verdict is not of_all.verdict else of_all


def _compared(part: Part, before: Times, after: Times, test: _Test, rounds: Which) -> Change:
    was, became = (_estimate(times, rounds) for times in (before, after))
    before_ns, after_ns = round(was.mean), round(became.mean)
    noise_ns = round(half_width(was, became, test.chance))
    verdict = test.verdict(before_ns, after_ns, noise_ns)
    return Change(
        part=part,
        before_ns=before_ns,
        after_ns=after_ns,
        noise_ns=noise_ns,
        verdict=verdict,
        reason=NOISY if verdict is Verdict.CANNOT_TELL else None,
        per_gpu=_per_gpu(before, after, rounds),
        rounds=rounds,
    )


def _estimate(times: Times, rounds: Which) -> Estimate:
    """Return the mean of the GPUs: they work at the same time, so no round counts twice."""
    return _LOOKS[rounds](times.mean(axis=0))


def _mean(times: Times | Values) -> int:
    return round(float(times.mean()))


def _per_gpu(before: Times, after: Times, rounds: Which) -> tuple[tuple[int, int], ...]:
    if len(before) != len(after):
        return ()
    was, became = (
        [_mean(row if rounds == "all" else typical(row)) for row in times]
        for times in (before, after)
    )
    return tuple(zip(was, became, strict=True))
