"""How the idle gaps of a GPU are written in the JSON document of a report."""

from dataclasses import asdict
from typing import Any

from traceattr.attribution.gap_figures import GpuGaps, SeamTime

Json = dict[str, Any]


def gap_entries(gaps: GpuGaps | None) -> Json:
    """Return seams, pairs in graphs, gaps without work and launches; nothing of an unknown GPU.

    Seams, pairs, gaps without work and shorter gaps sum to the idle time of the GPU.
    """
    if gaps is None:
        return {
            "gap_rounds": None,
            "gaps": [],
            "in_graph_gaps": None,
            "no_work_gaps": None,
            "launches": [],
        }
    return {
        "gap_rounds": gaps.rounds,
        "gaps": [_seam(seam, gaps) for seam in gaps.seams],
        "in_graph_gaps": None if gaps.pairs is None else [asdict(pair) for pair in gaps.pairs],
        "no_work_gaps": None if gaps.no_work is None else _seam(gaps.no_work, gaps),
        "launches": [asdict(figures) for figures in gaps.launches],
    }


def _seam(seam: SeamTime, gaps: GpuGaps) -> Json:
    """Return one seam; of OS calls that nobody looked at, the time is unknown."""
    entry = asdict(seam)
    if not gaps.knows_os_calls:
        entry["cause"]["os_ns"] = None
    return entry
