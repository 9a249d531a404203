"""Over how many rows the passes of a round go, as the grids of their kernels show.

The gated activation and the norms of the hidden states run one block per row in every layer.  Rows
are those of the padded batch that a graph was captured for.  Both kinds must say the same, because
either alone may be written for another grid; and GEMMs must say something else, because grids that
are all alike say nothing.
"""

from collections import Counter
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
_GEMM = "weight_gemm"


def with_pass_rows(analysis: Analysis, trace: Trace, rules: RuleSet) -> Analysis:
    """Return the analysis of ``trace`` with the rows of the passes of its rounds."""
    rounds = analysis.rounds
    if not rounds.target_graphs:
        return analysis
    kinds = classify_kernels(trace.connection, rules).classifications
    first = analysis.gpus[0].gpu
    grids = [grid for grid in graph_grids(trace) if grid.gpu_id == first]
    drafts = ((kind, _rows(ids, grids, kinds)) for kind, ids in rounds.draft_graphs)
    return replace(
        analysis,
        rounds=replace(
            rounds,
            target_rows=_rows(rounds.target_graphs, grids, kinds),
            draft_rows=tuple((kind, rows) for kind, rows in drafts if rows is not None),
        ),
    )


def _rows(
    graph_ids: Iterable[int], grids: Sequence[GraphGrid], kinds: Sequence[Classification]
) -> int | None:
    """Return the rows that all of some graphs have; None when they differ or one is not sure."""
    found = {
        rows_of_graph([grid for grid in grids if grid.graph_id == graph_id], kinds)
        for graph_id in graph_ids
    }
    return found.pop() if len(found) == 1 else None


def rows_of_graph(grids: Iterable[GraphGrid], kinds: Sequence[Classification]) -> int | None:
    """Return the rows that a graph's activations and norms agree on; None when they do not."""
    activations, norms, gemms = Counter[int](), Counter[int](), Counter[int]()
    for grid in grids:
        kind = kinds[grid.name_id]
        if (kind.category, kind.subcategory) == _ACTIVATION:
            activations[grid.width] += grid.kernels
        elif kind.category == _NORM:
            norms[grid.width] += grid.kernels
        elif kind.category == _GEMM:
            gemms[grid.width] += grid.kernels
    if len(activations) != 1:
        return None
    [(width, count)] = activations.items()
    return width if norms[width] >= count and gemms.keys() - {width} else None
