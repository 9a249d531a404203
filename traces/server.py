"""Run a workload: every rank has a host that launches and a GPU that executes in stream order.

The ranks run the same steps. They meet in collectives: each begins one when it gets there, and
all end it together, a wire time after the last has arrived. So a late rank shows up where it
does on real GPUs: as a long all-reduce on the early ones. A lone rank has no collectives.
"""

from collections.abc import Mapping, Sequence

from traces.rank import GAP_IN_STREAM_NS, Rank
from traces.timeline import (
    NO_ROUND,
    ApiCall,
    GpuOp,
    HostSpan,
    ReplaySpan,
    RoundStart,
    StageSpan,
    Timeline,
)
from traces.workload import (
    Await,
    Call,
    Copy,
    Enter,
    Graph,
    HostWork,
    Join,
    Kernel,
    Lane,
    Launch,
    Node,
    Program,
    Record,
    Replay,
    Set,
    Step,
)

GAP_IN_GRAPH_NS = (500, 2_000)  # skewed to the short end
BESIDE_DELAY_NS = (200, 900)
LAUNCH_CALL_NS = (3_500, 6_000)
GRAPH_CALL_NS = 14_000
GRAPH_CALL_PER_NODE_NS = 100
GRAPH_START_RATIO = 0.6  # of the launch call; the first kernel starts before the call returns
COPY_BYTES_PER_NS = {"h2d": 12.0, "d2h": 12.0, "d2d": 300.0}
COPY_BASE_NS = {"h2d": 900, "d2h": 1_300, "d2d": 1_000}


class Server:
    """Ranks that run programs in step."""

    def __init__(
        self,
        seed: int,
        slowdowns: Sequence[float],
        host_slowdown: float = 1.0,
        seam_delays_ns: Mapping[str, int] | None = None,
    ) -> None:
        """Start `len(slowdowns)` ranks; a rank of 1.01 takes 1 % longer for everything.

        Hosts work `host_slowdown` times as long between their calls, and `seam_delays_ns` longer
        before the launch that ends the seam of that name.
        """
        self.timeline = Timeline()
        self._ranks = [
            Rank(index, seed, slowdown, self.timeline) for index, slowdown in enumerate(slowdowns)
        ]
        self._host_slowdown = host_slowdown
        self._seam_delays_ns = seam_delays_ns or {}
        self._round = NO_ROUND
        self._stage: Sequence[StageSpan] = ()
        self._record = self.timeline.operations.append

    def run(self, program: Program) -> None:
        """Run one program to its end, as the next round if it is one."""
        self._round = NO_ROUND
        if program.kind is not None:
            self._round = len(self.timeline.rounds)
            start = RoundStart(self._round, program.kind, program.batch_size)
            self.timeline.rounds.append(start)
        for rank in self._ranks:
            rank.enter("scheduler.run_batch")
        for step in program.steps:
            self._run_step(step)
        for rank in self._ranks:
            rank.leave()

    def _run_step(self, step: Step) -> None:
        match step:
            case HostWork():
                self._work(step)
            case Launch():
                self._launch_all(step)
            case Copy():
                for _ in range(step.times):
                    self._copy(step)
            case Set():
                self._set(step)
            case Replay():
                self._replay(step.graph)
            case _:
                for rank in self._ranks:
                    _run_on(rank, step)

    def _work(self, work: HostWork) -> None:
        ratio = 1.0 if work.is_pause else self._host_slowdown
        for rank in self._ranks:
            start = rank.host_ns
            rank.host_ns += int(rank.draw(work.time_ns) * ratio)
            if work.late_ns is not None:
                lead = self._ranks[0].host_ns
                late = rank.index * rank.draw(work.late_ns)
                rank.host_ns = max(rank.host_ns, lead) + late
            if work.os_call is not None:
                middle = (start + rank.host_ns) // 2
                span = HostSpan(middle, rank.host_ns - 500, rank.index, work.os_call)
                self.timeline.os_calls.append(span)
            if work.is_pause:
                self.timeline.pauses.append(HostSpan(start, rank.host_ns, rank.index, "pause"))

    def _enter_stage(self, kind: str, *, is_replay: bool) -> None:
        """Begin a stage, or go on with the eager one that is being launched."""
        before = self._stage[0] if self._stage else None
        is_whole = is_replay and kind != "prefill"  # and not a piece of one
        if before and not is_whole and (before.kind, before.round) == (kind, self._round):
            return
        delay_ns = self._seam_delays_ns.get(f"{before.kind}->{kind}", 0) if before else 0
        for rank in self._ranks:
            rank.host_ns += delay_ns
        self._stage = [
            StageSpan(0, 0, rank.index, kind, self._round, is_whole) for rank in self._ranks
        ]
        self.timeline.stages.extend(self._stage)

    def _extend_stage(self, rank: Rank, start_ns: int, end_ns: int) -> None:
        stage = self._stage[rank.index]
        stage.start_ns = stage.start_ns or start_ns
        stage.end_ns = max(stage.end_ns, end_ns)

    def _launch_all(self, launch: Launch) -> None:
        if launch.stage is not None:
            self._enter_stage(launch.stage, is_replay=False)
        for node in launch.nodes:
            if len(self._ranks) > 1 or not node.kernel.is_collective:
                self._launch(node, launch)

    def _launch(self, node: Node, launch: Launch) -> None:
        kernel, lane = node.kernel, launch.lane
        name = "cuLaunchKernelEx" if kernel.is_driver_launched else "cudaLaunchKernel_v7000"
        calls = [rank.call(name, rank.draw(LAUNCH_CALL_NS)) for rank in self._ranks]
        starts = [rank.ready(call, lane) for rank, call in zip(self._ranks, calls, strict=True)]
        ends = self._ends(kernel, starts)
        for rank, call, start, end in zip(self._ranks, calls, starts, ends, strict=True):
            rank.free_ns[lane] = end
            at, phase = rank.index, launch.phase
            self._record(GpuOp(start, end, at, lane, kernel, call.correlation, phase, self._round))
            if launch.stage is not None:
                self._extend_stage(rank, start, end)

    def _ends(self, kernel: Kernel, starts: Sequence[int]) -> list[int]:
        """Return when the ranks end `kernel`: together if it is a collective, else each alone."""
        if kernel.is_collective:
            wire = self._ranks[0].duration(kernel.duration_ns)
            return [max(starts) + wire + rank.draw((0, 60)) for rank in self._ranks]
        return [
            start + rank.duration(kernel.duration_ns)
            for rank, start in zip(self._ranks, starts, strict=True)
        ]

    def _copy(self, copy: Copy) -> None:
        nominal = COPY_BASE_NS[copy.kind] + copy.size_bytes / COPY_BYTES_PER_NS[copy.kind]
        for rank in self._ranks:
            duration_ns = rank.draw(LAUNCH_CALL_NS)
            call = rank.call("cudaMemcpyAsync_v3020", duration_ns, blocks=copy.waits_by_contract)
            end_ns = self._run_alone(rank, call, copy.lane, copy, nominal)
            if copy.is_blocking:
                rank.last_until(call, end_ns)
            if copy.is_waited_for:
                rank.synchronize(copy.lane)

    def _set(self, memset: Set) -> None:
        for rank in self._ranks:
            call = rank.call("cudaMemsetAsync_v3020", rank.draw(LAUNCH_CALL_NS))
            self._run_alone(rank, call, "main", memset, 900)

    def _run_alone(
        self, rank: Rank, call: ApiCall, lane: Lane, what: Copy | Set, nominal_ns: float
    ) -> int:
        start = rank.ready(call, lane)
        end = rank.free_ns[lane] = start + rank.duration(nominal_ns)
        phase = what.phase if isinstance(what, Copy) else "other"
        self._record(
            GpuOp(start, end, rank.index, lane, what, call.correlation, phase, self._round)
        )
        return end

    def _replay(self, graph: Graph) -> None:
        self._enter_stage(graph.stage, is_replay=True)
        call_ns = GRAPH_CALL_NS + GRAPH_CALL_PER_NODE_NS * len(graph.nodes)
        calls = [
            rank.call("cudaGraphLaunch_v10000", rank.duration(call_ns)) for rank in self._ranks
        ]
        first = []
        for rank, call in zip(self._ranks, calls, strict=True):
            begun = call.start_ns + int((call.end_ns - call.start_ns) * GRAPH_START_RATIO)
            first.append(max(begun, rank.free_ns["main"] + rank.draw(GAP_IN_STREAM_NS)))
        self._run_nodes(graph, calls, first)
        for rank, call, start in zip(self._ranks, calls, first, strict=True):
            end = rank.free_ns["main"]
            self._extend_stage(rank, start, end)
            self.timeline.replays.append(
                ReplaySpan(start, end, rank.index, graph, call.correlation, self._round)
            )

    def _run_nodes(self, graph: Graph, calls: Sequence[ApiCall], first: Sequence[int]) -> None:
        """Execute the nodes in order; the branch beside a node joins before the next one."""
        ready = list(first)  # when the next node of the main branch may begin
        begun = list(first)
        for number, node in enumerate(graph.nodes, start=1):
            if node.kernel.is_collective and len(self._ranks) == 1:
                continue
            if node.is_beside:
                starts = [
                    start + rank.draw(BESIDE_DELAY_NS)
                    for rank, start in zip(self._ranks, begun, strict=True)
                ]
            else:
                starts = begun = list(ready)
            ends = self._ends(node.kernel, starts)
            self._record_node(graph, number, node, calls, starts, ends)
            for rank, end in zip(self._ranks, ends, strict=True):
                after = end + rank.draw_short(GAP_IN_GRAPH_NS)
                joined = max(ready[rank.index], after) if node.is_beside else after
                ready[rank.index] = joined
                rank.free_ns["main"] = max(end, rank.free_ns["main"])

    def _record_node(
        self,
        graph: Graph,
        number: int,
        node: Node,
        calls: Sequence[ApiCall],
        starts: Sequence[int],
        ends: Sequence[int],
    ) -> None:
        lane: Lane = "alternate" if node.is_beside else "main"
        for rank, call, start, end in zip(self._ranks, calls, starts, ends, strict=True):
            self._record(
                GpuOp(
                    start,
                    end,
                    rank.index,
                    lane,
                    node.kernel,
                    call.correlation,
                    graph.phase,
                    self._round,
                    graph,
                    number,
                )
            )


def _run_on(rank: Rank, step: Step) -> None:
    """Run a step that concerns each rank alone."""
    match step:
        case Call():
            for _ in range(step.times):
                rank.call(step.name, rank.draw(step.time_ns))
        case Record():
            rank.record(step.event, step.lane)
        case Join():
            rank.join(step.lane, step.event)
        case Await():
            rank.wait_for(step.event, step.behind)
        case Enter():
            rank.enter(step.range)
