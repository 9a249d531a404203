"""A chart that GitHub draws from text: where the time of a round goes."""

from traceattr.attribution.analysis import Analysis
from traceattr.report.breakdown import group_lines, has_rounds, mean, shown_ns, wholes
from traceattr.report.figures import unit_for


def round_chart(analysis: Analysis) -> str:
    """Return a pie of the groups of a round, or else of the window; empty without any time.

    Slices are means over rounds and GPUs, which add up; what a trace cannot tell has none.
    """
    groups = [line for line in group_lines(analysis) if not line.is_part]
    times = [(line.name, mean(shown_ns(line)) or 0) for line in groups]
    shown = [(name, time_ns) for name, time_ns in times if time_ns > 0]
    if not shown:
        return ""
    unit = unit_for(max(wholes(analysis)))
    of = "a round" if has_rounds(analysis) else "the window"
    slices = "".join(
        f'    "{name}" : {unit.number(time_ns).replace(",", "")}\n' for name, time_ns in shown
    )
    return f"```mermaid\npie showData\n    title {unit.name} of {of}\n{slices}```\n"
