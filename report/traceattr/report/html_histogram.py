"""How the lengths of rounds are distributed, as bars."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from traceattr.attribution.intervals import Times
from traceattr.report.figures import counted, duration, unit_for

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
        ends: Where the scale begins and ends.
        label: All of it in words.
    """

    bins: tuple[Bin, ...]
    marks: tuple[Mark, ...]
    ends: tuple[str, str]
    label: str


def histograms(lengths: Sequence[Sequence[int]]) -> tuple[Histogram, ...]:
    """Return a histogram of each set of lengths in ns, all on one scale; none of equal lengths."""
    first = min(min(one) for one in lengths)
    last = max(max(one) for one in lengths)
    if first == last:
        return ()
    rounds = max(map(len, lengths))
    bins = min(max(round(rounds**0.5) * 2, _FEWEST_BINS), _MOST_BINS)
    return tuple(_histogram(np.array(one), bins, first, last) for one in lengths)


def quantile(lengths: Sequence[int], share: float) -> int:
    """Return a quantile that is one of the lengths."""
    return int(np.quantile(lengths, share, method="inverted_cdf"))


def _histogram(lengths: Times, bins: int, first: int, last: int) -> Histogram:
    counts, edges = np.histogram(lengths, bins=bins, range=(first, last))
    unit = unit_for(last)
    marks = tuple(
        Mark(name, round(100 * (ns - first) / (last - first), 2), f"{name} {unit.text(ns)}")
        for name, ns in (
            ("median", quantile(lengths.tolist(), 0.5)),
            ("p99", quantile(lengths.tolist(), 0.99)),
        )
    )
    ends = (unit.text(first), unit.text(last))
    said = f"{counted(len(lengths), 'round')} from {ends[0]} to {ends[1]}"
    return Histogram(
        bins=tuple(_bins(counts.tolist(), edges.tolist())),
        marks=marks,
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
