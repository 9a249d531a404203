"""A chart that GitHub draws from text: where the time of a round goes."""

from traceattr.attribution.analysis import Analysis
from traceattr.report.breakdown import group_lines, has_rounds, mean, shown_ns, wholes
from traceattr.report.figures import unit_for


def round_chart(analysis: Analysis) -> str:
    """Return a pie of the groups of a round, or else of the window; empty without any time.

    Slices are means over rounds and GPUs, which add up; what a trace cannot tell has none.
    """
    if not analysis.per_gpu:
        return ""
    unit = unit_for(max(wholes(analysis)))
    groups = [line for line in group_lines(analysis) if not line.is_part]
    times = [
        (line.name, unit.number(mean(shown_ns(line)) or 0).replace(",", "")) for line in groups
    ]
    # A slice of nothing is an error in a pie.
    slices = [f'    "{name}" : {number}\n' for name, number in times if float(number)]
    of = "a round" if has_rounds(analysis) else "the window"
    head = f"```mermaid\npie showData\n    title {unit.name} of {of}\n"
    return f"{head}{''.join(slices)}```\n" if slices else ""
