"""Time or memory against size of a trace, both on logarithmic scales, as SVG."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import SubElement

from traceattr.report.svg import FAINT, drawing, label, line, number, svg_file, svg_text

WIDTH, HEIGHT = 760, 420
LEFT, RIGHT, TOP, BOTTOM = 70, 200, 20, 50
_COLORS = (
    "#2f7de1",
    "#c2700a",
    "#128a8c",
    "#d05fa2",
    "#8a5cc9",
    "#7d8896",
    "#b0303c",
    "#2f8f5b",
    "#a0522d",
)

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Unit:
    """What is drawn upwards.

    Attributes:
        name: Symbol.
        of_value: How much of it is one of the values.
        least: What is as good as nothing, for there is no logarithm of that.
    """

    name: str
    of_value: float
    least: float

    def number(self, value: float) -> float:
        """Return a value in this unit."""
        return max(value * self.of_value, self.least)


SECONDS = Unit("s", 1, 1e-2)
BYTES = Unit("MB", 1e-6, 1)


def plot(what: str, lines: Mapping[str, Sequence[Point]], unit: Unit) -> str:
    """Return the drawing; each line is kernels against values."""
    drawn = {
        name: [(kernels, unit.number(value)) for kernels, value in each]
        for name, each in lines.items()
    }
    points = [point for each in drawn.values() for point in each]
    x = _Scale([kernels for kernels, _ in points], LEFT, WIDTH - RIGHT)
    y = _Scale([value for _, value in points], HEIGHT - BOTTOM, TOP)
    root = drawing(
        "performance",
        title=f"{what} against size of a trace",
        description="; ".join(
            f"{name}: {', '.join(f'{v:,.2f} {unit.name} at {k:,.0f} kernels' for k, v in each)}"
            for name, each in drawn.items()
        ),
        width=WIDTH,
        height=HEIGHT,
    )
    for power in x.powers:
        line(root, (x.at(10**power), TOP), (x.at(10**power), HEIGHT - BOTTOM), opacity=FAINT)
        label(root, x.at(10**power), HEIGHT - BOTTOM + 18, f"{10**power:,.0f}", anchor="middle")
    for power in y.powers:
        line(root, (LEFT, y.at(10**power)), (WIDTH - RIGHT, y.at(10**power)), opacity=FAINT)
        label(root, LEFT - 8, y.at(10**power) + 4, f"{10.0**power:g} {unit.name}", anchor="end")
    label(root, (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, "kernels", anchor="middle")
    ends = _spread([y.at(each[-1][1]) for each in drawn.values()])
    for (name, each), color, end in zip(drawn.items(), _COLORS, ends, strict=False):
        places = [(x.at(kernels), y.at(value)) for kernels, value in each]
        path = " ".join(f"{number(a)},{number(b)}" for a, b in places)
        style = {"fill": "none", "stroke": color, "stroke-width": "2"}
        SubElement(root, "polyline", {"points": path} | style)
        for a, b in places:
            SubElement(root, "circle", {"cx": number(a), "cy": number(b), "r": "3", "fill": color})
        label(root, places[-1][0] + 8, end + 4, name, color=color)
    return svg_file(svg_text(root))


class _Scale:
    """From values to coordinates, by their logarithms."""

    def __init__(self, values: Sequence[float], first: float, last: float) -> None:
        logarithms = [math.log10(value) for value in values]
        self.low, self.high = min(logarithms), max(max(logarithms), min(logarithms) + 1)
        self.first, self.last = first, last

    @property
    def powers(self) -> range:
        """Return the powers of ten inside."""
        return range(math.ceil(self.low), math.floor(self.high) + 1)

    def at(self, value: float) -> float:
        """Return the coordinate of a value."""
        part = (math.log10(value) - self.low) / (self.high - self.low)
        return self.first + part * (self.last - self.first)


def _spread(places: Sequence[float], apart: float = 15) -> list[float]:
    """Return places of labels, moved down where they would lie on each other."""
    moved = list(places)
    reached = -math.inf
    for at in sorted(range(len(places)), key=lambda at: places[at]):
        moved[at] = max(places[at], reached + apart)
        reached = moved[at]
    return moved
