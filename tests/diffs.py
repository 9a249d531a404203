"""Small analyses with rounds to compare, written by hand."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tests.round_analyses import COUNT, speculative_two_gpus
from traceattr.attribution.analysis import Analysis, GpuTime
from traceattr.attribution.gap_figures import GpuGaps
from traceattr.attribution.groups import GAP_GROUPS, group_of
from traceattr.attribution.round_figures import CategorySeries, RoundSeries, Series, Spread
from traceattr.attribution.sequence_figures import GraphSequence, GraphSequences, NamedKernel
from traceattr.report.diff.diff import Diff, compare_analyses
from traceattr.rules.categories import GROUPS

More = Mapping[str, int]
"""By how many ns parts are longer, by label: ``draft/weight_gemm``, ``seam:draft->verify``."""

NOTHING: More = {}


def with_rounds(made: Analysis, more: More = NOTHING, rounds: int = COUNT) -> Analysis:
    """Return an analysis whose rounds differ by some ns around what their spreads say."""
    series = tuple(
        _series(time, gaps, more, rounds)
        for time, gaps in zip(made.per_gpu, made.gaps, strict=True)
    )
    return replace(made, series=series)


def base() -> Analysis:
    made = with_rounds(speculative_two_gpus())
    return replace(made, trace=replace(made.trace, file="before.sqlite"))


def head(more: More = NOTHING, rounds: int = COUNT) -> Analysis:
    made = with_rounds(speculative_two_gpus(), more, rounds)
    return replace(made, trace=replace(made.trace, file="after.sqlite"))


def diff(more: More = NOTHING) -> Diff:
    return compare_analyses(base(), head(more))


def _series(time: GpuTime, gaps: GpuGaps, more: More, rounds: int) -> RoundSeries:
    categories = tuple(
        CategorySeries(
            one.category,
            one.phase or "other",
            _around(
                one.spread.median if one.spread else 0, f"{one.phase}/{one.category}", more, rounds
            ),
        )
        for one in time.category_rounds
    )
    seams = tuple(
        Series(one.seam, _around(one.per_round_ns or 0, f"seam:{one.seam}", more, rounds))
        for one in gaps.seams
    )
    groups = (*_busy(categories, rounds), *_idle(time, seams, more, rounds))
    walls = tuple(map(sum, zip(*(one.ns for one in groups if one.ns), strict=True)))
    starts = tuple(range(0, rounds * 10_000_000, 10_000_000))
    return RoundSeries(time.gpu, starts, walls, categories, groups, seams, 0)


def _median(spread: Spread | None) -> int:
    return 0 if spread is None else spread.median


def _busy(categories: tuple[CategorySeries, ...], rounds: int) -> list[Series]:
    found = []
    for group in GROUPS:
        mine = [one.ns for one in categories if group_of(one.category, one.phase) == group]
        sums = tuple(map(sum, zip(*mine, strict=True))) if mine else (0,) * rounds
        found.append(Series(group, sums))
    return found


def _idle(time: GpuTime, seams: tuple[Series, ...], more: More, rounds: int) -> list[Series]:
    in_graph, host, no_work = GAP_GROUPS
    inside = next(one.spread for one in time.per_round if one.group == in_graph)
    hidden = None if inside is None else _around(inside.median, in_graph, more, rounds)
    sums = tuple(map(sum, zip(*(one.ns for one in seams if one.ns), strict=True)))
    return [Series(in_graph, hidden), Series(host, sums), Series(no_work, (0,) * rounds)]


def _around(time_ns: int, label: str, more: More, rounds: int) -> tuple[int, ...]:
    """Return a time that differs from round to round by up to 1 %, not at random."""
    longer = time_ns + more.get(label, 0)
    step = len(label) + 7
    return tuple(longer + longer * ((at * step + 3) % 11 - 5) // 500 for at in range(rounds))


LAYER = ("norm", "gemm", "gating", "recurrence", "act")
CATEGORIES = {"norm": "norm", "gemm": "weight_gemm", "act": "activation"}


def with_graphs(made: Analysis, layer: Sequence[str] = LAYER) -> Analysis:
    """Return an analysis whose target runs 48 layers of these kernels, 1,000 ns each."""
    names = sorted(set(layer))
    kernels = tuple(NamedKernel(name, CATEGORIES.get(name, "gdn")) for name in names)
    sequence = tuple(names.index(name) for name in layer) * 48
    graph = GraphSequence(0, "verify", COUNT, COUNT, sequence, (1_000,) * len(sequence))
    return replace(made, sequences=GraphSequences(kernels, (graph,)))
