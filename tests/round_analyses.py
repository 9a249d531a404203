"""Small analyses of servers that repeat a round, written by hand."""

from dataclasses import replace

from tests import round_parts
from tests.analyses import analysis, decode_kernels, idle
from traceattr.attribution.analysis import (
    Analysis,
    CategorySpread,
    CategoryTime,
    GpuTime,
    GraphFamily,
    GroupSpread,
    Notice,
    RoundsSummary,
    SlowRounds,
    Window,
)
from traceattr.attribution.groups import NO_WORK, group_of
from traceattr.attribution.layer_figures import Layers
from traceattr.attribution.round_figures import Phase, Spread
from traceattr.rules.categories import GRAPH, GROUPS, HOST_GAPS, IN_GRAPH_GAPS, UNCLASSIFIED

COUNT = 120
"""Rounds in each of these analyses."""

Part = tuple[str, str | None, Phase, int, int]
"""Category, subcategory, phase, time in a round, and by how much the slowest round exceeds it."""

TARGET: tuple[Part, ...] = (
    ("weight_gemm", None, "target", 5_445_000, 12_000),
    ("gdn", None, "target", 553_000, 1_500),
    ("attention", None, "target", 190_000, 900),
    ("attention", None, "other", 7_000, 300),
    ("kv_cache", None, "target", 24_000, 0),
    ("kv_cache", None, "other", 5_000, 100),
    ("rope", None, "target", 38_000, 500),
    ("comm", "custom", "target", 1_240_000, 80_000),
    ("comm", "nccl", "target", 34_000, 6_000),
    ("norm", None, "target", 42_000, 700),
    ("elementwise", None, "target", 357_000, 900),
    ("elementwise", None, "other", 128_000, 900),
    ("sampling", None, "target", 16_000, 400),
    ("embedding", None, "target", 2_000, 0),
    ("memory", None, "other", 31_000, 4_000),
)
DRAFT: tuple[Part, ...] = (
    ("weight_gemm", None, "draft", 1_044_000, 9_000),
    ("attention", None, "draft", 24_000, 900),
    ("kv_cache", None, "draft", 2_000, 300),
    ("rope", None, "draft", 3_000, 0),
    ("comm", "custom", "draft", 106_000, 93_000),
    ("comm", "nccl", "draft", 77_000, 11_000),
    ("draft", None, "draft", 11_000, 300),
    ("draft", None, "other", 9_000, 0),
    ("norm", None, "draft", 33_000, 700),
    ("sampling", None, "draft", 73_000, 500),
)
GRAPHS = (
    ("draft", (61,), "high", "1 layer in 2 passes, before tree building, right before the target"),
    ("verify", (17, 18), "high", "64 layers in 1 pass, after tree building, before verification"),
    (
        "draft_extend",
        (104, 105),
        "high",
        "1 layer in 1 pass, after verification, right after the target",
    ),
)
HIDDEN_LAYERS = "no layers: graphs were not traced per node"

Graph = tuple[str, tuple[int, ...], str, str]


def spread(median: int, slower: int = 0) -> Spread:
    """Return a spread whose slowest round exceeds the median by ``slower``."""
    low = median - slower // 4 if median else 0
    return Spread(median, median + slower * 3 // 4, median + slower // 16, low, median + slower)


def parts_of(parts: tuple[Part, ...], times: int = COUNT) -> list[CategoryTime]:
    return [
        CategoryTime(name, sub, phase, ns * times, ns * times, 10 * times, spread(ns, slower))
        for name, sub, phase, ns, slower in parts
    ]


def gpu_rounds(number: int, parts: tuple[Part, ...], in_graph: int | None, host: int) -> GpuTime:
    """Return a GPU with `COUNT` rounds of these parts and gaps."""
    gaps = idle(in_graph=None if in_graph is None else in_graph * COUNT, between=host * COUNT)
    categories = parts_of(parts)
    busy_ns = sum(entry.exclusive_ns for entry in categories)
    return GpuTime(
        gpu=number,
        wall_ns=busy_ns + gaps.total_ns,
        busy_ns=busy_ns,
        kernel_ns=busy_ns,
        categories=tuple(categories),
        idle=gaps,
        per_round=(*_busy_rounds(parts), *_gap_rounds(in_graph, host)),
        category_rounds=tuple(_category_rounds(parts)),
    )


def _busy_rounds(parts: tuple[Part, ...]) -> list[GroupSpread]:
    spreads = []
    for group in GROUPS:
        mine = [part for part in parts if group_of(part[0], part[2]) == group]
        spreads.append(GroupSpread(group, spread(sum(p[3] for p in mine), sum(p[4] for p in mine))))
    return spreads


def _gap_rounds(in_graph: int | None, host: int) -> list[GroupSpread]:
    return [
        GroupSpread(IN_GRAPH_GAPS, None if in_graph is None else spread(in_graph, 25_000)),
        GroupSpread(HOST_GAPS, spread(host, 95_000)),
        GroupSpread(NO_WORK, spread(0)),
    ]


def _category_rounds(parts: tuple[Part, ...]) -> list[CategorySpread]:
    pairs = dict.fromkeys((part[0], part[2]) for part in parts)
    return [
        CategorySpread(
            name, phase, spread(sum(part[3] for part in parts if (part[0], part[2]) == pair))
        )
        for pair in pairs
        for name, phase in [pair]
    ]


def summary(
    gpus: int, wall_ns: int, graphs: tuple[Graph, ...] = GRAPHS, count: int = COUNT
) -> RoundsSummary:
    return RoundsSummary(
        kind="speculative" if len(graphs) > 1 else "decode",
        why=None,
        count=count,
        sampled=count,
        prefills=0,
        wall=spread(wall_ns, 130_000),
        replays_per_round=tuple((kind, 1.0) for kind, *_ in sorted(graphs)),
        graphs=tuple(
            GraphFamily(gpu, ids, count, kind, confidence, evidence)
            for gpu in range(gpus)
            for kind, ids, confidence, evidence in graphs
        ),
        slow=SlowRounds(2, HOST_GAPS, 71_000, 0.568),
        cut=(),
    )


def made_of(*per_gpu: GpuTime, graphs: tuple[Graph, ...] = GRAPHS) -> Analysis:
    """Return the analysis of GPUs that do the same rounds."""
    gpus, wall_ns = len(per_gpu), per_gpu[0].wall_ns // COUNT
    rounds = summary(gpus, wall_ns, graphs)
    made = analysis(*per_gpu, kernels=decode_kernels(gpus), warnings=(), rounds=rounds)
    seams = round_parts.DECODE if rounds.kind == "decode" else round_parts.SPECULATIVE
    launches = [(round_parts.launches(rounds.kind, time, COUNT),) for time in per_gpu]
    return replace(
        made,
        gaps=tuple(
            round_parts.gpu_gaps(time, seams, COUNT, figures)
            for time, figures in zip(per_gpu, launches, strict=True)
        ),
        ranks=(round_parts.waiting_ranks(gpus, COUNT),) if gpus > 1 else made.ranks,
        layers=round_parts.alike(round_parts.HYBRID, per_gpu),
    )


def speculative() -> Analysis:
    return made_of(gpu_rounds(0, (*TARGET, *DRAFT), 937_000, 682_000))


def _ranks(gpus: int) -> list[GpuTime]:
    """Return ranks of which the last is 1 % slower, so that the others wait for it."""
    fast, slow = 1_240_000, 1_240_000 - 54_450
    times = []
    for number in range(gpus):
        is_slow = number == gpus - 1
        parts = tuple(
            (name, sub, phase, slow if is_slow else fast, slower)
            if (name, sub, phase) == ("comm", "custom", "target")
            else (name, sub, phase, 5_499_450, slower)
            if is_slow and (name, phase) == ("weight_gemm", "target")
            else (name, sub, phase, ns, slower)
            for name, sub, phase, ns, slower in (*TARGET, *DRAFT)
        )
        times.append(gpu_rounds(number, parts, 937_000, 682_000))
    return times


def speculative_two_gpus() -> Analysis:
    made = made_of(*_ranks(2))
    simulated = "Qwen3.6-27B, TP2, 3-step MTP on H100, seed 7"
    return replace(made, trace=replace(made.trace, simulated=simulated))


def speculative_four_gpus() -> Analysis:
    return made_of(*_ranks(4))


def speculative_eight_gpus() -> Analysis:
    return made_of(*_ranks(8))


def decode_rounds() -> Analysis:
    """Return a server without speculation, with prefills between its rounds."""
    graph = ("decode", (17,), "high", "64 layers in 1 pass, right after the target")
    pieces = ("prefill_piece", (*range(300, 348), *range(360, 376), 390), "medium", "a row")
    made = made_of(gpu_rounds(0, TARGET, 860_000, 20_000), graphs=(graph,))
    (time,) = made.per_gpu
    prefill = CategoryTime("weight_gemm", None, "prefill", 90_000_000, 90_000_000, 300, spread(0))
    longer = replace(
        time,
        wall_ns=time.wall_ns + prefill.exclusive_ns,
        busy_ns=time.busy_ns + prefill.exclusive_ns,
        kernel_ns=time.kernel_ns + prefill.exclusive_ns,
        categories=(*time.categories, prefill),
    )
    graphs = (*made.rounds.graphs, GraphFamily(0, pieces[1], 130, pieces[0], pieces[2], pieces[3]))
    rounds = replace(made.rounds, prefills=3, graphs=graphs)
    window = Window(made.window.start_ns, made.window.start_ns + longer.wall_ns, made.window.why)
    (gaps,) = made.gaps
    prefill_launches = replace(gaps.launches[0], kind="prefill", graph_launches=0.0, rounds=3)
    gaps = replace(gaps, launches=(*gaps.launches, prefill_launches), wall_ns=longer.wall_ns)
    return replace(made, per_gpu=(longer,), gaps=(gaps,), rounds=rounds, window=window)


def opaque_rounds() -> Analysis:
    """Return rounds whose graphs were traced as a whole."""
    parts: tuple[Part, ...] = (
        ("gdn", None, "other", 90_000, 900),
        ("sampling", None, "other", 16_000, 300),
        ("memory", None, "other", 31_000, 4_000),
        ("draft", None, "other", 9_000, 0),
        (GRAPH, None, "target", 8_970_000, 60_000),
        (GRAPH, None, "draft", 1_460_000, 90_000),
    )
    evidence = "nodes hidden, in order"
    graphs = tuple((kind, ids, "medium", evidence) for kind, ids, *_ in GRAPHS)
    made = made_of(
        *(gpu_rounds(number, parts, None, 682_000) for number in range(2)), graphs=graphs
    )
    trace = replace(made.trace, graph_trace="graph", opaque_replays=2 * 3 * COUNT)
    return replace(
        made,
        trace=trace,
        ranks=round_parts.ranks_without_figures(2, round_parts.HIDDEN),
        layers=round_parts.alike(Layers(0, reason=HIDDEN_LAYERS), made.per_gpu),
    )


def cut_rounds() -> Analysis:
    """Return few rounds of a long capture, whose ends are left out."""
    made = speculative()
    cut = (
        "12.345 s before the steady rounds are left out (loading, capture or warm-up)",
        "0.815 s after the steady rounds are left out (no rounds)",
    )
    window = replace(made.window, why="steady rounds")
    rounds = replace(made.rounds, count=20, sampled=20, slow=None, cut=cut)
    warnings = tuple(Notice("window-cut", f"{text}; --window says otherwise.") for text in cut)
    gaps = tuple(replace(one, rounds=20) for one in made.gaps)
    return replace(made, rounds=rounds, gaps=gaps, window=window, warnings=warnings)


def unsure_rounds() -> Analysis:
    """Return GPUs that disagree on a graph that nothing tells well."""
    made = speculative_two_gpus()
    unsure = GraphFamily(1, (230,), 7, "other", "low", "2 layers in 1 pass")
    rounds = replace(made.rounds, graphs=(*made.rounds.graphs, unsure), slow=None)
    warning = Notice(
        "graph-kind-unknown",
        "What graph 230 of GPU 1 is for cannot be told (2 layers in 1 pass);"
        " say it with --graph-kind 230=draft, or what it is.",
    )
    return replace(made, rounds=rounds, warnings=(warning,))


def unclassified_rounds() -> Analysis:
    """Return rounds with names that no rule matches, in the target and in the draft."""
    parts: tuple[Part, ...] = (
        *TARGET,
        *DRAFT,
        (UNCLASSIFIED, None, "target", 800_000, 900),
        (UNCLASSIFIED, None, "draft", 1_000, 0),
    )
    return made_of(gpu_rounds(0, parts, 937_000, 682_000))


ROUNDS = {
    "speculative": speculative(),
    "speculative_two_gpus": speculative_two_gpus(),
    "speculative_four_gpus": speculative_four_gpus(),
    "speculative_eight_gpus": speculative_eight_gpus(),
    "decode_rounds": decode_rounds(),
    "opaque_rounds": opaque_rounds(),
    "cut_rounds": cut_rounds(),
    "unsure_rounds": unsure_rounds(),
    "unclassified_rounds": unclassified_rounds(),
}
"""Every analysis with rounds, by the name of its golden files."""
