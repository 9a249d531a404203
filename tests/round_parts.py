"""Gaps, ranks and layers of small analyses, made to fit the time of their GPUs."""

from collections.abc import Sequence
from dataclasses import replace

from traceattr.attribution.analysis import GpuTime, Idle
from traceattr.attribution.gap_figures import Cause, GpuGaps, LaunchFigures, PairTime, SeamTime
from traceattr.attribution.layer_figures import LayerKind, Layers, Period
from traceattr.attribution.rank_figures import Communication, RankGroup, Straggler
from traceattr.attribution.round_figures import Spread

ONE_GPU = "only one GPU: no rank to wait for"
NO_ROUNDS = "no rounds were found, so collectives cannot be matched"
HIDDEN = "collectives are hidden in graphs that were not traced per node"

Parts = tuple[tuple[str, int], ...]
"""Names of gaps, and how much of the time each has in comparison."""

SPECULATIVE: Parts = (
    ("verify->draft_extend", 30),
    ("draft->verify", 25),
    ("draft_extend->draft", 12),
    ("prefill->draft", 1),
)
DECODE: Parts = (("decode->decode", 9), ("prefill->decode", 1))
EAGER: Parts = (("eager", 1),)
PAIRS: Parts = (
    ("weight_gemm->comm", 12),
    ("norm->weight_gemm", 12),
    ("comm->norm", 11),
    ("elementwise->gdn", 8),
    ("gdn->gdn", 4),
)


def split(total_ns: int, parts: Parts) -> list[tuple[str, int]]:
    """Return the parts of a time, which sum to it."""
    whole = sum(weight for _, weight in parts)
    times = [(name, total_ns * weight // whole) for name, weight in parts]
    (name, first), *others = times
    return [(name, first + total_ns - sum(ns for _, ns in times)), *others]


def cause_of(total_ns: int) -> Cause:
    """Return what a late host was doing."""
    sync_ns, launch_ns, dependency_ns = total_ns // 10, total_ns // 8, total_ns // 5
    python_ns = total_ns - sync_ns - launch_ns - dependency_ns
    return Cause(sync_ns, launch_ns, python_ns=python_ns, dependency_ns=dependency_ns)


def seam(name: str, total_ns: int, rounds: int, cause: Cause | None = None) -> SeamTime:
    """Return sixteen gaps in each round, or in all."""
    count = 16 * max(rounds, 1)
    return SeamTime(
        seam=name,
        count=count,
        total_ns=total_ns,
        median_ns=total_ns // (4 * count),
        p99_ns=total_ns * 8 // count,
        longest_ns=total_ns * 9 // count,
        per_round_count=16.0 if rounds else None,
        per_round_ns=round(total_ns / rounds) if rounds else None,
        cause=cause or cause_of(total_ns),
    )


def pair(name: str, total_ns: int, rounds: int) -> PairTime:
    before, after = name.split("->")
    count = 130 * max(rounds, 1)
    return PairTime(
        before=before,
        after=after,
        count=count,
        total_ns=total_ns,
        median_ns=total_ns // count,
        per_round_count=130.0 if rounds else None,
        per_round_ns=round(total_ns / rounds) if rounds else None,
    )


def gpu_gaps(
    time: GpuTime,
    seams: Parts = EAGER,
    rounds: int = 0,
    launches: tuple[LaunchFigures, ...] = (),
) -> GpuGaps:
    """Return the gaps of one GPU, which sum to its idle time."""
    idle = time.idle
    between_ns = idle.between_graph_ns + idle.other_ns - idle.no_work_ns
    return GpuGaps(
        gpu=time.gpu,
        rank=time.gpu,
        pid=4001 + time.gpu,
        wall_ns=time.wall_ns,
        idle_ns=idle.total_ns,
        completeness=idle.completeness,
        rounds=rounds,
        seams=tuple(seam(*part, rounds) for part in split(between_ns, seams) if part[1]),
        pairs=_pairs(idle, rounds),
        no_work=_no_work(idle, rounds),
        shorter_count=0,
        shorter_ns=0,
        longest=(),
        launches=launches,
        knows_os_calls=False,
    )


def _pairs(idle: Idle, rounds: int) -> tuple[PairTime, ...] | None:
    if idle.in_graph_ns is None:
        return None
    return tuple(pair(*part, rounds) for part in split(idle.in_graph_ns, PAIRS) if part[1])


def _no_work(idle: Idle, rounds: int) -> SeamTime | None:
    if not idle.no_work_ns:
        return None
    cause = Cause(unknown_ns=idle.no_work_ns)
    made = seam("no work", idle.no_work_ns, 0, cause)
    return replace(made, per_round_count=0.0, per_round_ns=0) if rounds else made


def outside(gaps: GpuGaps, name: str, total_ns: int) -> GpuGaps:
    """Return the same gaps with a seam that lies in no round of the main kind."""
    made = seam(name, total_ns, 0, Cause(dependency_ns=total_ns))
    last = replace(made, per_round_count=0.0, per_round_ns=0)
    return replace(gaps, seams=(*gaps.seams, last), idle_ns=gaps.idle_ns + total_ns)


def launches(kind: str, time: GpuTime, rounds: int) -> LaunchFigures:
    graphs = 3 if kind == "speculative" else 1
    hides = time.idle.in_graph_ns is None
    return LaunchFigures(
        kind=kind,
        rounds=rounds,
        graph_launches=float(graphs),
        graph_launch_ns=52_000 * graphs,
        eager_launches=20.5,
        graph_nodes=None if hides else 416.0 * graphs,
        gpu_span_ns=time.wall_ns // rounds,
        busy_ns=time.busy_ns // rounds,
        kernel_ns=None if hides else time.kernel_ns // rounds,
        cpu_span_ns=time.wall_ns // rounds - 450_000,
    )


def ranks_without_figures(gpus: int, reason: str) -> tuple[RankGroup, ...]:
    """Return one group of which nothing can be said."""
    if not gpus:
        return ()
    return (RankGroup(tuple(range(gpus)), reason=ONE_GPU if gpus == 1 else reason),)


def waiting_ranks(gpus: int, rounds: int, unmatched_ns: int = 0) -> RankGroup:
    """Return a group that waits for its last rank, which is slow at weight GEMMs."""
    per_gpu = [_waiting(number, gpus, rounds, unmatched_ns) for number in range(gpus)]
    last = 90 * rounds
    return RankGroup(
        gpus=tuple(range(gpus)),
        rounds=rounds,
        per_gpu=tuple(per_gpu),
        straggler=Straggler(gpus - 1, last * 4_000, "weight_gemm", last * 2_500),
        decode_rounds=rounds,
    )


def _waiting(number: int, gpus: int, rounds: int, unmatched_ns: int) -> Communication:
    """Return a rank that waits 200 us in a round, or 20 us for the others if it is the last."""
    is_last = number == gpus - 1
    wait_ns, others = (20_000 if is_last else 200_000), gpus - 1
    caused_ns = 200_000 * others if is_last else 20_000 // others
    return Communication(
        gpu=number,
        collectives=130 * rounds,
        wire_ns=1_043_000 * rounds,
        wait_ns=wait_ns * rounds,
        late_ns=caused_ns * rounds,
        arrived_last=90 * rounds if is_last else 40 // others * rounds,
        unmatched_ns=unmatched_ns,
        wire_per_round=Spread(1_043_000, 1_045_000, 1_043_100, 1_041_900, 1_045_100),
        wait_per_round=Spread(wait_ns, 2 * wait_ns, wait_ns + 500, wait_ns // 2, 2 * wait_ns),
    )


HYBRID = Layers(
    gpu=0,
    replays=120,
    layers=64,
    attention_layers=16,
    recurrent_layers=48,
    period=Period((*3 * (LayerKind.RECURRENT,), LayerKind.ATTENTION), 16, 0),
    kernels_per_attention_layer=20,
    kernels_per_recurrent_layer=17,
    attention_layer_ns=Spread(145_500, 146_700, 145_600, 143_000, 147_000),
    recurrent_layer_ns=Spread(134_100, 134_800, 134_200, 133_000, 135_000),
)
"""Layers of Qwen3.6-27B, of which three in four have a gated delta net."""


def alike(layers: Layers, times: Sequence[GpuTime]) -> tuple[Layers, ...]:
    """Return the same layers on each GPU."""
    return tuple(replace(layers, gpu=time.gpu) for time in times)
