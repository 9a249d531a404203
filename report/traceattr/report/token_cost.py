"""What one accepted token costs, part by part of a round: computed, nothing rendered."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from statistics import fmean

from traceattr.attribution.analysis import Analysis
from traceattr.attribution.round_figures import RoundSeries
from traceattr.roofline.inputs import Input
from traceattr.roofline.server_load import ServerLoad
from traceattr.rules.categories import HOST_GAPS, IN_GRAPH_GAPS

_NS = 1_000_000_000
_PHASES = ("target", "draft", "prefill", "other")
OTHER_GAPS = "other gaps"
ALL_GAPS = "all gaps, lengthened by tracing"


@dataclass(frozen=True, slots=True)
class CostPart:
    """One part of a round.

    Attributes:
        name: A phase, or what a gap joins.
        is_gap: Whether nothing runs in it.
        round_ns: Mean time in a round, as the mean of the GPUs.
    """

    name: str
    is_gap: bool
    round_ns: int


@dataclass(frozen=True, slots=True)
class TokenCost:
    """What one accepted token of one request costs, beside what the server says of itself.

    Attributes:
        accept_length: Tokens that a request gains per round; None when nobody said it.
        batch: Requests in flight; None when nobody said it.
        round_ns: Mean length of a round; the parts sum to it, but for rounding.
        parts: Work first, then gaps, longest first; empty without rounds.
        gpus: Number of GPUs that times are the mean of.
        load: What the server logged, if a log was given.
        notices: What to know, with the remedy.
    """

    accept_length: Input[float] | None
    batch: Input[int] | None
    round_ns: int | None
    parts: tuple[CostPart, ...]
    gpus: int
    load: ServerLoad | None
    notices: tuple[str, ...] = ()

    @property
    def token_ns(self) -> int | None:
        """Time that one token of a request takes."""
        return None if self.round_ns is None else self.of_token(self.round_ns)

    @property
    def tokens_per_s(self) -> float | None:
        """Tokens per second of all requests, from the rounds of the trace."""
        if self.round_ns is None or self.accept_length is None or self.batch is None:
            return None
        return self.batch.value * self.accept_length.value / self.round_ns * _NS

    @property
    def logged_tokens_per_s(self) -> float | None:
        """Tokens per second of all requests, as the server says."""
        return None if self.load is None else self.load.tokens_per_s

    def of_token(self, round_ns: int) -> int | None:
        """Return the share of one token in a time per round."""
        if self.accept_length is None:
            return None
        return round(round_ns / self.accept_length.value)


def cost_of_token(
    analysis: Analysis,
    *,
    accept_length: Input[float] | None,
    batch: Input[int] | None,
    load: ServerLoad | None,
) -> TokenCost:
    """Return what a token costs in the rounds of a trace.

    Args:
        analysis: What was measured.
        accept_length: Tokens that a request gains per round, as somebody said.
        batch: Requests in flight.
        load: What the server said.
    """
    if accept_length is None and analysis.rounds.kind == "decode":
        accept_length = Input(1.0, "trace")
    parts = tuple(_parts(analysis.series))
    cost = TokenCost(
        accept_length=accept_length,
        batch=batch,
        round_ns=_round_ns(analysis.series),
        parts=parts,
        gpus=len(analysis.series),
        load=load,
    )
    notices = tuple(_notices(analysis, cost))
    return TokenCost(cost.accept_length, cost.batch, cost.round_ns, parts, cost.gpus, load, notices)


def without_single_gaps(cost: TokenCost) -> TokenCost:
    """Return the cost with all gaps as one part, where nothing can be claimed of single ones."""
    gaps_ns = sum(part.round_ns for part in cost.parts if part.is_gap)
    work = tuple(part for part in cost.parts if not part.is_gap)
    return replace(cost, parts=(*work, CostPart(ALL_GAPS, True, gaps_ns)))


def _round_ns(series: Iterable[RoundSeries]) -> int | None:
    means = [fmean(one.wall_ns[one.seams_from :]) for one in series if one.wall_ns]
    return round(fmean(means)) if means else None


def _parts(series: tuple[RoundSeries, ...]) -> Iterator[CostPart]:
    """Yield phases in the order of a round, then gaps by length."""
    times = [_times(one) for one in series if one.wall_ns]
    if not times:
        return
    keys = dict.fromkeys(key for of_gpu in times for key in of_gpu)
    means = {key: round(sum(of_gpu.get(key, 0.0) for of_gpu in times) / len(times)) for key in keys}
    for is_gap in (False, True):
        known = [(name, ns) for (gap, name), ns in means.items() if gap == is_gap and ns]
        order = sorted(known, key=lambda one: -one[1]) if is_gap else known
        for name, ns in order:
            yield CostPart(name, is_gap, ns)


def _times(series: RoundSeries) -> Mapping[tuple[bool, str], float]:
    """Return the mean time of each part on one GPU; they sum to the mean round."""
    begin = series.seams_from
    times = dict[tuple[bool, str], float]()
    for phase in _PHASES:
        of_phase = [fmean(one.ns[begin:]) for one in series.categories if one.phase == phase]
        if of_phase:
            times[False, phase] = sum(of_phase)
    for group in series.groups:
        if group.name == IN_GRAPH_GAPS and group.ns is not None:
            times[True, IN_GRAPH_GAPS] = fmean(group.ns[begin:])
    for seam in series.seams:
        if seam.ns is not None:
            times[True, seam.name] = fmean(seam.ns[begin:])
    rest = fmean(series.wall_ns[begin:]) - sum(times.values())
    if round(rest) > 0:
        times[True, OTHER_GAPS if series.seams else HOST_GAPS] = rest
    return times


def _notices(analysis: Analysis, cost: TokenCost) -> Iterator[str]:
    if cost.round_ns is None:
        yield "the cost of a token is unknown: the trace shows no rounds"
    elif cost.accept_length is None:
        said = f"the {cost.load.source} does not say it" if cost.load else "it was not given"
        yield (
            f"the cost of a token is unknown without the accept length, and {said}; give"
            " --accept-length"
        )
    if cost.load is None:
        return
    if not cost.load.in_window:
        yield (
            f"the {cost.load.source} could not be matched to the window by its times; this is"
            f" {cost.load.about}"
        )
    if (
        (share := cost.load.graph_share) is not None
        and share < 1
        and analysis.rounds.kind != "none"
    ):
        yield f"{100 * (1 - share):.0f} % of the steps in the server log ran without CUDA graphs"
