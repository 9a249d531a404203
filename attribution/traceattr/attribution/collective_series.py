"""The communication kernels of some rounds, by which a trace is compared with those of other ranks.

A trace has far more of them than travel well, so only some rounds are kept: those in which the wall
clock passes a multiple of a power of two, and some after each.  All ranks pass it in the same
round, however long each was recorded, or some rounds apart where their clocks differ.
"""

import numpy as np

from traceattr.attribution.gpu_time import OwnedTime
from traceattr.attribution.intervals import Times
from traceattr.attribution.labels import KernelNames
from traceattr.attribution.matching import communication_kernels, hides_collectives
from traceattr.attribution.rank_figures import CollectiveSeries
from traceattr.attribution.timeline import Ids

MOST = 2_000
"""Kernels that are kept of one GPU, unless a single round has more; about 30 kB."""

IN_A_ROW = 3
"""Rounds kept one after the other; clocks that differ by fewer leave some that are kept of all."""


def collective_series(
    owned: OwnedTime, names: KernelNames, epoch_ns: int | None
) -> CollectiveSeries:
    """Return the communication kernels of some of the sampled rounds of one GPU.

    Args:
        owned: The GPU and its rounds.
        names: Kernel names of the trace.
        epoch_ns: Wall clock at time 0 of the trace.
    """
    timeline, sample = owned.account.timeline, owned.sample
    if hides_collectives(owned.account, owned.window):
        return CollectiveSeries(timeline.gpu_id, is_hidden=True)
    position = communication_kernels(owned.account)
    of_round = sample.index_of(timeline.start_ns[position])
    counts = np.bincount(of_round[of_round >= 0], minlength=len(sample))
    shift_ns = epoch_ns or 0
    rounds = rounds_to_keep(sample.start_ns + shift_ns, sample.end_ns + shift_ns, counts)
    is_kept = np.isin(of_round, rounds)
    position, of_round = position[is_kept], of_round[is_kept]
    used, name = np.unique(timeline.name_id[position], return_inverse=True)
    start_ns = timeline.start_ns[position]
    return CollectiveSeries(
        gpu=timeline.gpu_id,
        is_hidden=False,
        names=tuple(names.names[name_id] for name_id in used.tolist()),
        rounds=tuple(rounds.tolist()),
        counts=tuple(counts[rounds].tolist()),
        name=tuple(name.tolist()),
        start_ns=tuple((start_ns - sample.start_ns[of_round]).tolist()),
        duration_ns=tuple((timeline.end_ns[position] - start_ns).tolist()),
    )


def rounds_to_keep(start_ns: Times, end_ns: Times, counts: Ids) -> Ids:
    """Return the places of rounds in which the clock passes multiples of a power of two.

    It is the least power of which the rounds, and those after each, have no more than `MOST`
    kernels together; the rounds of a higher one are always among those of a lower one.
    """
    passing = kept = np.arange(len(start_ns))
    for power in range(63):
        if counts[kept].sum() <= MOST:
            break
        first_ns = -(-start_ns[passing] // 2**power) * 2**power
        passing = passing[first_ns < end_ns[passing]]
        if not len(passing):
            return kept[:1]
        row = np.unique(passing[:, np.newaxis] + np.arange(IN_A_ROW))
        kept = row[row < len(start_ns)]
    return kept
