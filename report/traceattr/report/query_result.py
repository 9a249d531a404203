"""The rows of a query as text, piece by piece, so that millions of them need little memory."""

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from itertools import chain
from typing import Any

from traceattr.report.csv_table import written
from traceattr.report.escape import markdown_text, visible
from traceattr.report.render import ReportFormat

Rows = Sequence[Sequence[Any]]

_GUTTER = "  "
_NARROWEST = 8
_CUT = "..."


@dataclass(frozen=True, slots=True)
class Result:
    """What a query returns.

    Attributes:
        columns: Names of the columns.
        is_number: Whether each holds numbers, which are shown at the right edge.
        batches: The rows, some at a time.
    """

    columns: tuple[str, ...]
    is_number: tuple[bool, ...]
    batches: Iterable[Rows]


def render_result(
    result: Result,
    format: ReportFormat,  # noqa: A002
    *,
    width: int | None,
) -> Iterator[str]:
    """Yield the text of a result; integers and decimals keep all their digits.

    Args:
        result: The result.
        format: How to write it.
        width: Columns that a table may take, for which long texts are cut; None for any.
    """
    match format:
        case ReportFormat.TERMINAL:
            return _terminal(result, width)
        case ReportFormat.MARKDOWN:
            return _markdown(result)
        case ReportFormat.JSON:
            return _json(result)
        case ReportFormat.CSV:
            return _csv(result)


def _terminal(result: Result, width: int | None) -> Iterator[str]:
    """Yield a table whose columns are as wide as the first batch needs."""
    batches = iter(result.batches)
    first = _cells(next(batches, ()))
    head = [visible(name) for name in result.columns]
    widths = [max(map(len, column)) for column in zip(head, *first, strict=True)]
    limits = widths if width is None else _limits(widths, result.is_number, width)
    is_cut = [limit < wanted for limit, wanted in zip(limits, widths, strict=True)]

    def line(cells: Sequence[str]) -> str:
        shown = (_cut(cell, limits[at]) if is_cut[at] else cell for at, cell in enumerate(cells))
        return _line(shown, limits, result.is_number)

    yield line(head)
    yield "-" * _total(limits) + "\n"
    count = 0
    for batch in chain([first], map(_cells, batches)):
        count += len(batch)
        yield "".join(map(line, batch))
    yield f"({count:,} row{'' if count == 1 else 's'})\n"


def _cells(batch: Rows) -> list[list[str]]:
    return [["NULL" if cell is None else visible(_text(cell)) for cell in row] for row in batch]


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + len(_GUTTER) * (len(widths) - 1)


def _limits(widths: Sequence[int], is_number: Sequence[bool], width: int) -> list[int]:
    """Return how wide columns may be: the widest texts give way until the table fits."""
    limits = list(widths)
    texts = [at for at, number in enumerate(is_number) if not number]
    while _total(limits) > width:
        widest = max(texts, key=lambda at: limits[at], default=None)
        if widest is None or limits[widest] <= _NARROWEST:
            break
        limits[widest] -= 1
    return limits


def _line(cells: Iterable[str], limits: Sequence[int], is_number: Sequence[bool]) -> str:
    padded = [
        cell.rjust(limit) if number else cell.ljust(limit)
        for cell, limit, number in zip(cells, limits, is_number, strict=True)
    ]
    return _GUTTER.join(padded).rstrip() + "\n"


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - len(_CUT)] + _CUT


def _markdown(result: Result) -> Iterator[str]:
    yield _markdown_row(markdown_text(name) for name in result.columns)
    yield _markdown_row("---:" if number else "---" for number in result.is_number)
    for batch in result.batches:
        yield "".join(
            _markdown_row("NULL" if cell is None else markdown_text(_text(cell)) for cell in row)
            if any(isinstance(cell, str) for cell in row)
            else _markdown_row("NULL" if cell is None else _text(cell) for cell in row)
            for row in batch
        )


def _markdown_row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |\n"


def _csv(result: Result) -> Iterator[str]:
    yield written(result.columns, ())
    for batch in result.batches:
        rows = ([None if cell is None else _csv_cell(cell) for cell in row] for row in batch)
        _, _, body = written((), rows).partition("\n")
        yield body


def _csv_cell(cell: Any) -> str | int | float:
    return cell if isinstance(cell, int | float) and not isinstance(cell, bool) else _text(cell)


def _json(result: Result) -> Iterator[str]:
    """Yield an array with one object on each line."""
    names = [json.dumps(name) for name in _distinct(result.columns)]
    separator = "[\n"
    for batch in result.batches:
        yield separator + ",\n".join(_json_object(names, row) for row in batch)
        separator = ",\n"
    yield "[]\n" if separator == "[\n" else "\n]\n"


def _json_object(names: Sequence[str], row: Sequence[Any]) -> str:
    pairs = (f"{name}: {_json_token(cell)}" for name, cell in zip(names, row, strict=True))
    return f"{{{', '.join(pairs)}}}"


def _distinct(names: Sequence[str]) -> list[str]:
    """Return names of which none comes twice, or an object would lose a value."""
    found: dict[str, None] = {}
    for name in names:
        number, candidate = 0, name
        while candidate in found:
            number += 1
            candidate = f"{name}_{number}"
        found[candidate] = None
    return list(found)


def _json_token(cell: Any) -> str:
    match cell:
        case None:
            return "null"
        case Decimal() if cell.is_finite():
            return f"{cell:f}"
        case float() if not math.isfinite(cell):
            return "null"
        case bool() | int() | float() | str() | list() | dict() | tuple():
            return json.dumps(cell, default=_text)
        case _:
            return json.dumps(_text(cell))


def _text(cell: Any) -> str:
    """Return a value as text that loses nothing."""
    match cell:
        case str():
            return cell
        case bool():
            return "true" if cell else "false"
        case Decimal():
            return f"{cell:f}"
        case bytes():
            return cell.hex()
        case timedelta():
            return str(cell)
        case list() | dict() | tuple():
            return json.dumps(cell, default=_text)
        case _:
            return str(cell)
