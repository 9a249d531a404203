"""The spread of one figure over the rounds."""

from dataclasses import dataclass

import numpy as np

from traceattr.attribution.intervals import Times


@dataclass(frozen=True, slots=True)
class Spread:
    """Order statistics of a figure over the rounds, in ns.

    Quantiles are of the nearest rank (``inverted_cdf``), so each is a value that occurred.
    """

    median: int
    p99: int
    mean: int
    min: int
    max: int


def spread(values_ns: Times) -> Spread | None:
    """Return the spread of the values, None when there are none."""
    if not len(values_ns):
        return None
    median, p99 = np.quantile(values_ns, (0.5, 0.99), method="inverted_cdf")
    return Spread(
        median=int(median),
        p99=int(p99),
        mean=round(float(values_ns.mean())),
        min=int(values_ns.min()),
        max=int(values_ns.max()),
    )
