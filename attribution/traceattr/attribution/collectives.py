"""Collectives across the ranks of a tensor-parallel group: waiting for others, and the wire.

A rank that arrives early waits inside the kernel, so the kernel's duration says little.  The n-th
run of a kernel in a round is the same collective on every rank; it is complete once the last rank
has begun it.  What a rank spends in it before that is wait, the rest is wire.  No metadata of the
collectives is needed, only one clock for all ranks, which one file has.
"""

from collections.abc import Sequence

import numpy as np

from traceattr.attribution.account import Account
from traceattr.attribution.analysis import Gpu, Window
from traceattr.attribution.matching import (
    HIDDEN,
    Collectives,
    communication_kernels,
    compare_rounds,
    doubt,
    hides_collectives,
    kernels_in_window,
    match,
    those_that_meet,
)
from traceattr.attribution.rank_figures import RankGroup
from traceattr.attribution.rank_times import rank_times
from traceattr.attribution.ranks import align_rounds, tensor_parallel_groups
from traceattr.attribution.rounds import RoundKind
from traceattr.attribution.spread import lower_median
from traceattr.attribution.stragglers import find_straggler
from traceattr.attribution.timeline import Ids

_NEVER_TOGETHER = (
    "the ranks are not in their collectives at the same time: their clocks differ, or these are not"
    " the ranks of one group"
)


def communication(
    accounts: Sequence[Account], gpus: Sequence[Gpu], window: Window
) -> tuple[RankGroup, ...]:
    """Return wait and wire of the collectives of each tensor-parallel group."""
    by_gpu = {account.timeline.gpu_id: account for account in accounts}
    return tuple(
        _compare([by_gpu[gpu] for gpu in members], window)
        for members in tensor_parallel_groups(gpus)
    )


def _compare(accounts: Sequence[Account], window: Window) -> RankGroup:
    gpus = tuple(account.timeline.gpu_id for account in accounts)
    reason = _obstacle(accounts, window)
    if reason is not None:
        return RankGroup(gpus, reason=reason)
    numbers = align_rounds(accounts)
    kernels = kernels_in_window(accounts, numbers, window)
    good, bad = compare_rounds(kernels, numbers)
    reason = doubt(kernels, good, bad)
    if reason is not None:
        return RankGroup(gpus, len(good), len(bad), reason=reason)
    timelines = [account.timeline for account in accounts]
    starts, ends = [one.start_ns for one in timelines], [one.end_ns for one in timelines]
    matched = those_that_meet(match(starts, ends, kernels, good))
    if not len(matched.round):
        return RankGroup(gpus, len(good), len(bad), reason=_NEVER_TOGETHER)
    decoding = _decode_rounds(accounts[0], numbers[0], good, window)
    complete_ns = matched.start_ns.max(axis=0)
    inside = (complete_ns >= window.start_ns) & (complete_ns < window.end_ns)
    inside_only = matched.where(inside)
    unmatched_ns = [
        _unmatched_ns(account, position, window)
        for account, position in zip(accounts, matched.position, strict=True)
    ]
    return RankGroup(
        gpus=gpus,
        rounds=len(good),
        rounds_left_out=len(bad),
        per_gpu=tuple(rank_times(gpus, inside_only, matched, decoding, unmatched_ns)),
        straggler=find_straggler(accounts, inside_only, window),
        decode_rounds=len(decoding),
        usual_collective_ns=_usual_ns(matched, decoding),
    )


def _usual_ns(matched: Collectives, decoding: Ids) -> int | None:
    """Return what the most frequent collective of some rounds takes where nobody waits.

    The rank that arrives last waits for none, so the shortest time among the ranks is transfer.
    """
    of_rounds = matched.where(np.isin(matched.round, decoding))
    if not len(of_rounds.name):
        return None
    usual = of_rounds.where(of_rounds.name == np.bincount(of_rounds.name).argmax())
    shortest_ns = (usual.end_ns - usual.start_ns).min(axis=0)
    return lower_median(shortest_ns)


def _obstacle(accounts: Sequence[Account], window: Window) -> str | None:
    """Return why the trace cannot tell from the outset."""
    if len(accounts) < 2:
        return "only one GPU: no rank to wait for"
    for account in accounts:
        if hides_collectives(account, window):
            return HIDDEN
    if not all(len(account.rounds.kind) for account in accounts):
        return "no rounds were found, so collectives cannot be matched"
    return None


def _decode_rounds(account: Account, numbers: Ids, good: Ids, window: Window) -> Ids:
    """Return the compared rounds of decoding that lie inside the window as a whole."""
    rounds = account.rounds
    decodes = np.array(
        [kind in (RoundKind.SPECULATIVE, RoundKind.DECODE) for kind in rounds.kind], np.bool_
    )
    inside = (rounds.start_ns >= window.start_ns) & (rounds.end_ns <= window.end_ns)
    return np.intersect1d(numbers[decodes & inside], good)


def _unmatched_ns(account: Account, matched: Ids, window: Window) -> int:
    position = np.setdiff1d(communication_kernels(account), matched, assume_unique=True)
    start_ns = account.timeline.start_ns[position]
    chosen = position[(start_ns >= window.start_ns) & (start_ns < window.end_ns)]
    return int((account.timeline.end_ns[chosen] - account.timeline.start_ns[chosen]).sum())
