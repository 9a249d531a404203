"""Whether two traces, or some parts of them, can be compared at all."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from traceattr.attribution.analysis import Analysis, Notice
from traceattr.attribution.groups import NO_WORK
from traceattr.report.breakdown import is_idle_upper_limit
from traceattr.report.diff.parts import Part, PartKind
from traceattr.report.provenance import models_text, rules_text
from traceattr.rules.categories import HOST_GAPS

_GAPS = (Part(PartKind.GROUP, HOST_GAPS), Part(PartKind.GROUP, NO_WORK))


@dataclass(frozen=True, slots=True)
class Comparability:
    """What cannot be compared, and why.

    Attributes:
        obstacles: Why nothing can be; empty when something can.
        categories: Why nothing that runs in a round can be told apart in the same way, None when
            it can.
        gaps: Why idle time cannot be compared, None when it can.
        notices: What the reader must know before trusting the differences.
    """

    obstacles: tuple[str, ...]
    categories: str | None
    gaps: str | None
    notices: tuple[Notice, ...]

    def why_not(self, part: Part) -> str | None:
        """Return why a part cannot be compared, None when it can."""
        if self.obstacles:
            return self.obstacles[0]
        if part.kind in (PartKind.ROUND, PartKind.LAUNCHES):
            return None
        if part.kind is PartKind.SEAM or part in _GAPS:
            return self.gaps
        return self.categories


def compare_settings(base: Analysis, head: Analysis) -> Comparability:
    """Return what of two traces can be compared."""
    return Comparability(
        obstacles=tuple(_obstacles(base, head)),
        categories=_why_no_categories(base, head),
        gaps=_why_no_gaps(base, head),
        notices=tuple(_notices(base, head)),
    )


def _obstacles(base: Analysis, head: Analysis) -> Iterator[str]:
    for side, analysis in (("BASE", base), ("HEAD", head)):
        if not analysis.series:
            yield f"{side} shows no rounds: {analysis.rounds.why or 'none lies in the window'}"
    if base.series and head.series and base.rounds.kind != head.rounds.kind:
        yield f"{base.rounds.kind} rounds against {head.rounds.kind} rounds"
    if _have_other_gpus(base, head):
        yield f"other GPUs: {models_text(base)} against {models_text(head)}"
    if base.rounds.target_rows and head.rounds.target_rows:
        was, became = base.rounds.target_rows, head.rounds.target_rows
        if was != became:
            yield f"other batch sizes: the target's passes go over {was:,} rows against {became:,}"
    layers, others = _layers(base), _layers(head)
    if layers and others and _are_of_other_models(layers, others):
        yield f"other models: {_layers_text(layers)} against {_layers_text(others)}"


def _have_other_gpus(base: Analysis, head: Analysis) -> bool:
    """Return whether number or models differ; a model that is unknown may be the same."""
    if len(base.gpus) != len(head.gpus):
        return True
    return not _unknown_gpus(base, head) and _gpu_models(base) != _gpu_models(head)


def _unknown_gpus(*sides: Analysis) -> bool:
    return any(gpu.name is None for side in sides for gpu in side.gpus)


def _gpu_models(analysis: Analysis) -> Counter[tuple[str | None, int | None]]:
    """Return how many GPUs of which model there are; bandwidths differ with the driver."""
    return Counter((gpu.name, gpu.sm_count) for gpu in analysis.gpus)


_Layers = tuple[int, int]
"""Layers of a target that attend, and those with a recurrence."""


def _layers(analysis: Analysis) -> _Layers | None:
    """Return the layers of the target on the first GPU that shows them."""
    for one in analysis.layers:
        if one.layers is not None:
            return one.attention_layers or 0, one.recurrent_layers or 0
    return None


def _are_of_other_models(layers: _Layers, others: _Layers) -> bool:
    """Return whether both have layers of a kind, and not as many.

    Where one has none of a kind, a rule may miss the kernel that a change has brought.
    """
    return any(one and other and one != other for one, other in zip(layers, others, strict=True))


def _layers_text(layers: _Layers) -> str:
    attention, recurrent = layers
    return f"{attention} attention and {recurrent} recurrent layers"


def _why_no_categories(base: Analysis, head: Analysis) -> str | None:
    modes = base.trace.graph_trace, head.trace.graph_trace
    if modes[0] != modes[1]:
        return (
            f"CUDA graphs were traced in other ways ({modes[0]} against {modes[1]}), so what runs"
            " in them cannot be compared; record both with --cuda-graph-trace=node"
        )
    if base.rules.sha256 != head.rules.sha256:
        return (
            f"categories come from other rules ({rules_text(base.rules)} against"
            f" {rules_text(head.rules)}); analyse both traces with the same ones"
        )
    return None


def _why_no_gaps(base: Analysis, head: Analysis) -> str | None:
    sides = [
        side for side, analysis in (("BASE", base), ("HEAD", head)) if is_idle_upper_limit(analysis)
    ]
    if not sides:
        return None
    return f"work is missing in {' and '.join(sides)}, and what was not recorded looks idle"


def _notices(base: Analysis, head: Analysis) -> Iterator[Notice]:
    if {base.trace.graph_trace, head.trace.graph_trace} == {"node", "graph"}:
        yield Notice(
            "graph-mode-differs",
            "Graphs were traced per node in one trace and as a whole in the other: tracing per node"
            " slows replays down, so part of the round's difference is that of the recording.",
        )
    drivers = base.trace.driver_version, head.trace.driver_version
    if drivers[0] != drivers[1]:
        was, became = (driver or "unknown" for driver in drivers)
        yield Notice("driver-differs", f"Other drivers: {was} against {became}.")
    yield from _batch_notices(base, head)
    layers, others = _layers(base), _layers(head)
    if layers and others and layers != others:
        yield Notice(
            "layers-differ",
            f"BASE shows {_layers_text(layers)}, HEAD {_layers_text(others)}: a rule may miss a"
            " kernel, or the models differ.",
        )
    if _unknown_gpus(base, head):
        yield Notice("gpu-unknown", "A trace does not name its GPUs: they may be of other models.")
    if bool(base.trace.simulated) != bool(head.trace.simulated):
        side = "BASE" if base.trace.simulated else "HEAD"
        yield Notice("one-simulated", f"{side} is simulated, the other trace is a recording.")


def _batch_notices(base: Analysis, head: Analysis) -> Iterator[Notice]:
    """Yield what makes it doubtful that both traces serve the same batch."""
    for side, analysis in (("BASE", base), ("HEAD", head)):
        if len(graphs := analysis.rounds.target_graphs) > 1:
            yield Notice(
                "several-graphs",
                f"The rounds of {side} replay {len(graphs)} graphs of the target, as for several"
                " batch sizes: what they have of each may differ.",
            )
    ids = base.rounds.target_graphs, head.rounds.target_graphs
    if None in (base.rounds.target_rows, head.rounds.target_rows) and ids[0] != ids[1]:
        was, became = (", ".join(map(str, graphs)) or "none" for graphs in ids)
        yield Notice(
            "batch-unknown",
            f"The target's graphs have other ids ({was} against {became}), and no grid shows the"
            " batch size: if it differs, so does the work.",
        )
