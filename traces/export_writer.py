"""Write small SQLite files that look like `nsys export --type sqlite` of any era.

Every test builds its traces with `ExportWriter`, and so does the simulator:

    with ExportWriter(path, era="3.16") as export:
        pid = 101
        export.process(pid)
        export.api("cudaLaunchKernel_v7000", 100, 105, pid=pid, correlation=1)
        export.kernel("void f<int>(int *)", 110, 150, pid=pid, correlation=1)
"""

from collections.abc import Mapping

from traces.eras import ERAS, Value
from traces.identity import VM_ID, global_pid, global_tid, graph_node_id, short_name
from traces.table_writer import TableWriter

__all__ = ["ERAS", "ExportWriter", "global_pid", "global_tid", "short_name"]

KERNEL = "CUPTI_ACTIVITY_KIND_KERNEL"
MEMCPY = "CUPTI_ACTIVITY_KIND_MEMCPY"
MEMSET = "CUPTI_ACTIVITY_KIND_MEMSET"
GRAPH_TRACE = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"
RUNTIME = "CUPTI_ACTIVITY_KIND_RUNTIME"
SYNCHRONIZATION = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"

# As on the rows of real exports: regular launch, no cluster, carve-out chosen by the driver.
KERNEL_DEFAULTS: dict[str, Value] = {
    "launchType": 1,
    "cacheConfig": 1,
    "registersPerThread": 32,
    "gridX": 84,
    "gridY": 1,
    "gridZ": 1,
    "blockX": 128,
    "blockY": 1,
    "blockZ": 1,
    "sharedMemoryExecuted": 32_768,
    "sharedMemoryLimitConfig": 0,
    "clusterX": 0,
    "clusterY": 0,
    "clusterZ": 0,
    "clusterSchedulingPolicy": 1,
    "maxPotentialClusterSize": 0,
    "maxActiveClusters": 0,
}


class ExportWriter(TableWriter):
    """An export under construction; the file is complete once it is closed."""

    _grid_id = 0

    def process(self, pid: int, name: str = "python3") -> int:
        """Add a process; returns its global id."""
        self.row("PROCESSES", globalPid=global_pid(pid), pid=pid, name=name)
        return global_pid(pid)

    def kernel(
        self,
        name: str | bytes,
        start: int,
        end: int,
        *,
        pid: int,
        device: int = 0,
        stream: int = 7,
        context: int = 1,
        correlation: int | None = None,
        graph: int | None = None,
        node: int | None = None,
        short: str | None = None,
        **columns: Value,
    ) -> None:
        """Add a kernel execution; `graph` and `node` make it a node of a graph replay."""
        self._grid_id += 1
        base = short_name(name) if isinstance(name, str) else "unnamed"
        place = _place(start, end, pid, device, stream, context, correlation)
        names: dict[str, Value] = {
            "demangledName": self.string(name),
            "shortName": self.string(short or base),
        }
        nodes: dict[str, Value] = {"graphNodeId": graph_node_id(graph, node), "graphId": graph}
        launch: dict[str, Value] = {"gridId": self._grid_id}
        self.row(KERNEL, **(KERNEL_DEFAULTS | place | names | nodes | launch | columns))

    def memcpy(
        self,
        start: int,
        end: int,
        *,
        pid: int,
        kind: int = 1,
        size: int = 8,
        device: int = 0,
        stream: int = 7,
        context: int = 1,
        correlation: int | None = None,
        graph: int | None = None,
        node: int | None = None,
        **columns: Value,
    ) -> None:
        """Add a copy; `kind` is 1 host to device, 2 device to host, 8 on the device."""
        own: dict[str, Value] = {
            "bytes": size,
            "copyKind": kind,
            "srcKind": 0 if kind == 1 else 2,
            "dstKind": 0 if kind == 2 else 2,
            "graphNodeId": graph_node_id(graph, node),
            "copyCount": 1,
        }
        place = _place(start, end, pid, device, stream, context, correlation)
        self.row(MEMCPY, **(place | own | columns))

    def memset(
        self,
        start: int,
        end: int,
        *,
        pid: int,
        size: int = 4,
        device: int = 0,
        stream: int = 7,
        context: int = 1,
        correlation: int | None = None,
        graph: int | None = None,
        node: int | None = None,
        **columns: Value,
    ) -> None:
        """Add a memset of device memory."""
        node_id = graph_node_id(graph, node)
        own: dict[str, Value] = {"bytes": size, "graphNodeId": node_id, "memKind": 2}
        place = _place(start, end, pid, device, stream, context, correlation)
        self.row(MEMSET, **(place | own | columns))

    def graph_trace(
        self,
        start: int,
        end: int,
        *,
        pid: int,
        graph: int,
        graph_exec: int | None = None,
        device: int = 0,
        stream: int = 7,
        context: int = 1,
        correlation: int | None = None,
        **columns: Value,
    ) -> None:
        """Add the envelope of one whole graph launch (eras that have the table)."""
        executable = graph + 1 if graph_exec is None else graph_exec
        own: dict[str, Value] = {"graphId": graph, "graphExecId": executable}
        place = _place(start, end, pid, device, stream, context, correlation)
        self.row(GRAPH_TRACE, **(place | own | columns))

    def synchronization(
        self,
        start: int,
        end: int,
        *,
        pid: int,
        stream: int = 7,
        context: int = 1,
        correlation: int | None = None,
        sync_type: int = 3,
    ) -> None:
        """Add a host wait drawn on the GPU timeline; its device is 0 whatever it waits for."""
        place = _place(start, end, pid, 0, stream, context, correlation) | {"greenContextId": None}
        kind = 0 if self.era == "3.16" else sync_type
        self.row(SYNCHRONIZATION, **place, syncType=kind, eventId=0xFFFFFFFF, eventSyncId=0)

    def api(
        self,
        name: str,
        start: int,
        end: int,
        *,
        pid: int,
        tid: int | None = None,
        correlation: int | None,
        return_value: int = 0,
    ) -> None:
        """Add a CUDA runtime call, or a driver call if its name starts with `cu` alone."""
        self.row(
            RUNTIME,
            start=start,
            end=end,
            eventClass=0 if name.startswith("cuda") else 1,
            globalTid=global_tid(pid, tid),
            correlationId=correlation,
            nameId=self.string(name),
            returnValue=return_value,
        )

    def osrt(self, name: str, start: int, end: int, *, pid: int, tid: int | None = None) -> None:
        """Add an operating-system call."""
        self.row(
            "OSRT_API",
            start=start,
            end=end,
            eventClass=27,
            globalTid=global_tid(pid, tid),
            nameId=self.string(name),
        )

    def nvtx(
        self,
        text: str | None,
        start: int,
        end: int | None,
        *,
        pid: int,
        tid: int | None = None,
        domain: int = 0,
        registered: bool = False,
        event_type: int = 59,
    ) -> None:
        """Add a range; a registered string lies in `StringIds` and not in the row."""
        self.row(
            "NVTX_EVENTS",
            start=start,
            end=end,
            eventType=event_type,
            text=None if registered else text,
            textId=self.string(text) if registered and text is not None else None,
            globalTid=global_tid(pid, tid),
            domainId=domain,
        )

    def nvtx_domain(self, name: str, domain: int, *, pid: int) -> None:
        """Name an NVTX domain of a process."""
        self.nvtx(name, 0, None, pid=pid, domain=domain, event_type=75)

    def capture_metadata(self, name: str, value: str) -> None:
        """Add a row about how the trace was captured (3.16 and later; names may repeat)."""
        self.row("META_DATA_CAPTURE", name=name, value=value)

    def diagnostic(
        self, text: str, severity: int, pid: int | None = None, timestamp: int = 0
    ) -> None:
        """Add a message of the profiler: severity 1 info, 2 warning, 3 error (3.16 and later)."""
        owner = None if pid is None else global_pid(pid)
        self.row(
            "DIAGNOSTIC_EVENT",
            timestamp=timestamp,
            timestampType=1,
            source=1,
            severity=severity,
            text=text,
            globalPid=owner,
        )

    def gpu(
        self,
        gpu_id: int = 0,
        *,
        name: str = "NVIDIA RTX A6000",
        sm_count: int = 84,
        memory_bandwidth: int = 768_096_000_000,
        compute: tuple[int, int] = (8, 6),
        chip: str = "GA102",
        uuid: str | None = None,
        ordinals: Mapping[int, int] | None = None,
        **columns: Value,
    ) -> None:
        """Add a physical GPU; `ordinals` maps a pid to the device number it has in there."""
        identity = uuid or f"{gpu_id:08x}-0000-4000-8000-{gpu_id:012x}"
        own: dict[str, Value] = {
            "vmId": VM_ID,
            "id": gpu_id,
            "name": name,
            "busLocation": f"0000:{gpu_id + 1:02x}:00.0",
            "isDiscrete": 1,
            "l2CacheSize": 6_291_456,
            "totalMemory": 51_033_931_776,
            "memoryBandwidth": memory_bandwidth,
            "clockRate": 1_800_000_000,
            "smCount": sm_count,
            "uuid": identity,
            "chipName": chip,
            "cuDevice": gpu_id,
            "threadsPerWarp": 32,
            "computeMajor": compute[0],
            "computeMinor": compute[1],
            "smMajor": compute[0],
            "smMinor": compute[1],
        }
        self.row("TARGET_INFO_GPU", **(own | columns))
        if self.has("TARGET_INFO_CUDA_DEVICE"):
            for pid, ordinal in (ordinals or {}).items():
                self.row(
                    "TARGET_INFO_CUDA_DEVICE",
                    gpuId=gpu_id,
                    cudaId=ordinal,
                    pid=pid,
                    uuid=identity,
                    numMultiprocessors=sm_count,
                )


def _place(
    start: int,
    end: int,
    pid: int,
    device: int,
    stream: int,
    context: int,
    correlation: int | None,
) -> dict[str, Value]:
    """Return the columns that every GPU-side table starts with."""
    return {
        "start": start,
        "end": end,
        "deviceId": device,
        "contextId": context,
        "greenContextId": 0,
        "streamId": stream,
        "correlationId": correlation,
        "globalPid": global_pid(pid),
    }
