"""Compute the exact answer by walking over every boundary of every operation.

At each instant one running operation owns the time of its GPU: compute before communication
before copies, and within a class the one that started first. The window runs from the first
start to the last end over all GPUs. Nothing here is shared with the code it is a test of.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from traces.description import Simulation, visible_operations
from traces.host_story import HostStory
from traces.idle_answer import IdleAnswer, Window
from traces.round_answer import replay_truth, rounds_of, steady_of
from traces.timeline import GpuOp, Timeline
from traces.truth import FORMAT, Amount, CollectivesTruth, GpuTruth, Truth
from traces.workload import Kernel

CLASS_RANK = {"comm": 1, "memory": 2}  # whatever else computes


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
    gpus = tuple(
        _gpu_truth(simulation, rank, window, by_rank[rank], timeline, collectives[rank])
        for rank in ranks
    )
    return Truth(
        FORMAT,
        simulation.sentence,
        simulation.era,
        simulation.mode,
        *window,
        straggler_rank=_straggler(collectives),
        gpus=gpus,
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
            owner: GpuOp | None = None
            if len(running) == 1:
                [owner] = running.values()
            elif running:
                owner = min(running.values(), key=_claim)
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
    timeline: Timeline,
    collectives: CollectivesTruth,
) -> GpuTruth:
    pieces = list(segments(operations, window))
    amounts = _amounts(operations, pieces)
    shown = simulation.shows_replays
    replays = [replay for replay in timeline.replays if replay.rank == rank and shown]
    rounds = rounds_of(timeline.rounds, operations, replays)
    idle = IdleAnswer(
        gaps=[(piece.start_ns, piece.end_ns) for piece in pieces if piece.owner is None],
        story=HostStory(rank, timeline, operations),
        stages=[stage for stage in timeline.stages if stage.rank == rank and shown],
        replays=replays,
        mode=simulation.mode,
    )
    return GpuTruth(
        rank=rank,
        pid=simulation.pid(rank),
        device_id=simulation.device_id(rank),
        wall_ns=window[1] - window[0],
        busy_ns=sum(piece.length_ns for piece in pieces if piece.owner is not None),
        idle_ns=idle.total_ns,
        idle=idle.split(),
        categories=_summed(amounts, lambda key: key.category),
        communication=_summed(amounts, lambda key: key.subcategory),
        phases=_by_phase(amounts),
        rounds=rounds,
        steady=steady_of(rounds),
        replays=tuple(replay_truth(replay) for replay in replays),
        stages=idle.stages(),
        seams=idle.seams(),
        pauses=idle.pauses(),
        collectives=collectives,
    )


def _amounts(operations: Iterable[GpuOp], pieces: Iterable[Segment]) -> dict[Key, Amount]:
    exclusive: defaultdict[Key, int] = defaultdict(int)
    busy: defaultdict[Key, int] = defaultdict(int)
    count: defaultdict[Key, int] = defaultdict(int)
    keys_of: dict[tuple[str, int], Key] = {}  # few kernels make a million operations
    for operation in operations:
        what = operation.what
        key = keys_of.get((operation.phase, id(what)))
        if key is None:
            key = Key(operation.phase, what.category, what.subcategory)
            keys_of[operation.phase, id(what)] = key
        busy[key] += operation.end_ns - operation.start_ns
        count[key] += 1
    for start_ns, end_ns, owner in pieces:
        if owner is not None:
            exclusive[keys_of[owner.phase, id(owner.what)]] += end_ns - start_ns
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


def _straggler(collectives: Sequence[CollectivesTruth]) -> int | None:
    waits = [each.wait_ns for each in collectives]
    return waits.index(min(waits)) if any(waits) else None
