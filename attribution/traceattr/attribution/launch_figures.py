"""What launching costs per round: the columns that people make by hand from a timeline."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from traceattr.attribution.gap_figures import LaunchFigures
from traceattr.attribution.gpu_time import OwnedTime
from traceattr.attribution.host_calls import NO_LAUNCH, Calls, GpuLaunches, Launches
from traceattr.attribution.intervals import Times
from traceattr.attribution.rounds import RoundKind
from traceattr.attribution.steady import main_kind
from traceattr.attribution.timeline import Ids


@dataclass(frozen=True, slots=True)
class _Launched:
    """Launches that belong to rounds.

    Attributes:
        round: Round of each, shape (launches,).
        start_ns: Begin of the call.
        end_ns: End of the call.
        is_known: Whether the call is in the trace.
    """

    round: Ids
    start_ns: Times
    end_ns: Times
    is_known: npt.NDArray[np.bool_]


def launch_figures(
    owned: OwnedTime, launches: GpuLaunches, calls: Calls
) -> tuple[LaunchFigures, ...]:
    """Return the figures of each kind of round that lies in the window.

    Of the main kind these are the rounds that all figures per round are about.
    """
    return tuple(_figures(owned, launches, calls))


def _figures(owned: OwnedTime, launches: GpuLaunches, calls: Calls) -> Iterator[LaunchFigures]:
    rounds, window = owned.account.rounds, owned.window
    inside = (rounds.start_ns >= window.start_ns) & (rounds.end_ns <= window.end_ns)
    graphs = _launched(owned, owned.account.timeline.replays.start_ns, launches.replays, calls)
    eager = _launched(owned, launches.eager.start_ns, launches.eager.launches, calls)
    main = main_kind(owned.account)
    for kind in RoundKind:
        chosen = inside & np.array([found is kind for found in rounds.kind], np.bool_)
        if kind is main:
            chosen &= np.isin(rounds.start_ns, owned.sample.start_ns)
        if chosen.any():
            yield _of_kind(kind, owned, chosen, graphs, eager)


def _launched(owned: OwnedTime, work_ns: Times, by: Launches, calls: Calls) -> _Launched:
    """Return the round and the call of some work, by when the work begins."""
    rounds = owned.account.rounds
    at = np.searchsorted(rounds.start_ns, work_ns, side="right") - 1
    inside = (at >= 0) & (work_ns < np.append(rounds.end_ns, 0)[at])
    call = calls.find(by.correlation)
    return _Launched(
        round=np.where(inside, at, len(rounds.kind)),
        start_ns=np.append(calls.start_ns, 0)[call],
        end_ns=np.append(calls.end_ns, 0)[call],
        is_known=(call >= 0) & (by.launch_ns != NO_LAUNCH),
    )


def _of_kind(
    kind: RoundKind,
    owned: OwnedTime,
    chosen: npt.NDArray[np.bool_],
    graphs: _Launched,
    eager: _Launched,
) -> LaunchFigures:
    timeline, rounds = owned.account.timeline, owned.account.rounds
    count = int(chosen.sum())
    of_graph = np.append(chosen, False)[graphs.round]
    operation = rounds.hold(chosen, len(timeline.name_id))
    is_kernel = operation & (timeline.name_id >= 0)
    is_node = operation & (timeline.replay >= 0)
    hides = bool(timeline.replays.is_envelope[of_graph].any())
    starts, ends = rounds.start_ns[chosen], rounds.end_ns[chosen]
    busy = owned.parts.busy.covered_before(ends) - owned.parts.busy.covered_before(starts)
    kernel_ns = (timeline.end_ns - timeline.start_ns).sum(where=is_kernel)
    graph_ns = (graphs.end_ns - graphs.start_ns)[of_graph].sum()
    return LaunchFigures(
        kind=str(kind),
        rounds=count,
        graph_launches=int(of_graph.sum()) / count,
        graph_launch_ns=_mean(graph_ns, count) if graphs.is_known[of_graph].all() else None,
        eager_launches=int((is_kernel & ~is_node).sum()) / count,
        graph_nodes=None if hides else int(is_node.sum()) / count,
        gpu_span_ns=_mean((ends - starts).sum(), count),
        busy_ns=_mean(busy.sum(), count),
        kernel_ns=None if hides else _mean(kernel_ns, count),
        cpu_span_ns=_cpu_span(chosen, (graphs, eager)),
    )


def _cpu_span(chosen: npt.NDArray[np.bool_], both: tuple[_Launched, ...]) -> int | None:
    """Return the mean time from the first launching call of a round to the end of its last."""
    first = np.full(len(chosen) + 1, np.iinfo(np.int64).max)
    last = np.full(len(chosen) + 1, np.iinfo(np.int64).min)
    for launched in both:
        mine = np.append(chosen, False)[launched.round]
        if not launched.is_known[mine].all():
            return None
        np.minimum.at(first, launched.round[mine], launched.start_ns[mine])
        np.maximum.at(last, launched.round[mine], launched.end_ns[mine])
    return _mean((last[:-1] - first[:-1])[chosen].sum(), int(chosen.sum()))


def _mean(total: np.int64, count: int) -> int:
    return round(int(total) / count)
