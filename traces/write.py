"""Write a timeline as an export of some era."""

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from traces.description import Simulation, visible_operations
from traces.eras import Row
from traces.export_writer import (
    GRAPH_TRACE,
    KERNEL,
    KERNEL_DEFAULTS,
    MEMCPY,
    MEMSET,
    ExportWriter,
    global_pid,
    short_name,
)
from traces.identity import graph_node_id
from traces.other_threads import write_other_threads
from traces.surroundings import write_surroundings
from traces.timeline import GpuOp, HostSpan, Timeline
from traces.workload import Copy, Graph, Kernel, Set

PLACE = (
    "start",
    "end",
    "deviceId",
    "contextId",
    "streamId",
    "correlationId",
    "globalPid",
    "graphNodeId",
)
LAUNCH = (
    "demangledName",
    "shortName",
    "registersPerThread",
    "gridX",
    "gridY",
    "gridZ",
    "blockX",
    "blockY",
    "blockZ",
)
COPY_KIND = {"h2d": (1, 0, 2), "d2h": (2, 2, 0), "d2d": (8, 2, 2)}  # kind, source, destination
PINNED_COPY_KIND = COPY_KIND | {"h2d": (1, 1, 2), "d2h": (2, 2, 1)}
EVENT_SYNC, STREAM_SYNC = 1, 3


def write_export(timeline: Timeline, simulation: Simulation, path: Path) -> None:
    """Write what the trace shows of `timeline` to a new file."""
    with ExportWriter(path, simulation.era) as export:
        write_surroundings(export, simulation)
        _TimelineWriter(export, simulation).write(timeline)
        if simulation.other_threads:
            write_other_threads(export, simulation, timeline)


class _TimelineWriter:
    """Writes the events of one timeline."""

    def __init__(self, export: ExportWriter, simulation: Simulation) -> None:
        self._export = export
        self._simulation = simulation
        self._launch_of = cache(self._launch_columns)
        self._stream_of = cache(simulation.stream_id)
        self._ranks = [
            (simulation.device_id(rank), simulation.context_id(rank), simulation.pid(rank))
            for rank in range(len(simulation.slowdowns))
        ]

    def write(self, timeline: Timeline) -> None:
        """Write all tables; the events of each are sorted by start, as nsys leaves them."""
        shown = visible_operations(timeline, self._simulation)
        operations = sorted(shown, key=lambda op: (op.start_ns, op.rank))
        self._write_calls(timeline)
        self._write_kernels(operations)
        self._write_copies(operations)
        self._write_envelopes(operations)
        self._write_host(timeline)

    def _place(self, op: GpuOp) -> Row:
        device, context, pid = self._ranks[op.rank]
        graph = op.graph
        hidden = graph is not None and self._simulation.correlation_zero
        return (
            op.start_ns,
            op.end_ns,
            device,
            context,
            self._stream_of(op.rank, op.lane),
            0 if hidden else op.correlation,
            global_pid(pid),
            None if graph is None else graph_node_id(graph.graph_id, op.node),
        )

    def _launch_columns(self, kernel: Kernel) -> Row:
        name = self._export.string(kernel.name)
        short = self._export.string(short_name(kernel.name))
        return (name, short, kernel.registers, *kernel.grid, *kernel.block)

    def _write_kernels(self, operations: Iterable[GpuOp]) -> None:
        grids = [0] * len(self._ranks)
        rows: list[Row] = []
        for op in operations:
            if isinstance(op.what, Kernel):
                grids[op.rank] += 1
                graph_id = None if op.graph is None else op.graph.graph_id
                launch = self._launch_of(op.what)
                rows.append((*self._place(op), *launch, grids[op.rank], graph_id))
        columns = (*PLACE, *LAUNCH, "gridId", "graphId")
        self._export.rows(KERNEL, columns, rows, KERNEL_DEFAULTS | {"greenContextId": 0})

    def _write_copies(self, operations: Iterable[GpuOp]) -> None:
        copies: list[Row] = []
        sets: list[Row] = []
        for op in operations:
            if isinstance(op.what, Copy):
                copies.append((*self._place(op), op.what.size_bytes, *_copy_kind(op.what)))
            elif isinstance(op.what, Set):
                sets.append((*self._place(op), op.what.size_bytes))
        columns = (*PLACE, "bytes", "copyKind", "srcKind", "dstKind")
        self._export.rows(MEMCPY, columns, copies, {"greenContextId": 0, "copyCount": 1})
        self._export.rows(MEMSET, (*PLACE, "bytes"), sets, {"greenContextId": 0, "memKind": 2})

    def _write_envelopes(self, operations: Iterable[GpuOp]) -> None:
        rows = [
            (*self._place(op)[:-1], op.what.graph_id, op.what.graph_id + 1)
            for op in operations
            if isinstance(op.what, Graph)
        ]
        if rows:
            columns = (*PLACE[:-1], "graphId", "graphExecId")
            self._export.rows(GRAPH_TRACE, columns, rows, {"greenContextId": 0})

    def _write_calls(self, timeline: Timeline) -> None:
        for call in sorted(timeline.calls):
            pid = self._simulation.pid(call.rank)
            self._export.api(
                call.name, call.start_ns, call.end_ns, pid=pid, correlation=call.correlation
            )

    def _write_host(self, timeline: Timeline) -> None:
        simulation = self._simulation
        for wait in sorted(timeline.waits):
            self._export.synchronization(
                wait.start_ns,
                wait.end_ns,
                pid=simulation.pid(wait.rank),
                stream=self._stream_of(wait.rank, wait.lane),
                context=simulation.context_id(wait.rank),
                correlation=wait.correlation,
                sync_type=EVENT_SYNC if wait.is_event else STREAM_SYNC,
            )
        for span in sorted(timeline.os_calls):
            self._export.osrt(span.name, span.start_ns, span.end_ns, pid=simulation.pid(span.rank))
        if simulation.nvtx:
            self._write_ranges(timeline.ranges)

    def _write_ranges(self, ranges: Iterable[HostSpan]) -> None:
        for span in sorted(ranges):
            pid = self._simulation.pid(span.rank)
            self._export.nvtx(span.name, span.start_ns, span.end_ns, pid=pid)


def _copy_kind(copy: Copy) -> tuple[int, int, int]:
    return (PINNED_COPY_KIND if copy.is_pinned else COPY_KIND)[copy.kind]
