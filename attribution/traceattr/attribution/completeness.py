"""Whether what a process launched was recorded; an idle figure is worth that much."""

from collections.abc import Collection, Mapping

from traceattr.attribution.analysis import Diagnostic
from traceattr.attribution.gap_figures import Completeness
from traceattr.ingest.trace import ProcessWork

EDGE_SHARE = 0.01
"""Launches and kernels that may lack their counterpart at the edges of a capture."""

EDGE_COUNT = 2
"""The same in absolute numbers, for short captures."""

LOST_EVENTS = (
    "Not all CUDA events",
    "Couldn't allocate CUPTI buffer",
    "Reached the size limit",
)
"""How nsys begins to say that it dropped events (release notes and user guide)."""


def completeness_by_process(
    work: Collection[ProcessWork], diagnostics: Collection[Diagnostic]
) -> Mapping[int | None, Completeness]:
    """Return for each global pid whether its launches and its GPU work match."""
    lost = any(d.text.startswith(LOST_EVENTS) for d in diagnostics)
    return {process.global_pid: _of_process(process, lost) for process in work}


def _of_process(process: ProcessWork, lost: bool) -> Completeness:
    if lost:
        return "incomplete"
    if not process.kernel_launches and not process.graph_launches:
        return "unknown"
    graphs = _exceeds(process.graph_launches_without_work, process.graph_launches)
    kernels = _exceeds(process.kernels_without_launch, process.kernels)
    return "incomplete" if graphs or kernels else "complete"


def _exceeds(missing: int, of: int) -> bool:
    return missing > max(EDGE_COUNT, EDGE_SHARE * of)
