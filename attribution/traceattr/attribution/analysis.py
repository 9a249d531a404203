"""Every number a report shows, as frozen dataclasses; renderers read nothing else.

Times are integer nanoseconds.  ``None`` means that the trace cannot tell; the reason is one of
`Analysis.warnings`.
"""

from dataclasses import dataclass, field
from typing import Literal

from traceattr.attribution.gap_figures import Completeness, GpuGaps
from traceattr.attribution.layer_figures import Layers
from traceattr.attribution.rank_figures import CollectiveSeries, RankGroup
from traceattr.attribution.round_figures import Phase, RoundSeries, Spread
from traceattr.attribution.sequence_figures import GraphSequences

GraphTrace = Literal["node", "graph", "none", "mixed"]


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the reader must know before trusting the numbers.

    Attributes:
        code: Stable lower-case word for machines, such as ``graph-mode``.
        text: One sentence, with the remedy when there is one.
    """

    code: str
    text: str


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A message of nsys itself about the capture.

    Attributes:
        severity: 2 warning, 3 error (1 info and 4 verbose are not kept).
        text: The message, unchanged.
        count: How many times nsys recorded it.
        pid: Operating-system id of the process it is about, when known.
    """

    severity: int
    text: str
    count: int
    pid: int | None


@dataclass(frozen=True, slots=True)
class RulesId:
    """Which rules decided the categories.

    Attributes:
        name: Rule files in order of precedence, joined with ``+``.
        sha256: Digest over their bytes, hexadecimal.
    """

    name: str
    sha256: str


@dataclass(frozen=True, slots=True)
class TraceFacts:
    """What the file says about itself.

    Attributes:
        file: Name of the file, without its directories.
        nsys_version: Version of Nsight Systems that exported it.
        schema_version: Version of the export schema, such as ``3.25.0``.
        graph_trace: Whether CUDA graphs were traced per node, per graph, both or not at all.
        opaque_replays: Replays recorded as one envelope, without their nodes.
        unrecorded_graph_launches: Graph launches whose GPU work is missing; idle time is then an
            upper limit.
        duration_ns: Length of the capture; GPU work may cover less.
        driver_version: NVIDIA driver.
        simulated: What the simulator says when the trace is not a recording.
        diagnostics: Warnings and errors of nsys, without duplicates.
        epoch_ns: Wall clock, in ns since 1970, at time 0 of the trace; None when not recorded.
    """

    file: str
    nsys_version: str | None
    schema_version: str | None
    graph_trace: GraphTrace
    opaque_replays: int
    unrecorded_graph_launches: int
    duration_ns: int | None
    driver_version: str | None
    simulated: str | None
    diagnostics: tuple[Diagnostic, ...]
    epoch_ns: int | None = None


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU as one process sees it; two ranks may both call theirs device 0.

    Attributes:
        gpu: Dense number of this GPU in the trace, from 0.
        pid: Operating-system id of the owning process, when the trace names one.
        process: Name or title of the process.
        device_id: CUDA ordinal inside the process.
        rank: Tensor-parallel rank.
        rank_from: Where the rank comes from, such as ``process title`` or ``device order``.
        name: Marketing name of the physical GPU.
        name_from: How the physical GPU was found: ``trace`` (resolved by the trace), ``assumed``
            (by ordinal, or because all GPUs are alike); None when it is unknown.
        sm_count: Streaming multiprocessors.
        memory_bandwidth_bytes_per_s: As the driver reports it.
    """

    gpu: int
    pid: int | None
    process: str | None
    device_id: int
    rank: int | None
    rank_from: str | None
    name: str | None
    name_from: str | None
    sm_count: int | None
    memory_bandwidth_bytes_per_s: int | None


@dataclass(frozen=True, slots=True)
class Window:
    """The part of the trace that the numbers are about.

    Attributes:
        start_ns: Begin, on the trace's own clock.
        end_ns: End, exclusive.
        why: How it was chosen, for people.
    """

    start_ns: int
    end_ns: int
    why: str

    @property
    def wall_ns(self) -> int:
        """Return the length."""
        return self.end_ns - self.start_ns


@dataclass(frozen=True, slots=True)
class CategoryTime:
    """One category on one GPU.

    Attributes:
        category: Name, one of `traceattr.rules.categories.CATEGORIES`.
        subcategory: ``nccl`` or ``custom`` for communication, else None.
        phase: Of which model's pass it is part; ``other`` is eager work around the passes.  None
            when the trace shows no rounds.
        exclusive_ns: Wall time owned by this category; over all categories it sums to busy time.
        sum_ns: Sum of durations inside the window; may exceed the wall where operations overlap.
        operations: Operations that touch the window.
        per_round: Exclusive time over the rounds, None without rounds.
    """

    category: str
    subcategory: str | None
    phase: Phase | None
    exclusive_ns: int
    sum_ns: int
    operations: int
    per_round: Spread | None


@dataclass(frozen=True, slots=True)
class KernelTime:
    """One kernel name.  Ranks run the same kernels, so times are shown per GPU, never added up.

    Attributes:
        name: Demangled name, or the short one where the trace has no other.
        category: Its category.
        subcategory: Its subcategory, if the rule names one.
        rule: Name of the rule that won, None for unclassified.
        gpus: Number of GPUs that ran it in the window.
        operations: Launches that touch the window, on all these GPUs.
        total_ns: Sum of durations inside the window, on all these GPUs.
        median_ns: Median duration of a whole launch.
    """

    name: str
    category: str
    subcategory: str | None
    rule: str | None
    gpus: int
    operations: int
    total_ns: int
    median_ns: int

    @property
    def mean_ns(self) -> int:
        """Return the sum of durations on one of its GPUs, as the mean over them."""
        return round(self.total_ns / self.gpus)

    @property
    def mean_operations(self) -> int:
        """Return the launches on one of its GPUs, as the mean over them."""
        return round(self.operations / self.gpus)


@dataclass(frozen=True, slots=True)
class Idle:
    """Wall time in which nothing ran on one GPU; the parts sum to `total_ns`.

    Attributes:
        total_ns: All idle time.
        in_graph_ns: Inside one graph replay; None when replays were recorded as envelopes only.
        between_graph_ns: Outside replays, between the first and the last replay.
        other_ns: The rest: traces without graphs, before the first or after the last replay, and
            pauses.
        no_work_ns: Part of `other_ns`: before the GPU's first or after its last operation, and
            pauses longer than several rounds, in which no request can be in flight.
        completeness: Whether what the process launched was recorded: ``complete``, ``incomplete``
            (idle time is then an upper limit), or ``unknown`` without recorded launches.
    """

    total_ns: int
    in_graph_ns: int | None
    between_graph_ns: int
    other_ns: int
    no_work_ns: int
    completeness: Completeness = "unknown"


@dataclass(frozen=True, slots=True)
class CategorySpread:
    """How one category in one phase, all subcategories together, varies over the rounds.

    Attributes:
        category: Name.
        phase: As in `CategoryTime`.
        spread: Of its exclusive time per round.
    """

    category: str
    phase: Phase | None
    spread: Spread | None


@dataclass(frozen=True, slots=True)
class GroupSpread:
    """How one group varies over the rounds.

    Attributes:
        group: Name of the group, as in tables.
        spread: Of its time per round; None when the trace cannot tell.
    """

    group: str
    spread: Spread | None


@dataclass(frozen=True, slots=True)
class GpuTime:
    """Where the time of one GPU went.

    Attributes:
        gpu: Number of the GPU, see `Gpu`.
        wall_ns: Length of the window.
        busy_ns: Time in which at least one operation ran.
        kernel_ns: Time in which at least one kernel or graph ran; copies do not count.
        categories: Categories with at least one operation, in table order.
        idle: The rest of the window.
        per_round: Time of each group over the rounds, in table order; empty without rounds.
        category_rounds: The same for categories.
    """

    gpu: int
    wall_ns: int
    busy_ns: int
    kernel_ns: int
    categories: tuple[CategoryTime, ...]
    idle: Idle
    per_round: tuple[GroupSpread, ...]
    category_rounds: tuple[CategorySpread, ...]


@dataclass(frozen=True, slots=True)
class GraphFamily:
    """CUDA graphs of one purpose on one GPU.

    Attributes:
        gpu: Number of the GPU.
        graph_ids: Their ids; graphs of one purpose differ in the batch size.
        replays: How many replays they have.
        kind: verify, decode, draft, draft_extend, prefill_piece or other.
        confidence: high, medium or low.
        evidence: Why, in words.
        passes: Forward passes in a replay; None when the trace cannot tell.
    """

    gpu: int
    graph_ids: tuple[int, ...]
    replays: int
    kind: str
    confidence: str
    evidence: str
    passes: int | None = None


@dataclass(frozen=True, slots=True)
class SlowRounds:
    """What makes the slowest rounds slow.

    Attributes:
        count: Rounds at or above the 99th percentile.
        group: Group with the largest excess over its median.
        excess_ns: That excess, as the mean over these rounds.
        share: Its part of the excess of the whole round.
    """

    count: int
    group: str
    excess_ns: int
    share: float


@dataclass(frozen=True, slots=True)
class RoundsSummary:
    """What the server repeats, on the first GPU; all ranks of a group do the same.

    Attributes:
        kind: ``speculative``, ``decode`` or ``none``.
        why: Why there are none, None when there are.
        count: Rounds of that kind in the window.
        sampled: Those that figures per round are about: another begins right after them.
        prefills: Prefills in the window.
        wall: From the begin of one round to the begin of the next.
        replays_per_round: Mean replays of each kind of graph in a round, by kind.
        graphs: What each graph is for, and why.
        slow: What makes the slowest rounds slow, None with fewer than 30 rounds.
        cut: What the window leaves out, and why; one sentence each.
        target_graphs: Ids of the target's graphs in the sampled rounds, ascending.
        draft_graphs: The same of each kind of the draft's graphs.
        target_rows: Rows that the target's passes go over, the batch padded; None where that was
            not looked at, or the trace does not show it for sure.
        draft_rows: The same of each kind of the draft's graphs; those that are not sure are left
            out.
    """

    kind: Literal["speculative", "decode", "none"]
    why: str | None
    count: int
    sampled: int
    prefills: int
    wall: Spread | None
    replays_per_round: tuple[tuple[str, float], ...]
    graphs: tuple[GraphFamily, ...]
    slow: SlowRounds | None
    cut: tuple[str, ...]
    target_graphs: tuple[int, ...] = ()
    draft_graphs: tuple[tuple[str, tuple[int, ...]], ...] = ()
    target_rows: int | None = None
    draft_rows: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Analysis:
    """Everything a report shows about one trace.

    Attributes:
        version: Version of traceattr.
        rules: Which rules were used.
        trace: What the file says about itself.
        gpus: The GPUs, in order of rank.
        window: What the numbers are about.
        rounds: What the server repeats.
        per_gpu: One entry per GPU, in the order of `gpus`.
        gaps: Idle time by what it joins, one entry per GPU.
        ranks: Wait and wire of the collectives of each tensor-parallel group.
        layers: The layers of the target, one entry per GPU.
        kernels: Every kernel name in the window, longest time per GPU first.
        warnings: What to know before trusting the numbers.
        series: Figures of each round, one entry per GPU; empty without rounds.
        sequences: What the graphs run, in order.
        collectives: What traces of other ranks are compared with, one entry per GPU with rounds.
    """

    version: str
    rules: RulesId
    trace: TraceFacts
    gpus: tuple[Gpu, ...]
    window: Window
    rounds: RoundsSummary
    per_gpu: tuple[GpuTime, ...]
    gaps: tuple[GpuGaps, ...]
    ranks: tuple[RankGroup, ...]
    layers: tuple[Layers, ...]
    kernels: tuple[KernelTime, ...]
    warnings: tuple[Notice, ...]
    series: tuple[RoundSeries, ...] = ()
    sequences: GraphSequences = field(default_factory=GraphSequences)
    collectives: tuple[CollectiveSeries, ...] = ()
