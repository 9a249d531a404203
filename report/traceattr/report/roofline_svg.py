"""A roofline plot as SVG, for files and for pages that embed it."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from xml.etree.ElementTree import Element, SubElement

from traceattr.report.log_axis import LogAxis, tick_text
from traceattr.report.roofline_plot import PlotPoint, RooflinePlot
from traceattr.report.roofline_plot_text import (
    TERA,
    X_TITLE,
    Y_TITLE,
    memory_roof_text,
    plot_notes,
    plot_title,
    point_name,
    point_text,
    rates_of,
    roof_text,
    x_axis,
    y_axis,
)
from traceattr.report.svg import (
    BLUE,
    CHARACTER,
    FAINT,
    ORANGE,
    drawing,
    group,
    label,
    line,
    number,
    svg_text,
)

_WIDTH, _HEIGHT = 760, 460
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 20, 64, 52

_COLORS = {"draft": ORANGE}
"""Of points by phase; the others are blue."""

_LINE = 15
"""Height of a line of text."""

_AWAY = (9, 90)
_DOWN = (0, 1, 2, -1, 3, 4, -2, 5, 6, -3, -4)
"""How far from its point a name may stand, in units of the drawing and in lines."""


@dataclass(frozen=True, slots=True)
class _Area:
    """Where values stand in the drawing."""

    across: LogAxis
    up: LogAxis

    def x(self, value: float) -> float:
        return _LEFT + self.across.place(value) * (_WIDTH - _LEFT - _RIGHT)

    def y(self, value: float) -> float:
        return _HEIGHT - _BOTTOM - self.up.place(value) * (_HEIGHT - _TOP - _BOTTOM)


def roofline_svg(plot: RooflinePlot) -> str:
    """Return the plot as an ``<svg>`` element; `traceattr.report.svg` says what a page may do."""
    area = _Area(x_axis(plot), y_axis(plot))
    root = drawing(
        "roofline-plot",
        title=plot_title(plot),
        description=plot_description(plot),
        width=_WIDTH,
        height=_HEIGHT,
    )
    label(root, _LEFT, 22, plot_title(plot))
    _draw_axes(root, area)
    _draw_roofs(root, area, plot)
    for point in plot.points:
        _draw_point(root, area, point)
    _draw_names(root, area, plot)
    _draw_key(root, plot)
    return svg_text(root)


def plot_description(plot: RooflinePlot) -> str:
    """Return everything that the plot shows, in words."""
    roofs = [f"{memory_roof_text(plot)} of memory", *map(roof_text, plot.roofs)]
    points = [f"{point_text(point)}." for point in plot.points]
    return " ".join((f"Roofs: {', '.join(roofs)} {Y_TITLE}.", *points, *plot_notes(plot)))


def _draw_axes(root: Element, area: _Area) -> None:
    right, bottom = _WIDTH - _RIGHT, _HEIGHT - _BOTTOM
    for value in area.across.decades:
        x = area.x(value)
        line(root, (x, _TOP), (x, bottom), opacity=FAINT)
        label(root, x, bottom + 18, tick_text(value), anchor="middle")
    for value in area.up.decades:
        y = area.y(value)
        line(root, (_LEFT, y), (right, y), opacity=FAINT)
        label(root, _LEFT - 8, y + 4, tick_text(value / TERA), anchor="end")
    line(root, (_LEFT, bottom), (right, bottom))
    line(root, (_LEFT, _TOP), (_LEFT, bottom))
    label(root, right, bottom + 36, f"arithmetic intensity, {X_TITLE}", anchor="end")
    label(root, _LEFT - 8, _TOP - 10, Y_TITLE, anchor="middle")


def _draw_roofs(root: Element, area: _Area, plot: RooflinePlot) -> None:
    left, low = area.across.low, area.across.low * plot.bytes_per_s
    if low < area.up.low:
        left, low = area.up.low / plot.bytes_per_s, area.up.low
    highest = max(roof.flop_per_s for roof in plot.roofs)
    top = (area.x(highest / plot.bytes_per_s), area.y(highest))
    line(root, (area.x(left), area.y(low)), top, width=2)
    middle = (area.x(left) + top[0]) / 2, (area.y(low) + top[1]) / 2
    label(root, middle[0] - 10, middle[1] - 6, memory_roof_text(plot), anchor="end")
    for roof in plot.roofs:
        ridge = (area.x(roof.flop_per_s / plot.bytes_per_s), area.y(roof.flop_per_s))
        right = _WIDTH - _RIGHT
        line(root, ridge, (right, ridge[1]), width=2)
        label(root, right, ridge[1] - 6, f"{roof_text(roof)} {Y_TITLE}", anchor="end")


def _draw_point(root: Element, area: _Area, point: PlotPoint) -> None:
    """Draw the bound as a bar, what is expected as a ring, and what was measured as a dot."""
    marks = group(root, point_text(point))
    x, y = area.x(point.flop_per_byte), area.y(point.shown_flop_per_s)
    expected, bound = area.y(point.expected_flop_per_s), area.y(point.bound_flop_per_s)
    line(marks, (x, min(y, expected, bound)), (x, max(y, expected, bound)), dashes="2 3")
    _draw_mark(marks, "bound", x, bound)
    _draw_mark(marks, "expected", x, expected, _color(point))
    if point.measured_flop_per_s is not None:
        _draw_mark(marks, "measured", x, y, _color(point))


def _color(point: PlotPoint) -> str:
    return _COLORS.get(point.phase, BLUE)


@dataclass(frozen=True, slots=True)
class _Box:
    """A part of the drawing that something takes."""

    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: "_Box") -> bool:
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )


def _draw_names(root: Element, area: _Area, plot: RooflinePlot) -> None:
    """Write names beside their points, where nothing else is as far as that is possible."""
    taken = [*(_marks_box(point, area) for point in plot.points), *_slope_boxes(area, plot)]
    for point in plot.points:
        places = [*_places(point, area)]
        box, anchor = next((p for p in places if not any(map(p[0].overlaps, taken))), places[0])
        taken.append(box)
        x = box.left if anchor == "start" else box.right
        if box not in (box for box, _ in places[:2]):
            point_at = (area.x(point.flop_per_byte), area.y(point.shown_flop_per_s))
            line(root, point_at, (x, box.bottom - _LINE / 2), opacity="0.5")
        label(root, x, box.bottom - 4, point_name(point), anchor=anchor, color=_color(point))


def _marks_box(point: PlotPoint, area: _Area) -> _Box:
    x, heights = area.x(point.flop_per_byte), [*map(area.y, rates_of(point))]
    return _Box(x - 6, min(heights) - 6, x + 6, max(heights) + 6)


def _slope_boxes(area: _Area, plot: RooflinePlot) -> Iterator[_Box]:
    """Yield what the memory roof takes, cut into small pieces."""
    for x in range(_LEFT, _WIDTH - _RIGHT, 8):
        value = area.across.low * (area.across.high / area.across.low) ** (
            (x - _LEFT) / (_WIDTH - _LEFT - _RIGHT)
        )
        y = area.y(value * plot.bytes_per_s)
        yield _Box(x - 4, y - 2, x + 4, y + 2)


def _places(point: PlotPoint, area: _Area) -> Iterator[tuple[_Box, str]]:
    """Yield where a name can stand with the end that is at the point, the best place first."""
    x, y = area.x(point.flop_per_byte), area.y(point.shown_flop_per_s)
    width = len(point_name(point)) * CHARACTER
    for away, down in product(_AWAY, _DOWN):
        top, bottom = y + (down - 0.5) * _LINE, y + (down + 0.5) * _LINE
        if top > _TOP and bottom < _HEIGHT - _BOTTOM:
            if x + away + width < _WIDTH - _RIGHT:
                yield _Box(x + away, top, x + away + width, bottom), "start"
            if x - away - width > _LEFT:
                yield _Box(x - away - width, top, x - away, bottom), "end"


def _draw_key(root: Element, plot: RooflinePlot) -> None:
    """Explain marks and colours below the plot."""
    x, y = float(_LEFT), _HEIGHT - 16.0
    marks = ["measured", "expected", "bound"] if plot.is_measured else ["expected", "bound"]
    for name in marks:
        _draw_mark(root, name, x, y - 4)
        label(root, x + 12, y, name)
        x += 30 + len(name) * CHARACTER
    for phase in dict.fromkeys(point.phase for point in plot.points):
        label(root, x, y, phase, color=_COLORS.get(phase, BLUE))
        x += 18 + len(phase) * CHARACTER


def _draw_mark(parent: Element, name: str, x: float, y: float, color: str = "currentColor") -> None:
    if name == "bound":
        line(parent, (x - 6, y), (x + 6, y), width=3)
        return
    filled = {"measured": {"fill": color}, "expected": {"fill": "none"}}[name]
    place = {"cx": number(x), "cy": number(y), "r": "5", "stroke": color, "stroke-width": "2"}
    SubElement(parent, "circle", place | filled)
