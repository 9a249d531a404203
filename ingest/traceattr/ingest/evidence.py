"""What an export says about its processes and GPUs."""

from collections import defaultdict
from typing import Any

from traceattr.ingest.export import Export
from traceattr.ingest.identity import Evidence
from traceattr.ingest.physical import CudaDevice, PhysicalGpu
from traceattr.ingest.scan import ColumnType
from traceattr.ingest.small_tables import read_rows

_CONTEXTS = ("TARGET_INFO_CUDA_CONTEXT_INFO", "TARGET_INFO_CUDA_NULL_STREAM")
"""The same facts; the first name is used since 2024."""


def read_evidence(export: Export, launching: frozenset[int]) -> Evidence:
    """Return the facts that `identify` needs; tables that are missing give none."""
    return Evidence(
        process_names=_process_names(export),
        launching=launching,
        context_pids=_context_pids(export),
        cuda_devices=_cuda_devices(export),
        physical=_physical(export),
    )


def _rows(
    export: Export, table: str, integers: tuple[str, ...], texts: tuple[str, ...] = ()
) -> list[dict[str, Any]]:
    columns = dict.fromkeys(integers, ColumnType.INTEGER) | dict.fromkeys(texts, ColumnType.TEXT)
    return read_rows(export, table, columns)


def _process_names(export: Export) -> dict[int, str]:
    rows = _rows(export, "PROCESSES", ("globalPid",), ("name",))
    return {row["globalPid"]: row["name"] for row in rows if row["globalPid"] and row["name"]}


def _context_pids(export: Export) -> dict[tuple[int, int], frozenset[int]]:
    pids: defaultdict[tuple[int, int], set[int]] = defaultdict(set)
    for table in _CONTEXTS:
        for row in _rows(export, table, ("processId", "deviceId", "contextId")):
            if row["processId"] is not None:
                pids[row["deviceId"], row["contextId"]].add(row["processId"])
    return {key: frozenset(values) for key, values in pids.items()}


def _cuda_devices(export: Export) -> tuple[CudaDevice, ...]:
    integers = ("pid", "cudaId", "gpuId", "numMultiprocessors")
    return tuple(
        CudaDevice(
            pid=row["pid"],
            device_id=row["cudaId"],
            gpu_number=row["gpuId"],
            uuid=row["uuid"],
            sm_count=row["numMultiprocessors"] or None,
        )
        for row in _rows(export, "TARGET_INFO_CUDA_DEVICE", integers, ("uuid",))
    )


def _physical(export: Export) -> tuple[PhysicalGpu, ...]:
    integers = ("id", "smCount", "memoryBandwidth", "cuDevice")
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
        for row in _rows(export, "TARGET_INFO_GPU", integers, ("name", "uuid", "busLocation"))
        if row["id"] is not None
    )
