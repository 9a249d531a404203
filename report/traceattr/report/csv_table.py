"""How an analysis is written as CSV: one row per category or kind of gap and GPU."""

import csv
from collections.abc import Iterable, Iterator
from io import StringIO

from traceattr.attribution.analysis import Analysis, GpuTime
from traceattr.attribution.groups import GAP_GROUPS, group_of
from traceattr.attribution.round_figures import Spread
from traceattr.report.escape import csv_text
from traceattr.report.grouped import groups_of
from traceattr.rules.categories import CATEGORIES

COLUMNS = (
    "category",
    "group",
    "phase",
    "gpu",
    "exclusive_ns",
    "share",
    "sum_ns",
    "operations",
    "subcategory",
    "round_median_ns",
    "round_p99_ns",
)

Cell = str | int | float | None


def render_csv(analysis: Analysis) -> str:
    """Return the table; ``exclusive_ns`` of one GPU sums to its wall time, empty is unknown."""
    rows = (row for time in analysis.per_gpu for row in (*_busy_rows(time), *_idle_rows(time)))
    return written(COLUMNS, rows)


def written(columns: Iterable[str], rows: Iterable[Iterable[Cell]]) -> str:
    """Return CSV text whose strings are harmless in a spreadsheet; None is an empty cell."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_cell(cell) for cell in row] for row in rows)
    return text.getvalue()


def _cell(cell: Cell) -> Cell:
    return csv_text(cell) if isinstance(cell, str) else cell


def _busy_rows(time: GpuTime) -> Iterator[tuple[Cell, ...]]:
    for entry in sorted(time.categories, key=lambda entry: CATEGORIES.index(entry.category)):
        yield (
            entry.category,
            group_of(entry.category, entry.phase),
            entry.phase,
            time.gpu,
            entry.exclusive_ns,
            _share(entry.exclusive_ns, time),
            entry.sum_ns,
            entry.operations,
            entry.subcategory,
            *_per_round(entry.per_round),
        )


def _idle_rows(time: GpuTime) -> Iterator[tuple[Cell, ...]]:
    spreads = {entry.group: entry.spread for entry in time.per_round}
    for group in groups_of(time):
        if group.name in GAP_GROUPS:
            share = None if group.exclusive_ns is None else _share(group.exclusive_ns, time)
            name, rounds = group.name, _per_round(spreads.get(group.name))
            yield name, name, None, time.gpu, group.exclusive_ns, share, None, None, None, *rounds


def _per_round(spread: Spread | None) -> tuple[int | None, int | None]:
    return (spread.median, spread.p99) if spread else (None, None)


def _share(part_ns: int, time: GpuTime) -> float | None:
    return part_ns / time.wall_ns if time.wall_ns else None
