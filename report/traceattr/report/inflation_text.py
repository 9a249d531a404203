"""What inflation says, in cells and words, and how it looks in each format."""

from collections.abc import Iterator
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from traceattr.report.console import heading
from traceattr.report.escape import markdown_text, visible
from traceattr.report.figures import MILLISECONDS
from traceattr.report.inflation import Inflation
from traceattr.report.markdown_blocks import details, markdown_table
from traceattr.report.wide_table import table_that_fits

TITLE = "Inflation by tracing"
TITLES = ("part of a round", "traced, ms", "true, ms", "ratio")
SCALED_TITLES = ("category", "phase", "traced, ms", "scaled, ms")
UNKNOWN = "-"

METHOD = (
    "Scaled: the mean time of a category in a round over the inflation of its phase (of the round"
    " where that is all that is known). Tracing lengthens short kernels more than long ones, so"
    " single categories are estimates."
)


def inflation_rows(inflation: Inflation) -> Iterator[tuple[str, ...]]:
    """Yield the cells of each part, the round at the end."""
    for part in inflation.parts:
        true = UNKNOWN if part.true_ns is None else MILLISECONDS.number(part.true_ns)
        ratio = UNKNOWN if part.ratio is None else f"{part.ratio:.2f}"
        yield part.name, MILLISECONDS.number(part.traced_ns), true, ratio


def scaled_rows(inflation: Inflation) -> Iterator[tuple[str, ...]]:
    """Yield the cells of each category, longest first, and their sum."""
    for one in sorted(inflation.scaled, key=lambda one: -one.round_ns):
        times = MILLISECONDS.number(one.round_ns), MILLISECONDS.number(one.scaled_ns)
        yield one.category, one.phase, *times
    totals = [
        sum(one.round_ns for one in inflation.scaled),
        sum(one.scaled_ns for one in inflation.scaled),
    ]
    yield "busy", "", *map(MILLISECONDS.number, totals)


def terminal_inflation(inflation: Inflation, width: int) -> Iterator[RenderableType]:
    """Yield the section of a terminal."""
    yield heading(f"{TITLE} (mean per round and GPU)")
    yield Text(visible(inflation.notice.text), style="bold")
    yield table_that_fits(TITLES, "lrrr", [*inflation_rows(inflation)], [range(4)], width)
    if inflation.scaled:
        yield ""
        rows = [*scaled_rows(inflation)]
        yield table_that_fits(SCALED_TITLES, "llrr", rows, [range(4), (0, 1, 3)], width)
        yield Text(METHOD, style="dim")
    yield ""


def markdown_inflation(inflation: Inflation) -> Iterator[str]:
    """Yield the folded section of Markdown."""
    rows = [tuple(map(markdown_text, row)) for row in inflation_rows(inflation)]
    parts = [f"{markdown_text(inflation.notice.text)}\n", markdown_table(TITLES, "lrrr", rows)]
    if inflation.scaled:
        cells = [tuple(map(markdown_text, row)) for row in scaled_rows(inflation)]
        parts += [markdown_table(SCALED_TITLES, "llrr", cells), f"{markdown_text(METHOD)}\n"]
    yield from details(TITLE, parts)


def inflation_entry(inflation: Inflation) -> dict[str, Any]:
    """Return the ``inflation`` of a JSON document."""
    return {
        "source": inflation.source,
        "ratio": inflation.ratio,
        "refuses_gaps": inflation.refuses_gaps,
        "parts": [
            {
                "part": part.name,
                "traced_ns": part.traced_ns,
                "true_ns": part.true_ns,
                "ratio": part.ratio,
            }
            for part in inflation.parts
        ],
        "scaled": [
            {
                "category": one.category,
                "phase": one.phase,
                "round_ns": one.round_ns,
                "scaled_ns": one.scaled_ns,
            }
            for one in inflation.scaled
        ],
        "method": METHOD if inflation.scaled else None,
    }
