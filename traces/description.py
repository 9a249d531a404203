"""The small description from which a trace is simulated."""

from dataclasses import dataclass, field
from typing import Literal

from traces.timeline import GpuOp, Timeline
from traces.workload import Copy, Launch, Replay, Set, Workload
from traces.workload_file import load_workload

FIRST_PID = 4101
ERAS_WITHOUT_ENVELOPES = ("2.7", "3.0")  # graph mode: launches, and no rows for their work


@dataclass(frozen=True, slots=True)
class Simulation:
    """Which server, for how many rounds, recorded how; the same description, the same file."""

    rounds: int = 20
    seed: int = 7
    era: str = "3.25"
    mode: Literal["node", "graph"] = "node"
    before: tuple[str, ...] = ()  # programs that run once first, such as "prefill"
    round_program: str = "round"
    slowdowns: tuple[float, ...] = (1.0, 1.002)  # one per rank
    same_device_id: bool = False  # as with one CUDA_VISIBLE_DEVICES per rank
    correlation_zero: bool = False  # as when graphs were instantiated before the capture
    plain_titles: bool = False  # processes are called python3
    nvtx: bool = False
    workload: Workload = field(default_factory=load_workload)

    @property
    def sentence(self) -> str:
        """What the file says about itself."""
        what = self.workload.deployment
        length = "1 round" if self.rounds == 1 else f"{self.rounds} rounds"
        return (
            f"simulated by traceattr: {what.model}, TP{len(self.slowdowns)} on {what.gpu}, "
            f"{what.server}, {what.speculation}, {length}, seed {self.seed}"
        )

    @property
    def shows_replays(self) -> bool:
        """Whether the file has rows for the work of graphs, one by one or as envelopes."""
        return self.mode == "node" or self.era not in ERAS_WITHOUT_ENVELOPES

    @property
    def operations_per_round(self) -> int:
        """How many GPU operations one round has over all ranks."""
        per_rank = 0
        for step in self.workload.programs[self.round_program]:
            match step:
                case Launch():
                    per_rank += len(step.nodes)
                case Copy():
                    per_rank += step.times
                case Set():
                    per_rank += 1
                case Replay():
                    per_rank += len(step.graph.nodes)
        return per_rank * len(self.slowdowns)

    def pid(self, rank: int) -> int:
        """Return the process id of `rank`."""
        return FIRST_PID + rank

    def device_id(self, rank: int) -> int:
        """Return the number that the GPU of `rank` has in its process."""
        return 0 if self.same_device_id else rank

    def context_id(self, rank: int) -> int:
        """Return the CUDA context of `rank`, counted in its process."""
        return 1 if self.same_device_id else rank + 1

    def stream_id(self, rank: int, lane: str) -> int:
        """Return the stream id of a lane of `rank`; 7 is the usual null stream."""
        offset = {"main": 0, "alternate": 15, "copy": 19}[lane]
        return (7 if self.same_device_id else 7 + 8 * rank) + offset


def visible_operations(timeline: Timeline, simulation: Simulation) -> list[GpuOp]:
    """Return what the trace shows of the operations: in graph mode, envelopes at most."""
    if simulation.mode == "node":
        return timeline.operations
    eager = [operation for operation in timeline.operations if operation.graph is None]
    if not simulation.shows_replays:
        return eager
    envelopes = [
        GpuOp(
            start_ns=replay.start_ns,
            end_ns=replay.end_ns,
            rank=replay.rank,
            lane="main",
            what=replay.graph,
            correlation=replay.correlation,
            phase=replay.graph.phase,
            round=replay.round,
        )
        for replay in timeline.replays
    ]
    return eager + envelopes
