"""Which lines of the table of groups and categories a narrow place leaves out."""

from collections.abc import Iterator, Sequence
from typing import Literal

from traceattr.attribution.analysis import Analysis
from traceattr.report.breakdown import Line, Values, has_rounds, shown_ns, wholes
from traceattr.report.figures import count
from traceattr.rules.categories import GRAPH, UNCLASSIFIED

SMALL_RATIO = 0.0005
"""Share of the whole up to which a part reads as less than 0.1 %."""

_FEWEST = 2
"""Folding a single line would save nothing."""


def folded(analysis: Analysis, lines: Sequence[Line]) -> tuple[Line, ...]:
    """Return the lines with the small parts of each group as one line at its end.

    With rounds, kinds of host gap are left out too.
    """
    groups: list[list[Line]] = []
    for line in lines:
        if not line.is_part:
            groups.append([])
        groups[-1].append(line)
    return tuple(line for group in groups for line in _folded_group(analysis, group))


def _folded_group(analysis: Analysis, lines: Sequence[Line]) -> Iterator[Line]:
    group, *parts = lines
    yield group
    if group.kind == "gap" and has_rounds(analysis):
        return
    small = [line for line in parts if _is_small(line, wholes(analysis))]
    if len(small) < _FEWEST:
        yield from parts
        return
    yield from (line for line in parts if line not in small)
    yield _together(small, group.kind)


def _is_small(line: Line, whole_ns: Sequence[int]) -> bool:
    """Return whether a part is next to nothing on every GPU; what is not understood never is."""
    if line.name in (GRAPH, UNCLASSIFIED):
        return False
    values = zip(shown_ns(line), whole_ns, strict=True)
    return all(value is not None and value <= SMALL_RATIO * whole for value, whole in values)


def _together(lines: Sequence[Line], kind: Literal["busy", "gap", "total"]) -> Line:
    """Return one line for several; medians over the rounds do not add up, so it has none."""
    of_rounds = [line.round_mean_ns for line in lines]
    return Line(
        name=f"{count(len(lines))} more",
        kind=kind,
        is_part=True,
        exclusive_ns=_added([line.exclusive_ns for line in lines]),
        sum_ns=_added([line.sum_ns for line in lines]),
        operations=_added([line.operations for line in lines]),
        round_mean_ns=_added([means for means in of_rounds if means]) if any(of_rounds) else None,
    )


def _added(values: Sequence[Values]) -> Values:
    """Return the sums for each GPU."""
    return tuple(sum(value or 0 for value in of_gpu) for of_gpu in zip(*values, strict=True))
