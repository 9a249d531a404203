"""What every part of a report in Markdown is made of."""

from collections.abc import Iterable, Iterator, Sequence

from traceattr.report.escape import markdown_sentence, markdown_text
from traceattr.report.figures import counted
from traceattr.report.names import cut

MOST_ITEMS = 10
LONGEST_ITEM = 500
"""Items of a list, and characters of each."""


def markdown_table(titles: Sequence[str], aligned: str, rows: Iterable[Sequence[str]]) -> str:
    """Return a table of cells that are escaped already; ``aligned`` has ``l`` or ``r`` for each."""
    rule = ("---:" if side == "r" else ":---" for side in aligned)
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (titles, tuple(rule), *rows))


def markdown_items(texts: Sequence[str]) -> str:
    """Return a list of sentences, each of bearable length, and how many it leaves out."""
    shown = [f"- {markdown_sentence(cut(text, LONGEST_ITEM))}\n" for text in texts[:MOST_ITEMS]]
    if (more := len(texts) - len(shown)) > 0:
        shown.append(f"- {counted(more, 'more line')}: `--format json`\n")
    return "".join(shown)


def markdown_image(text: str, link: str) -> str:
    """Return an image with what stands for it where it cannot be shown."""
    return f"![{markdown_text(text)}]({link})\n"


def details(summary: str, lines: Iterable[str]) -> Iterator[str]:
    """Yield a folded section."""
    yield f"<details><summary>{summary}</summary>\n"
    yield from lines
    yield "</details>\n"
