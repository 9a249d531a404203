"""The layers of the target model in its graph replays: how many, in which order, at what cost.

Each layer runs one kernel that is its core: attention, or the recurrence of linear attention.
Where a layer begins is not visible, but the distance between the cores of two layers of one kind
is the cost of one layer of that kind, wherever the cut lies.
"""

from dataclasses import dataclass

import numpy as np

from traceattr.attribution import roles
from traceattr.attribution.account import Account
from traceattr.attribution.analysis import Window
from traceattr.attribution.intervals import Times
from traceattr.attribution.labels import LABELS, KernelNames
from traceattr.attribution.layer_figures import LayerKind, Layers, OutlierLayer, Period
from traceattr.attribution.piece_kinds import TARGETS
from traceattr.attribution.pieces import named
from traceattr.attribution.roles import Flags
from traceattr.attribution.round_figures import Spread
from traceattr.attribution.spread import spread
from traceattr.attribution.timeline import Ids, Places, Timeline

DEVIATIONS = 5
"""Median absolute deviations above the median of its kind from which on a layer is an outlier."""

NOTICEABLE = 0.02
"""Share of that median by which an outlier must exceed it too: replays repeat to the microsecond,
and then any difference is many deviations."""

ENOUGH_REPLAYS = 3
"""Of fewer replays one odd layer may be an accident, and none is called an outlier."""

MOST_CORES = 4
"""No layer runs its core more often."""

_IS_GEMM = np.array([label.category in ("weight_gemm", "moe_gemm") for label in LABELS])


@dataclass(frozen=True, slots=True)
class _Cores:
    """Cores of the target's layers, in order; arrays of shape (cores,).

    Attributes:
        replay: Dense number of the target replay.
        is_attention: Whether the layer attends; the others have a recurrence.
        start_ns: Begins.
        kernels: How many kernels of target replays began before.
    """

    replay: Places
    is_attention: Flags
    start_ns: Times
    kernels: Ids


@dataclass(frozen=True, slots=True)
class _Costs:
    """Cost of each layer in each replay.

    Attributes:
        values: Shape (replays, layers).
        is_known: Whether a layer's cost can be told; shape (layers,).
    """

    values: Ids
    is_known: Flags


def find_layers(account: Account, names: KernelNames, window: Window) -> Layers:
    """Return the layers in the target's replays that lie inside the window as a whole."""
    gpu = account.timeline.gpu_id
    targets, are_hidden = _targets(account, window)
    if not len(targets):
        hidden = "graphs were not traced per node" if are_hidden else "no replay of a target model"
        return Layers(gpu, reason=f"no layers: {hidden}")
    cores = _find_cores(account, names, targets)
    if not len(cores.replay):
        reason = "no layers: no rule names the attention of the target's replays"
        return Layers(gpu, replays=len(targets), reason=reason)
    rows, is_attention = _usual(cores, len(targets))
    return _described(gpu, cores, len(targets), rows, is_attention)


def _targets(account: Account, window: Window) -> tuple[Ids, bool]:
    """Return the pieces that replay the target per node, and whether some replays are hidden."""
    pieces, replays = account.pieces, account.timeline.replays
    is_target = np.array([kind in TARGETS for kind in account.kinds.of_piece], np.bool_)
    inside = (pieces.start_ns >= window.start_ns) & (pieces.end_ns <= window.end_ns)
    at = np.flatnonzero(is_target & inside & (pieces.replay >= 0))
    is_hidden = replays.is_envelope[pieces.replay[at]]
    return at[~is_hidden], bool(is_hidden.any())


def _find_cores(account: Account, names: KernelNames, targets: Ids) -> _Cores:
    timeline = account.timeline
    # The last is for what is in no piece.
    number = np.full(len(account.pieces.start_ns) + 1, -1, np.int32)
    number[targets] = np.arange(len(targets))
    replay = number[account.pieces.of_operation]
    attention = _one_per_layer(timeline, roles.attention_core(names), replay)
    recurrent = _one_per_layer(timeline, roles.recurrent_core(names), replay)
    at = np.union1d(attention, recurrent)
    order = at[np.argsort(replay[at], kind="stable")]
    order = order[_begin_layer(timeline, replay, order)]
    kernels = np.cumsum((replay >= 0) & (timeline.name_id >= 0), dtype=np.int32)
    return _Cores(
        replay[order],
        np.isin(order, attention),
        timeline.start_ns[order],
        kernels[order].astype(np.int64),
    )


def _begin_layer(timeline: Timeline, replay: Places, cores: Ids) -> Flags:
    """Return which cores are the first of their layer: a GEMM lies between it and the one before.

    Attention over a tree of drafts runs the same kernel twice in each layer, for the prefix and for
    the tree.  Where that makes longer runs of cores, GEMMs have no category and tell nothing.
    """
    gemms = np.cumsum(_IS_GEMM[timeline.label] & (replay >= 0), dtype=np.int32)[cores]
    owner = replay[cores]
    is_first: Flags = (np.diff(owner, prepend=-1) != 0) | (np.diff(gemms, prepend=-1) != 0)
    cores_per_layer = np.diff(np.flatnonzero(np.append(is_first, True)))
    if cores_per_layer.max(initial=0) > MOST_CORES:
        return np.ones(len(cores), np.bool_)
    return is_first


def _one_per_layer(timeline: Timeline, flags: Flags, replay: Places) -> Ids:
    """Return where, in each replay, the most frequent of some names runs.

    Of the kernels that make up one layer's attention each runs once per layer; where several are
    equally frequent, the first one stands for the layer.
    """
    at = np.flatnonzero(named(flags, timeline) & (replay >= 0))
    if not len(at):
        return at
    keys, first, of_key, times = np.unique(
        replay[at].astype(np.int64) * len(flags) + timeline.name_id[at],
        return_index=True,
        return_inverse=True,
        return_counts=True,
    )
    order = np.lexsort((first, -times, keys // len(flags)))
    owner = keys[order] // len(flags)
    is_best = np.zeros(len(keys), np.bool_)
    is_best[order[np.append(True, owner[1:] != owner[:-1])]] = True
    return at[is_best[of_key]]


def _usual(cores: _Cores, replays: int) -> tuple[Ids, Flags]:
    """Return the cores of the replays with the most frequent sequence, and that sequence.

    The cores are positions of shape (replays, layers).  Of equally frequent sequences the longest
    is the usual one: the others lack something.
    """
    length = np.bincount(cores.replay, minlength=replays)
    first = np.cumsum(length) - length
    found: list[tuple[int, int, Ids, Flags]] = []
    for layers in np.unique(length[length > 0]).tolist():
        positions = first[length == layers][:, np.newaxis] + np.arange(layers)
        kinds, of_row, times = np.unique(
            cores.is_attention[positions], axis=0, return_inverse=True, return_counts=True
        )
        most = int(times.argmax())
        rows = positions[of_row.reshape(-1) == most]
        found.append((int(times[most]), layers, rows, kinds[most]))
    *_, rows, sequence = max(found, key=lambda entry: entry[:2])
    return rows, sequence


def _described(gpu: int, cores: _Cores, replays: int, rows: Ids, is_attention: Flags) -> Layers:
    period = _period(is_attention)
    time = _layer_costs(cores.start_ns[rows], is_attention) if period else None
    kernels = _layer_costs(cores.kernels[rows], is_attention) if period else None
    return Layers(
        gpu=gpu,
        replays=replays,
        unusual=replays - len(rows),
        layers=len(is_attention),
        attention_layers=int(is_attention.sum()),
        recurrent_layers=int((~is_attention).sum()),
        period=period,
        kernels_per_attention_layer=_typical(kernels, is_attention),
        kernels_per_recurrent_layer=_typical(kernels, ~is_attention),
        attention_layer_ns=_over_replays(time, is_attention),
        recurrent_layer_ns=_over_replays(time, ~is_attention),
        outliers=_outliers(time, is_attention),
        reason=_reason(period, time, is_attention),
        notice=_notice(cores, replays, len(rows), len(is_attention)),
    )


def _period(is_attention: Flags) -> Period | None:
    """Return the shortest beginning that the whole sequence repeats at least twice."""
    count = len(is_attention)
    for length in range(1, count // 2 + 1):
        if (is_attention[length:] == is_attention[:-length]).all():
            kinds = tuple(_kind(bool(attends)) for attends in is_attention[:length])
            return Period(kinds, count // length, count % length)
    return None


def _kind(is_attention: bool) -> LayerKind:
    return LayerKind.ATTENTION if is_attention else LayerKind.RECURRENT


def _layer_costs(at_core: Ids, is_attention: Flags) -> _Costs:
    """Return what each layer costs, from a quantity that has been running up to each core.

    Algorithm: between the cores of two layers of one kind lies the cost of one such layer; it is
    charged to the first.  A layer between two of the other kind costs what lies between those two,
    less one layer of the other kind; it is estimated so where no two of its kind are neighbours.
    """
    step = np.diff(at_core, axis=1)
    costs = np.zeros_like(at_core)
    is_known = np.zeros(len(is_attention), np.bool_)
    same = is_attention[:-1] == is_attention[1:]
    costs[:, :-1][:, same] = step[:, same]
    is_known[:-1] = same
    for attends in (False, True):
        mine = is_attention == attends
        others = is_known & ~mine
        if (is_known & mine).any() or not others.any():
            continue
        alone = 1 + np.flatnonzero(mine[1:-1] & ~mine[:-2] & ~mine[2:])
        usual = _median(costs[:, others], axis=1)[:, np.newaxis]
        costs[:, alone] = step[:, alone - 1] + step[:, alone] - usual
        is_known[alone] = True
    return _Costs(costs, is_known)


def _median(values: Ids, axis: int | None = None) -> Ids:
    """Return a median that occurs among the values."""
    return np.asarray(np.quantile(values, 0.5, axis=axis, method="inverted_cdf"), np.int64)


def _typical(costs: _Costs | None, mine: Flags) -> int | None:
    if costs is None or not (costs.is_known & mine).any():
        return None
    return int(_median(costs.values[:, costs.is_known & mine]))


def _over_replays(costs: _Costs | None, mine: Flags) -> Spread | None:
    """Return the spread over replays of the mean over the layers of one kind."""
    if costs is None or not (costs.is_known & mine).any():
        return None
    mean = costs.values[:, costs.is_known & mine].mean(axis=1)
    return spread(np.rint(mean).astype(np.int64))


def _outliers(costs: _Costs | None, is_attention: Flags) -> tuple[OutlierLayer, ...]:
    if costs is None or len(costs.values) < ENOUGH_REPLAYS:
        return ()
    median = _median(costs.values, axis=0)
    found: list[OutlierLayer] = []
    for attends in (False, True):
        layers = np.flatnonzero(costs.is_known & (is_attention == attends))
        if not len(layers):
            continue
        usual = int(_median(median[layers]))
        deviation = int(_median(np.abs(median[layers] - usual)))
        limit = usual + max(DEVIATIONS * deviation, NOTICEABLE * usual)
        found += [
            OutlierLayer(layer, _kind(attends), int(median[layer]), usual)
            for layer in layers[median[layers] > limit].tolist()
        ]
    return tuple(sorted(found, key=lambda outlier: outlier.layer))


def _reason(period: Period | None, costs: _Costs | None, is_attention: Flags) -> str | None:
    if period is None or costs is None:
        return "no cost per layer: the order of the layers has no regular period"
    if any(
        kind.any() and not (costs.is_known & kind).any() for kind in (is_attention, ~is_attention)
    ):
        return "no cost per layer: no two layers of one kind follow each other"
    return None


def _notice(cores: _Cores, replays: int, usual: int, layers: int) -> str | None:
    """Return that replays differ, which the layers of one model do not do."""
    if usual == replays:
        return None
    others = sorted(set(np.bincount(cores.replay, minlength=replays).tolist()) - {layers})
    seen = f"; others show {', '.join(map(str, others))}" if others else " in this order"
    return (
        f"{replays - usual:,} of {replays:,} replays of the target do not show the usual"
        f" {layers} layers{seen}: a rule misses a kernel, or the trace lost some."
    )
