"""How the list of gaps is written: in a terminal, as Markdown, JSON or CSV."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

from traceattr.attribution.gap_figures import Cause, Gap, GpuGaps, SeamTime
from traceattr.attribution.gap_report import GapReport
from traceattr.report.csv_table import Cell, written
from traceattr.report.escape import markdown_sentence, markdown_text, visible
from traceattr.report.figures import MICROSECONDS
from traceattr.report.gap_tables import (
    CAUSE_WORDS,
    GapTable,
    cause_legend,
    cause_parts,
    gap_tables,
)
from traceattr.report.gap_view import GapView
from traceattr.report.headline import IDLE_UPPER_LIMIT, simulated_text, traced_sentence
from traceattr.report.json_document import dumped
from traceattr.report.names import ELLIPSIS, cut
from traceattr.report.provenance import rules_text, span_text
from traceattr.report.render import NARROWEST, ReportFormat

FORMAT = 1
"""Format number of the JSON document.

1: first version.
"""

TOKENS = (
    "What a gap costs in tokens/s depends on the accept length, which a trace does not hold; "
    "a round shorter by its share makes that share more tokens."
)

_GUTTER = "  "
_ROOMY = 60
"""Columns from which on the last column stays beside the others, even if it is cut."""

SPARE = (
    f"p99, {MICROSECONDS.name}",
    "rounds",
    f"median, {MICROSECONDS.name}",
    "gaps/round",
    "gaps",
    "of idle",
    "kernels",
    "nodes",
    "eager",
    "busy",
    "graphs",
)
"""Titles of the columns that a narrow terminal does without, the first one first."""

_LEAST_NAME = 12
"""Columns of the narrowest terminal, and of the narrowest name in it."""

_CAUSES = tuple(f"{name}_ns" for name in CAUSE_WORDS)

CSV_COLUMNS = {
    GapView.SEAM: (
        "gpu",
        "seam",
        "count",
        "total_ns",
        "median_ns",
        "p99_ns",
        "longest_ns",
        "per_round_count",
        "per_round_ns",
        *_CAUSES,
    ),
    GapView.PAIR: (
        "gpu",
        "before",
        "after",
        "count",
        "total_ns",
        "median_ns",
        "per_round_count",
        "per_round_ns",
    ),
    GapView.CAUSE: ("gpu", "cause", "total_ns", "share"),
    GapView.GAP: ("gpu", "start_ns", "end_ns", "kind", "seam", *_CAUSES, "host_range"),
}
"""Columns of the CSV; empty is unknown."""

Json = dict[str, Any]


def render_gaps(
    report: GapReport, view: GapView, report_format: ReportFormat, *, width: int, color: bool
) -> str:
    """Return the gaps by seam, category pair, cause, or one by one; JSON holds them all."""
    match report_format:
        case ReportFormat.TERMINAL:
            return _terminal(report, view, width, color)
        case ReportFormat.MARKDOWN:
            return _markdown(report, view)
        case ReportFormat.JSON:
            return dumped(_document(report))
        case ReportFormat.CSV:
            return written(CSV_COLUMNS[view], _csv_rows(report, view))


def _terminal(report: GapReport, view: GapView, width: int, color: bool) -> str:
    from rich.console import RenderableType
    from rich.text import Text

    from traceattr.report.console import fact_grid, heading, printed

    width = max(width, NARROWEST)
    parts: list[RenderableType] = []
    if report.simulated is not None:
        parts.append(Text(visible(simulated_text(report.simulated)), style="bold yellow"))
    parts += map(Text, _caveats(report))
    if parts:
        parts.append("")
    for table in gap_tables(report, view):
        parts += [heading(table.title), Text("\n".join(_lines(table, width))), ""]
    notes = [Text(f"- {visible(text)}") for text in _notes(report, view)]
    parts += [*notes, *([""] if notes else []), fact_grid(_facts(report))]
    return printed(parts, width=width, color=color)


def _caveats(report: GapReport) -> Iterator[str]:
    """Yield how far gaps can be trusted, as far as a report says it."""
    if any(gpu.pairs for gpu in report.per_gpu) and all(
        gpu.pairs is not None for gpu in report.per_gpu
    ):
        yield traced_sentence("node", 0)
    if any(gpu.completeness == "incomplete" for gpu in report.per_gpu) or any(
        notice.code == "graph-work-missing" for notice in report.warnings
    ):
        yield IDLE_UPPER_LIMIT


def _facts(report: GapReport) -> tuple[tuple[str, str], ...]:
    """Return from what and with what the list was made."""
    return (
        ("trace", report.file),
        ("window", span_text(report.window)),
        ("rules", rules_text(report.rules)),
        ("traceattr", report.version),
    )


def _notes(report: GapReport, view: GapView) -> Iterator[str]:
    legend = cause_legend(report) if view in (GapView.SEAM, GapView.GAP) else None
    if legend is not None:
        yield legend
    yield from (notice.text for notice in report.warnings)
    if report.round_kind is not None:
        yield TOKENS


def _lines(table: GapTable, width: int) -> Iterator[str]:
    """Yield the lines of a table; the last column goes below its row where there is no room."""
    if not table.rows:
        yield "none"
        return
    table = _narrowed(table, width)
    is_long = _has_long_cells(table)
    short = _short_cells(table)
    widths = _widths(short)
    room = width - sum(widths) - len(_GUTTER) * len(widths)
    is_below = is_long and room < min(_ROOMY, max(len(row[-1]) for row in table.rows))
    lines = [_line(cells, widths, table.aligned) for cells in short]
    if is_long and not is_below:
        longs = [row[-1] for row in (table.columns, *table.rows)]
        lines = [
            f"{line}{_GUTTER}{_ended(each, room)}" for line, each in zip(lines, longs, strict=True)
        ]
    yield lines[0].rstrip()
    yield "-" * min(width, max(map(len, lines)))
    for line, row in zip(lines[1:], table.rows, strict=True):
        yield line.rstrip()
        if is_below and row[-1]:
            yield f"{_GUTTER}{_ended(row[-1], width - len(_GUTTER))}"


def _narrowed(table: GapTable, width: int) -> GapTable:
    """Return the table without the columns it can spare, and then with names cut, until it fits."""
    for title in SPARE:
        if _excess(table, width) > 0 and title in table.columns:
            table = _with_columns(
                table, [n for n, each in enumerate(table.columns) if each != title]
            )
    return _with_cut_names(table, width) if _excess(table, width) > 0 else table


def _with_columns(table: GapTable, kept: Sequence[int]) -> GapTable:
    columns, *rows = (tuple(row[n] for n in kept) for row in (table.columns, *table.rows))
    aligned = "".join(table.aligned[n] for n in kept)
    return replace(table, columns=columns, aligned=aligned, rows=tuple(rows))


def _with_cut_names(table: GapTable, width: int) -> GapTable:
    """Return the table with the first column of words as narrow as it must be."""
    column = table.aligned.find("l")
    if column < 0:
        return table
    room = max(_widths(_short_cells(table))[column] - _excess(table, width), _LEAST_NAME)
    rows = ((*row[:column], cut(row[column], room), *row[column + 1 :]) for row in table.rows)
    return replace(table, rows=tuple(rows))


def _excess(table: GapTable, width: int) -> int:
    widths = _widths(_short_cells(table))
    return sum(widths) + len(_GUTTER) * (len(widths) - 1) - width


def _has_long_cells(table: GapTable) -> bool:
    return table.aligned.endswith("l") and len(table.columns) > 1


def _short_cells(table: GapTable) -> list[tuple[str, ...]]:
    """Return titles and rows without the column that may go below its row."""
    end = -1 if _has_long_cells(table) else None
    return [row[:end] for row in (table.columns, *table.rows)]


def _widths(cells: Sequence[Sequence[str]]) -> list[int]:
    return [max(map(len, column)) for column in zip(*cells, strict=True)]


def _line(cells: Sequence[str], widths: Sequence[int], aligned: str) -> str:
    return _GUTTER.join(
        cell.rjust(width) if side == "r" else cell.ljust(width)
        for cell, width, side in zip(cells, widths, aligned, strict=False)
    )


def _ended(text: str, room: int) -> str:
    """Return text that is cut at its end if it is too long: what comes first matters most."""
    return text if len(text) <= room else text[: room - len(ELLIPSIS)] + ELLIPSIS


def _markdown(report: GapReport, view: GapView) -> str:
    return "\n".join(_markdown_parts(report, view))


def _markdown_parts(report: GapReport, view: GapView) -> Iterator[str]:
    from traceattr.report.markdown_blocks import markdown_table

    if report.simulated is not None:
        yield f"> **{markdown_text(simulated_text(report.simulated))}**\n"
    if caveats := " ".join(_caveats(report)):
        yield f"{caveats}\n"
    for table in gap_tables(report, view):
        yield f"**{markdown_text(table.title)}**\n"
        rows = (tuple(map(markdown_text, row)) for row in table.rows)
        yield markdown_table(table.columns, table.aligned, rows) if table.rows else "none\n"
    for text in _notes(report, view):
        yield f"- {markdown_sentence(text)}"
    yield ""
    line = "; ".join(f"{label} {text}" for label, text in _facts(report))
    yield f"<sub>{markdown_text(line)}</sub>\n"


def _document(report: GapReport) -> Json:
    return {
        "format": FORMAT,
        "traceattr": report.version,
        "rules": asdict(report.rules),
        "trace": {"file": report.file, "simulated": report.simulated},
        "window": {**asdict(report.window), "wall_ns": report.window.wall_ns},
        "rounds": {"kind": report.round_kind or "none"},
        "min_ns": report.choice.min_ns,
        "per_gpu": [_gpu(gpu) for gpu in report.per_gpu],
        "warnings": [asdict(notice) for notice in report.warnings],
    }


def _gpu(gpu: GpuGaps) -> Json:
    """Return the figures; ``os_ns`` is null where nothing is known of OS calls."""
    document = asdict(gpu)
    seams = [*document["seams"], *filter(None, [document["no_work"]])]
    for entry in (*seams, *document["longest"]):
        entry["cause"] = _cause(Cause(**entry["cause"]), gpu)
    return document


def _cause(cause: Cause, gpu: GpuGaps) -> dict[str, int | None]:
    parts: dict[str, int | None] = dict(asdict(cause))
    if not gpu.knows_os_calls:
        parts["os_ns"] = None
    return parts


def _csv_rows(report: GapReport, view: GapView) -> Iterator[tuple[Cell, ...]]:
    for gpu in report.per_gpu:
        match view:
            case GapView.SEAM:
                seams = (*gpu.seams, *(() if gpu.no_work is None else (gpu.no_work,)))
                yield from (_seam_cells(seam, gpu) for seam in seams)
            case GapView.PAIR:
                yield from ((gpu.gpu, *asdict(pair).values()) for pair in gpu.pairs or ())
            case GapView.CAUSE:
                yield from _cause_cells(gpu)
            case GapView.GAP:
                yield from (_gap_cells(gap, gpu) for gap in gpu.longest)


def _seam_cells(seam: SeamTime, gpu: GpuGaps) -> tuple[Cell, ...]:
    return (
        gpu.gpu,
        seam.seam,
        seam.count,
        seam.total_ns,
        seam.median_ns,
        seam.p99_ns,
        seam.longest_ns,
        seam.per_round_count,
        seam.per_round_ns,
        *_cause(seam.cause, gpu).values(),
    )


def _cause_cells(gpu: GpuGaps) -> Iterator[tuple[Cell, ...]]:
    rows: dict[str, int | None] = {**cause_parts(gpu.cause), "inside graphs": gpu.pairs_ns}
    if not gpu.knows_os_calls:
        rows["os"] = None
    if gpu.no_work is not None:
        rows[gpu.no_work.seam] = gpu.no_work.total_ns
    if gpu.shorter_count:
        rows["shorter"] = gpu.shorter_ns
    for name, ns in rows.items():
        yield gpu.gpu, name, ns, ns / gpu.idle_ns if ns is not None and gpu.idle_ns else None


def _gap_cells(gap: Gap, gpu: GpuGaps) -> tuple[Cell, ...]:
    cause = _cause(gap.cause, gpu).values()
    return gpu.gpu, gap.start_ns, gap.end_ns, gap.kind, gap.seam, *cause, gap.host_range
