"""What a report says about rounds: how long they are, what they replay, which graph does what."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from traceattr.attribution.analysis import Analysis, GraphFamily, RoundsSummary, SlowRounds
from traceattr.attribution.round_figures import Spread
from traceattr.report.figures import count, counted, duration, share, unit_for
from traceattr.report.sampled import LEFT_OUT, has_percentiles, sampled_rounds

FEW_ROUNDS = 30
"""Below this nothing is said about what makes slow rounds slow."""

KINDS = ("verify", "decode", "draft", "draft_extend", "prefill_piece", "other")
"""Kinds of graph in the order in which they are listed."""

GRAPH_TITLES = ("graph", "ids", "replays", "confidence", "evidence")

_PERCENTILES = 100
_MOST_ID_RANGES = 2
_PHASES = ("target", "draft", "prefill", "other")


@dataclass(frozen=True, slots=True)
class GraphRow:
    """What one graph is for, as texts in the order of `GRAPH_TITLES`.

    Attributes:
        cells: The texts.
        is_unsure: Whether nothing tells it well.
    """

    cells: tuple[str, str, str, str, str]
    is_unsure: bool


def rounds_title(analysis: Analysis) -> str:
    """Return what the section is called."""
    rounds = analysis.rounds
    prefills = f", {counted(rounds.prefills, 'prefill')}" if rounds.prefills else ""
    of_gpu = "" if len(analysis.per_gpu) == 1 else f"; on GPU {analysis.per_gpu[0].gpu}"
    return f"Rounds ({count(rounds.count)} {rounds.kind}{prefills}{of_gpu})"


def no_rounds_sentence(analysis: Analysis) -> str | None:
    """Return why there are no rounds, None when there are."""
    if analysis.rounds.kind != "none":
        return None
    why = analysis.rounds.why or "none was found"
    return f"No rounds: {why}. Figures per round and draft passes are unknown."


def rounds_facts(analysis: Analysis) -> tuple[tuple[str, str], ...]:
    """Return pairs of a label and a text; none without rounds."""
    return () if analysis.rounds.kind == "none" else tuple(_facts(analysis))


def graph_rows(analysis: Analysis) -> tuple[GraphRow, ...]:
    """Return what each graph is for: those of the first GPU, and of GPUs that differ from it."""
    if not analysis.per_gpu:
        return ()
    first, *others = (_graphs_of(analysis, time.gpu) for time in analysis.per_gpu)
    rows = [_graph_row(graph, graph.kind) for graph in first]
    for graphs in others:
        if _kinds(graphs) != _kinds(first):
            rows += [_graph_row(graph, f"{graph.kind}, GPU {graph.gpu}") for graph in graphs]
    return tuple(rows)


def graphs_note(analysis: Analysis) -> str | None:
    """Return whether the GPUs agree on what their graphs are for; None where one says it all."""
    if len(analysis.per_gpu) < 2 or not analysis.rounds.graphs:
        return None
    numbers = [time.gpu for time in analysis.per_gpu]
    first = _kinds(_graphs_of(analysis, numbers[0]))
    differing = [n for n in numbers if _kinds(_graphs_of(analysis, n)) != first]
    if not differing:
        return f"All {len(numbers)} GPUs agree; ids and replays are those of GPU {numbers[0]}."
    if len(differing) == 1:
        return f"GPU {differing[0]} differs from GPU {numbers[0]}; both are listed."
    return f"GPUs {', '.join(map(str, differing))} differ from GPU {numbers[0]}; all are listed."


def _facts(analysis: Analysis) -> Iterator[tuple[str, str]]:
    rounds = analysis.rounds
    if rounds.wall:
        yield "length", _length_text(rounds, rounds.wall)
        if has_percentiles(rounds.sampled):
            yield "slow", _slow_text(rounds, rounds.wall)
    if rounds.replays_per_round:
        yield "replays", _replays_text(rounds)
    yield "phases", _phases_text(analysis)
    if rounds.cut:
        yield "cut", f"{'; '.join(rounds.cut)}; `--window` or `--rounds` say otherwise"


def _length_text(rounds: RoundsSummary, wall: Spread) -> str:
    unit = unit_for(wall.median)
    p99 = (("p99", wall.p99),) if has_percentiles(rounds.sampled) else ()
    others = (*p99, ("min", wall.min), ("max", wall.max), ("mean", wall.mean))
    texts = [
        f"median {unit.text(wall.median)}",
        *(f"{name} {unit.number(ns)}" for name, ns in others),
    ]
    few = " (p99 of so few is the slowest)" if p99 and rounds.sampled < _PERCENTILES else ""
    if rounds.sampled == rounds.count:
        return f"{', '.join(texts)}{few}"
    return f"{', '.join(texts)}{few}, over {sampled_rounds(rounds)}; {LEFT_OUT}"


def _slow_text(rounds: RoundsSummary, wall: Spread) -> str:
    """Return what makes the slowest rounds slow, or why nothing is said."""
    excess = f"the slowest takes {duration(wall.max - wall.median)} more than the median"
    if rounds.sampled < FEW_ROUNDS:
        return f"{excess}; to say why takes {FEW_ROUNDS} rounds"
    if rounds.slow is None:
        return f"{excess}; no group stands out"
    return _excess_text(rounds.slow)


def _excess_text(slow: SlowRounds) -> str:
    whole_ns = round(slow.excess_ns / slow.share)
    who = "the slowest takes" if slow.count == 1 else f"the {count(slow.count)} slowest take"
    mean = "" if slow.count == 1 else " on average"
    part = "all" if slow.share >= 1 else share(slow.excess_ns, whole_ns)
    return (
        f"{who} {duration(whole_ns)} more than the median{mean}; {part} of that in "
        f"{slow.group}, {duration(slow.excess_ns)} above its own median"
    )


def _replays_text(rounds: RoundsSummary) -> str:
    replays = dict(rounds.replays_per_round)
    kinds = sorted(replays, key=_kind_position)
    return f"{', '.join(f'{kind} {replays[kind]:.3g}' for kind in kinds)} per round"


def _phases_text(analysis: Analysis) -> str:
    """Return how the window falls into phases and idle time, as means over the GPUs."""
    walls_ns = sum(time.wall_ns for time in analysis.per_gpu)
    entries = [entry for time in analysis.per_gpu for entry in time.categories]
    sums = {
        phase: sum(entry.exclusive_ns for entry in entries if entry.phase == phase)
        for phase in _PHASES
    }
    idle_ns = sum(time.idle.total_ns for time in analysis.per_gpu)
    parts = [*sums.items(), ("idle", idle_ns)]
    texts = ", ".join(f"{name} {share(ns, walls_ns)}" for name, ns in parts if ns)
    return f"{texts} of the window"


def _graphs_of(analysis: Analysis, gpu: int) -> list[GraphFamily]:
    mine = [graph for graph in analysis.rounds.graphs if graph.gpu == gpu]
    return sorted(mine, key=lambda graph: (_kind_position(graph.kind), graph.graph_ids))


def _kind_position(kind: str) -> tuple[int, str]:
    return (KINDS.index(kind) if kind in KINDS else len(KINDS)), kind


def _kinds(graphs: Sequence[GraphFamily]) -> Counter[tuple[str, str]]:
    return Counter((graph.kind, graph.confidence) for graph in graphs)


def _graph_row(graph: GraphFamily, name: str) -> GraphRow:
    cells = (name, ids_text(graph.graph_ids), count(graph.replays), graph.confidence)
    return GraphRow((*cells, graph.evidence), graph.confidence == "low")


def ids_text(ids: Sequence[int]) -> str:
    """Return ids with runs of them as ranges, and their number where there are many runs."""
    runs = list(_runs(sorted(ids)))
    texts = [str(first) if first == last else f"{first}-{last}" for first, last in runs]
    if len(texts) <= _MOST_ID_RANGES:
        return ", ".join(texts)
    return f"{texts[0]}, ... ({count(len(ids))})"


def _runs(ids: Sequence[int]) -> Iterator[tuple[int, int]]:
    if not ids:
        return
    ends = [at for at, (one, following) in enumerate(pairwise(ids), 1) if following > one + 1]
    for begin, end in pairwise((0, *ends, len(ids))):
        yield ids[begin], ids[end - 1]
