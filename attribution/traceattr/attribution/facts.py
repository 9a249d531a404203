"""What the file says about itself, and how its graphs were traced."""

import duckdb

from traceattr.attribution.analysis import Diagnostic, GraphTrace, TraceFacts
from traceattr.ingest.capture import Capture
from traceattr.ingest.database import read_sql
from traceattr.ingest.identity import pid_of
from traceattr.ingest.trace import Trace


def trace_facts(trace: Trace) -> TraceFacts:
    """Return the facts of a loaded trace."""
    capture = trace.capture
    by_node, opaque = _replay_counts(trace.connection)
    return TraceFacts(
        file=capture.file,
        nsys_version=capture.nsys_version,
        schema_version=capture.schema_version,
        graph_trace=_graph_trace(trace, by_node=by_node),
        opaque_replays=opaque,
        unrecorded_graph_launches=sum(w.graph_launches_without_work for w in trace.work),
        duration_ns=capture.duration_ns,
        driver_version=capture.driver_version,
        simulated=capture.simulated,
        diagnostics=_diagnostics(trace.connection),
        epoch_ns=_epoch(trace.capture),
    )


def _epoch(capture: Capture) -> int | None:
    """Return the wall clock at time 0 of the trace, which the export may have moved."""
    if capture.is_time_normalised:
        return -capture.time_shift_ns
    return None if capture.utc_epoch_ns is None else capture.utc_epoch_ns - capture.time_shift_ns


def _replay_counts(connection: duckdb.DuckDBPyConnection) -> tuple[int, int]:
    """Return how many replays were traced per node, and how many as an envelope only."""
    rows = dict(
        connection.execute("SELECT traced, count(*) FROM replay GROUP BY traced").fetchall()
    )
    return rows.get("node", 0), rows.get("graph", 0)


def _graph_trace(trace: Trace, *, by_node: int) -> GraphTrace:
    """Say which kinds of rows graphs left, whether or not the same replay left both."""
    envelopes = trace.oddities.envelopes
    if by_node and envelopes:
        return "mixed"
    if by_node:
        return "node"
    return "graph" if envelopes else "none"


def _diagnostics(connection: duckdb.DuckDBPyConnection) -> tuple[Diagnostic, ...]:
    rows = connection.execute(read_sql("traceattr.attribution", "diagnostics")).fetchall()
    return tuple(
        Diagnostic(severity, text, count, None if global_pid is None else pid_of(global_pid))
        for severity, text, count, global_pid in rows
    )
