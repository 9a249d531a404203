"""Bars of alternatives as SVG."""

from xml.etree.ElementTree import Element, SubElement

from traceattr.report.bar_chart import Bar, BarChart, Panel
from traceattr.report.names import cut
from traceattr.report.svg import BLUE, CHARACTER, drawing, group, label, line, number, svg_text

_WIDTH = 760
_TOP, _BOTTOM = 40, 36
_HEAD, _ROW, _THICK = 30, 22, 14
"""Heights of a panel's title, of a row and of its bar."""

_LONGEST_NAME = 40


def bars_svg(chart: BarChart) -> str:
    """Return the chart as an ``<svg>`` element; `traceattr.report.svg` says what a page may do."""
    rows = sum(len(panel.bars) for panel in chart.panels)
    height = _TOP + len(chart.panels) * _HEAD + rows * _ROW + _BOTTOM
    root = drawing(
        "alternatives-plot",
        title=chart.title,
        description=" ".join(_panel_text(chart, panel) for panel in chart.panels),
        width=_WIDTH,
        height=height,
    )
    label(root, 12, 24, chart.title)
    y = float(_TOP)
    for panel in chart.panels:
        _draw_panel(root, chart, panel, y)
        y += _HEAD + len(panel.bars) * _ROW
    _draw_key(root, chart, y + 22)
    return svg_text(root)


def _panel_text(chart: BarChart, panel: Panel) -> str:
    bars = "; ".join(_bar_text(chart, panel, bar) for bar in panel.bars)
    return f"{panel.unit}: {bars}."


def _bar_text(chart: BarChart, panel: Panel, bar: Bar) -> str:
    figures = f"{chart.value_name} {bar.value:,.1f}, bound {bar.limit:,.1f} {panel.unit}"
    return f"{bar.name}: {figures}"


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
        _draw_bar(marks, left, y, bar.value * scale)
        limit = left + bar.limit * scale
        line(marks, (limit, y - 3), (limit, y + _THICK + 3), width=3)
        end = left + max(bar.value, bar.limit) * scale + 8
        label(marks, end, y + _THICK - 3, value)
    line(root, (left, top + _HEAD - 4), (left, top + _HEAD + len(names) * _ROW - 4))


def _draw_bar(parent: Element, x: float, y: float, length: float) -> None:
    place = {"x": number(x), "y": number(y), "width": number(length), "height": number(_THICK)}
    SubElement(parent, "rect", place | {"fill": BLUE})


def _draw_key(root: Element, chart: BarChart, y: float) -> None:
    _draw_bar(root, 12, y - 12, 24)
    label(root, 44, y, chart.value_name)
    x = 68 + len(chart.value_name) * CHARACTER
    line(root, (x, y - 14), (x, y + 4), width=3)
    label(root, x + 10, y, "bound")
