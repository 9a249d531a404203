"""What one sentence says where the time of a round goes."""

from traceattr.attribution.analysis import Analysis, GpuTime
from traceattr.attribution.round_figures import Spread
from traceattr.report.breakdown import Line, group_lines, is_idle_upper_limit, mean
from traceattr.report.figures import Unit, counted, share, unit_for
from traceattr.report.sampled import has_percentiles
from traceattr.rules.categories import GRAPH, HOST_GAPS, IN_GRAPH_GAPS

MOST_GROUPS = 3
"""Groups that the sentence names."""

NOTABLE_RATIO = 0.01
"""Share of the round from which on a group is named, if it is not the largest."""

BESIDE_RATIO = 0.05
"""Share of the window from which on what is no part of a round is named."""


def round_headline(analysis: Analysis, wall: Spread) -> str:
    """Return how long a round takes and what owns most of it, as means over the GPUs."""
    gpus = counted(len(analysis.per_gpu), "GPU")
    unit = unit_for(wall.median)
    lines = [line for line in group_lines(analysis) if not line.is_part]
    p99 = f" (p99 {unit.brief(wall.p99)})" if _has_p99(analysis, wall) else ""
    sentence = (
        f"A {analysis.rounds.kind} round takes {unit.brief(wall.median)} on {gpus}{p99}: "
        f"{_groups_text(analysis, lines, wall)}; {_idle_text(analysis, lines, unit)}."
    )
    return " ".join((sentence, *_beside(analysis)))


def _has_p99(analysis: Analysis, wall: Spread) -> bool:
    return has_percentiles(analysis.rounds.sampled) and wall.p99 != wall.median


def _groups_text(analysis: Analysis, lines: list[Line], wall: Spread) -> str:
    unit = unit_for(wall.median)
    medians = [(_median(line), line) for line in lines if line.kind == "busy"]
    largest = sorted(medians, key=lambda one: -one[0])[:MOST_GROUPS]
    named = [one for one in largest if one[0] >= NOTABLE_RATIO * wall.median]
    return ", ".join(
        f"{_name(analysis, line)} {unit.brief(median_ns)}"
        for median_ns, line in named or largest[:1]
    )


def _median(line: Line) -> int:
    """Return the mean over the GPUs; unknown is 0, as it is in another group."""
    return mean(line.median_ns or ()) or 0


def _name(analysis: Analysis, line: Line) -> str:
    """Return the group; of graphs as a whole, which they are if they are all of one kind."""
    if line.name != GRAPH:
        return line.name
    phases = {phase for time in analysis.per_gpu for phase in _phases_of_graphs(time)}
    target = {"speculative": "verify", "decode": "decode"}.get(analysis.rounds.kind)
    return f"{target} graphs" if phases == {"target"} and target else "CUDA graphs"


def _phases_of_graphs(time: GpuTime) -> set[str | None]:
    return {e.phase for e in time.categories if e.category == GRAPH and e.phase != "draft"}


def _idle_text(analysis: Analysis, lines: list[Line], unit: Unit) -> str:
    gaps = {line.name: mean(line.median_ns or ()) for line in lines if line.kind == "gap"}
    idle = "idle at most" if is_idle_upper_limit(analysis) else "idle"
    host, inside = unit.brief(gaps[HOST_GAPS] or 0), gaps[IN_GRAPH_GAPS]
    if inside is None:
        return f"{idle} {host} outside graphs, unknown inside"
    return f"{idle} {unit.brief(inside)} in graphs and {host} outside"


def _beside(analysis: Analysis) -> list[str]:
    """Return sentences on what fills much of the window beside the rounds."""
    wall_ns = sum(time.wall_ns for time in analysis.per_gpu)
    entries = [entry for time in analysis.per_gpu for entry in time.categories]
    prefill_ns = sum(entry.exclusive_ns for entry in entries if entry.phase == "prefill")
    no_work_ns = sum(time.idle.no_work_ns for time in analysis.per_gpu)
    parts = (("Prefill owns", prefill_ns), ("There is no work for", no_work_ns))
    return [
        f"{what} {share(part_ns, wall_ns)} of the window."
        for what, part_ns in parts
        if part_ns >= BESIDE_RATIO * wall_ns
    ]
