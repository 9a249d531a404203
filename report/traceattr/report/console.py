"""What every part of a report in a terminal is made of: ASCII but for plots, colour for looks."""

from collections.abc import Iterable, Iterator, Sequence
from io import StringIO

from rich.box import Box
from rich.console import Console, JustifyMethod, RenderableType
from rich.table import Table
from rich.text import Text

from traceattr.report.escape import visible

GUTTER = 2
"""Blanks between two columns: one of padding and one that the box draws."""

_RULED = Box("    \n    \n -- \n    \n -- \n    \n    \n    \n", ascii=True)
"""A line of hyphens below the head and between sections, nothing else."""


def printed(parts: Iterable[RenderableType], *, width: int, color: bool) -> str:
    """Return what rich would print, without blanks at the ends of lines."""
    text = StringIO()
    console = Console(
        file=text,
        width=width,
        force_terminal=color,
        color_system="standard" if color else None,
        no_color=not color,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
        safe_box=False,
        _environ={},
    )
    for part in parts:
        console.print(part)
    return "".join(f"{line.rstrip()}\n" for line in text.getvalue().splitlines())


def heading(text: str) -> Text:
    """Return the title of a section."""
    return Text(text, style="bold")


def ruled_table() -> Table:
    """Return an empty table with a line below its head."""
    return Table(
        box=_RULED, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold"
    )


def add_column(table: Table, title: str, justify: JustifyMethod) -> None:
    """Add a column whose cells end at the edge of the terminal; rich's ellipsis is not ASCII."""
    table.add_column(title, justify=justify, no_wrap=True, overflow="crop")


def used_width(rows: Sequence[Sequence[str]]) -> int:
    """Return what columns with these cells take, the gutter after the last one included."""
    return sum(max(map(len, cells)) + GUTTER for cells in zip(*rows, strict=True))


def fact_grid(facts: Iterable[tuple[str, str]]) -> Table:
    """Return pairs of a label and a text that may take several lines."""
    grid = Table.grid(padding=(0, GUTTER, 0, 0))
    grid.add_column(style="dim", no_wrap=True)
    for label, text in facts:
        grid.add_row(label, Text(visible(text)))
    return grid


def bullet_section(title: str, texts: Sequence[str]) -> Iterator[RenderableType]:
    """Yield a section with one item for each text, nothing without texts."""
    if not texts:
        return
    grid = Table.grid(padding=(0, 1, 0, 0))
    for text in texts:
        grid.add_row("-", Text(visible(text)))
    yield heading(title)
    yield grid
    yield ""
