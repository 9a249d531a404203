"""What one row of a table takes in a round, as far as its parts tell."""

from collections.abc import Sequence
from dataclasses import dataclass

from traceattr.attribution.round_figures import Spread


@dataclass(frozen=True, slots=True)
class PerRound:
    """Time of one row in a round, over the rounds.

    Attributes:
        median_ns: Median; of a row made of several phases that vary, the sum of their medians.
        p99_ns: 99th percentile; None for such a row, as percentiles do not add up.
        mean_ns: Mean, which adds up.
    """

    median_ns: int
    p99_ns: int | None
    mean_ns: int


def of_spread(spread: Spread | None) -> PerRound | None:
    """Return the figures of one spread, None where there is none."""
    return PerRound(spread.median, spread.p99, spread.mean) if spread else None


def of_parts(spreads: Sequence[Spread | None]) -> PerRound | None:
    """Return the figures of a sum; exact where all parts but one are the same in every round."""
    known = [spread for spread in spreads if spread is not None]
    if not known or len(known) < len(spreads):
        return None
    varying = [spread for spread in known if spread.min < spread.max]
    median_ns = sum(spread.median for spread in known)
    mean_ns = sum(spread.mean for spread in known)
    p99_ns = None if len(varying) > 1 else sum(spread.p99 for spread in known)
    return PerRound(median_ns, p99_ns, mean_ns)
