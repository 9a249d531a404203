"""Compute the exact answer by walking over every boundary of every operation.

At each instant one running operation owns the time of its GPU: compute before communication
before copies, and within a class the one that started first. The window runs from the first
start to the last end over all GPUs. Nothing here is shared with the code it is a test of.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from traces.description import Simulation, visible_operations
from traces.timeline import NO_ROUND, GpuOp, ReplaySpan, Timeline
from traces.truth import (
    FORMAT,
    Amount,
    CollectivesTruth,
    GpuTruth,
    IdleTruth,
    ReplayTruth,
    RoundTruth,
    SeamTruth,
    Truth,
)
from traces.workload import Kernel

CLASS_RANK = {"comm": 1, "memory": 2}  # whatever else computes

Window: TypeAlias = tuple[int, int]


class Key(NamedTuple):
    """What time is summed by."""

    phase: str
    category: str
    subcategory: str | None


class Segment(NamedTuple):
    """A stretch of time in which nothing changes on a GPU; an idle one has no owner."""

    start_ns: int
    end_ns: int
    owner: GpuOp | None

    @property
    def length_ns(self) -> int:
        """How long it is."""
        return self.end_ns - self.start_ns


def truth_of(timeline: Timeline, simulation: Simulation) -> Truth:
    """Compute the exact answer to what the trace shows of `timeline`."""
    operations = visible_operations(timeline, simulation)
    window = (min(op.start_ns for op in operations), max(op.end_ns for op in operations))
    ranks = range(len(simulation.slowdowns))
    by_rank = [[op for op in operations if op.rank == rank] for rank in ranks]
    collectives = _collectives(by_rank)
    replays = timeline.replays if simulation.shows_replays else []
    gpus = [
        _gpu_truth(
            simulation,
            rank,
            window,
            by_rank[rank],
            [replay for replay in replays if replay.rank == rank],
            collectives[rank],
        )
        for rank in ranks
    ]
    return Truth(
        FORMAT, simulation.sentence, simulation.era, simulation.mode, *window, gpus=tuple(gpus)
    )


def segments(operations: Iterable[GpuOp], window: Window) -> Iterator[Segment]:
    """Cut the window at every start and end; each piece goes to its owner or to nobody."""
    boundaries: list[tuple[int, int, GpuOp | None]] = []
    for number, operation in enumerate(operations):
        boundaries.append((operation.start_ns, number, operation))
        boundaries.append((operation.end_ns, number, None))
    boundaries.sort(key=lambda boundary: boundary[0])
    running: dict[int, GpuOp] = {}
    at_ns, end_ns = window
    for time_ns, number, started in boundaries:
        if time_ns > at_ns:
            owner = min(running.values(), key=_claim) if running else None
            yield Segment(at_ns, time_ns, owner)
            at_ns = time_ns
        if started is None:
            del running[number]
        else:
            running[number] = started
    if end_ns > at_ns:
        yield Segment(at_ns, end_ns, None)


def _claim(operation: GpuOp) -> tuple[int, int]:
    """Order the operations that run at one instant: the least one owns it."""
    return CLASS_RANK.get(operation.what.category, 0), operation.start_ns


def _gpu_truth(
    simulation: Simulation,
    rank: int,
    window: Window,
    operations: Sequence[GpuOp],
    replays: Sequence[ReplaySpan],
    collectives: CollectivesTruth,
) -> GpuTruth:
    pieces = list(segments(operations, window))
    idle = [(piece.start_ns, piece.end_ns) for piece in pieces if piece.owner is None]
    amounts = _amounts(operations, pieces)
    idle_ns = sum(end - start for start, end in idle)
    return GpuTruth(
        rank=rank,
        pid=simulation.pid(rank),
        device_id=simulation.device_id(rank),
        wall_ns=window[1] - window[0],
        busy_ns=sum(piece.length_ns for piece in pieces if piece.owner is not None),
        idle_ns=idle_ns,
        idle=_split_idle(idle, replays, simulation.mode),
        categories=_summed(amounts, lambda key: key.category),
        communication=_summed(amounts, lambda key: key.subcategory),
        phases=_by_phase(amounts),
        rounds=_rounds(operations, replays),
        replays=tuple(_replay_truth(replay) for replay in replays),
        seams=_seams(idle, replays),
        collectives=collectives,
    )


def _key(operation: GpuOp) -> Key:
    return Key(operation.phase, operation.what.category, operation.what.subcategory)


def _amounts(operations: Iterable[GpuOp], pieces: Iterable[Segment]) -> dict[Key, Amount]:
    exclusive: defaultdict[Key, int] = defaultdict(int)
    busy: defaultdict[Key, int] = defaultdict(int)
    count: defaultdict[Key, int] = defaultdict(int)
    for operation in operations:
        busy[_key(operation)] += operation.end_ns - operation.start_ns
        count[_key(operation)] += 1
    for piece in pieces:
        if piece.owner is not None:
            exclusive[_key(piece.owner)] += piece.length_ns
    keys = sorted(count, key=lambda key: (key.phase, key.category, key.subcategory or ""))
    return {key: Amount(exclusive[key], busy[key], count[key]) for key in keys}


def _summed(
    amounts: Mapping[Key, Amount], name_of: Callable[[Key], str | None]
) -> dict[str, Amount]:
    sums: dict[str, Amount] = {}
    for key, amount in amounts.items():
        name = name_of(key)
        if name is not None:
            sums[name] = sums.get(name, Amount()) + amount
    return dict(sorted(sums.items()))


def _by_phase(amounts: Mapping[Key, Amount]) -> dict[str, Mapping[str, Amount]]:
    parts: defaultdict[str, dict[Key, Amount]] = defaultdict(dict)
    for key, amount in amounts.items():
        parts[key.phase][key] = amount
    return {phase: _summed(part, lambda key: key.category) for phase, part in parts.items()}


def _split_idle(idle: Sequence[Window], replays: Sequence[ReplaySpan], mode: str) -> IdleTruth:
    """Split idle time by where it lies; a gap is never cut, for replays start and end busy."""
    starts = [replay.start_ns for replay in replays]
    in_graph = between_graph = other = 0
    for start_ns, end_ns in idle:
        before = bisect_right(starts, start_ns)  # how many replays have begun by then
        if before and end_ns <= replays[before - 1].end_ns:
            in_graph += end_ns - start_ns
        elif 0 < before < len(replays):
            between_graph += end_ns - start_ns
        else:
            other += end_ns - start_ns
    return IdleTruth(in_graph if mode == "node" else None, between_graph, other)


def _seams(
    idle: Sequence[Window], replays: Sequence[ReplaySpan]
) -> dict[str, tuple[SeamTruth, ...]]:
    starts = [start for start, _ in idle]
    seams: defaultdict[str, list[SeamTruth]] = defaultdict(list)
    for left, right in pairwise(replays):
        first, last = bisect_left(starts, left.end_ns), bisect_left(starts, right.start_ns)
        gaps = tuple(end - start for start, end in idle[first:last])
        seams[f"{left.graph.kind}->{right.graph.kind}"].append(
            SeamTruth(left.round, left.end_ns, right.start_ns, sum(gaps), gaps)
        )
    return {name: tuple(found) for name, found in sorted(seams.items())}


def _rounds(operations: Iterable[GpuOp], replays: Iterable[ReplaySpan]) -> tuple[RoundTruth, ...]:
    spans: dict[int, Window] = {}
    for op in operations:
        start_ns, end_ns = spans.get(op.round, (op.start_ns, op.end_ns))
        spans[op.round] = min(start_ns, op.start_ns), max(end_ns, op.end_ns)
    first: dict[int, int] = {}
    for replay in replays:
        first.setdefault(replay.round, replay.start_ns)
    return tuple(
        RoundTruth(index, *spans[index], first_replay_ns=first.get(index))
        for index in sorted(spans)
        if index != NO_ROUND
    )


def _replay_truth(replay: ReplaySpan) -> ReplayTruth:
    return ReplayTruth(
        kind=replay.graph.kind,
        graph_id=replay.graph.graph_id,
        round=replay.round,
        start_ns=replay.start_ns,
        end_ns=replay.end_ns,
    )


def _collectives(by_rank: Sequence[Sequence[GpuOp]]) -> list[CollectivesTruth]:
    """Split each rank's collectives at the moment at which the last rank had arrived."""
    in_order = [
        [op for op in operations if isinstance(op.what, Kernel) and op.what.is_collective]
        for operations in by_rank
    ]
    wire = [0] * len(by_rank)
    wait = [0] * len(by_rank)
    for together in zip(*in_order, strict=True):
        complete_ns = max(op.start_ns for op in together)
        for op in together:
            wire[op.rank] += op.end_ns - complete_ns
            wait[op.rank] += complete_ns - op.start_ns
    return [
        CollectivesTruth(len(operations), wire[rank], wait[rank])
        for rank, operations in enumerate(in_order)
    ]
