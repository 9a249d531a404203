"""How an analysis is written as CSV: one row per category or kind of gap and GPU."""

import csv
from collections.abc import Iterable, Iterator
from io import StringIO
from typing import TYPE_CHECKING

from traceattr.attribution.analysis import Analysis, GpuTime
from traceattr.attribution.groups import GAP_GROUPS, group_of
from traceattr.attribution.round_figures import Spread
from traceattr.report.escape import csv_text
from traceattr.report.grouped import groups_of
from traceattr.rules.categories import CATEGORIES

if TYPE_CHECKING:  # it takes a while to import, and few reports need it
    from traceattr.report.comparison import ComparedCategory, Comparison
    from traceattr.report.inflation import Inflation
    from traceattr.report.token_cost import TokenCost

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

PREDICTED_COLUMNS = ("bound_ns", "expected_ns")
"""Further columns where there is a prediction, of one round."""

TOKEN_COLUMNS = ("token_ns",)
"""Further column where the cost of a token was asked for: its part of the mean round."""

INFLATION_COLUMNS = ("inflation",)
"""Further column, the last, where inflation is known: that of the phase, else of the round."""

HOST = "host"
"""Phase of gaps in a prediction."""

Cell = str | int | float | None


def render_csv(
    analysis: Analysis,
    comparison: "Comparison | None" = None,
    token_cost: "TokenCost | None" = None,
    inflation: "Inflation | None" = None,
) -> str:
    """Return the table; ``exclusive_ns`` of one GPU sums to its wall time, empty is unknown."""
    columns = (*COLUMNS, *(TOKEN_COLUMNS if token_cost else ()))
    rows: Iterator[tuple[Cell, ...]]
    if comparison is None:
        rows = (row for time in analysis.per_gpu for row in _rows(time, token_cost))
    else:
        columns = (*columns, *PREDICTED_COLUMNS)
        rows = (
            row
            for time in analysis.per_gpu
            for row in _with_predictions(time, comparison, token_cost)
        )
    if inflation is not None:
        columns, rows = (*columns, *INFLATION_COLUMNS), _with_inflation(rows, inflation)
    return written(columns, rows)


def _with_inflation(
    rows: Iterable[tuple[Cell, ...]], inflation: "Inflation"
) -> Iterator[tuple[Cell, ...]]:
    """Yield the rows with the ratio of their phase; gaps belong to none."""
    from traceattr.report.inflation import phase_ratios

    ratios = phase_ratios(inflation)
    for row in rows:
        phase = row[COLUMNS.index("phase")]
        yield (*row, ratios.get(str(phase), inflation.ratio) if phase else None)


def _rows(time: GpuTime, cost: "TokenCost | None") -> Iterator[tuple[Cell, ...]]:
    yield from _busy_rows(time, cost)
    yield from _idle_rows(time, cost)


def _with_predictions(
    time: GpuTime, comparison: "Comparison", cost: "TokenCost | None"
) -> Iterator[tuple[Cell, ...]]:
    """Yield the rows with bound and expected, which the first subcategory has for all of them.

    What is predicted but not in the trace follows, so that predictions sum to those of the round.
    """
    left = {(e.category, e.phase): e for e in comparison.categories if e.prediction is not None}
    for row in _rows(time, cost):
        category, _, phase, *_ = row
        found = left.pop((str(category), str(phase or HOST)), None)
        yield (*row, *_predicted(found))
    for (category, phase), found in left.items():
        nothing = (0, _share(0, time), 0, 0, None, None, None, *_token(None, cost))
        yield (category, found.group, phase, time.gpu, *nothing, *_predicted(found))


def _predicted(entry: "ComparedCategory | None") -> tuple[int | None, int | None]:
    return (entry.figures.bound_ns, entry.figures.expected_ns) if entry else (None, None)


def written(columns: Iterable[str], rows: Iterable[Iterable[Cell]]) -> str:
    """Return CSV text whose strings are harmless in a spreadsheet; None is an empty cell."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_cell(cell) for cell in row] for row in rows)
    return text.getvalue()


def _cell(cell: Cell) -> Cell:
    return csv_text(cell) if isinstance(cell, str) else cell


def _busy_rows(time: GpuTime, cost: "TokenCost | None") -> Iterator[tuple[Cell, ...]]:
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
            *_token(entry.per_round, cost),
        )


def _idle_rows(time: GpuTime, cost: "TokenCost | None") -> Iterator[tuple[Cell, ...]]:
    spreads = {entry.group: entry.spread for entry in time.per_round}
    for group in groups_of(time):
        if group.name in GAP_GROUPS:
            share = None if group.exclusive_ns is None else _share(group.exclusive_ns, time)
            spread = spreads.get(group.name)
            name, figures = group.name, (*_per_round(spread), *_token(spread, cost))
            yield name, name, None, time.gpu, group.exclusive_ns, share, None, None, None, *figures


def _per_round(spread: Spread | None) -> tuple[int | None, int | None]:
    return (spread.median, spread.p99) if spread else (None, None)


def _token(spread: Spread | None, cost: "TokenCost | None") -> tuple[int | None, ...]:
    if cost is None:
        return ()
    return (cost.of_token(spread.mean) if spread else None,)


def _share(part_ns: int, time: GpuTime) -> float | None:
    return part_ns / time.wall_ns if time.wall_ns else None
