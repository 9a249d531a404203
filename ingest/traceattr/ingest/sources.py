"""Which tables and columns of an nsys export are read; nothing else of the file is."""

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from traceattr.ingest.selection import ColumnType


@dataclass(frozen=True, slots=True)
class Source:
    """One table of the export and the SQL file that takes it in.

    Attributes:
        table: Name in the export; the same in every schema from 2.7 to 3.28.
        columns: Columns to read; those that a schema lacks arrive as NULL.
        statement: Name of the SQL file that reads the view ``batch``; for GPU work, the name under
            which ``_op.sql`` reads it.
        may_be_kept: Whether its rows may be copied to the cache.
    """

    table: str
    columns: Mapping[str, ColumnType]
    statement: str
    may_be_kept: bool = True

    @property
    def schema(self) -> pa.Schema:
        """Return the Arrow schema in which its rows are read."""
        return pa.schema([(name, kind.arrow) for name, kind in self.columns.items()])


Columns = Mapping[str, ColumnType]


def _integers(*names: str) -> dict[str, ColumnType]:
    return dict.fromkeys(names, ColumnType.INTEGER)


def _texts(*names: str) -> dict[str, ColumnType]:
    return dict.fromkeys(names, ColumnType.TEXT)


_OPERATION = ("start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid")

GPU_WORK = (
    Source(
        "CUPTI_ACTIVITY_KIND_KERNEL",
        _integers(*_OPERATION, "demangledName", "shortName", "graphNodeId", "graphId"),
        "_kernel",
    ),
    Source(
        "CUPTI_ACTIVITY_KIND_MEMCPY",
        _integers(*_OPERATION, "graphNodeId", "bytes", "copyKind"),
        "_memcpy",
    ),
    Source(
        "CUPTI_ACTIVITY_KIND_MEMSET",
        _integers(*_OPERATION, "graphNodeId", "bytes"),
        "_memset",
    ),
    Source(
        "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
        _integers(*_OPERATION, "graphId", "graphExecId"),
        "_graph",
    ),
)
"""Work on the GPU.  SYNCHRONIZATION rows are host waits drawn on the GPU, so not among it."""

GRIDS = Source(
    "CUPTI_ACTIVITY_KIND_KERNEL",
    _integers("globalPid", "deviceId", "contextId", "demangledName", "shortName", "graphNodeId")
    | _integers("graphId", "gridX"),
    "_grid",
)
"""Kernels again, for what is only read when it is asked for."""

API = Source(
    "CUPTI_ACTIVITY_KIND_RUNTIME",
    _integers("start", "end", "globalTid", "correlationId", "nameId", "returnValue"),
    "_api",
)
"""CUDA runtime and driver calls; nsys has no separate driver table."""

NVTX = Source(
    "NVTX_EVENTS",
    _integers("start", "end", "eventType", "globalTid", "endGlobalTid", "textId", "domainId")
    | {"text": ColumnType.TEXT},
    "_nvtx",
)

OS = Source("OSRT_API", _integers("start", "end", "globalTid", "nameId"), "_os")

STRINGS = Source(
    "StringIds", _integers("id") | {"value": ColumnType.TEXT}, "_string", may_be_kept=False
)
"""Whole environment blocks are among them."""

LARGE_TABLES: dict[str, Columns] = {}
"""Tables of events and strings, with all columns of theirs that are ever read."""
for _source in (*GPU_WORK, GRIDS, API, NVTX, OS, STRINGS):
    LARGE_TABLES[_source.table] = {**LARGE_TABLES.get(_source.table, {}), **_source.columns}

CONTEXTS = ("TARGET_INFO_CUDA_CONTEXT_INFO", "TARGET_INFO_CUDA_NULL_STREAM")
"""The same facts; the first name is used since 2024."""

SMALL_TABLES: Mapping[str, Columns] = {
    "EXPORT_META_DATA": _texts("name", "value"),
    "META_DATA_EXPORT": _texts("name", "value"),
    "META_DATA_CAPTURE": _texts("name", "value"),
    "TARGET_INFO_SYSTEM_ENV": _texts("name", "value"),
    "TARGET_INFO_SESSION_START_TIME": _integers("utcEpochNs") | _texts("utcTime", "localTime"),
    "ANALYSIS_DETAILS": _integers("duration"),
    "DIAGNOSTIC_EVENT": _integers("timestamp", "severity", "globalPid") | _texts("text"),
    "PROCESSES": _integers("globalPid") | _texts("name"),
    **dict.fromkeys(CONTEXTS, _integers("processId", "deviceId", "contextId")),
    "TARGET_INFO_CUDA_DEVICE": _integers("pid", "cudaId", "gpuId", "numMultiprocessors")
    | _texts("uuid"),
    "TARGET_INFO_GPU": _integers("id", "smCount", "memoryBandwidth", "cuDevice")
    | _texts("name", "uuid", "busLocation"),
}
"""Tables of a few rows, and their columns to read.  Those of metadata hold secrets too."""

READ_ALWAYS = frozenset({*SMALL_TABLES, *(source.table for source in (*GPU_WORK, API, STRINGS))})
"""Tables that every analysis reads."""
