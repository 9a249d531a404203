"""How the lengths of rounds are distributed, as bars."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from traceattr.report.figures import counted, duration, unit_for

_MOST_BINS, _FEWEST_BINS = 60, 8

_USUAL = 0.95
"""Share of rounds that must fill half of a scale; what is far beyond them counts at its end."""


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
    every = [ns for one in lengths for ns in one]
    first, longest = min(every), max(every)
    if first == longest:
        return ()
    usual = quantile(every, _USUAL)
    last = min(longest, 2 * usual - first) if usual > first else longest
    rounds = max(map(len, lengths))
    bins = min(max(round(rounds**0.5) * 2, _FEWEST_BINS), _MOST_BINS)
    scale = _Scale(first, last, bins, is_cut=last < longest)
    return tuple(_histogram(one, scale) for one in lengths)


def quantile(lengths: Sequence[int], share: float) -> int:
    """Return a quantile that is one of the lengths."""
    return int(np.quantile(lengths, share, method="inverted_cdf"))


@dataclass(frozen=True, slots=True)
class _Scale:
    """Where bars stand; what is longer than the last one counts in it where the scale is cut."""

    first: int
    last: int
    bins: int
    is_cut: bool

    def place(self, ns: int) -> float:
        return round(100 * min(ns - self.first, self.last - self.first) / self.length, 2)

    @property
    def length(self) -> int:
        return self.last - self.first


def _histogram(lengths: Sequence[int], scale: _Scale) -> Histogram:
    clipped = np.minimum(lengths, scale.last)
    counts, edges = np.histogram(clipped, bins=scale.bins, range=(scale.first, scale.last))
    unit = unit_for(scale.last)
    quantiles = (("median", quantile(lengths, 0.5)), ("p99", quantile(lengths, 0.99)))
    marks = tuple(Mark(name, scale.place(ns), f"{name} {unit.text(ns)}") for name, ns in quantiles)
    more = " and more" if scale.is_cut else ""
    whole = f"{unit.text(min(lengths))} to {unit.text(max(lengths))}"
    said = f"{counted(len(lengths), 'round')} from {whole}"
    return Histogram(
        bins=tuple(_bins(counts.tolist(), edges.tolist(), more)),
        marks=marks,
        ends=(unit.text(scale.first), f"{unit.text(scale.last)}{more}"),
        label=f"Histogram of {said}, {', '.join(mark.text for mark in marks)}",
    )


def _bins(counts: list[int], edges: list[float], more: str) -> Iterator[Bin]:
    """Yield the bars that have any rounds."""
    width, highest = 100 / len(counts), max(counts)
    for at, number in enumerate(counts):
        if number:
            begin, end = duration(round(edges[at])), duration(round(edges[at + 1]))
            yield Bin(
                left=round(at * width, 3),
                width=round(width, 3),
                height=round(100 * number / highest, 3),
                label=f"{counted(number, 'round')} from {begin} to {end}"
                f"{more if at + 1 == len(counts) else ''}",
            )
