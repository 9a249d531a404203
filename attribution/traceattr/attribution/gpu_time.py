"""Where the time of one GPU went."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from traceattr.attribution.account import Account
from traceattr.attribution.analysis import (
    CategorySpread,
    CategoryTime,
    GpuTime,
    GroupSpread,
    Window,
)
from traceattr.attribution.gap_figures import Completeness
from traceattr.attribution.groups import NO_WORK, group_of
from traceattr.attribution.idle import IdleParts, split_idle
from traceattr.attribution.intervals import Times
from traceattr.attribution.labels import LABELS
from traceattr.attribution.partition import Partition
from traceattr.attribution.per_round import RoundSample
from traceattr.attribution.phases import PHASES, phase_of_operations
from traceattr.attribution.round_figures import Phase
from traceattr.attribution.seams import Gaps, classify_gaps
from traceattr.attribution.spread import spread
from traceattr.attribution.timeline import Ids
from traceattr.rules.categories import GROUPS, HOST_GAPS, IN_GRAPH_GAPS


@dataclass(frozen=True, slots=True)
class OwnedTime:
    """Who owns one GPU's window.

    Attributes:
        account: The GPU.
        window: The window.
        parts: Who owns each nanosecond.
        idle: What kind each gap is.
        gaps: What each gap joins.
        sample: The rounds that figures per round are about.
        key: Label and phase of each operation as one number; shape (operations,).
        by_round: Exclusive time of each label and phase in each round; shape (rounds, keys).
    """

    account: Account
    window: Window
    parts: Partition
    idle: IdleParts
    gaps: Gaps
    sample: RoundSample
    key: Ids
    by_round: Times


def own_time(
    account: Account,
    window: Window,
    sample: RoundSample,
    *,
    pause_ns: int | None,
    hides_gaps: bool,
    completeness: Completeness = "unknown",
) -> OwnedTime:
    """Return who owns the window on one GPU.

    Args:
        account: The GPU.
        window: What to partition.
        sample: The rounds that figures per round are about.
        pause_ns: Idle time from which on no request can be in flight; None when not known.
        hides_gaps: Whether graphs ran on this GPU whose nodes were not recorded.
        completeness: Whether what the process launched was recorded.
    """
    parts = account.partition(window)
    idle = split_idle(
        account.timeline,
        parts.idle,
        pause_ns=pause_ns,
        hides_gaps=hides_gaps,
        completeness=completeness,
    )
    phase = phase_of_operations(account).astype(np.int16)
    key = account.timeline.label * len(PHASES) + phase
    return OwnedTime(
        account=account,
        window=window,
        parts=parts,
        idle=idle,
        gaps=classify_gaps(account, idle),
        sample=sample,
        key=key,
        by_round=_round_matrix(account.timeline.start_ns, key, parts.exclusive_ns, sample),
    )


def gpu_time(owned: OwnedTime) -> GpuTime:
    """Return the sums; categories and idle sum to the length of the window."""
    return GpuTime(
        gpu=owned.account.timeline.gpu_id,
        wall_ns=owned.window.wall_ns,
        busy_ns=owned.parts.busy.total_ns,
        kernel_ns=owned.parts.kernel_ns,
        categories=tuple(_category_times(owned)),
        idle=owned.idle.total(),
        per_round=tuple(_group_spreads(owned)) if len(owned.sample) else (),
        category_rounds=tuple(_category_spreads(owned)) if len(owned.sample) else (),
    )


def group_rounds(owned: OwnedTime) -> Iterator[tuple[str, Times | None]]:
    """Yield the time of each group in each round, in table order; None where it is hidden."""
    of_key = [_group(key) for key in range(_KEYS)]
    for name in GROUPS:
        yield name, owned.by_round[:, [group == name for group in of_key]].sum(axis=1)
    idle = owned.idle
    kinds = {
        IN_GRAPH_GAPS: idle.in_graph,
        HOST_GAPS: ~(idle.in_graph | idle.no_work),
        NO_WORK: idle.no_work,
    }
    for name, chosen in kinds.items():
        sums = owned.sample.sums(idle.gaps.start_ns[chosen], idle.length_ns[chosen])
        yield name, None if name == IN_GRAPH_GAPS and idle.hides_gaps else sums


def category_rounds(owned: OwnedTime) -> Iterator[tuple[str, Phase, Times]]:
    """Yield the time of each category and phase in each round, in table order."""
    present = {_category_and_phase(key) for key in np.unique(owned.key).tolist()}
    of_key = [_category_and_phase(key) for key in range(_KEYS)]
    for category, phase in dict.fromkeys(pair for pair in of_key if pair in present):
        mine = [pair == (category, phase) for pair in of_key]
        yield category, phase, owned.by_round[:, mine].sum(axis=1)


def _round_matrix(start_ns: Times, key: Ids, exclusive_ns: Times, sample: RoundSample) -> Times:
    """Return the exclusive time of each label and phase in each round, shape (rounds, keys)."""
    at = sample.index_of(start_ns)
    inside = at >= 0
    sums = np.bincount(
        at[inside] * _KEYS + key[inside],
        weights=exclusive_ns[inside],
        minlength=len(sample) * _KEYS,
    )
    return sums.astype(np.int64).reshape(-1, _KEYS)


_KEYS = len(LABELS) * len(PHASES)


def _label_and_phase(key: int) -> tuple[int, Phase]:
    return key // len(PHASES), PHASES[key % len(PHASES)]


def _group(key: int) -> str:
    label, phase = _label_and_phase(key)
    return group_of(LABELS[label].category, phase)


def _group_spreads(owned: OwnedTime) -> Iterator[GroupSpread]:
    for name, times in group_rounds(owned):
        yield GroupSpread(name, None if times is None else spread(times))


def _category_spreads(owned: OwnedTime) -> Iterator[CategorySpread]:
    for category, phase, times in category_rounds(owned):
        yield CategorySpread(category, phase, spread(times))


def _category_and_phase(key: int) -> tuple[str, Phase]:
    label, phase = _label_and_phase(key)
    return LABELS[label].category, phase


def _category_times(owned: OwnedTime) -> Iterator[CategoryTime]:
    """Yield the sums per label and phase, in table order.

    Weights go through float64, which is exact below 2**53 ns (104 days).
    """
    parts = owned.parts
    counts = np.bincount(owned.key[touches(owned)], minlength=_KEYS)
    exclusive = np.bincount(owned.key, weights=parts.exclusive_ns, minlength=_KEYS)
    inside = np.bincount(owned.key, weights=parts.inside_ns, minlength=_KEYS)
    has_rounds = bool(owned.account.rounds.kind)
    for key in np.flatnonzero(counts).tolist():
        label, phase = _label_and_phase(key)
        yield CategoryTime(
            category=LABELS[label].category,
            subcategory=LABELS[label].subcategory,
            phase=phase if has_rounds else None,
            exclusive_ns=int(exclusive[key]),
            sum_ns=int(inside[key]),
            operations=int(counts[key]),
            per_round=spread(owned.by_round[:, key]),
        )


def touches(owned: OwnedTime) -> npt.NDArray[np.bool_]:
    """Return which operations count: one of length zero covers nothing but did run."""
    start: Times = owned.account.timeline.start_ns
    end: Times = owned.account.timeline.end_ns
    first_ns, last_ns = owned.window.start_ns, owned.window.end_ns
    covers = (start < last_ns) & (end > first_ns)
    is_instant = (start == end) & (start >= first_ns) & (start <= last_ns)
    return np.asarray(covers | is_instant, np.bool_)
