"""The spread of one figure over the rounds, and its median."""

import numpy as np

from traceattr.attribution.intervals import Times
from traceattr.attribution.round_figures import Spread


def lower_median(values_ns: Times) -> int:
    """Return the median of some values, one that occurs: of two in the middle the lower."""
    middle = (len(values_ns) - 1) // 2
    return int(np.partition(values_ns, middle)[middle])


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
