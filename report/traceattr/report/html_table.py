"""Tables of a page; cells are as in a trace, and templates escape them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HtmlTable:
    """A table whose first column says what each row is about.

    Attributes:
        caption: What it shows.
        titles: Titles of its columns.
        aligned: ``l`` or ``r`` for each column.
        rows: Its cells.
        parts: Positions of the rows that are parts of one above them.
    """

    caption: str
    titles: tuple[str, ...]
    aligned: str
    rows: tuple[tuple[str, ...], ...]
    parts: frozenset[int] = frozenset()


def html_table(
    caption: str, titles: Sequence[str], rows: Iterable[Sequence[str]], aligned: str = ""
) -> HtmlTable | None:
    """Return a table, by default with words first and figures after; None without rows."""
    cells = tuple(map(tuple, rows))
    sides = aligned or f"l{'r' * (len(titles) - 1)}"
    return HtmlTable(caption, tuple(titles), sides, cells) if cells else None
