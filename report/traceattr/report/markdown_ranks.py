"""How communication across ranks is shown in Markdown."""

from collections.abc import Iterator

from traceattr.attribution.analysis import Analysis
from traceattr.report.escape import markdown_text
from traceattr.report.markdown_blocks import details, markdown_table
from traceattr.report.ranks_text import (
    RANK_TITLES,
    RANKS_NOTE,
    rank_columns,
    rank_rows,
    ranks_summary,
    ranks_title,
)


def ranks_section(analysis: Analysis) -> Iterator[str]:
    """Yield wire, wait and who keeps the others; nothing for a GPU alone."""
    texts = ranks_summary(analysis)
    if texts:
        yield f"**Communication:** {markdown_text(' '.join(texts))}\n"


def ranks_details(analysis: Analysis) -> Iterator[str]:
    """Yield the figures of each GPU, folded."""
    rows = rank_rows(analysis)
    if rows:
        kept = rank_columns(analysis)
        titles, *cells = [[row[column] for column in kept] for row in (RANK_TITLES, *rows)]
        table = markdown_table(titles, "r" * len(titles), cells)
        yield from details(ranks_title(analysis), (table, f"{RANKS_NOTE}\n"))
