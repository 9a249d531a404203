"""How an analysis is written as JSON: one stable document for machines."""

import json
import operator
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, SupportsIndex

from traceattr.attribution.analysis import (
    Analysis,
    CategoryTime,
    GpuTime,
    KernelTime,
    Notice,
    RoundsSummary,
)
from traceattr.attribution.gap_figures import GpuGaps
from traceattr.attribution.groups import group_of
from traceattr.attribution.layer_figures import Layers
from traceattr.attribution.round_figures import Phase, Spread
from traceattr.report.grouped import groups_of, hides_work
from traceattr.report.headline import headline
from traceattr.report.json_gaps import gap_entries
from traceattr.report.json_ranks import NO_SPREAD, communication_of, rank_group_entry
from traceattr.report.unclassified import unclassified_kernels
from traceattr.rules.categories import GRAPH

if TYPE_CHECKING:  # it takes a while to import, and few reports need it
    from traceattr.report.comparison import Comparison
    from traceattr.report.inflation import Inflation
    from traceattr.report.token_cost import TokenCost

FORMAT = 1
"""Format number of the document.

1: first version.  Keys may be added under the same number; what is there keeps its meaning.
"""

MOST_KERNELS = 50
"""Kernel names in a report; `traceattr kernels` has all."""

NO_ROOFLINE = Notice(
    "roofline-not-analysed",
    "No model was given: roofline, bound_ns, expected_ns and bound_ratio are null; give --model.",
)
"""Why there is no prediction; left out where the analysis gives a reason itself."""

GRAPH_KINDS = ("draft", "verify", "draft_extend", "decode")
"""Kinds of graph that a round replays."""

Json = dict[str, Any]

NO_BOUNDS: Json = dict.fromkeys(("bound_ns", "expected_ns", "bound_ratio"))
"""What a group or category says of its prediction when there is none."""


def render_json(
    analysis: Analysis,
    comparison: "Comparison | None" = None,
    token_cost: "TokenCost | None" = None,
    inflation: "Inflation | None" = None,
) -> str:
    """Return the document, ASCII only, ending in a line break."""
    return dumped(document(analysis, comparison, token_cost, inflation))


def dumped(value: object) -> str:
    """Return any value of this package's documents as text; integers of arrays are integers."""
    text = json.dumps(value, indent=2, ensure_ascii=True, allow_nan=False, default=_integer)
    return f"{text}\n"


def _integer(number: SupportsIndex) -> int:
    return operator.index(number)


def document(
    analysis: Analysis,
    comparison: "Comparison | None" = None,
    token_cost: "TokenCost | None" = None,
    inflation: "Inflation | None" = None,
) -> Json:
    """Return the document as plain lists and dicts."""
    return {
        "format": FORMAT,
        "traceattr": analysis.version,
        "headline": headline(analysis),
        "rules": asdict(analysis.rules),
        "trace": asdict(analysis.trace),
        "gpus": [asdict(gpu) for gpu in analysis.gpus],
        "window": {**asdict(analysis.window), "wall_ns": analysis.window.wall_ns},
        "rounds": _rounds(analysis.rounds),
        "per_gpu": [_gpu(time, analysis, comparison) for time in analysis.per_gpu],
        "rank_groups": [rank_group_entry(group) for group in analysis.ranks],
        "roofline": _roofline(comparison),
        "token_cost": _token_cost(token_cost),
        "inflation": _inflation(inflation),
        "kernel_names": len(analysis.kernels),
        "kernels": kernel_entries(analysis.kernels[:MOST_KERNELS]),
        "unclassified": _unclassified(unclassified_kernels(analysis)),
        "warnings": [asdict(notice) for notice in _warnings(analysis, comparison)],
    }


def kernel_entries(kernels: Iterable[KernelTime]) -> list[Json]:
    """Return kernels with their whole names."""
    return [asdict(kernel) for kernel in kernels]


def _warnings(analysis: Analysis, comparison: "Comparison | None") -> Iterator[Notice]:
    """Yield the notices of the analysis, and why other parts of the document are null."""
    yield from analysis.warnings
    given = {notice.code for notice in analysis.warnings}
    reasons = (*(() if comparison else (NO_ROOFLINE,)), *_unknown_parts(analysis))
    yield from (notice for notice in reasons if notice.code not in given)


def _unknown_parts(analysis: Analysis) -> Iterator[Notice]:
    if any(not gaps.knows_os_calls for gaps in analysis.gaps):
        text = "Operating-system calls were not looked at: os_ns is null, their time is python_ns."
        yield Notice("os-calls-unknown", text)
    for reason in dict.fromkeys(group.reason for group in analysis.ranks if group.reason):
        yield Notice("wait-unknown", f"wire_ns and wait_ns are null: {reason}.")
    for reason in dict.fromkeys(layers.reason for layers in analysis.layers if layers.reason):
        yield Notice("layers-unknown", f"Figures of layers are null: {reason}.")


def _rounds(rounds: RoundsSummary) -> Json:
    replays = dict(rounds.replays_per_round)
    return {
        "kind": rounds.kind,
        "why": rounds.why,
        "count": rounds.count if rounds.kind != "none" else None,
        "sampled": rounds.sampled if rounds.kind != "none" else None,
        "prefills": rounds.prefills,
        "wall_ns": _spread(rounds.wall),
        "replays_per_round": {kind: replays.get(kind) for kind in GRAPH_KINDS},
        "graphs": [asdict(family) for family in rounds.graphs],
        "target_graphs": list(rounds.target_graphs),
        "slow": asdict(rounds.slow) if rounds.slow else None,
        "cut": list(rounds.cut),
    }


def _spread(spread: Spread | None) -> Json:
    """Return the order statistics, all null where there are none."""
    return asdict(spread) if spread else NO_SPREAD


def _gpu(time: GpuTime, analysis: Analysis, comparison: "Comparison | None") -> Json:
    gaps: GpuGaps | None = next((one for one in analysis.gaps if one.gpu == time.gpu), None)
    layers: Layers | None = next((one for one in analysis.layers if one.gpu == time.gpu), None)
    return {
        "gpu": time.gpu,
        "wall_ns": time.wall_ns,
        "busy_ns": time.busy_ns,
        "kernel_ns": time.kernel_ns,
        "idle_ns": time.idle.total_ns,
        "idle": asdict(time.idle),
        "categories": list(_categories(time, comparison)),
        "phases": list(_phases(time)),
        "groups": list(_groups(time, comparison)),
        **gap_entries(gaps),
        "communication": communication_of(time.gpu, analysis.ranks),
        "layers": _layers(layers) if layers else None,
    }


def _layers(layers: Layers) -> Json:
    entry = asdict(layers)
    del entry["gpu"]
    costs = ("attention_layer_ns", "recurrent_layer_ns")
    return {**entry, **{cost: entry[cost] or NO_SPREAD for cost in costs}}


def _categories(time: GpuTime, comparison: "Comparison | None") -> Iterator[Json]:
    """Yield one entry per category and phase; their times add up to busy time."""
    per_round = {(entry.category, entry.phase): entry.spread for entry in time.category_rounds}
    for category, phase in dict.fromkeys((e.category, e.phase) for e in time.categories):
        members = [e for e in time.categories if (e.category, e.phase) == (category, phase)]
        yield {
            "category": category,
            "group": group_of(category, phase),
            "phase": phase,
            **_sums(members),
            "per_round_ns": _spread(per_round.get((category, phase))),
            **_category_bounds(comparison, (category, phase), per_round),
            "subcategories": [_subcategory(entry) for entry in members if entry.subcategory],
        }


def _subcategory(entry: CategoryTime) -> Json:
    return {
        "subcategory": entry.subcategory,
        **_sums([entry]),
        "per_round_ns": _spread(entry.per_round),
    }


def _phases(time: GpuTime) -> Iterator[Json]:
    """Yield the sums of each phase, in order of first use."""
    for phase in dict.fromkeys(entry.phase for entry in time.categories):
        members = [entry for entry in time.categories if entry.phase == phase]
        yield {"phase": phase, **_sums(members)}


def _sums(entries: list[CategoryTime]) -> Json:
    return {
        "exclusive_ns": sum(entry.exclusive_ns for entry in entries),
        "sum_ns": sum(entry.sum_ns for entry in entries),
        "operations": sum(entry.operations for entry in entries),
    }


def _groups(time: GpuTime, comparison: "Comparison | None") -> Iterator[Json]:
    per_round = {entry.group: entry.spread for entry in time.per_round}
    for group in groups_of(time):
        known = group.exclusive_ns is not None and time.wall_ns > 0
        yield {
            "group": group.name,
            "exclusive_ns": group.exclusive_ns,
            "lower_bound": hides_work(time) and not group.is_gap and group.name != GRAPH,
            "share": (group.exclusive_ns or 0) / time.wall_ns if known else None,
            "sum_ns": group.sum_ns,
            "operations": group.operations,
            "per_round_ns": _spread(per_round.get(group.name)),
            **_group_bounds(comparison, group.name, per_round.get(group.name)),
        }


def _roofline(comparison: "Comparison | None") -> Json | None:
    if comparison is None:
        return None
    from traceattr.report.comparison_json import comparison_entry

    return comparison_entry(comparison)


def _inflation(inflation: "Inflation | None") -> Json | None:
    if inflation is None:
        return None
    from traceattr.report.inflation_text import inflation_entry

    return inflation_entry(inflation)


def _token_cost(cost: "TokenCost | None") -> Json | None:
    if cost is None:
        return None
    from traceattr.report.token_cost_json import token_cost_entry

    return token_cost_entry(cost)


def _category_bounds(
    comparison: "Comparison | None",
    key: tuple[str, Phase | None],
    per_round: Mapping[tuple[str, Phase | None], Spread | None],
) -> Json:
    if comparison is None:
        return NO_BOUNDS
    from traceattr.report.comparison_json import category_bounds

    return category_bounds(comparison, key, per_round)


def _group_bounds(comparison: "Comparison | None", group: str, spread: Spread | None) -> Json:
    if comparison is None:
        return NO_BOUNDS
    from traceattr.report.comparison_json import group_bounds

    return group_bounds(comparison, group, spread)


def _unclassified(kernels: tuple[KernelTime, ...]) -> Json:
    return {
        "kernel_names": len(kernels),
        "operations": sum(kernel.operations for kernel in kernels),
        "total_ns": sum(kernel.total_ns for kernel in kernels),
        "kernels": kernel_entries(kernels[:MOST_KERNELS]),
    }
