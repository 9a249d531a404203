"""How a roofline is written for machines: as JSON or CSV."""

from dataclasses import asdict
from typing import Any

from traceattr.report.csv_table import Cell, written
from traceattr.report.json_document import dumped
from traceattr.report.roofline_inputs import inputs_entry
from traceattr.report.roofline_text import roofline_headline
from traceattr.roofline.explain import Explanation
from traceattr.roofline.prediction import CategoryPrediction
from traceattr.roofline.roofline import Roofline

FORMAT = 1
"""Format number of the JSON document.

1: first version.
"""

COLUMNS = (
    "category",
    "group",
    "phase",
    "bytes",
    "flop",
    "launches",
    "bound_ns",
    "expected_ns",
    "limited_by",
)
"""Keys of a category, and columns of the CSV."""


def render_json(roofline: Roofline) -> str:
    """Return the roofline as one JSON document; times are integer ns, null is unknown."""
    return dumped(roofline_document(roofline))


def render_json_with(roofline: Roofline, explanations: tuple[Explanation, ...]) -> str:
    """Return the same with the terms of one category."""
    explained = [_explanation(explanation) for explanation in explanations]
    return dumped(roofline_document(roofline) | {"explain": explained})


def render_csv(roofline: Roofline) -> str:
    """Return one row per category and phase."""
    return written(COLUMNS, (_row(entry) for entry in roofline.prediction.categories))


def roofline_document(roofline: Roofline) -> dict[str, Any]:
    """Return the document as a dictionary."""
    prediction = roofline.prediction
    return {
        "format": FORMAT,
        "traceattr": roofline.version,
        "headline": roofline_headline(roofline),
        "inputs": inputs_entry(roofline),
        "gpu": asdict(roofline.gpu),
        "round": {
            "bound_ns": prediction.bound_ns,
            "expected_ns": prediction.expected_ns,
            "tokens_per_s": {
                "bound": prediction.bound_tokens_per_s,
                "expected": prediction.expected_tokens_per_s,
            },
        },
        "categories": [
            dict(zip(COLUMNS, _row(entry), strict=True)) for entry in prediction.categories
        ],
        "warnings": [asdict(notice) for notice in roofline.notices],
    }


def _row(entry: CategoryPrediction) -> tuple[Cell, ...]:
    return (
        entry.category,
        entry.group,
        entry.phase,
        entry.bytes,
        entry.flop,
        entry.launches,
        entry.bound_ns,
        entry.expected_ns,
        entry.limited_by,
    )


def _explanation(explanation: Explanation) -> dict[str, Any]:
    return {
        "category": explanation.entry.category,
        "phase": explanation.entry.phase,
        "terms": [
            {
                "part": step.term.part,
                "stage": step.term.stage,
                "count": step.term.count,
                "bytes": step.term.bytes,
                "flop": step.term.flop,
                "formula": step.term.formula,
                "numbers": step.term.numbers,
                "source": step.term.source,
                "limits_ns": {name: round(value) for name, value in step.limits},
                "floor_ns": round(step.floor_ns),
                "moving_ns": round(step.moving_ns),
                "calibration": step.calibration,
                "calibration_source": step.calibration_source,
            }
            for step in explanation.steps
        ],
        "notes": list(explanation.notes),
        "sources": dict(explanation.sources),
    }
