"""How a comparison with the roofline is written in the JSON document of a report."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from traceattr.attribution.round_figures import Phase, Spread
from traceattr.report.comparison import ComparedCategory, Comparison, Figures
from traceattr.report.comparison_text import comparison_headline
from traceattr.report.projection_json import projection_entry
from traceattr.report.roofline_inputs import inputs_entry

Json = dict[str, Any]
Rounds = Mapping[tuple[str, Phase | None], Spread | None]
"""Times of one GPU in a round, by category and phase."""

BOUND_KEYS = ("bound_ns", "expected_ns", "bound_ratio")
"""What groups and categories of one GPU say of their prediction."""


def comparison_entry(comparison: Comparison) -> Json:
    """Return the ``roofline`` of a report."""
    prediction = comparison.roofline.prediction
    return {
        "headline": comparison_headline(comparison),
        "inputs": inputs_entry(comparison.roofline),
        "gpu": asdict(comparison.roofline.gpu),
        "gpus": comparison.gpus,
        "round": {
            **_figures(comparison.round),
            "tokens_per_s": {
                "measured": comparison.measured_tokens_per_s,
                "bound": prediction.bound_tokens_per_s,
                "expected": prediction.expected_tokens_per_s,
            },
        },
        "categories": [_category(entry, comparison) for entry in comparison.categories],
        "comm_wait_ns": comparison.wait_ns,
        "reason": comparison.reason,
        "what_if": [projection_entry(each, comparison) for each in comparison.projections],
        "warnings": [asdict(notice) for notice in comparison.notices],
    }


def group_bounds(comparison: Comparison, group: str, measured: Spread | None) -> Json:
    """Return the prediction of a group beside its time in a round on one GPU."""
    entries = [entry for entry in comparison.categories if entry.group == group]
    return _bounds(comparison, entries, measured.mean if measured else None)


def category_bounds(
    comparison: Comparison, key: tuple[str, Phase | None], measured: Rounds
) -> Json:
    """Return the same of a category in a phase; eager work counts with the target, as above."""
    category, phase = key
    entries = [e for e in comparison.categories if (e.category, e.phase) == key]
    phases: tuple[Phase, ...] = ("target", "other") if phase == "target" else ()
    spreads = [measured.get((category, one)) for one in phases] or [measured.get(key)]
    known = [spread.mean for spread in spreads if spread is not None]
    return _bounds(comparison, entries, sum(known) if known else None)


def _bounds(
    comparison: Comparison, entries: Sequence[ComparedCategory], measured_ns: int | None
) -> Json:
    known = [entry.prediction for entry in entries if entry.prediction is not None]
    if not known:
        return dict.fromkeys(BOUND_KEYS)
    figures = Figures(
        None if comparison.reason else measured_ns,
        sum(entry.bound_ns for entry in known),
        sum(entry.expected_ns for entry in known),
    )
    return {key: getattr(figures, key) for key in BOUND_KEYS}


def _figures(figures: Figures) -> Json:
    return {
        "measured_ns": figures.measured_ns,
        "bound_ns": figures.bound_ns,
        "expected_ns": figures.expected_ns,
        "bound_ratio": figures.bound_ratio,
        "excess_ns": figures.excess_ns,
        "verdict": figures.verdict,
    }


def _category(entry: ComparedCategory, comparison: Comparison) -> Json:
    prediction = entry.prediction
    peak = comparison.roofline.gpu.memory_bandwidth_bytes_per_s
    rate = entry.bytes_per_s
    return {
        "category": entry.category,
        "group": entry.group,
        "phase": entry.phase,
        **_figures(entry.figures),
        "excess_tokens_per_s": comparison.won_tokens_per_s(entry),
        "bytes": prediction.bytes if prediction else None,
        "flop": prediction.flop if prediction else None,
        "bytes_per_s": rate,
        "bandwidth_ratio": None if rate is None else rate / peak,
        "flop_per_s": entry.flop_per_s,
        "flop_per_byte": entry.flop_per_byte,
        "limited_by": prediction.limited_by if prediction else None,
    }
