"""How a diff is written as JSON: one stable document for machines."""

from collections.abc import Iterable
from dataclasses import asdict
from importlib.metadata import version
from typing import Any

from traceattr.attribution.analysis import Analysis
from traceattr.attribution.groups import group_of
from traceattr.report.diff.diff import Diff
from traceattr.report.diff.gates import Judgement
from traceattr.report.diff.graphs import GraphChange
from traceattr.report.diff.launches import launch_changes
from traceattr.report.diff.parts import ROUND, PartKind
from traceattr.report.diff.render import DiffReport
from traceattr.report.diff.sentences import caveats, changed_parts, verdict_sentence
from traceattr.report.diff.verdicts import Change
from traceattr.report.json_document import dumped

FORMAT = 1
"""Format number of the document.

1: first version.  Keys may be added under the same number; what is there keeps its meaning.
"""

Json = dict[str, Any]


def render_json(report: DiffReport) -> str:
    """Return the document, ASCII only, ending in a line break."""
    return dumped(document(report))


def document(report: DiffReport) -> Json:
    """Return the document as plain lists and dicts."""
    diff = report.diff
    comparability, whole = diff.comparability, diff.change(ROUND)
    return {
        "format": FORMAT,
        "traceattr": version("traceattr"),
        "headline": verdict_sentence(diff),
        "comparable": not comparability.obstacles,
        "not_comparable": {
            "all": list(comparability.obstacles),
            "categories": comparability.categories,
            "gaps": comparability.gaps,
        },
        "base": _side(diff.base, diff.rounds[0]),
        "head": _side(diff.head, diff.rounds[1]),
        "changed": [one.part.label for one in changed_parts(diff)],
        "round": _figures(whole) if whole else None,
        "groups": [_entry("group", one) for one in diff.of_kind(PartKind.GROUP)],
        "phases": [_entry("phase", one) for one in diff.of_kind(PartKind.PHASE)],
        "categories": [_category(one) for one in diff.of_kind(PartKind.CATEGORY)],
        "seams": [_entry("seam", one) for one in diff.of_kind(PartKind.SEAM)],
        "launches": [asdict(one) for one in launch_changes(diff)],
        "graphs": [_graph(one) for one in diff.graphs],
        "gates": {
            "advisory": report.is_advisory,
            "judged": [_gate(one) for one in report.judgements],
        },
        "roofline": _roofline(report),
        "warnings": [
            *({"code": one.code, "text": one.text} for one in comparability.notices),
            *_other_warnings(diff),
        ],
    }


def _side(analysis: Analysis, rounds: int) -> Json:
    return {
        "traceattr": analysis.version,
        "rules": asdict(analysis.rules),
        "trace": asdict(analysis.trace),
        "gpus": [asdict(gpu) for gpu in analysis.gpus],
        "window": {**asdict(analysis.window), "wall_ns": analysis.window.wall_ns},
        "rounds": {"kind": analysis.rounds.kind, "compared": rounds},
    }


def _figures(change: Change) -> Json:
    return {
        "before_ns": change.before_ns,
        "after_ns": change.after_ns,
        "difference_ns": change.difference_ns,
        "difference_ratio": _ratio(change),
        "noise_ns": change.noise_ns,
        "rounds": change.rounds,
        "verdict": change.verdict,
        "reason": change.reason,
        "per_gpu": [{"before_ns": was, "after_ns": became} for was, became in change.per_gpu],
    }


def _ratio(change: Change) -> float | None:
    if change.difference_ns is None or not change.before_ns:
        return None
    return change.difference_ns / change.before_ns


def _entry(key: str, change: Change) -> Json:
    return {key: change.part.name, **_figures(change)}


def _category(change: Change) -> Json:
    """Return a category in a phase; without one it is that of all phases together."""
    category, phase = change.part.name, change.part.phase
    return {
        "category": category,
        "phase": phase,
        "group": group_of(category, phase) if phase else None,
        **_figures(change),
    }


def _graph(change: GraphChange) -> Json:
    entry = asdict(change)
    for edit, of in zip(entry["edits"], change.edits, strict=True):
        edit["difference_ns"] = of.difference_ns
    return entry


def _gate(judgement: Judgement) -> Json:
    gate = judgement.gate
    return {
        "gate": gate.text,
        "part": gate.part.label,
        "outcome": judgement.outcome,
        "why": judgement.why,
    }


def _roofline(report: DiffReport) -> Json | None:
    if report.comparison is None:
        return None
    from traceattr.report.comparison_json import comparison_entry

    return comparison_entry(report.comparison)


def _other_warnings(diff: Diff) -> Iterable[Json]:
    said = {notice.text for notice in diff.comparability.notices}
    return [{"code": "diff", "text": text} for text in caveats(diff) if text not in said]
