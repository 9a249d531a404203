"""The time of every part of each round, one by one."""

from collections.abc import Iterator

import numpy as np

from traceattr.attribution.gpu_time import OwnedTime, category_rounds, group_rounds
from traceattr.attribution.intervals import Times
from traceattr.attribution.round_figures import CategorySeries, RoundSeries, Series
from traceattr.attribution.seams import GapKind, seam_name, whole_rounds


def round_series(owned: OwnedTime) -> RoundSeries:
    """Return the series of one GPU's sampled rounds, the same as spreads are over."""
    sample = owned.sample
    seams_from = len(sample) - len(whole_rounds(owned.gaps, sample))
    return RoundSeries(
        gpu=owned.account.timeline.gpu_id,
        start_ns=_values(sample.start_ns),
        wall_ns=_values(sample.wall_ns),
        categories=tuple(
            CategorySeries(category, phase, _values(times))
            for category, phase, times in category_rounds(owned)
        ),
        groups=tuple(
            Series(name, None if times is None else _values(times))
            for name, times in group_rounds(owned)
        ),
        seams=tuple(_seams(owned, seams_from)),
        seams_from=seams_from,
    )


def _seams(owned: OwnedTime, seams_from: int) -> Iterator[Series]:
    """Yield the seams that occur in any of the rounds they are told from, by name."""
    gaps = owned.gaps
    found = {
        seam_name(key): owned.sample.sums(gaps.start_ns[chosen], gaps.lengths_ns(chosen))
        for key, chosen in gaps.groups(np.flatnonzero(gaps.kind == GapKind.SEAM))
    }
    for name, times in sorted(found.items()):
        if times[seams_from:].any():
            yield Series(name, _values(times))


def _values(times: Times) -> tuple[int, ...]:
    return tuple(times.tolist())
