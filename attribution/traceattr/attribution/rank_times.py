"""What each rank of a group spends in its collectives: on the wire, and waiting for others."""

from collections.abc import Iterator, Sequence

from traceattr.attribution.matching import Collectives, sum_by_round
from traceattr.attribution.rank_figures import Communication
from traceattr.attribution.spread import spread
from traceattr.attribution.timeline import Ids


def rank_times(
    gpus: Sequence[int],
    inside: Collectives,
    matched: Collectives,
    rounds: Ids,
    unmatched_ns: Sequence[int],
) -> Iterator[Communication]:
    """Yield the figures of each rank.

    Args:
        gpus: The number of each.
        inside: The collectives that sums are about.
        matched: Those that figures per round are about.
        rounds: Which rounds.
        unmatched_ns: Time of each rank in communication kernels that are none of these.
    """
    wire_ns, wait_ns, caused_ns = inside.wire_ns, inside.wait_ns, inside.caused_ns
    last = inside.last
    round_wire_ns, round_wait_ns = matched.wire_ns, matched.wait_ns
    for at, gpu in enumerate(gpus):
        yield Communication(
            gpu=gpu,
            collectives=len(inside.round),
            wire_ns=int(wire_ns[at].sum()),
            wait_ns=int(wait_ns[at].sum()),
            late_ns=int(caused_ns[at].sum()),
            arrived_last=int((last == at).sum()),
            unmatched_ns=unmatched_ns[at],
            wire_per_round=spread(sum_by_round(round_wire_ns[at], matched.round, rounds)),
            wait_per_round=spread(sum_by_round(round_wait_ns[at], matched.round, rounds)),
        )
