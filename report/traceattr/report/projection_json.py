"""How alternatives to a measured round are written for machines: as JSON or CSV."""

from dataclasses import asdict
from typing import Any

from traceattr.report.comparison import Comparison
from traceattr.report.csv_table import Cell, written
from traceattr.report.projection import Projection
from traceattr.report.projection_text import BASE

COLUMNS = (
    "alternative",
    "bound_ns",
    "expected_ns",
    "expected_with_excess_ns",
    "change_ns",
    "change_ratio",
    "bound_tokens_per_s",
    "expected_tokens_per_s",
    "expected_with_excess_tokens_per_s",
)
"""Columns of the CSV."""


def projection_entry(each: Projection, comparison: Comparison) -> dict[str, Any]:
    """Return one of the ``what_if`` of a report's roofline."""
    prediction = each.roofline.prediction
    change_ns, change_ratio = _change(each, comparison)
    return {
        "name": each.change.name,
        "changes": {key: _value(each, key) for key in each.change.values},
        "round": {
            "bound_ns": each.bound_ns,
            "expected_ns": each.expected_ns,
            "expected_with_excess_ns": each.carried_ns,
            "tokens_per_s": {
                "bound": prediction.bound_tokens_per_s,
                "expected": prediction.expected_tokens_per_s,
                "expected_with_excess": each.carried_tokens_per_s,
            },
        },
        "change_ns": change_ns,
        "change_ratio": change_ratio,
        "removed_ns": each.seam_ns,
        "categories": [
            {
                "category": entry.category,
                "phase": entry.phase,
                "measured_ns": entry.measured_ns,
                "bound_ns": entry.bound_ns,
                "expected_ns": entry.expected_ns,
                "expected_with_excess_ns": entry.carried_ns,
            }
            for entry in each.categories
        ],
        "reason": each.reason,
        "warnings": [asdict(notice) for notice in each.roofline.notices],
    }


def render_projections_csv(comparison: Comparison) -> str:
    """Return a row for each alternative after one for the trace; empty is unknown.

    With its excess, what is expected of the trace is what was measured.
    """
    whole, prediction = comparison.round, comparison.roofline.prediction
    measured: tuple[Cell, ...] = (
        *(BASE, whole.bound_ns, whole.expected_ns, whole.measured_ns, None, None),
        *(prediction.bound_tokens_per_s, prediction.expected_tokens_per_s),
        comparison.measured_tokens_per_s,
    )
    rows = (_row(each, comparison) for each in comparison.projections)
    return written(COLUMNS, (measured, *rows))


def _row(each: Projection, comparison: Comparison) -> tuple[Cell, ...]:
    prediction = each.roofline.prediction
    return (
        *(each.change.name, each.bound_ns, each.expected_ns, each.carried_ns),
        *_change(each, comparison),
        *(prediction.bound_tokens_per_s, prediction.expected_tokens_per_s),
        each.carried_tokens_per_s,
    )


def _value(each: Projection, key: str) -> int | float | str:
    """Return what an alternative sets; keys about what was measured stay texts."""
    found = dict(each.roofline.inputs).get(key)
    return each.change.values[key] if found is None else found.value


def _change(each: Projection, comparison: Comparison) -> tuple[int | None, float | None]:
    """Return the change from what was measured, in ns and as a ratio (-0.1 is a tenth less)."""
    if each.carried_ns is None or not comparison.round_ns:
        return None, None
    return each.carried_ns - comparison.round_ns, each.carried_ns / comparison.round_ns - 1
