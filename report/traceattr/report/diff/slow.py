"""Rounds that take much longer than the others of their trace, such as those of a host that paused.

They are part of every mean, and a few of them make most of the noise.  Whether one trace has more
of them is a question of its own, which means do not answer.
"""

from math import comb
from statistics import median

from traceattr.attribution.analysis import Analysis
from traceattr.report.diff.diff import Diff
from traceattr.report.figures import count

SLOW = 1.5
"""Times the median from which on a round is one of them."""

CHANCE = 0.001
"""How likely chance alone makes as many more of them as from which on that is said."""


def slow_sentence(diff: Diff) -> str | None:
    """Return how many slow rounds there are on the first GPU; None when there are none."""
    if not diff.base.series or not diff.head.series:
        return None
    (before, of_before), (after, of_after) = (_slow(side) for side in (diff.base, diff.head))
    if not before and not after:
        return None
    text = (
        f"Rounds longer than {SLOW:g} medians: {count(before)} of {count(of_before)} before,"
        f" {count(after)} of {count(of_after)} after. They are in the means, and make noise."
    )
    if _chance_of_more(after, of_after, before, of_before) < CHANCE:
        return f"{text} HEAD has more of them than chance makes."
    if _chance_of_more(before, of_before, after, of_after) < CHANCE:
        return f"{text} BASE has more of them than chance makes."
    return text


def _slow(analysis: Analysis) -> tuple[int, int]:
    """Return how many rounds are slow, and of how many."""
    walls = analysis.series[0].wall_ns
    limit_ns = SLOW * median(walls)
    return sum(wall_ns > limit_ns for wall_ns in walls), len(walls)


def _chance_of_more(many: int, of_many: int, few: int, of_few: int) -> float:
    """Return how likely so many of all slow rounds are in one trace (Fisher's exact test)."""
    slow, rounds = many + few, of_many + of_few
    ways = sum(
        comb(slow, here) * comb(rounds - slow, of_many - here)
        for here in range(many, min(slow, of_many) + 1)
    )
    return ways / comb(rounds, of_many)
