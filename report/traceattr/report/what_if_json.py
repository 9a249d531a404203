"""How a prediction and its alternatives are written for machines: as JSON or CSV."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from traceattr.report.csv_table import Cell, written
from traceattr.report.json_document import dumped
from traceattr.report.roofline_json import roofline_document
from traceattr.report.what_if_text import groups_of, lines
from traceattr.roofline.prediction import Prediction
from traceattr.roofline.roofline import Roofline
from traceattr.roofline.what_if import Alternative, WhatIf

FIGURES = (
    "bound_ns",
    "expected_ns",
    "expected_change_ns",
    "expected_change_ratio",
    "bound_tokens_per_s",
    "expected_tokens_per_s",
)
"""Columns of the CSV between what was changed and the groups."""


def render_json(what_if: WhatIf) -> str:
    """Return the JSON document of the base with a list of alternatives."""
    listed = [_entry(each, what_if.base) for each in what_if.alternatives]
    return dumped(roofline_document(what_if.base) | {"what_if": listed})


def render_csv(what_if: WhatIf) -> str:
    """Return a row for the base and for each alternative; empty is unknown.

    Every key that any of them changes has a column with its value in all of them.
    """
    keys, shown = what_if.changed_keys, lines(what_if)
    groups = dict.fromkeys(name for line in shown for name, *_ in groups_of(line.roofline))
    titles = ("alternative", *keys, *FIGURES, *(f"expected_ns: {name}" for name in groups))
    rows = (
        (
            line.name,
            *(_value(line.roofline, key) for key in keys),
            *_figures(line.roofline.prediction, what_if.base.prediction),
            *(_expected(line.roofline).get(name, 0) for name in groups),
        )
        for line in shown
    )
    return written(titles, rows)


def _entry(alternative: Alternative, base: Roofline) -> Mapping[str, Any]:
    roofline = alternative.roofline
    figures = dict(zip(FIGURES, _figures(roofline.prediction, base.prediction), strict=True))
    return {
        "name": alternative.change.name,
        "changes": {key: _value(roofline, key) for key in alternative.change.values},
        "round": {
            "bound_ns": figures["bound_ns"],
            "expected_ns": figures["expected_ns"],
            "tokens_per_s": {
                "bound": figures["bound_tokens_per_s"],
                "expected": figures["expected_tokens_per_s"],
            },
        },
        "expected_change_ns": figures["expected_change_ns"],
        "expected_change_ratio": figures["expected_change_ratio"],
        "groups": [
            {"group": name, "bound_ns": bound_ns, "expected_ns": expected_ns}
            for name, bound_ns, expected_ns in groups_of(roofline)
        ],
        "warnings": [asdict(notice) for notice in roofline.notices],
    }


def _figures(new: Prediction, old: Prediction) -> tuple[Cell, ...]:
    return (
        new.bound_ns,
        new.expected_ns,
        new.expected_ns - old.expected_ns,
        new.expected_ns / old.expected_ns - 1,
        new.bound_tokens_per_s,
        new.expected_tokens_per_s,
    )


def _value(roofline: Roofline, key: str) -> int | float | str | None:
    found = dict(roofline.inputs)[key]
    return None if found is None else found.value


def _expected(roofline: Roofline) -> Mapping[str, int]:
    return {name: expected_ns for name, _, expected_ns in groups_of(roofline)}
