"""What is said about a copy to be shared: what it holds, and what it leaves out."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from traceattr.ingest.scrub import TableCopy
from traceattr.report.escape import visible
from traceattr.report.figures import counted

_MOST_TABLES = 3


@dataclass(frozen=True, slots=True)
class ScrubSummary:
    """What became of an export.

    Attributes:
        tables: What became of each table.
        bytes: Size of the export.
        kept_bytes: Size of the copy.
        looked_for: Texts of the export that were looked for in the copy, None when none were.
        of_window: Whether only a part of the time was copied.
    """

    tables: Sequence[TableCopy]
    bytes: int
    kept_bytes: int
    looked_for: int | None
    of_window: bool


def render_summary(summary: ScrubSummary) -> str:
    """Return the summary as text."""
    return "".join(f"{label:<10}{text}\n" for label, text in _lines(summary))


def _lines(summary: ScrubSummary) -> Iterator[tuple[str, str]]:
    kept = [table for table in summary.tables if table.kept_columns]
    gone = [table for table in summary.tables if not table.kept_columns]
    yield "size", f"{summary.kept_bytes:,} of {summary.bytes:,} bytes ({_ratio(summary)})"
    yield "kept", f"{counted(len(kept), 'table')} with {_rows(t.kept_rows for t in kept)}"
    columns = sum(table.columns - table.kept_columns for table in kept)
    lost = _rows(table.rows - table.kept_rows for table in kept)
    yield "removed", f"{counted(columns, 'column')} and {lost} of these tables;"
    yield "", f"{counted(len(gone), 'other table')} with {_rows(t.rows for t in gone)}"
    yield from (("", text) for text in _largest(gone))
    for table in kept:
        if table.name == "StringIds":
            yield "strings", f"{table.kept_rows:,} of {table.rows:,} kept"
    if summary.looked_for is not None:
        what = "what the window decides" if summary.of_window else "the report"
        yield "verified", f"{what} is the same;"
        yield "", f"none of {summary.looked_for:,} other texts is left in the file"


def _rows(counts: Iterable[int]) -> str:
    return counted(sum(counts), "row")


def _largest(gone: Sequence[TableCopy]) -> Iterator[str]:
    largest = sorted(gone, key=lambda table: (-table.rows, table.name))
    for table in largest[:_MOST_TABLES]:
        yield f"  {visible(table.name)} ({counted(table.rows, 'row')})"
    if len(gone) > _MOST_TABLES:
        yield f"  {len(gone) - _MOST_TABLES} more"


def _ratio(summary: ScrubSummary) -> str:
    if summary.kept_bytes >= summary.bytes:
        return "no smaller"
    return f"{summary.bytes / summary.kept_bytes:.1f} times smaller"
