"""What a round takes in a trace beside what model and hardware say: joined, nothing rendered.

Time is that of one GPU in a round: the mean over the rounds of what a category owns, as the mean
of the GPUs.  What runs eagerly around the passes counts with the target where the prediction has
that category there.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from traceattr.attribution.analysis import Analysis, GpuTime
from traceattr.attribution.groups import group_of
from traceattr.report.grouped import hides_work
from traceattr.report.projection import Projection
from traceattr.roofline.calibration import EXPECTED_ERROR_PERCENT
from traceattr.roofline.hardware import check_against_trace
from traceattr.roofline.notices import Notice
from traceattr.roofline.prediction import CategoryPrediction
from traceattr.roofline.roofline import Roofline
from traceattr.rules.categories import CATEGORIES, HOST_GAPS, IN_GRAPH_GAPS

Verdict = Literal[
    "below bound", "faster", "within error", "slower", "not seen", "not predicted", "unknown"
]
"""How a measured time stands to its prediction."""

Key = tuple[str, str]
"""Phase and category."""

HOST = "host"
OTHER = "other"
PHASE_ORDER = ("target", "draft", "prefill", OTHER, HOST)
_ORDER = (*CATEGORIES, IN_GRAPH_GAPS, HOST_GAPS)
_NS = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Figures:
    """A measured time beside its two predictions, of one GPU and per round, in ns.

    Attributes:
        measured_ns: None when the trace cannot tell.
        bound_ns: None without a prediction.
        expected_ns: None without a prediction.
    """

    measured_ns: int | None
    bound_ns: int | None
    expected_ns: int | None

    @property
    def bound_ratio(self) -> float | None:
        """Measured over bound; None when one of them is unknown, or the bound is 0."""
        return self.measured_ns / self.bound_ns if self.measured_ns and self.bound_ns else None

    @property
    def excess_ns(self) -> int | None:
        """Measured minus expected: what is left to win."""
        if self.measured_ns is None or self.expected_ns is None:
            return None
        return self.measured_ns - self.expected_ns

    @property
    def verdict(self) -> Verdict:
        """How it stands to its prediction."""
        if self.bound_ns is None or self.expected_ns is None:
            return "not predicted"
        if self.measured_ns is None:
            return "unknown"
        if self.measured_ns == 0 and self.expected_ns:
            return "not seen"
        if self.measured_ns < self.bound_ns:
            return "below bound"
        excess_ns = self.measured_ns - self.expected_ns
        if abs(excess_ns) * 100 < EXPECTED_ERROR_PERCENT * self.expected_ns:
            return "within error"
        return "slower" if excess_ns > 0 else "faster"


@dataclass(frozen=True, slots=True)
class ComparedCategory:
    """One category in one phase.

    Attributes:
        phase: ``target``, ``draft``, ``other`` (eager work without a prediction) or ``host``.
        category: Its name, or that of a kind of gap.
        group: Group of the top table.
        measured_ns: Its time in a round on one GPU; None when the trace cannot tell.
        prediction: None for what the prediction does not know.
    """

    phase: str
    category: str
    group: str
    measured_ns: int | None
    prediction: CategoryPrediction | None

    @property
    def figures(self) -> Figures:
        """Return the times."""
        if self.prediction is None:
            return Figures(self.measured_ns, None, None)
        return Figures(self.measured_ns, self.prediction.bound_ns, self.prediction.expected_ns)

    @property
    def bytes_per_s(self) -> float | None:
        """Bandwidth achieved, if the predicted bytes are those that moved."""
        return self._rate(self.prediction.bytes if self.prediction else 0)

    @property
    def flop_per_s(self) -> float | None:
        """FLOP rate achieved, if the predicted operations are those that ran."""
        return self._rate(self.prediction.flop if self.prediction else 0)

    @property
    def flop_per_byte(self) -> float | None:
        """Arithmetic intensity."""
        known = self.prediction is not None and self.prediction.bytes and self.prediction.flop
        return self.prediction.flop / self.prediction.bytes if self.prediction and known else None

    def _rate(self, amount: int) -> float | None:
        return amount / self.measured_ns * _NS if amount and self.measured_ns else None


@dataclass(frozen=True, slots=True)
class Comparison:
    """A trace beside its roofline.

    Attributes:
        roofline: The prediction with its inputs.
        categories: Phase by phase, in table order.
        round_ns: Mean length of a round; None without rounds.
        gpus: Number of GPUs that measured times are the mean of.
        wait_ns: Part of a round's communication in which ranks wait for each other; None when
            that cannot be told.
        reason: Why categories have no measured time, None when they have.
        notices: What the reader must know, about inputs and prediction.
        projections: What the round would take with something changed.
    """

    roofline: Roofline
    categories: tuple[ComparedCategory, ...]
    round_ns: int | None
    gpus: int
    wait_ns: int | None
    reason: str | None
    notices: tuple[Notice, ...]
    projections: tuple[Projection, ...] = ()

    @property
    def round(self) -> Figures:
        """The whole round."""
        prediction = self.roofline.prediction
        return Figures(self.round_ns, prediction.bound_ns, prediction.expected_ns)

    @property
    def measured_tokens_per_s(self) -> float | None:
        """Tokens per second of all requests; None when the accept length is unknown."""
        tokens = self.roofline.prediction.tokens
        return tokens / self.round_ns * _NS if tokens and self.round_ns else None

    @property
    def contradictions(self) -> tuple[Notice, ...]:
        """What trace and prediction disagree on."""
        return tuple(one for one in self.notices if one not in self.roofline.notices)

    @property
    def suspects(self) -> tuple[ComparedCategory, ...]:
        """Categories that are faster than the hardware allows."""
        return tuple(e for e in self.categories if e.figures.verdict == "below bound")

    @property
    def can_be_judged(self) -> bool:
        """Whether nothing is faster than the hardware allows."""
        return not self.suspects and self.round.verdict != "below bound"

    @property
    def to_win(self) -> tuple[ComparedCategory, ...]:
        """Categories that are slower than expected by more than its error, most time first."""
        slower = [entry for entry in self.categories if entry.figures.verdict == "slower"]
        return tuple(sorted(slower, key=lambda entry: -(entry.figures.excess_ns or 0)))

    def won_tokens_per_s(self, entry: ComparedCategory) -> float | None:
        """Return how many more tokens per second there are once an excess is gone."""
        tokens, excess_ns = self.roofline.prediction.tokens, entry.figures.excess_ns
        if not tokens or not self.round_ns or excess_ns is None or excess_ns >= self.round_ns:
            return None
        return tokens * _NS * (1 / (self.round_ns - excess_ns) - 1 / self.round_ns)


def compare(
    analysis: Analysis, roofline: Roofline, contradictions: Iterable[Notice] = ()
) -> Comparison:
    """Return the rounds of a trace beside their prediction.

    Args:
        analysis: What was measured.
        roofline: A round's prediction.
        contradictions: What trace and flags disagree on.
    """
    reason = _why_unknown(analysis)
    predicted: dict[Key, CategoryPrediction] = {
        (e.phase, e.category): e for e in roofline.prediction.categories
    }
    measured = {} if reason else _measured(analysis, predicted.keys())
    keys = sorted(predicted.keys() | measured.keys(), key=_position)
    return Comparison(
        roofline=roofline,
        categories=tuple(
            _category(key, predicted.get(key), None if reason else measured.get(key, 0))
            for key in keys
        ),
        round_ns=analysis.rounds.wall.mean if analysis.rounds.wall else None,
        gpus=len(analysis.per_gpu),
        wait_ns=_wait_ns(analysis),
        reason=reason,
        notices=(
            *contradictions,
            *_about_gpus(analysis, roofline),
            *roofline.notices,
        ),
    )


def _about_gpus(analysis: Analysis, roofline: Roofline) -> Iterator[Notice]:
    """Yield a notice for each number of the trace's GPUs that the table has otherwise."""
    for sms, rate in dict.fromkeys(
        (gpu.sm_count, gpu.memory_bandwidth_bytes_per_s) for gpu in analysis.gpus
    ):
        for text in check_against_trace(
            roofline.gpu, sm_count=sms, memory_bandwidth_bytes_per_s=rate
        ):
            yield Notice("gpu-differs", text)


def _why_unknown(analysis: Analysis) -> str | None:
    if analysis.rounds.wall is None:
        return "the trace shows no rounds"
    if any(map(hides_work, analysis.per_gpu)):
        return "CUDA graphs hide which kernels ran; record with --cuda-graph-trace=node"
    return None


def _measured(analysis: Analysis, predicted: Iterable[Key]) -> dict[Key, int]:
    """Return the time of each category in a round, as the mean of the GPUs."""
    known, sums = set(predicted), dict[Key, int]()
    for phase, category, time_ns in (e for time in analysis.per_gpu for e in _times(time)):
        with_target = phase == OTHER and ("target", category) in known
        key = ("target" if with_target else phase, category)
        sums[key] = sums.get(key, 0) + time_ns
    return {key: round(ns / len(analysis.per_gpu)) for key, ns in sums.items() if ns}


def _times(time: GpuTime) -> Iterator[tuple[str, str, int]]:
    for entry in time.category_rounds:
        if entry.spread is not None:
            yield entry.phase or OTHER, entry.category, entry.spread.mean
    for group in time.per_round:
        if group.group in (IN_GRAPH_GAPS, HOST_GAPS) and group.spread is not None:
            yield HOST, group.group, group.spread.mean


def _wait_ns(analysis: Analysis) -> int | None:
    waits = [one.wait_per_round for group in analysis.ranks for one in group.per_gpu or ()]
    known = [wait.mean for wait in waits if wait is not None]
    return round(sum(known) / len(known)) if known and len(known) == len(waits) else None


def _position(key: Key) -> tuple[int, int]:
    phase, category = key
    return PHASE_ORDER.index(phase), _ORDER.index(category)


def _category(
    key: Key, prediction: CategoryPrediction | None, measured_ns: int | None
) -> ComparedCategory:
    phase, category = key
    if prediction is not None:
        return ComparedCategory(phase, category, prediction.group, measured_ns, prediction)
    group = group_of(category, "draft" if phase == "draft" else "other")
    return ComparedCategory(phase, category, group, measured_ns, None)
