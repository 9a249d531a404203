"""How the list of rounds is written: in a terminal, as Markdown, JSON or CSV."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from traceattr.attribution.round_figures import Spread
from traceattr.attribution.round_list import ListedRound, Mark, RoundList
from traceattr.attribution.window import seconds
from traceattr.report.csv_table import Cell, written
from traceattr.report.escape import markdown_sentence, markdown_text, visible
from traceattr.report.figures import NOTHING, counted, unit_for
from traceattr.report.headline import simulated_text
from traceattr.report.json_document import dumped
from traceattr.report.provenance import rules_text
from traceattr.report.render import NARROWEST, ReportFormat

FORMAT = 1
"""Format number of the JSON document.

1: first version.
"""

COLUMNS = ("round", "kind", "start_ns", "end_ns", "length_ns", "mark")
"""Columns of the CSV; ``round`` is empty where `--rounds` does not count it."""

_NOT_REPORTED = "not in the report"
_ALIGNED = "rrrrll"

_LAYOUTS = ((0, 1, 2, 3, 4, 5), (0, 2, 3, 5), (0, 2, 5))
"""Columns of a terminal, the fullest first; a narrow one gets a later one."""


def render_rounds(
    found: RoundList, report_format: ReportFormat, *, width: int, color: bool, slowest: int | None
) -> str:
    """Return every round in order, or only so many of the slowest, the slowest first."""
    rounds = found.rounds if slowest is None else _slowest(found.rounds, slowest)
    match report_format:
        case ReportFormat.TERMINAL:
            return _terminal(found, rounds, width, color)
        case ReportFormat.MARKDOWN:
            return "\n".join(_markdown(found, rounds))
        case ReportFormat.JSON:
            return dumped(_document(found, rounds))
        case ReportFormat.CSV:
            return written(COLUMNS, map(_csv_row, rounds))


def _slowest(rounds: Sequence[ListedRound], number: int) -> list[ListedRound]:
    """Return the longest of the rounds that the report is about."""
    reported = [each for each in rounds if each.mark is not None]
    return sorted(reported, key=lambda each: (-each.length_ns, each.start_ns))[:number]


def _terminal(found: RoundList, rounds: Sequence[ListedRound], width: int, color: bool) -> str:
    from rich.console import RenderableType
    from rich.text import Text

    from traceattr.report.console import add_column, fact_grid, printed, ruled_table

    parts: list[RenderableType] = [Text(text) for text in _sentences(found)]
    if found.simulated is not None:
        simulated = visible(simulated_text(found.simulated))
        parts.insert(0, Text(simulated, style="bold yellow"))
    if rounds:
        table = ruled_table()
        titles, *rows = _table(found, rounds)
        layout = _layout((titles, *rows), max(width, NARROWEST))
        for column in layout:
            add_column(table, titles[column], "left" if _ALIGNED[column] == "l" else "right")
        for row in rows:
            table.add_row(*(Text(row[column]) for column in layout))
        parts += ["", table]
    parts += ["", fact_grid(_facts(found))]
    return printed(parts, width=max(width, NARROWEST), color=color)


def _markdown(found: RoundList, rounds: Sequence[ListedRound]) -> Iterator[str]:
    from traceattr.report.markdown_blocks import markdown_table

    if found.simulated is not None:
        yield f"> **{markdown_text(simulated_text(found.simulated))}**\n"
    yield f"{' '.join(map(markdown_sentence, _sentences(found)))}\n"
    if rounds:
        titles, *rows = _table(found, rounds)
        yield markdown_table(titles, _ALIGNED, (tuple(map(markdown_text, row)) for row in rows))
    yield f"<sub>{markdown_text('; '.join(text for _, text in _facts(found)))}</sub>\n"


def _sentences(found: RoundList) -> Iterator[str]:
    summary, wall = found.summary, found.summary.wall
    if wall is None:
        yield f"No rounds: {summary.why or 'none lies in the steady part'}."
        return
    unit = unit_for(wall.median)
    gpu = f" of GPU {found.gpu}" if found.gpu is not None else ""
    number = sum(each.index is not None for each in found.rounds)
    yield (
        f"{counted(number, f'{summary.kind} round')}{gpu}; the report's figures are about"
        f" {summary.sampled:,} of them: median {unit.text(wall.median)}, longest"
        f" {unit.number(wall.max)}."
    )
    slowest = next((each.index for each in found.rounds if each.mark is Mark.SLOWEST), None)
    if slowest is not None:
        yield f"The slowest alone: `--rounds {slowest}:{slowest + 1}`."


def _table(found: RoundList, rounds: Sequence[ListedRound]) -> list[tuple[str, ...]]:
    """Return titles and rows."""
    wall = found.summary.wall
    unit = unit_for(wall.median if wall else max(each.length_ns for each in rounds))
    titles = ("round", "start, s", f"length, {unit.name}", "vs median", "kind", "")
    return [
        titles,
        *(
            (
                NOTHING if each.index is None else str(each.index),
                seconds(each.start_ns),
                unit.number(each.length_ns),
                _excess(each, wall),
                each.kind,
                _mark(each),
            )
            for each in rounds
        ),
    ]


def _layout(rows: Sequence[tuple[str, ...]], width: int) -> tuple[int, ...]:
    """Return the columns that fit."""
    from traceattr.report.console import GUTTER, used_width

    for layout in _LAYOUTS:
        if used_width([[row[column] for column in layout] for row in rows]) - GUTTER <= width:
            break
    return layout


def _excess(each: ListedRound, wall: Spread | None) -> str:
    if each.mark is None or wall is None or not wall.median:
        return NOTHING
    return f"{100 * (each.length_ns - wall.median) / wall.median:+.1f} %"


def _mark(each: ListedRound) -> str:
    if each.mark is None:
        return NOTHING if each.index is None else _NOT_REPORTED
    return NOTHING if each.mark is Mark.USUAL else str(each.mark)


def _facts(found: RoundList) -> tuple[tuple[str, str], ...]:
    """Return from what and with what the list was made."""
    return (
        ("trace", found.file),
        ("rules", rules_text(found.rules)),
        ("traceattr", found.version),
    )


def _document(found: RoundList, rounds: Sequence[ListedRound]) -> dict[str, object]:
    summary = found.summary
    return {
        "format": FORMAT,
        "traceattr": found.version,
        "rules": asdict(found.rules),
        "trace": {"file": found.file, "simulated": found.simulated},
        "gpu": found.gpu,
        "kind": summary.kind,
        "why": summary.why,
        "wall_ns": asdict(summary.wall) if summary.wall else None,
        "rounds": [dict(zip(COLUMNS, _csv_row(each), strict=True)) for each in rounds],
    }


def _csv_row(each: ListedRound) -> tuple[Cell, ...]:
    return (each.index, each.kind, each.start_ns, each.end_ns, each.length_ns, each.mark)
