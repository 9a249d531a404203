"""The few figures that a page shows first."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from traceattr.attribution.analysis import Analysis
from traceattr.report.breakdown import (
    Line,
    group_lines,
    has_rounds,
    is_idle_upper_limit,
    mean,
    shown_ns,
    total_lines,
    wholes,
)
from traceattr.report.figures import UNKNOWN, count, duration, share, unit_for
from traceattr.report.provenance import models_text
from traceattr.report.sampled import has_percentiles, sampled_rounds
from traceattr.rules.categories import HOST_GAPS, IN_GRAPH_GAPS

if TYPE_CHECKING:  # it takes a while to import, and few reports need it
    from traceattr.report.comparison import Comparison


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure.

    Attributes:
        name: What it is.
        value: The figure with its unit.
        note: What to know about it, in a few words.
    """

    name: str
    value: str
    note: str


def key_figures(analysis: Analysis, comparison: "Comparison | None") -> tuple[Figure, ...]:
    """Return length, idle time, roofline and speed as far as they are known."""
    return (*_length(analysis), *_idle(analysis), *_roofline(comparison), _gpus(analysis))


def _length(analysis: Analysis) -> Iterator[Figure]:
    wall, rounds = analysis.rounds.wall, analysis.rounds
    if wall is None:
        yield Figure("Window", duration(analysis.window.wall_ns), "no rounds found")
        return
    p99 = f", p99 {duration(wall.p99)}" if has_percentiles(rounds.sampled) else ""
    note = f"median of {sampled_rounds(rounds)}{p99}"
    yield Figure(f"{rounds.kind.capitalize()} round", duration(wall.median), note)


def _idle(analysis: Analysis) -> Iterator[Figure]:
    if not analysis.per_gpu:
        return
    _, idle, _ = total_lines(analysis)
    known = [ns for ns in shown_ns(idle) if ns is not None]
    at_most = "at most " if is_idle_upper_limit(analysis) else ""
    parts = [_part(analysis, name) for name in (IN_GRAPH_GAPS, HOST_GAPS)]
    value = f"{at_most}{share(sum(known), sum(wholes(analysis)))}"
    yield Figure("GPU idle", value, ", ".join(parts))


def _part(analysis: Analysis, group: str) -> str:
    """Return the time of a group in a round, or in the window without rounds."""
    line = next(line for line in group_lines(analysis) if line.name == group and not line.is_part)
    time_ns = _mean_ns(line, analysis)
    wall = analysis.rounds.wall
    unit = unit_for(wall.median if wall else analysis.window.wall_ns)
    if time_ns == 0:
        return f"no {group}"
    return f"{group} {UNKNOWN if time_ns is None else unit.brief(time_ns)}"


def _mean_ns(line: Line, analysis: Analysis) -> int | None:
    return mean((line.median_ns or ()) if has_rounds(analysis) else line.exclusive_ns)


def _roofline(comparison: "Comparison | None") -> Iterator[Figure]:
    if comparison is None:
        yield Figure("Roofline", "not compared", "name the model with --model")
        return
    whole = comparison.round
    if whole.bound_ratio is not None and whole.bound_ns and whole.expected_ns:
        note = f"bound {duration(whole.bound_ns)}, expected {duration(whole.expected_ns)}"
        yield Figure("Round / bound", f"{whole.bound_ratio:.2f} x", note)
    prediction, tokens = comparison.roofline.prediction, comparison.measured_tokens_per_s
    if tokens is not None:
        note = (
            f"expected {prediction.expected_tokens_per_s:,.1f},"
            f" at most {prediction.bound_tokens_per_s:,.1f}"
        )
        yield Figure("Tokens/s", f"{tokens:,.1f}", note)


def _gpus(analysis: Analysis) -> Figure:
    return Figure("GPUs", count(len(analysis.gpus)), models_text(analysis))
