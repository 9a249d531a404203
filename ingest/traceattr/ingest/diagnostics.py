"""What nsys itself says went wrong while it recorded."""

import duckdb

from traceattr.errors import ExportError
from traceattr.ingest.export import Export
from traceattr.ingest.remote.name import TracePath
from traceattr.ingest.small_tables import read_rows

RECORD_COMMAND = (
    "nsys profile --trace=cuda,nvtx --cuda-graph-trace=node --trace-fork-before-exec=true"
    " -o report python -m sglang.launch_server ..."
)
"""From SGLang's own profiling guide; node-level graphs are what attribution needs."""


def load_diagnostics(connection: duckdb.DuckDBPyConnection, export: Export) -> None:
    """Fill the table ``diagnostic``."""
    rows = read_rows(export, "DIAGNOSTIC_EVENT")
    for row in rows:
        # Messages about no process carry a made-up one with the highest bit set.
        global_pid = row["globalPid"] if (row["globalPid"] or 0) > 0 else None
        connection.execute(
            "INSERT INTO diagnostic VALUES (?, ?, ?, ?)",
            [row["timestamp"], row["severity"], row["text"] or "", global_pid],
        )


class NoGpuWorkError(ExportError):
    """The export has nothing on any GPU.

    Attributes:
        why: In the trace's own words.
    """

    def __init__(self, path: TracePath, why: str) -> None:
        super().__init__(f"{path}: {why}; record again: {RECORD_COMMAND}")
        self.why = why


def no_gpu_work(connection: duckdb.DuckDBPyConnection, export: Export) -> NoGpuWorkError:
    """Return the error for an export that has nothing on any GPU, in the trace's own words."""
    graph_launches = connection.execute(
        "SELECT count(*) FROM _launch WHERE is_graph_launch"
    ).fetchone()
    said = connection.execute(
        "SELECT DISTINCT text FROM diagnostic WHERE severity IN (2, 3) AND text LIKE '%CUDA%'"
        " ORDER BY text LIMIT 1"
    ).fetchone()
    why = f' (nsys says: "{said[0]}")' if said else ""
    if graph_launches and graph_launches[0]:
        why = f" ({graph_launches[0]} CUDA graph launches were recorded, but not what they ran)"
    return NoGpuWorkError(export.path, f"no CUDA kernel, copy or graph was recorded{why}")
