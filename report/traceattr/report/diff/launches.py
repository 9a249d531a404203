"""What is launched in a round, before and after."""

from dataclasses import dataclass

from traceattr.attribution.analysis import Analysis
from traceattr.report.diff.diff import Diff
from traceattr.report.gap_means import launch_means

COUNTED = {
    "graph_launches": "graph launches",
    "graph_nodes": "operations in graphs",
    "eager_launches": "eager launches",
}
"""What is counted, and what tables call it."""


@dataclass(frozen=True, slots=True)
class LaunchChange:
    """A figure of launching per round, as means of the rounds and the GPUs.

    Attributes:
        figure: A field of `LaunchFigures`.
        before: In the first trace; None when that cannot tell.
        after: In the second.
    """

    figure: str
    before: float | None
    after: float | None


def launch_changes(diff: Diff) -> tuple[LaunchChange, ...]:
    """Return every figure of the rounds; nothing where a trace has none."""
    before, after = (_figures(side) for side in (diff.base, diff.head))
    if before is None or after is None:
        return ()
    return tuple(LaunchChange(figure, before[figure], after[figure]) for figure in before)


def _figures(analysis: Analysis) -> dict[str, float | None] | None:
    means = launch_means(analysis)
    return next((dict(one.figures) for one in means if one.kind == analysis.rounds.kind), None)
