"""What every part of a report in Markdown is made of."""

from collections.abc import Iterable, Iterator, Sequence


def markdown_table(titles: Sequence[str], aligned: str, rows: Iterable[Sequence[str]]) -> str:
    """Return a table of cells that are escaped already; ``aligned`` has ``l`` or ``r`` for each."""
    rule = ("---:" if side == "r" else ":---" for side in aligned)
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (titles, tuple(rule), *rows))


def details(summary: str, lines: Iterable[str]) -> Iterator[str]:
    """Yield a folded section."""
    yield f"<details><summary>{summary}</summary>\n"
    yield from lines
    yield "</details>\n"
