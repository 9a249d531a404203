"""Bars of alternatives as SVG."""

from collections.abc import Iterator
from dataclasses import dataclass
from xml.etree.ElementTree import Element, SubElement

from traceattr.report.bar_chart import Bar, BarChart, Panel
from traceattr.report.names import cut
from traceattr.report.svg import (
    CHARACTER,
    GROUP_COLORS,
    TEAL,
    drawing,
    group,
    label,
    line,
    number,
    svg_text,
)

_WIDTH = 760
_TOP, _BOTTOM = 40, 14
_HEAD, _ROW, _THICK = 30, 22, 14
"""Heights of a panel's title, of a row and of its bar."""

_LONGEST_NAME = 40


def bars_svg(chart: BarChart) -> str:
    """Return the chart as an ``<svg>`` element; `traceattr.report.svg` says what a page may do."""
    rows = sum(len(panel.bars) for panel in chart.panels)
    key = [*_key_places(chart)]
    below = _TOP + len(chart.panels) * _HEAD + rows * _ROW
    root = drawing(
        "alternatives-plot",
        title=chart.title,
        description=" ".join(_panel_text(chart, panel) for panel in chart.panels),
        width=_WIDTH,
        height=below + round(key[-1].y) + _BOTTOM,
    )
    label(root, 12, 24, chart.title)
    y = float(_TOP)
    for panel in chart.panels:
        _draw_panel(root, chart, panel, y)
        y += _HEAD + len(panel.bars) * _ROW
    for place in key:
        _draw_key(root, place, y + place.y)
    return svg_text(root)


def _panel_text(chart: BarChart, panel: Panel) -> str:
    bars = "; ".join(_bar_text(chart, panel, bar) for bar in panel.bars)
    return f"{panel.unit}: {bars}."


def _bar_text(chart: BarChart, panel: Panel, bar: Bar) -> str:
    figures = f"{chart.value_name} {bar.value:,.1f}, bound {bar.limit:,.1f} {panel.unit}"
    parts = ", ".join(f"{name} {value:,.2f}" for name, value in bar.parts.items())
    return f"{bar.name}: {figures}{f' ({parts})' if parts else ''}"


def _draw_panel(root: Element, chart: BarChart, panel: Panel, top: float) -> None:
    names = [cut(bar.name, _LONGEST_NAME) for bar in panel.bars]
    left = 24 + max(map(len, names)) * CHARACTER
    values = [f"{bar.value:,.1f} (bound {bar.limit:,.1f})" for bar in panel.bars]
    room = 12 + max(map(len, values)) * CHARACTER
    scale = (_WIDTH - left - room) / panel.largest
    label(root, left, top + 20, panel.unit)
    for place, (bar, name, value) in enumerate(zip(panel.bars, names, values, strict=True)):
        y = top + _HEAD + place * _ROW
        marks = group(root, _bar_text(chart, panel, bar))
        label(marks, left - 10, y + _THICK - 3, name, anchor="end")
        _draw_bar(marks, left, y, bar.value * scale, TEAL)
        start = float(left)
        for part, length in bar.parts.items():
            _draw_bar(marks, start, y, length * scale, GROUP_COLORS[part])
            start += length * scale
        limit = left + bar.limit * scale
        line(marks, (limit, y - 3), (limit, y + _THICK + 3), width=3)
        end = left + max(bar.value, bar.limit) * scale + 8
        label(marks, end, y + _THICK - 3, value)
    line(root, (left, top + _HEAD - 4), (left, top + _HEAD + len(names) * _ROW - 4))


def _draw_bar(parent: Element, x: float, y: float, length: float, color: str) -> None:
    place = {"x": number(x), "y": number(y), "width": number(length), "height": number(_THICK)}
    SubElement(parent, "rect", place | {"fill": color})


@dataclass(frozen=True, slots=True)
class _KeyPlace:
    """Something that the key explains, and where; without a colour it is the bound."""

    name: str
    color: str
    x: float
    y: float


def _key_places(chart: BarChart) -> Iterator[_KeyPlace]:
    """Yield what the key explains, in lines that are not too long."""
    bars = [bar for panel in chart.panels for bar in panel.bars]
    colors = {name: GROUP_COLORS[name] for bar in bars for name in bar.parts}
    x, y = 12.0, 22.0
    for name, color in {"bound": "", chart.value_name: TEAL, **colors}.items():
        width = 44 + len(name) * CHARACTER
        if x + width > _WIDTH:
            x, y = 12.0, y + _ROW
        yield _KeyPlace(name, color, x, y)
        x += width


def _draw_key(root: Element, place: _KeyPlace, y: float) -> None:
    if place.color:
        _draw_bar(root, place.x, y - 12, 18, place.color)
    else:
        line(root, (place.x + 9, y - 14), (place.x + 9, y + 4), width=3)
    label(root, place.x + 24, y, place.name)
