"""The small description from which a trace is simulated."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from traces.timeline import GpuOp, Timeline
from traces.workload import Copy, Lane, Launch, Node, Replay, Set, Step, Workload
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
    then: tuple[str, ...] = ()  # round programs that follow, each for as many rounds
    every: int | None = None  # after so many rounds, what lies `between` interrupts
    between: tuple[str, ...] = ("prefill",)
    after: tuple[str, ...] = ()  # programs that run once at the end, such as "tail"
    slowdowns: tuple[float, ...] = (1.0, 1.002)  # one per rank
    host_slowdown: float = 1.0  # of what the hosts do between their CUDA calls
    seam_delays_ns: Mapping[str, int] = field(default_factory=dict)  # such as verify->draft_extend
    same_device_id: bool = False  # as with one CUDA_VISIBLE_DEVICES per rank
    correlation_zero: bool = False  # as when graphs were instantiated before the capture
    plain_titles: bool = False  # processes are called python3
    nvtx: bool = False
    other_threads: bool = False  # each process has threads that wait in the operating system
    workload: Workload = field(default_factory=load_workload)

    @property
    def sentence(self) -> str:
        """What the file says about itself."""
        what = self.workload.deployment
        program = self.workload.programs[self.round_program]
        count = self.rounds * (1 + len(self.then))
        length = "1 round" if count == 1 else f"{count} rounds"
        return (
            f"simulated by traceattr: {what.model}, TP{len(self.slowdowns)} on {what.gpu.name}, "
            f"{what.server}, {program.speculation}, {length}, seed {self.seed}"
        )

    @property
    def shows_replays(self) -> bool:
        """Whether the file has rows for the work of graphs, one by one or as envelopes."""
        return self.mode == "node" or self.era not in ERAS_WITHOUT_ENVELOPES

    @property
    def operations_per_round(self) -> int:
        """How many GPU operations one round has over all ranks."""
        steps = self.workload.programs[self.round_program].steps
        return sum(self._operations(step) for step in steps) * len(self.slowdowns)

    @property
    def plan(self) -> Iterator[str]:
        """The programs in the order in which the server runs them."""
        yield from self.before
        done = 0
        for program in (self.round_program, *self.then):
            for _ in range(self.rounds):
                if self.every and done and done % self.every == 0:
                    yield from self.between
                yield program
                done += 1
        yield from self.after

    @property
    def lanes(self) -> tuple[Lane, ...]:
        """The streams of each rank, the null stream last."""
        programs = [self.workload.programs[name] for name in dict.fromkeys(self.plan)]
        lanes: tuple[Lane, ...] = ("copy", "alternate", "main")
        if any(program.uses_schedule_stream for program in programs):
            return ("schedule", *lanes)
        return lanes

    def _operations(self, step: Step) -> int:
        match step:
            case Launch():
                return self._kernels(step.nodes)
            case Copy():
                return step.times
            case Set():
                return 1
            case Replay():
                return self._kernels(step.graph.nodes)
            case _:
                return 0

    def _kernels(self, nodes: tuple[Node, ...]) -> int:
        is_alone = len(self.slowdowns) == 1
        return sum(not (is_alone and node.kernel.is_collective) for node in nodes)

    def pid(self, rank: int) -> int:
        """Return the process id of `rank`."""
        return FIRST_PID + rank

    def device_id(self, rank: int) -> int:
        """Return the number that the GPU of `rank` has in its process."""
        return 0 if self.same_device_id else rank

    def context_id(self, rank: int) -> int:
        """Return the CUDA context of `rank`, counted in its process."""
        return 1 if self.same_device_id else rank + 1

    def stream_id(self, rank: int, lane: Lane) -> int:
        """Return the stream id of a lane of `rank`; 7 is the usual null stream."""
        offset = {"main": 0, "alternate": 15, "copy": 19, "schedule": 20}[lane]
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
