"""Figures about the ranks of a tensor-parallel group: who waits for whom, and how long."""

from dataclasses import dataclass

from traceattr.attribution.round_figures import Spread

IDLE = "idle"
"""Stands in place of a category for time in which a GPU ran nothing."""


@dataclass(frozen=True, slots=True)
class Straggler:
    """The rank that the others wait for, and what keeps it.

    Attributes:
        gpu: Number of its GPU.
        behind_ns: How much longer than the mean of the others it took from one collective to the
            next, over those at which it arrived last.
        category: Category with the largest part of that, or `IDLE`; None when it was not behind.
        excess_ns: That part.
    """

    gpu: int
    behind_ns: int
    category: str | None
    excess_ns: int | None


@dataclass(frozen=True, slots=True)
class Communication:
    """The collectives of one GPU that are complete inside the window.

    Attributes:
        gpu: Number of the GPU.
        collectives: How many.
        wire_ns: Time in them after the last rank had arrived.
        wait_ns: Time in them before that; with `wire_ns` it sums to their duration.
        late_ns: How long the others waited in those at which this rank arrived last; over the
            group it sums to the waiting.
        arrived_last: In how many it was the last one, alone.
        unmatched_ns: Time in other communication kernels begun in the window: those outside rounds
            that could be compared, and those that do not wait for all ranks.
        wire_per_round: Spread of `wire_ns` over the decode rounds compared.
        wait_per_round: Spread of `wait_ns` over the decode rounds compared.
    """

    gpu: int
    collectives: int
    wire_ns: int
    wait_ns: int
    late_ns: int
    arrived_last: int
    unmatched_ns: int
    wire_per_round: Spread | None
    wait_per_round: Spread | None


@dataclass(frozen=True, slots=True)
class RankGroup:
    """The GPUs of one tensor-parallel group.

    Attributes:
        gpus: Their numbers.
        rounds: Rounds in the window whose collectives were compared.
        rounds_left_out: Rounds in the window whose collectives differ from rank to rank.
        per_gpu: One entry per GPU, in the order of `gpus`; None when nothing can be said.
        straggler: None when no rank stands out.
        reason: Why nothing can be said, for people.
        decode_rounds: Rounds that figures per round are about: those compared that decode and lie
            in the window as a whole.
        usual_collective_ns: How long the collective that those rounds run most takes without any
            waiting: the median of the shortest time among the ranks; None when nothing can be said.
    """

    gpus: tuple[int, ...]
    rounds: int = 0
    rounds_left_out: int = 0
    per_gpu: tuple[Communication, ...] | None = None
    straggler: Straggler | None = None
    reason: str | None = None
    decode_rounds: int = 0
    usual_collective_ns: int | None = None


@dataclass(frozen=True, slots=True)
class CollectiveSeries:
    """Communication kernels of one GPU in some of its rounds, to be matched with other traces.

    Attributes:
        gpu: Number of the GPU.
        is_hidden: Whether graphs in the window were not traced per node; then there are none.
        names: Kernel names.
        rounds: Which rounds, by their places in the `RoundSeries` of the GPU.
        counts: Kernels in each of them.
        name: Name of each kernel, as its place in `names`; round by round, in order of start.
        start_ns: Its begin since that of its round.
        duration_ns: How long it ran.
    """

    gpu: int
    is_hidden: bool
    names: tuple[str, ...] = ()
    rounds: tuple[int, ...] = ()
    counts: tuple[int, ...] = ()
    name: tuple[int, ...] = ()
    start_ns: tuple[int, ...] = ()
    duration_ns: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class SharedCollectives:
    """The collectives of ranks that were recorded in several traces, in rounds of all of them.

    Attributes:
        rounds: Rounds that were compared.
        rounds_left_out: Those whose collectives differ from rank to rank.
        per_rank: One entry per rank, whose `gpu` is the number of the rank in the run; None when
            nothing can be said.
        waited_for: Number of the rank that the others wait for; None when no rank stands out.
        reason: Why nothing can be said, for people.
    """

    rounds: int = 0
    rounds_left_out: int = 0
    per_rank: tuple[Communication, ...] | None = None
    waited_for: int | None = None
    reason: str | None = None
