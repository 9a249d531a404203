"""How figures vary over the rounds of one GPU; times are integer ns."""

from dataclasses import dataclass, replace
from typing import Literal

LONGEST_NS = 2**53
"""More than any time in a round is: 104 days, up to which arithmetic in float64 is exact."""

Phase = Literal["target", "draft", "prefill", "other"]


@dataclass(frozen=True, slots=True)
class Spread:
    """Order statistics of a figure over the rounds, in ns.

    Quantiles are of the nearest rank (``inverted_cdf``), so each is a value that occurred.
    """

    median: int
    p99: int
    mean: int
    min: int
    max: int


@dataclass(frozen=True, slots=True)
class CategorySeries:
    """Exclusive time of one category in one phase, all subcategories together.

    Attributes:
        category: Name.
        phase: Of which model's pass it is part.
        ns: One value for each round.
    """

    category: str
    phase: Phase
    ns: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Series:
    """Time of one group or of one seam.

    Attributes:
        name: What it is the time of.
        ns: One value for each round; None when the trace cannot tell.
    """

    name: str
    ns: tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class RoundSeries:
    """Figures of each round on one GPU, in order: what figures per round are the spread of.

    Attributes:
        gpu: Number of the GPU.
        start_ns: Begin of each round on the clock of the trace.
        wall_ns: From there to the begin of the next.
        categories: Categories in table order; with idle time they sum to `wall_ns`.
        groups: Groups in table order, the kinds of idle time last; they sum to `wall_ns` too where
            none is hidden.
        seams: Gaps outside replays by what they join.
        seams_from: First round that means of seams are about: 1 where the trace does not show
            what came before the first, else 0.
    """

    gpu: int
    start_ns: tuple[int, ...]
    wall_ns: tuple[int, ...]
    categories: tuple[CategorySeries, ...]
    groups: tuple[Series, ...]
    seams: tuple[Series, ...]
    seams_from: int

    def __post_init__(self) -> None:
        """Refuse what makes no sense, as a file written by hand may have it."""
        times = [self.wall_ns, *(part.ns for part in self.categories)]
        times += [part.ns for part in (*self.groups, *self.seams) if part.ns is not None]
        if {len(self.start_ns)} != {*map(len, times)}:
            raise ValueError("series of one GPU have different lengths")
        if not 0 <= self.seams_from < len(self.wall_ns):
            raise ValueError("series of one GPU have no round that seams are told of")
        if any(min(values) < 0 or max(values) >= LONGEST_NS for values in times):
            raise ValueError("series of one GPU have times below 0 or beyond 100 days")

    def last(self, count: int) -> "RoundSeries":
        """Return the last rounds, of which there is at least one."""
        return RoundSeries(
            gpu=self.gpu,
            start_ns=self.start_ns[-count:],
            wall_ns=self.wall_ns[-count:],
            categories=tuple(replace(one, ns=one.ns[-count:]) for one in self.categories),
            groups=tuple(_last(one, count) for one in self.groups),
            seams=tuple(_last(one, count) for one in self.seams),
            seams_from=max(0, self.seams_from - max(0, len(self.wall_ns) - count)),
        )


def _last(series: Series, count: int) -> Series:
    return series if series.ns is None else replace(series, ns=series.ns[-count:])
