"""Over how many rows the target's passes go, as the grids of its kernels show.

The gated activation and the norms of the hidden states run one block per row in every layer.  Rows
are those of the padded batch that a graph was captured for; in verification a request has several.
Both kinds must say the same, because either alone may be written for another grid.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from traceattr.attribution.analysis import Analysis
from traceattr.attribution.labels import classify_kernels
from traceattr.ingest.grids import GraphGrid, graph_grids
from traceattr.ingest.trace import Trace
from traceattr.rules.rule import Classification
from traceattr.rules.rule_set import RuleSet

_ACTIVATION = ("activation", "act_and_mul")
_NORM = "norm"


def with_target_rows(analysis: Analysis, trace: Trace, rules: RuleSet) -> Analysis:
    """Return the analysis of ``trace`` with the rows of the target's passes, where it is sure."""
    graph_ids = analysis.rounds.target_graphs
    if not graph_ids:
        return analysis
    kinds = classify_kernels(trace.connection, rules).classifications
    gpu = analysis.gpus[0].gpu
    grids = [grid for grid in graph_grids(trace) if grid.gpu_id == gpu]
    rows = {
        rows_of_graph([grid for grid in grids if grid.graph_id == graph_id], kinds)
        for graph_id in graph_ids
    }
    known = rows.pop() if len(rows) == 1 else None
    return replace(analysis, rounds=replace(analysis.rounds, target_rows=known))


def rows_of_graph(grids: Iterable[GraphGrid], kinds: Sequence[Classification]) -> int | None:
    """Return the rows that a graph's activations and norms agree on; None when they do not."""
    activations: dict[int, int] = {}
    norms: dict[int, int] = {}
    for grid in grids:
        kind = kinds[grid.name_id]
        if (kind.category, kind.subcategory) == _ACTIVATION:
            activations[grid.width] = activations.get(grid.width, 0) + grid.kernels
        elif kind.category == _NORM:
            norms[grid.width] = norms.get(grid.width, 0) + grid.kernels
    if len(activations) != 1:
        return None
    [(width, count)] = activations.items()
    return width if norms.get(width, 0) >= count else None
