"""Which NVTX range of the host each gap lies in."""

from collections.abc import Sequence
from dataclasses import replace

import duckdb

from traceattr.attribution.gap_figures import Gap
from traceattr.attribution.host_calls import NONE, Calls
from traceattr.attribution.host_story import Story, has_view, longest_quiet
from traceattr.ingest.database import read_sql


def name_ranges(
    connection: duckdb.DuckDBPyConnection,
    calls: Calls,
    story: Story,
    positions: Sequence[int],
    gaps: Sequence[Gap],
) -> tuple[Gap, ...]:
    """Return gaps with the range around the longest part in which nothing was recorded.

    Args:
        connection: Holds the trace, and NVTX ranges if they were loaded.
        calls: The calls of the process.
        story: What the host was doing in all gaps.
        positions: Where in the story each of `gaps` is.
        gaps: Some gaps.
    """
    if not has_view(connection, "host_range"):
        return tuple(gaps)
    return tuple(
        replace(gap, host_range=_range(connection, calls, story, at, gap))
        for at, gap in zip(positions, gaps, strict=True)
    )


def _range(
    connection: duckdb.DuckDBPyConnection, calls: Calls, story: Story, at: int, gap: Gap
) -> str | None:
    thread, launched_ns = story.launch_of(at)
    if thread == NONE or not gap.cause.python_ns:
        return None
    start_ns, end_ns = longest_quiet(connection, calls, thread, gap.start_ns, launched_ns)
    found = connection.execute(
        read_sql("traceattr.attribution", "range_around"),
        {"global_tid": thread, "start_ns": start_ns, "end_ns": end_ns},
    ).fetchone()
    return None if found is None else str(found[0])
