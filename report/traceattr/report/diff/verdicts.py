"""Whether a part of a round changed, and whether that is more than chance and worth a word."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from traceattr.report.diff.noise import Estimate, estimate, half_width
from traceattr.report.diff.parts import ROUND, Part, Rounds, Times

FEWEST_ROUNDS = 10
"""Rounds below which their noise cannot be told."""

CHANCE = 0.002
"""How likely any part at all is flagged where nothing changed but chance."""

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

NOISY = "a change that matters could hide in its noise; record more rounds"


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
    """

    part: Part
    before_ns: int | None
    after_ns: int | None
    noise_ns: int | None
    verdict: Verdict
    reason: str | None
    per_gpu: tuple[tuple[int, int], ...]

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
    change = Change(
        part=part,
        before_ns=None if before is None else _mean(before),
        after_ns=None if after is None else _mean(after),
        noise_ns=None,
        verdict=Verdict.CANNOT_TELL,
        reason=reason,
        per_gpu=(),
    )
    if before is None or after is None:
        return replace(change, reason=reason or "a trace does not show it")
    change = replace(change, per_gpu=tuple(_per_gpu(before, after)))
    return change if reason else _judged(change, before, after, test)


def _judged(change: Change, before: Times, after: Times, test: _Test) -> Change:
    noise_ns = round(half_width(_estimate(before), _estimate(after), test.chance))
    verdict = test.verdict(_mean(before), _mean(after), noise_ns)
    reason = NOISY if verdict is Verdict.CANNOT_TELL else None
    return replace(change, noise_ns=noise_ns, verdict=verdict, reason=reason)


def _estimate(times: Times) -> Estimate:
    """Return the mean of the GPUs: they work at the same time, so no round counts twice."""
    return estimate(times.mean(axis=0))


def _mean(times: Times) -> int:
    return round(float(times.mean()))


def _per_gpu(before: Times, after: Times) -> Iterator[tuple[int, int]]:
    if len(before) == len(after):
        for was, became in zip(before.mean(axis=1), after.mean(axis=1), strict=True):
            yield round(float(was)), round(float(became))
