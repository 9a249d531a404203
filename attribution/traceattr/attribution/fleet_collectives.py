"""Collectives of ranks that were recorded in separate traces: waiting for others, and the wire.

What they are is told as within one trace, see `collectives`.  Clocks of several traces are too far
apart for that, so in each round they are set by the collectives themselves: the ranks leave these
together, whenever each came.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from traceattr.attribution.fleet_part import RankPart
from traceattr.attribution.intervals import Times
from traceattr.attribution.matching import (
    HIDDEN,
    Collectives,
    CommunicationKernels,
    compare_rounds,
    doubt,
    match,
    those_that_meet,
)
from traceattr.attribution.rank_figures import CollectiveSeries, SharedCollectives
from traceattr.attribution.rank_times import rank_times
from traceattr.attribution.stragglers import waited_for
from traceattr.attribution.timeline import Ids

_NONE_KEPT = "in no round were the collectives of every rank kept: the clocks differ too much"
_NEVER_TOGETHER = (
    "the ranks do not leave their collectives together, so these are not the ranks of one group"
)


def shared_collectives(
    gpus: Sequence[RankPart], numbers: Sequence[int], rows: Sequence[tuple[int, ...]]
) -> SharedCollectives:
    """Return wait and wire of the collectives of one tensor-parallel group.

    Args:
        gpus: The ranks of the group.
        numbers: Their numbers in the run.
        rows: Places of each round that every rank has, rank by rank.
    """
    found = [gpu.collectives for gpu in gpus if gpu.collectives and not gpu.collectives.is_hidden]
    if len(found) < len(gpus):
        return SharedCollectives(reason=HIDDEN)
    shared = _kept_by_all(found, rows)
    if not shared:
        return SharedCollectives(reason=_NONE_KEPT)
    ranks = _numbered(found, rows, shared)
    kernels = [rank.kernels for rank in ranks]
    good, bad = compare_rounds(kernels, [_ids(shared)] * len(ranks))
    reason = doubt(kernels, good, bad)
    if reason is not None:
        return SharedCollectives(len(good), len(bad), reason=reason)
    starts, ends = [rank.start_ns for rank in ranks], [rank.end_ns for rank in ranks]
    matched = those_that_meet(_on_one_clock(match(starts, ends, kernels, good)))
    if not len(matched.round):
        return SharedCollectives(len(good), len(bad), reason=_NEVER_TOGETHER)
    keeper = waited_for(matched)
    met_ns = (matched.wire_ns + matched.wait_ns).sum(axis=1)
    unmatched_ns = [
        int((rank.end_ns - rank.start_ns).sum() - met)
        for rank, met in zip(ranks, met_ns, strict=True)
    ]
    return SharedCollectives(
        rounds=len(good),
        rounds_left_out=len(bad),
        per_rank=tuple(rank_times(numbers, matched, matched, good, unmatched_ns)),
        waited_for=None if keeper is None else numbers[keeper],
    )


@dataclass(frozen=True, slots=True)
class _Kernels:
    """Communication kernels of one rank in rounds of all; times count from the begin of each."""

    kernels: CommunicationKernels
    start_ns: Times
    end_ns: Times


def _kept_by_all(found: Sequence[CollectiveSeries], rows: Sequence[tuple[int, ...]]) -> list[int]:
    """Return which rounds were kept of every rank, by their places in `rows`."""
    kept = [set(one.rounds) for one in found]
    return [
        at
        for at, row in enumerate(rows)
        if all(place in places for place, places in zip(row, kept, strict=True))
    ]


def _numbered(
    found: Sequence[CollectiveSeries], rows: Sequence[tuple[int, ...]], shared: Sequence[int]
) -> list[_Kernels]:
    """Return the kernels of these rounds, with the same numbers for rounds and names."""
    ids = {name: at for at, name in enumerate(sorted({n for one in found for n in one.names}))}
    return [
        _renumbered(one, {rows[at][rank]: at for at in shared}, ids)
        for rank, one in enumerate(found)
    ]


def _renumbered(
    one: CollectiveSeries, number: Mapping[int, int], ids: Mapping[str, int]
) -> _Kernels:
    of_round = np.repeat(_ids([number.get(place, -1) for place in one.rounds]), _ids(one.counts))
    name = _ids([ids[name] for name in one.names])[_ids(one.name)]
    is_shared = of_round >= 0
    start_ns = _ids(one.start_ns)[is_shared]
    end_ns = start_ns + _ids(one.duration_ns)[is_shared]
    places = np.arange(len(start_ns))
    kernels = CommunicationKernels(places, of_round[is_shared], name[is_shared])
    return _Kernels(kernels, start_ns, end_ns)


def _ids(values: Sequence[int]) -> Ids:
    return np.array(values, np.int64)


def _on_one_clock(collectives: Collectives) -> Collectives:
    """Return collectives by clocks by which each rank leaves with the first one.

    It does so in the median of the collectives of each round.
    """
    late_ns = collectives.end_ns - collectives.end_ns[0]
    shift_ns = np.zeros_like(late_ns)
    for number in np.unique(collectives.round).tolist():
        of_round = collectives.round == number
        middle = np.quantile(late_ns[:, of_round], 0.5, axis=1, method="inverted_cdf")
        shift_ns[:, of_round] = middle[:, np.newaxis]
    return replace(
        collectives,
        start_ns=collectives.start_ns - shift_ns,
        end_ns=collectives.end_ns - shift_ns,
    )
