"""Bars of alternatives, each with the limit that hardware sets it: computed, nothing drawn."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from traceattr.report.figures import MILLISECONDS

_NS = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Round:
    """What a bar is made from.

    Attributes:
        name: What differs from the others.
        value_ns: How long it is expected to take.
        bound_ns: How long it takes at least.
        tokens: What it yields; None is unknown.
        parts_ns: What it consists of, by name.
    """

    name: str
    value_ns: int
    bound_ns: int
    tokens: float | None
    parts_ns: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Bar:
    """One alternative.

    Attributes:
        name: What it is.
        value: What is expected of it.
        limit: What it cannot get past: a least time, or a highest rate.
        parts: What it consists of, by name; nothing for a rate.
    """

    name: str
    value: float
    limit: float
    parts: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Panel:
    """Bars in one unit, drawn to one scale.

    Attributes:
        unit: Of every bar.
        bars: From top to bottom.
    """

    unit: str
    bars: tuple[Bar, ...]

    @property
    def largest(self) -> float:
        """What the scale ends at."""
        return max(max(bar.value, bar.limit) for bar in self.bars)


@dataclass(frozen=True, slots=True)
class BarChart:
    """Panels with the same alternatives.

    Attributes:
        title: What stands above them.
        value_name: What values are: ``expected``, for one.
        panels: Times, and rates where all of them are known.
    """

    title: str
    value_name: str
    panels: tuple[Panel, ...]


def bar_chart(title: str, value_name: str, rounds: Iterable[Round]) -> BarChart:
    """Return the chart of some rounds; without rates where any of them is unknown."""
    known = list(rounds)
    times = [
        Bar(
            name=each.name,
            value=each.value_ns / MILLISECONDS.ns,
            limit=each.bound_ns / MILLISECONDS.ns,
            parts={name: ns / MILLISECONDS.ns for name, ns in each.parts_ns.items() if ns > 0},
        )
        for each in known
    ]
    rates = [
        Bar(each.name, each.tokens / each.value_ns * _NS, each.tokens / each.bound_ns * _NS, {})
        for each in known
        if each.tokens
    ]
    panels = [Panel(MILLISECONDS.name, tuple(times))]
    if len(rates) == len(times):
        panels.append(Panel("tokens/s", tuple(rates)))
    return BarChart(title, value_name, tuple(panels))
