"""The exact answer for a simulated trace, and how it is written beside it."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

FORMAT = 2
# 1: first format
# 2: kinds of rounds, stages, causes of gaps, pauses, the steady window, the straggler; rounds are
#    numbered through all kinds; the phase of eager work around graphs is called other


@dataclass(frozen=True, slots=True)
class Amount:
    """Time and number of operations."""

    exclusive_ns: int = 0
    sum_ns: int = 0
    operations: int = 0

    def __add__(self, other: "Amount") -> "Amount":
        return Amount(
            self.exclusive_ns + other.exclusive_ns,
            self.sum_ns + other.sum_ns,
            self.operations + other.operations,
        )


@dataclass(frozen=True, slots=True)
class IdleTruth:
    """Idle time: inside one replay, outside replays but between two, and the rest.

    `in_graph_ns` is None in graph mode, where a file cannot show it. `no_work_ns` is the part of
    all of it in which nobody had asked for anything.
    """

    in_graph_ns: int | None
    between_graph_ns: int
    other_ns: int
    no_work_ns: int


@dataclass(frozen=True, slots=True)
class CauseTruth:
    """What the scheduler thread was doing during idle time; the parts add up to it."""

    sync_ns: int = 0
    launch_ns: int = 0
    api_ns: int = 0
    os_ns: int = 0
    python_ns: int = 0
    dependency_ns: int = 0

    def __add__(self, other: "CauseTruth") -> "CauseTruth":
        return CauseTruth(
            self.sync_ns + other.sync_ns,
            self.launch_ns + other.launch_ns,
            self.api_ns + other.api_ns,
            self.os_ns + other.os_ns,
            self.python_ns + other.python_ns,
            self.dependency_ns + other.dependency_ns,
        )


@dataclass(frozen=True, slots=True)
class GapTruth:
    """One stretch without any operation on a GPU, and what the host was doing in it."""

    start_ns: int
    end_ns: int
    cause: CauseTruth


@dataclass(frozen=True, slots=True)
class PauseTruth:
    """A gap in which there was no work to do, as between requests."""

    start_ns: int
    end_ns: int


@dataclass(frozen=True, slots=True)
class ReplayTruth:
    """One replay of a graph."""

    kind: str
    graph_id: int
    round: int
    start_ns: int
    end_ns: int


@dataclass(frozen=True, slots=True)
class RoundTruth:
    """One round: from the start of its first operation to the end of its last.

    What the scheduler's own stream does for it beside the round before does not count.
    `first_replay_ns` is None where the trace shows no replays.
    """

    index: int
    kind: str
    batch_size: int
    is_steady: bool
    start_ns: int
    end_ns: int
    first_replay_ns: int | None


@dataclass(frozen=True, slots=True)
class StageTruth:
    """A replay or the eager work in its place, and the idle time inside; pieces are one stage.

    `idle_ns` is None in graph mode for a replay, and causes are given for eager work alone.
    """

    kind: str
    round: int
    start_ns: int
    end_ns: int
    is_replay: bool
    idle_ns: int | None
    cause: CauseTruth | None


@dataclass(frozen=True, slots=True)
class SeamTruth:
    """The time between two stages of rounds, and the idle gaps in it, without pauses.

    `round` is the one that the stage before belongs to.
    """

    round: int
    start_ns: int
    end_ns: int
    idle_ns: int
    gaps_ns: tuple[int, ...]
    cause: CauseTruth
    gaps: tuple[GapTruth, ...]


@dataclass(frozen=True, slots=True)
class SteadyTruth:
    """The steady state: from the first round that decodes to the last; other rounds interrupt."""

    first_round: int
    last_round: int
    start_ns: int
    end_ns: int


@dataclass(frozen=True, slots=True)
class CollectivesTruth:
    """Time in collectives: after the last rank had arrived, and before."""

    count: int
    wire_ns: int
    wait_ns: int


@dataclass(frozen=True, slots=True)
class GpuTruth:
    """Where the time of one GPU went."""

    rank: int
    pid: int
    device_id: int
    wall_ns: int
    busy_ns: int
    idle_ns: int
    idle: IdleTruth
    categories: Mapping[str, Amount]
    communication: Mapping[str, Amount]
    phases: Mapping[str, Mapping[str, Amount]]
    rounds: tuple[RoundTruth, ...]
    steady: SteadyTruth | None
    replays: tuple[ReplayTruth, ...]
    stages: tuple[StageTruth, ...]
    seams: Mapping[str, tuple[SeamTruth, ...]]
    pauses: tuple[PauseTruth, ...]
    collectives: CollectivesTruth


@dataclass(frozen=True, slots=True)
class Truth:
    """The exact answer for one trace."""

    format: int
    simulated: str
    era: str
    mode: str
    start_ns: int
    end_ns: int
    straggler_rank: int | None  # the one for which the others wait most
    gpus: tuple[GpuTruth, ...]

    def write(self, path: Path) -> None:
        """Write the answer as JSON."""
        path.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")
