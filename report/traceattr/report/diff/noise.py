"""How far the mean over some rounds may be off by chance.

Rounds that follow each other are alike: clocks, temperature and context change slowly.  So the
error of a mean is that of a circular block bootstrap (Politis and Romano 1992), whose blocks are
as long as rounds stay alike (Politis and White 2004).  For a mean, resampling without end has a
closed form, which is used here: nothing is drawn at random, and the same rounds give the same
error.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

Values = npt.NDArray[np.float64]

MOST_ALIKE = 0.95
"""Correlation of neighbours from which on it is called no larger."""

TAIL = 0.1
"""Share of rounds at either end that typical ones are without."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean and how sure it is.

    Attributes:
        mean: Mean.
        count: Over how many rounds.
        variance: Variance of that mean.
        freedom: Degrees of freedom of that variance: rounds that tell something new, less one.
    """

    mean: float
    count: int
    variance: float
    freedom: float


def estimate(values: Values) -> Estimate:
    """Return the mean of values in order of time; there are at least two.

    Blocks of few rounds do not show all that rounds have in common, so the error is at least that
    of rounds each of which is like the one before by as much as these are.
    """
    mean, count = float(values.mean()), len(values)
    by_blocks = Estimate(mean, count, *_of_blocks(values))
    by_neighbours = Estimate(mean, count, *_of_neighbours(values))
    return max(by_blocks, by_neighbours, key=lambda one: one.variance)


def typical(values: Values) -> Values:
    """Return the values of typical rounds, in order of length."""
    cut = int(TAIL * len(values))
    return np.sort(values)[cut : len(values) - cut]


def typical_estimate(values: Values) -> Estimate:
    """Return the same of typical rounds: the mean without the longest and the shortest tenth.

    Its error is that of all rounds, those left out as long as the nearest that are kept (Tukey and
    McLaughlin 1963).
    """
    kept = typical(values)
    whole = estimate(np.clip(values, kept[0], kept[-1]))
    share = len(kept) / len(values)
    freedom = max(1, share * whole.freedom)
    return Estimate(float(kept.mean()), len(values), whole.variance / share**2, freedom)


def _of_blocks(values: Values) -> tuple[float, float]:
    """Return variance and freedom of a mean from a circular block bootstrap."""
    length = block_length(values)
    blocks = len(values) / length
    running = np.cumsum(np.concatenate(([0], values, values[: length - 1])))
    means = (running[length:] - running[:-length]) / length
    return float(means.var()) / (blocks - 1), blocks - 1


def _of_neighbours(values: Values) -> tuple[float, float]:
    """Return the same of an autoregression of the first order."""
    count, centred = len(values), values - values.mean()
    square = float(centred @ centred)
    if square == 0:
        return 0.0, count - 1
    alike = float(centred[1:] @ centred[:-1]) / square
    alike += (1 + 3 * alike) / count  # Kendall (1954): what few values show is too little
    alike = min(max(alike, 0), MOST_ALIKE)
    rounds = count * (1 - alike) / (1 + alike)
    return square / (count - 1) / rounds, max(1, rounds - 1)


def block_length(values: Values) -> int:
    """Return for how many rounds values stay alike, at most a third of them.

    Algorithm: twice the lags up to the last correlation that is significant enter, those in the
    second half with less and less weight; see Patton, Politis and White (2009) for the formula.
    """
    count = len(values)
    longest = max(1, min(math.ceil(3 * math.sqrt(count)), count // 3))
    centred = values - values.mean()
    if not centred.any():
        return 1
    in_a_row = max(5, math.ceil(math.sqrt(math.log10(count))))
    lags = min(count - 1, longest + in_a_row)
    covariance = np.array([centred[: count - lag] @ centred[lag:] for lag in range(lags + 1)])
    covariance /= count
    is_small = np.abs(covariance[1:]) < 2 * math.sqrt(math.log10(count) / count) * covariance[0]
    last = _last_lag(is_small, in_a_row)
    if not last:
        return 1
    used = np.arange(1, min(2 * last, lags) + 1)
    weighted = np.minimum(1, 2 * (1 - used / (used[-1] + 1))) * covariance[used]
    spectrum = covariance[0] + 2 * weighted.sum()
    slope = 2 * (used * weighted).sum()
    if spectrum <= 0:
        return 1
    best = (1.5 * (slope / spectrum) ** 2 * count) ** (1 / 3)
    return max(1, min(longest, round(float(best))))


def _last_lag(is_small: npt.NDArray[np.bool_], in_a_row: int) -> int:
    """Return the last lag before the first so many in a row that are small."""
    for lag in range(len(is_small)):
        if is_small[lag : lag + in_a_row].all():
            return lag
    return len(is_small)


def half_width(before: Estimate, after: Estimate, chance: float) -> float:
    """Return how large the difference of two means may be by chance.

    Args:
        before: Of one trace.
        after: Of the other.
        chance: How likely a larger one is, to either side.
    """
    parts = (before, after)
    variance = sum(part.variance for part in parts)
    if variance <= 0:
        return 0.0
    freedom = variance**2 / sum(part.variance**2 / part.freedom for part in parts)
    larger = max(variance, _pooled(before, after))
    return math.sqrt(larger) * float(stdtrit(max(1, freedom), 1 - chance / 2))


def _pooled(before: Estimate, after: Estimate) -> float:
    """Return the variance of a difference if rounds of both traces vary alike.

    Few rounds may have missed what happens in one of ten, and then look surer than they are.
    """
    parts = (before, after)
    of_round = sum(part.freedom * part.count * part.variance for part in parts)
    return of_round / sum(part.freedom for part in parts) * sum(1 / part.count for part in parts)
