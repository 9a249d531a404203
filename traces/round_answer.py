"""The rounds and replays of one GPU, as the truth states them."""

from collections.abc import Iterable, Sequence

from traces.timeline import GpuOp, ReplaySpan, RoundStart
from traces.truth import ReplayTruth, RoundTruth, SteadyTruth


def rounds_of(
    starts: Sequence[RoundStart], operations: Iterable[GpuOp], replays: Iterable[ReplaySpan]
) -> tuple[RoundTruth, ...]:
    """Return the rounds of which the trace shows something."""
    spans: dict[int, tuple[int, int]] = {}
    for op in operations:
        if op.lane != "schedule":
            start_ns, end_ns = spans.get(op.round, (op.start_ns, op.end_ns))
            spans[op.round] = min(start_ns, op.start_ns), max(end_ns, op.end_ns)
    first: dict[int, int] = {}
    for replay in replays:
        first.setdefault(replay.round, replay.start_ns)
    decoding = [start.index for start in starts if start.kind != "prefill"]
    return tuple(
        RoundTruth(
            start.index,
            start.kind,
            start.batch_size,
            bool(decoding) and decoding[0] <= start.index <= decoding[-1],
            *spans[start.index],
            first_replay_ns=first.get(start.index),
        )
        for start in starts
        if start.index in spans
    )


def steady_of(rounds: Sequence[RoundTruth]) -> SteadyTruth | None:
    """Return the steady state, if there is one."""
    steady = [each for each in rounds if each.is_steady]
    if not steady:
        return None
    first, last = steady[0], steady[-1]
    return SteadyTruth(first.index, last.index, first.start_ns, max(each.end_ns for each in steady))


def replay_truth(replay: ReplaySpan) -> ReplayTruth:
    """Return one replay."""
    return ReplayTruth(
        kind=replay.graph.kind,
        graph_id=replay.graph.graph_id,
        round=replay.round,
        start_ns=replay.start_ns,
        end_ns=replay.end_ns,
    )
