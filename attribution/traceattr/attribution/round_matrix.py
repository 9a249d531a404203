"""How much of each round every kind of work and of idle time owns; together all of it.

Work that begins in a round is that round's, but for what lasts beyond its end.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from traceattr.attribution.blocks import blocks
from traceattr.attribution.intervals import Times
from traceattr.attribution.per_round import RoundSample
from traceattr.attribution.timeline import Ids


@dataclass(frozen=True, slots=True)
class Spans:
    """Operations or gaps in order of start; arrays of shape (spans,).

    Attributes:
        start_ns: Begins.
        end_ns: Ends.
        latest_ns: The latest end of each span and those before it.
        owned_ns: How much of the time between them each owns.
        key: What each is.
        owned_after: Returns how much of its time after an instant a span owns that owns but a part.
    """

    start_ns: Times
    end_ns: Times
    latest_ns: Times
    owned_ns: Times
    key: npt.NDArray[np.integer]
    owned_after: Callable[[int, int], int]


def round_matrix(sample: RoundSample, spans: Spans, keys: int) -> Times:
    """Return the time of each key in each round, shape (rounds, keys)."""
    carried_in = _carried_over(sample.start_ns, spans, keys)
    return _begun(sample, spans, keys) + carried_in - _carried_over(sample.end_ns, spans, keys)


def _begun(sample: RoundSample, spans: Spans, keys: int) -> Times:
    """Return all time of what begins in each round."""
    sums = np.zeros(len(sample) * keys)
    for part in blocks(len(spans.start_ns)):
        at = sample.index_of(spans.start_ns[part])
        inside = at >= 0
        place = at[inside] * keys + spans.key[part][inside]
        sums += np.bincount(place, weights=spans.owned_ns[part][inside], minlength=len(sums))
    return sums.astype(np.int64).reshape(-1, keys)


def _carried_over(times_ns: Times, spans: Spans, keys: int) -> Times:
    """Return what spans own after some instants that began before, shape (instants, keys)."""
    which, at = _crossing(times_ns, spans)
    after_ns = spans.end_ns[at] - times_ns[which]
    owns_part = spans.owned_ns[at] < spans.end_ns[at] - spans.start_ns[at]
    after_ns[spans.owned_ns[at] == 0] = 0
    for pair in np.flatnonzero(owns_part & (after_ns > 0)).tolist():
        after_ns[pair] = spans.owned_after(int(at[pair]), int(times_ns[which[pair]]))
    place = which * keys + spans.key[at]
    sums = np.bincount(place, weights=after_ns, minlength=len(times_ns) * keys)
    return sums.astype(np.int64).reshape(-1, keys)


def _crossing(times_ns: Times, spans: Spans) -> tuple[Ids, Ids]:
    """Return pairs of an instant and a span that begins before it and ends after it."""
    before = np.searchsorted(spans.start_ns, times_ns) - 1
    which = np.arange(len(times_ns) if len(spans.start_ns) else 0)
    found: list[tuple[Ids, Ids]] = [(which[:0], before[:0])]
    while len(which):
        goes_on = (before >= 0) & (spans.latest_ns[before] > times_ns[which])
        which, before = which[goes_on], before[goes_on]
        crosses = spans.end_ns[before] > times_ns[which]
        found.append((which[crosses], before[crosses]))
        before = before - 1
    instants, positions = zip(*found, strict=True)
    return np.concatenate(instants), np.concatenate(positions)
