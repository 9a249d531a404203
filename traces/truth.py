"""The exact answer for a simulated trace, and how it is written beside it."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

FORMAT = 1  # 1: first format


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

    `in_graph_ns` is None in graph mode, where a file cannot show it.
    """

    in_graph_ns: int | None
    between_graph_ns: int
    other_ns: int


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

    `first_replay_ns` is None where the trace shows no replays.
    """

    index: int
    start_ns: int
    end_ns: int
    first_replay_ns: int | None


@dataclass(frozen=True, slots=True)
class SeamTruth:
    """The time between two replays, and the idle gaps in it."""

    round: int
    start_ns: int
    end_ns: int
    idle_ns: int
    gaps_ns: tuple[int, ...]


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
    replays: tuple[ReplayTruth, ...]
    seams: Mapping[str, tuple[SeamTruth, ...]]
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
    gpus: tuple[GpuTruth, ...]

    def write(self, path: Path) -> None:
        """Write the answer as JSON."""
        path.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")
