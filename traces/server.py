"""Run a workload: every rank has a host that launches and a GPU that executes in stream order.

The ranks run the same steps. They meet in collectives: each begins one when it gets there, and
all end it together, a wire time after the last has arrived. So a late rank shows up where it
does on real GPUs: as a long all-reduce on the early ones.
"""

from collections.abc import Sequence
from random import Random

from traces.timeline import (
    NO_ROUND,
    ApiCall,
    GpuOp,
    HostSpan,
    HostWait,
    Lane,
    ReplaySpan,
    Timeline,
)
from traces.workload import Copy, Graph, HostWork, Kernel, Launch, Node, Replay, Set, Span, Step

SESSION_OFFSET_NS = 1_200_000_000  # a server has started and captured its graphs by then
DURATION_JITTER = 0.02
GAP_IN_GRAPH_NS = (500, 2_000)  # skewed to the short end
GAP_IN_STREAM_NS = (900, 2_200)
BESIDE_DELAY_NS = (200, 900)
LAUNCH_CALL_NS = (3_500, 6_000)
LAUNCH_LATENCY_NS = (4_200, 9_000)
BETWEEN_CALLS_NS = (1_000, 3_000)
SYNC_RETURN_NS = (3_000, 8_000)
GRAPH_CALL_NS = 14_000
GRAPH_CALL_PER_NODE_NS = 100
GRAPH_START_RATIO = 0.6  # of the launch call; the first kernel starts before the call returns
COPY_BYTES_PER_NS = {"h2d": 12.0, "d2h": 12.0, "d2d": 300.0}
COPY_BASE_NS = {"h2d": 900, "d2h": 1_300, "d2d": 1_000}


class Rank:
    """One process with one GPU: where its host and its streams have got to."""

    def __init__(self, index: int, seed: int, slowdown: float, timeline: Timeline) -> None:
        self.index = index
        self.host_ns = SESSION_OFFSET_NS
        self.free_ns: dict[Lane, int] = {"main": 0, "alternate": 0, "copy": 0}
        self._slowdown = slowdown
        self._random = Random(f"{seed}/{index}")
        self._correlation = 0
        self._timeline = timeline

    def draw(self, span: Span) -> int:
        """Draw a time from `span`."""
        low, high = span
        return low + int((high - low) * self._random.random())

    def draw_short(self, span: Span) -> int:
        """Draw a time from `span`, most of them near its low end."""
        low, high = span
        share = self._random.random()
        return low + int((high - low) * share * share * share)

    def duration(self, nominal_ns: float) -> int:
        """Return how long something takes this time on this GPU."""
        jitter = 1 + DURATION_JITTER * (2 * self._random.random() - 1)
        return max(1, int(nominal_ns * jitter * self._slowdown))

    def call(self, name: str, duration_ns: int) -> ApiCall:
        """Make a CUDA call; the host has moved on when it returns."""
        self._correlation += 1
        start = self.host_ns
        call = ApiCall(start, start + duration_ns, self.index, name, self._correlation)
        self._timeline.calls.append(call)
        self.host_ns = call.end_ns + self.draw(BETWEEN_CALLS_NS)
        return call

    def ready(self, call: ApiCall, lane: Lane) -> int:
        """Return when what `call` launched can begin on `lane`."""
        after_launch = call.start_ns + self.draw(LAUNCH_LATENCY_NS)
        return max(after_launch, self.free_ns[lane] + self.draw(GAP_IN_STREAM_NS))

    def synchronize(self) -> None:
        """Wait for the main stream."""
        done = self.free_ns["main"] + self.draw(SYNC_RETURN_NS)
        duration = max(self.draw((1_500, 2_500)), done - self.host_ns)
        call = self.call("cudaStreamSynchronize_v3020", duration)
        self._timeline.waits.append(
            HostWait(call.start_ns + 300, call.end_ns - 400, self.index, call.correlation)
        )


class Server:
    """Ranks that run programs in step."""

    def __init__(self, seed: int, slowdowns: Sequence[float]) -> None:
        """Start `len(slowdowns)` ranks; a rank of 1.01 takes 1 % longer for everything."""
        self.timeline = Timeline()
        self._ranks = [
            Rank(index, seed, slowdown, self.timeline) for index, slowdown in enumerate(slowdowns)
        ]
        self._round = NO_ROUND
        self._record = self.timeline.operations.append

    def run(self, program: Sequence[Step], round_index: int = NO_ROUND) -> None:
        """Run one program to its end, as round `round_index` if it is one."""
        self._round = round_index
        starts = [rank.host_ns for rank in self._ranks]
        for step in program:
            self._run_step(step)
        for rank, start in zip(self._ranks, starts, strict=True):
            name = "scheduler.run_batch"
            self.timeline.ranges.append(HostSpan(start, rank.host_ns - 1, rank.index, name))

    def _run_step(self, step: Step) -> None:
        match step:
            case HostWork():
                self._work(step)
            case Launch():
                for node in step.nodes:
                    self._launch(node, step.phase)
            case Copy():
                for _ in range(step.times):
                    self._copy(step)
            case Set():
                self._set(step)
            case Replay():
                self._replay(step.graph)

    def _work(self, work: HostWork) -> None:
        for rank in self._ranks:
            start = rank.host_ns
            rank.host_ns += rank.draw(work.time_ns)
            if work.late_ns is not None:
                lead = self._ranks[0].host_ns
                late = rank.index * rank.draw(work.late_ns)
                rank.host_ns = max(rank.host_ns, lead) + late
            if work.os_call is not None:
                middle = (start + rank.host_ns) // 2
                span = HostSpan(middle, rank.host_ns - 500, rank.index, work.os_call)
                self.timeline.os_calls.append(span)

    def _launch(self, node: Node, phase: str) -> None:
        kernel = node.kernel
        name = "cuLaunchKernelEx" if kernel.is_driver_launched else "cudaLaunchKernel_v7000"
        calls = [rank.call(name, rank.draw(LAUNCH_CALL_NS)) for rank in self._ranks]
        starts = [rank.ready(call, "main") for rank, call in zip(self._ranks, calls, strict=True)]
        ends = self._ends(kernel, starts)
        for rank, call, start, end in zip(self._ranks, calls, starts, ends, strict=True):
            rank.free_ns["main"] = end
            at = rank.index
            self._record(
                GpuOp(start, end, at, "main", kernel, call.correlation, phase, self._round)
            )

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
        lane: Lane = "copy" if copy.is_beside else "main"
        nominal = COPY_BASE_NS[copy.kind] + copy.size_bytes / COPY_BYTES_PER_NS[copy.kind]
        for rank in self._ranks:
            call = rank.call("cudaMemcpyAsync_v3020", rank.draw(LAUNCH_CALL_NS))
            self._run_alone(rank, call, lane, copy, nominal)
            if copy.is_waited_for:
                rank.synchronize()

    def _set(self, memset: Set) -> None:
        for rank in self._ranks:
            call = rank.call("cudaMemsetAsync_v3020", rank.draw(LAUNCH_CALL_NS))
            self._run_alone(rank, call, "main", memset, 900)

    def _run_alone(
        self, rank: Rank, call: ApiCall, lane: Lane, what: Copy | Set, nominal_ns: float
    ) -> None:
        start = rank.ready(call, lane)
        end = rank.free_ns[lane] = start + rank.duration(nominal_ns)
        at = rank.index
        self._record(GpuOp(start, end, at, lane, what, call.correlation, "eager", self._round))

    def _replay(self, graph: Graph) -> None:
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
            self.timeline.replays.append(
                ReplaySpan(start, end, rank.index, graph, call.correlation, self._round)
            )

    def _run_nodes(self, graph: Graph, calls: Sequence[ApiCall], first: Sequence[int]) -> None:
        """Execute the nodes in order; the branch beside a node joins before the next one."""
        ready = list(first)  # when the next node of the main branch may begin
        begun = list(first)
        for number, node in enumerate(graph.nodes, start=1):
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
