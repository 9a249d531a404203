"""How bars of alternatives look in a terminal."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from traceattr.report.bar_chart import Bar, BarChart, Panel
from traceattr.report.console import GUTTER, heading
from traceattr.report.escape import visible
from traceattr.report.text_bar import FULL, LIGHT, text_bar

_NARROW = 60
"""Columns below which there is room for one panel only."""

_SHORTEST = 4
"""Columns of the longest bar, however narrow the terminal."""


def bar_section(chart: BarChart, width: int) -> Iterator[RenderableType]:
    """Yield the panels side by side, or below each other where that leaves no room for bars."""
    yield heading(f"{chart.title}, drawn to scale")
    if width < _NARROW:
        for panel in chart.panels:
            yield _grid([panel])
    else:
        yield _grid(chart.panels)
    yield Text(_legend(chart), style="dim")
    yield ""


def _grid(panels: Sequence[Panel]) -> RenderableType:
    grid = Table.grid(padding=(0, GUTTER, 0, 0), expand=True)
    grid.add_column(overflow="fold", ratio=1)
    for _ in panels:
        grid.add_column(justify="right", no_wrap=True)
        grid.add_column(ratio=1)
    grid.add_row("", *(Text(text) for panel in panels for text in (panel.unit, "")))
    for place, bar in enumerate(panels[0].bars):
        cells = (part for panel in panels for part in _cells(panel, panel.bars[place]))
        grid.add_row(Text(visible(bar.name)), *cells)
    return grid


def _legend(chart: BarChart) -> str:
    """Return what the shades are: a time is longer than its bound, a rate is lower."""
    value = f"to what is {chart.value_name}"
    texts = [f"ms: {FULL} to the bound, {LIGHT} {value}"]
    if len(chart.panels) > 1:
        texts.append(f"tokens/s: {FULL} {value}, {LIGHT} to what the bound allows")
    return f"{'; '.join(texts)}."


def _cells(panel: Panel, bar: Bar) -> tuple[RenderableType, RenderableType]:
    ends = sorted((bar.value, bar.limit))
    return Text(f"{bar.value:,.1f}"), _Shades(*(end / panel.largest for end in ends))


@dataclass(frozen=True, slots=True)
class _Shades:
    """A bar that is full up to one share of its room and light up to another."""

    full: float
    light: float

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text(text_bar(self.full, options.max_width, self.light), no_wrap=True)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(_SHORTEST, options.max_width)
