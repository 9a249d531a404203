"""The section of a page on rounds: how long they are, and how that is distributed."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from traceattr.attribution.analysis import Analysis
from traceattr.attribution.round_figures import RoundSeries
from traceattr.report.figures import count, counted, duration, unit_for
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

MOST_ROUNDS = 10_000
"""Rounds in a page, from the first on."""

MOST_GRAPHS = 100
LONGEST_EVIDENCE = 400
"""Graphs in the list, and characters of what tells the kind of one."""

_MOST_BINS, _FEWEST_BINS = 60, 8


@dataclass(frozen=True, slots=True)
class Bin:
    """A bar of a histogram; places are percents of the drawing."""

    left: float
    width: float
    height: float
    label: str


@dataclass(frozen=True, slots=True)
class Mark:
    """A figure that a histogram marks, at a percent of its width."""

    name: str
    left: float
    text: str


@dataclass(frozen=True, slots=True)
class Histogram:
    """How the lengths of rounds are distributed.

    Attributes:
        bins: From the shortest to the longest.
        marks: Median and 99th percentile.
        ends: Length of the shortest and of the longest round.
        label: All of it in words.
    """

    bins: tuple[Bin, ...]
    marks: tuple[Mark, ...]
    ends: tuple[str, str]
    label: str


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
        histogram=_histogram(series) if series and is_drawn else None,
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
    """Return each round's begin, length and parts; begins count from that of the first."""
    return {
        "gpu": series.gpu,
        "starts": [start_ns - series.start_ns[0] for start_ns in series.start_ns[:MOST_ROUNDS]],
        "lengths": list(series.wall_ns[:MOST_ROUNDS]),
        "median": _quantile(series, 0.5),
        "p99": _quantile(series, 0.99),
        "groups": {group.name: list(group.ns[:MOST_ROUNDS]) for group in series.groups if group.ns},
    }


def _quantile(series: RoundSeries, share: float) -> int:
    return int(np.quantile(series.wall_ns, share, method="inverted_cdf"))


def _histogram(series: RoundSeries) -> Histogram | None:
    lengths = np.array(series.wall_ns)
    first, last = int(lengths.min()), int(lengths.max())
    if first == last:
        return None
    bins = min(max(round(len(lengths) ** 0.5) * 2, _FEWEST_BINS), _MOST_BINS)
    counts, edges = np.histogram(lengths, bins=bins, range=(first, last))
    quantiles = [("median", _quantile(series, 0.5)), ("p99", _quantile(series, 0.99))]
    unit = unit_for(last)
    marks = [
        Mark(name, round(100 * (ns - first) / (last - first), 2), f"{name} {unit.text(ns)}")
        for name, ns in quantiles
    ]
    ends = (unit.text(first), unit.text(last))
    said = f"{counted(len(lengths), 'round')} from {ends[0]} to {ends[1]}"
    return Histogram(
        bins=tuple(_bins(counts.tolist(), edges.tolist())),
        marks=tuple(marks),
        ends=ends,
        label=f"Histogram of {said}, {', '.join(mark.text for mark in marks)}",
    )


def _bins(counts: list[int], edges: list[float]) -> Iterator[Bin]:
    """Yield the bars that have any rounds."""
    width, highest = 100 / len(counts), max(counts)
    for at, number in enumerate(counts):
        if number:
            begin, end = duration(round(edges[at])), duration(round(edges[at + 1]))
            yield Bin(
                left=round(at * width, 3),
                width=round(width, 3),
                height=round(100 * number / highest, 3),
                label=f"{counted(number, 'round')} from {begin} to {end}",
            )
