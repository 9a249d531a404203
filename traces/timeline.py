"""What happened on the GPUs and the hosts of a simulated server."""

from dataclasses import dataclass, field
from typing import NamedTuple

from traces.workload import Copy, Graph, Kernel, Lane, RoundKind, Set

NO_ROUND = -1


class GpuOp(NamedTuple):  # a tuple and no dataclass: a trace has a million of them
    """One operation of a GPU; `graph` and `node` say which node of a replay it is."""

    start_ns: int
    end_ns: int
    rank: int
    lane: Lane
    what: Kernel | Copy | Set | Graph
    correlation: int
    phase: str
    round: int
    graph: Graph | None = None
    node: int = 0


class ApiCall(NamedTuple):
    """One CUDA call of a rank's scheduler thread; `blocks` if it waits for the GPU."""

    start_ns: int
    end_ns: int
    rank: int
    name: str
    correlation: int
    blocks: bool = False


class HostSpan(NamedTuple):
    """A stretch of a rank's scheduler thread: an operating-system call or an NVTX range."""

    start_ns: int
    end_ns: int
    rank: int
    name: str


class HostWait(NamedTuple):
    """A host that waits for a stream or an event, as the GPU timeline shows it."""

    start_ns: int
    end_ns: int
    rank: int
    correlation: int
    lane: Lane
    is_event: bool


class ReplaySpan(NamedTuple):
    """One replay of a graph on one GPU, from its first operation to its last."""

    start_ns: int
    end_ns: int
    rank: int
    graph: Graph
    correlation: int
    round: int


@dataclass(frozen=True, slots=True)
class RoundStart:
    """What kind of round the one with this index is."""

    index: int
    kind: RoundKind
    batch_size: int


@dataclass(slots=True)
class StageSpan:
    """One replay, or the eager work that stands in its place; it grows while that is launched."""

    start_ns: int
    end_ns: int
    rank: int
    kind: str
    round: int
    is_replay: bool


@dataclass(slots=True)
class Timeline:
    """Everything that happened, in the order in which it was simulated."""

    operations: list[GpuOp] = field(default_factory=list)
    calls: list[ApiCall] = field(default_factory=list)
    os_calls: list[HostSpan] = field(default_factory=list)
    ranges: list[HostSpan] = field(default_factory=list)
    waits: list[HostWait] = field(default_factory=list)
    replays: list[ReplaySpan] = field(default_factory=list)
    rounds: list[RoundStart] = field(default_factory=list)
    stages: list[StageSpan] = field(default_factory=list)
    pauses: list[HostSpan] = field(default_factory=list)
