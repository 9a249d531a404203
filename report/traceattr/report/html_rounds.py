"""The section of a page on rounds: how long they are, and how that is distributed."""

from dataclasses import dataclass
from typing import Any

from traceattr.attribution.analysis import Analysis
from traceattr.attribution.round_figures import RoundSeries
from traceattr.report.figures import count, counted
from traceattr.report.html_histogram import Histogram, histograms, quantile
from traceattr.report.html_table import HtmlTable, html_table
from traceattr.report.names import cut
from traceattr.report.rounds_text import (
    GRAPH_TITLES,
    graph_rows,
    graphs_note,
    no_rounds_sentence,
    rounds_facts,
    rounds_title,
)
from traceattr.report.sampled import has_percentiles

Json = dict[str, Any]

MOST_ROUNDS = 5_000
"""Rounds in a page, from the first on."""

MOST_GRAPHS = 100
LONGEST_EVIDENCE = 400
"""Graphs in the list, and characters of what tells the kind of one."""


@dataclass(frozen=True, slots=True)
class RoundsView:
    """The section.

    Attributes:
        title: What it is called.
        missing: Why there are no rounds, None when there are.
        facts: Labels and sentences.
        histogram: None with few rounds, or where all are as long.
        data: Rounds one by one, None with few.
        shown: Which rounds are drawn, None when all are.
        graphs: What each graph is for.
        note: Whether the GPUs agree on that.
    """

    title: str
    missing: str | None
    facts: tuple[tuple[str, str], ...]
    histogram: Histogram | None
    data: Json | None
    shown: str | None
    graphs: HtmlTable | None
    note: str | None


def rounds_view(analysis: Analysis) -> RoundsView:
    """Return what is shown of rounds; one by one are those of the first GPU."""
    series = analysis.series[0] if analysis.series else None
    is_drawn = series is not None and has_percentiles(len(series.wall_ns))
    rows = ([cut(cell, LONGEST_EVIDENCE) for cell in row.cells] for row in graph_rows(analysis))
    missing = no_rounds_sentence(analysis)
    return RoundsView(
        title="Rounds" if missing else rounds_title(analysis),
        missing=missing,
        facts=rounds_facts(analysis),
        histogram=next(iter(histograms([series.wall_ns])), None) if series and is_drawn else None,
        data=_data(series) if series and is_drawn else None,
        shown=_shown(series) if series and is_drawn else None,
        graphs=html_table(
            "What each CUDA graph is for", GRAPH_TITLES, [*rows][:MOST_GRAPHS], "llrll"
        ),
        note=graphs_note(analysis),
    )


def _shown(series: RoundSeries) -> str | None:
    rounds = len(series.wall_ns)
    if rounds <= MOST_ROUNDS:
        return None
    return f"Drawn are the first {count(MOST_ROUNDS)} of {counted(rounds, 'round')}."


def _data(series: RoundSeries) -> Json:
    """Return each round's begin, length and parts.

    Begins count from that of the first, which is a text: scripts have no integers of that size.
    """
    return {
        "gpu": series.gpu,
        "first": str(series.start_ns[0]),
        "starts": [start_ns - series.start_ns[0] for start_ns in series.start_ns[:MOST_ROUNDS]],
        "lengths": list(series.wall_ns[:MOST_ROUNDS]),
        "median": quantile(series.wall_ns, 0.5),
        "p99": quantile(series.wall_ns, 0.99),
        "groups": {group.name: list(group.ns[:MOST_ROUNDS]) for group in series.groups if group.ns},
    }
