"""What an export says about its processes and GPUs."""

from collections import defaultdict

from traceattr.ingest.export import Export
from traceattr.ingest.identity import Evidence
from traceattr.ingest.physical import CudaDevice, PhysicalGpu
from traceattr.ingest.small_tables import read_rows
from traceattr.ingest.sources import CONTEXTS


def read_evidence(export: Export, launching: frozenset[int]) -> Evidence:
    """Return the facts that `identify` needs; tables that are missing give none."""
    return Evidence(
        process_names=_process_names(export),
        launching=launching,
        context_pids=_context_pids(export),
        cuda_devices=_cuda_devices(export),
        physical=_physical(export),
    )


def _process_names(export: Export) -> dict[int, str]:
    rows = read_rows(export, "PROCESSES")
    return {row["globalPid"]: row["name"] for row in rows if row["globalPid"] and row["name"]}


def _context_pids(export: Export) -> dict[tuple[int, int], frozenset[int]]:
    pids: defaultdict[tuple[int, int], set[int]] = defaultdict(set)
    for table in CONTEXTS:
        for row in read_rows(export, table):
            if row["processId"] is not None:
                pids[row["deviceId"], row["contextId"]].add(row["processId"])
    return {key: frozenset(values) for key, values in pids.items()}


def _cuda_devices(export: Export) -> tuple[CudaDevice, ...]:
    return tuple(
        CudaDevice(
            pid=row["pid"],
            device_id=row["cudaId"],
            gpu_number=row["gpuId"],
            uuid=row["uuid"],
            sm_count=row["numMultiprocessors"] or None,
        )
        for row in read_rows(export, "TARGET_INFO_CUDA_DEVICE")
    )


def _physical(export: Export) -> tuple[PhysicalGpu, ...]:
    return tuple(
        PhysicalGpu(
            number=row["id"],
            name=row["name"],
            uuid=row["uuid"],
            bus_location=row["busLocation"],
            sm_count=row["smCount"] or None,
            memory_bandwidth_bytes_per_s=row["memoryBandwidth"] or None,
            cuda_ordinal=row["cuDevice"],
        )
        for row in read_rows(export, "TARGET_INFO_GPU")
        if row["id"] is not None
    )
