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
from traceattr.attribution.blocks import blocks
from traceattr.attribution.gap_figures import Completeness
from traceattr.attribution.groups import NO_WORK, group_of
from traceattr.attribution.idle import IdleParts, split_idle
from traceattr.attribution.intervals import Times
from traceattr.attribution.labels import LABELS
from traceattr.attribution.partition import Partition
from traceattr.attribution.per_round import RoundSample
from traceattr.attribution.phases import PHASES, phase_of_operations
from traceattr.attribution.round_figures import Phase
from traceattr.attribution.round_matrix import Spans, round_matrix
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
        idle_by_round: Idle time of each kind in each round; shape (rounds, kinds).
    """

    account: Account
    window: Window
    parts: Partition
    idle: IdleParts
    gaps: Gaps
    sample: RoundSample
    key: Ids
    by_round: Times
    idle_by_round: Times


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
        by_round=round_matrix(sample, _work(account, window, parts, key), _KEYS),
        idle_by_round=round_matrix(sample, _idle(idle), len(_IDLE_KINDS)),
    )


def _work(
    account: Account, window: Window, parts: Partition, key: npt.NDArray[np.integer]
) -> Spans:
    timeline = account.timeline
    latest_ns: Times = np.maximum.accumulate(timeline.end_ns)

    def owned_after(at: int, time_ns: int) -> int:
        first = int(np.searchsorted(latest_ns, time_ns, side="right"))
        end_ns = min(int(timeline.end_ns[at]), window.end_ns)
        return account.owned_between(at, first, time_ns, end_ns)

    return Spans(
        timeline.start_ns, timeline.end_ns, latest_ns, parts.exclusive_ns, key, owned_after
    )


def _idle(idle: IdleParts) -> Spans:
    gaps = idle.gaps
    return Spans(
        gaps.start_ns, gaps.end_ns, gaps.end_ns, idle.length_ns, _idle_kind(idle), lambda *_: 0
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
    for name, sums in zip(_IDLE_KINDS, owned.idle_by_round.T, strict=True):
        yield name, None if name == IN_GRAPH_GAPS and owned.idle.hides_gaps else sums


_IDLE_KINDS = (IN_GRAPH_GAPS, HOST_GAPS, NO_WORK)


def _idle_kind(idle: IdleParts) -> npt.NDArray[np.int8]:
    """Return the kind of each gap as an index into `_IDLE_KINDS`."""
    kind = np.where(idle.in_graph, np.int8(0), np.int8(1))
    kind[idle.no_work] = 2
    return kind


def category_rounds(owned: OwnedTime) -> Iterator[tuple[str, Phase, Times]]:
    """Yield the time of each category and phase in each round, in table order."""
    present = {_category_and_phase(key) for key in np.unique(owned.key).tolist()}
    of_key = [_category_and_phase(key) for key in range(_KEYS)]
    for category, phase in dict.fromkeys(pair for pair in of_key if pair in present):
        mine = [pair == (category, phase) for pair in of_key]
        yield category, phase, owned.by_round[:, mine].sum(axis=1)


def _sums(key: npt.NDArray[np.integer], ns: Times) -> npt.NDArray[np.float64]:
    """Return the time of each label and phase, shape (keys,)."""
    sums = np.zeros(_KEYS)
    for part in blocks(len(key)):
        sums += np.bincount(key[part], weights=ns[part], minlength=_KEYS)
    return sums


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
    counts = np.bincount(owned.key[touches(owned)], minlength=_KEYS)
    exclusive = _sums(owned.key, owned.parts.exclusive_ns)
    inside = _sums(owned.key, owned.account.inside(owned.window))
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
    """Return which operations are of the window."""
    window = owned.window
    return owned.account.timeline.touches(window.start_ns, window.end_ns)
