"""What a report says about launching: the columns that people make by hand from a timeline."""

from traceattr.attribution.analysis import Analysis
from traceattr.report.figures import MILLISECONDS, UNKNOWN, count, counted
from traceattr.report.gap_means import LaunchMean, launch_means

_FIGURES = {
    "graphs": "graph_launches",
    "nodes": "graph_nodes",
    "eager": "eager_launches",
    "launch": "graph_launch_ns",
    "CPU span": "cpu_span_ns",
    "GPU span": "gpu_span_ns",
    "busy": "busy_ns",
    "kernels": "kernel_ns",
}
"""Fields of `LaunchFigures` by the titles of their columns."""

LAUNCH_TITLES = ("round", *_FIGURES)


def launch_title(analysis: Analysis) -> str:
    """Return what the list is called, and what its figures are."""
    gpus = len(analysis.gaps)
    rounds = " and ".join(
        counted(one.rounds, f"{one.kind} round") for one in launch_means(analysis)
    )
    over = f", on {counted(gpus, 'GPU')}" if gpus > 1 else ""
    return f"Launching (mean of {rounds}{over}; times in {MILLISECONDS.name})"


def launch_rows(analysis: Analysis) -> tuple[tuple[str, ...], ...]:
    """Return the figures of each kind of round, in the order of `LAUNCH_TITLES`."""
    return tuple(_row(one) for one in launch_means(analysis))


def _row(one: LaunchMean) -> tuple[str, ...]:
    return one.kind, *(_figure(name, one.figures[name]) for name in _FIGURES.values())


def _figure(name: str, value: float | None) -> str:
    if value is None:
        return UNKNOWN
    if name.endswith("_ns"):
        return MILLISECONDS.number(round(value))
    return count(int(value)) if value == int(value) else f"{value:,.1f}"
