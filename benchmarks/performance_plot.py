"""Time against size of several programs, both on logarithmic scales, as SVG."""

import math
from collections.abc import Mapping, Sequence
from xml.etree.ElementTree import SubElement

from traceattr.report.svg import FAINT, drawing, label, line, number, svg_file, svg_text

WIDTH, HEIGHT = 760, 420
LEFT, RIGHT, TOP, BOTTOM = 70, 200, 20, 50
_COLORS = ("#2f7de1", "#c2700a", "#128a8c", "#8a5cc9", "#b0303c", "#7d8896", "#2f8f5b")

Point = tuple[float, float]


def plot(lines: Mapping[str, Sequence[Point]]) -> str:
    """Return the drawing; each line is kernels against seconds."""
    points = [point for each in lines.values() for point in each]
    x = _Scale([kernels for kernels, _ in points], LEFT, WIDTH - RIGHT)
    y = _Scale([max(seconds, 1e-3) for _, seconds in points], HEIGHT - BOTTOM, TOP)
    root = drawing(
        "performance",
        title="Processor time against size of a trace",
        description="; ".join(
            f"{name}: {', '.join(f'{s:.2f} s at {k:,.0f} kernels' for k, s in each)}"
            for name, each in lines.items()
        ),
        width=WIDTH,
        height=HEIGHT,
    )
    for power in x.powers:
        line(root, (x.at(10**power), TOP), (x.at(10**power), HEIGHT - BOTTOM), opacity=FAINT)
        label(root, x.at(10**power), HEIGHT - BOTTOM + 18, f"{10**power:,.0f}", anchor="middle")
    for power in y.powers:
        line(root, (LEFT, y.at(10**power)), (WIDTH - RIGHT, y.at(10**power)), opacity=FAINT)
        label(root, LEFT - 8, y.at(10**power) + 4, f"{10.0**power:g} s", anchor="end")
    label(root, (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, "kernels", anchor="middle")
    ends = _spread([y.at(max(each[-1][1], 1e-3)) for each in lines.values()])
    for (name, each), color, end in zip(lines.items(), _COLORS, ends, strict=False):
        places = [(x.at(kernels), y.at(max(seconds, 1e-3))) for kernels, seconds in each]
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
