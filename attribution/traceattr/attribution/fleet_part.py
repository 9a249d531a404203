"""What one trace contributes to the report on several."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import msgspec

from traceattr.attribution.groups import NO_WORK, group_of
from traceattr.attribution.rank_figures import CollectiveSeries
from traceattr.attribution.stored import dump_analysis
from traceattr.rules.categories import COMMUNICATION, HOST_GAPS, IN_GRAPH_GAPS

if TYPE_CHECKING:
    from traceattr.attribution.analysis import Analysis, Gpu, GpuTime
    from traceattr.attribution.round_figures import RoundSeries


@dataclass(frozen=True, slots=True)
class RankRounds:
    """The rounds of one GPU, in order.

    Attributes:
        start_ns: Begins, since 1970 where the wall clock is known.
        wall_ns: From there to the begin of the next.
        own_ns: That without communication, in which a rank waits for others; None when hidden.
    """

    start_ns: tuple[int, ...]
    wall_ns: tuple[int, ...]
    own_ns: tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class RankPart:
    """One GPU of one trace.

    Attributes:
        file: Name of the trace.
        gpu: Number of the GPU in it.
        rank: Tensor-parallel rank, when known.
        process: Title of the process.
        name: Marketing name of the GPU.
        wall_ns: Length of the window.
        busy_ns: Time in which something ran.
        groups: Exclusive time of each group; None when the trace cannot tell.
        rounds: The rounds.
        collectives: Collectives in some of them, None without rounds.
    """

    file: str
    gpu: int
    rank: int | None
    process: str | None
    name: str | None
    wall_ns: int
    busy_ns: int
    groups: tuple[tuple[str, int | None], ...]
    rounds: RankRounds
    collectives: CollectiveSeries | None = None


@dataclass(frozen=True, slots=True)
class TracePart:
    """One trace, or why it could not be read.

    Attributes:
        file: Its name, as given.
        failure: What is wrong with it; None when nothing is.
        content: Digest of its analysis, the same for copies of one trace.
        has_clock: Whether its times count from 1970.
        start_ns: Begin of its window.
        end_ns: End of its window.
        kind: What its rounds do.
        ranks: Its GPUs.
    """

    file: str
    failure: str | None
    content: str = ""
    has_clock: bool = False
    start_ns: int = 0
    end_ns: int = 0
    kind: str = "none"
    ranks: tuple[RankPart, ...] = ()


Parts = tuple[TracePart, ...]


def part_of(file: str, analysis: "Analysis") -> TracePart:
    """Return what one trace contributes."""
    epoch_ns = analysis.trace.epoch_ns
    shift_ns = epoch_ns or 0
    series = {one.gpu: one for one in analysis.series}
    collectives = {one.gpu: one for one in analysis.collectives}
    anonymous = replace(analysis, trace=replace(analysis.trace, file=""))
    return TracePart(
        file=file,
        failure=None,
        content=hashlib.sha256(dump_analysis(anonymous)).hexdigest(),
        has_clock=epoch_ns is not None,
        start_ns=analysis.window.start_ns + shift_ns,
        end_ns=analysis.window.end_ns + shift_ns,
        kind=analysis.rounds.kind,
        ranks=tuple(
            _rank(file, gpu, time, series.get(gpu.gpu), collectives.get(gpu.gpu), shift_ns)
            for gpu, time in zip(analysis.gpus, analysis.per_gpu, strict=True)
        ),
    )


def dump_parts(parts: Parts) -> bytes:
    """Return parts as JSON, for another process."""
    return msgspec.json.encode(parts)


def load_parts(stored: bytes) -> Parts:
    """Return the parts that `dump_parts` wrote."""
    return msgspec.json.decode(stored, type=Parts)


def merge_parts(one: bytes, other: bytes) -> bytes:
    """Return the parts of two groups of traces as those of one, in order of their names."""
    both = (*load_parts(one), *load_parts(other))
    return dump_parts(tuple(sorted(both, key=lambda part: part.file)))


def _rank(
    file: str,
    gpu: "Gpu",
    time: "GpuTime",
    series: "RoundSeries | None",
    collectives: CollectiveSeries | None,
    shift_ns: int,
) -> RankPart:
    return RankPart(
        file=file,
        gpu=gpu.gpu,
        rank=gpu.rank,
        process=gpu.process,
        name=gpu.name,
        wall_ns=time.wall_ns,
        busy_ns=time.busy_ns,
        groups=tuple(_groups(time)),
        rounds=_rounds(series, shift_ns),
        collectives=collectives,
    )


def _groups(time: "GpuTime") -> Iterator[tuple[str, int | None]]:
    sums: dict[str, int] = {}
    for entry in time.categories:
        name = group_of(entry.category, entry.phase)
        sums[name] = sums.get(name, 0) + entry.exclusive_ns
    yield from sums.items()
    idle = time.idle
    in_graph_ns = idle.in_graph_ns or 0
    yield IN_GRAPH_GAPS, idle.in_graph_ns
    yield HOST_GAPS, idle.total_ns - in_graph_ns - idle.no_work_ns
    yield NO_WORK, idle.no_work_ns


def _rounds(series: "RoundSeries | None", shift_ns: int) -> RankRounds:
    if series is None:
        return RankRounds((), (), None)
    waiting = [one.ns for one in series.categories if one.category == COMMUNICATION]
    own = [wall - sum(parts) for wall, *parts in zip(series.wall_ns, *waiting, strict=True)]
    starts = tuple(start + shift_ns for start in series.start_ns)
    return RankRounds(starts, series.wall_ns, tuple(own) if waiting else None)
