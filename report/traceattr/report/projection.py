"""What a measured round would take with something changed: the prediction, and its excess kept.

How what was measured carries over, category by category:

- Work of a GPU keeps its ratio of measured to expected time.  A kernel that reaches nine tenths of
  what is expected does so on another GPU and with another batch too; its milliseconds would not.
- Waiting for other ranks and host gaps keep their milliseconds: neither depends on the GPU.
- What the prediction does not know, and what lies in no category, keep theirs too.
- Nothing becomes faster than its bound.

An alternative that changes nothing therefore takes exactly the measured round.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from traceattr.attribution.analysis import Analysis
from traceattr.errors import OptionError
from traceattr.roofline.prediction import CategoryPrediction
from traceattr.roofline.roofline import Roofline
from traceattr.roofline.what_if import COMM, REMOVE_SEAM, Alternative, Change
from traceattr.rules.categories import COMMUNICATION, HOST_GAPS

if TYPE_CHECKING:  # it imports this module
    from traceattr.report.comparison import ComparedCategory, Comparison

WIRE = "wire"
"""Value of `COMM`: as measured, without waiting for other ranks."""

BOUND = "bound"
"""Value of `COMM`: what the links allow at least."""

_NS = 1_000_000_000
Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class ProjectedCategory:
    """One category in one phase of an alternative, of one GPU and per round.

    Attributes:
        phase: As in the comparison.
        category: Its name, or that of a kind of gap.
        measured_ns: In the trace; None where that has no such category.
        bound_ns: Of the alternative; None where the prediction has no such category.
        expected_ns: The same.
        carried_ns: Expected, with the measured excess.
    """

    phase: str
    category: str
    measured_ns: int | None
    bound_ns: int | None
    expected_ns: int | None
    carried_ns: int


@dataclass(frozen=True, slots=True)
class Projection:
    """One alternative to what was measured.

    Attributes:
        change: What differs.
        roofline: The prediction with it.
        categories: In the order of the comparison; empty where the trace does not tell.
        carried_ns: The whole round with the measured excess; None where the trace does not tell.
        seam_ns: Part of the measured round that removed seams took.
        reason: Why `carried_ns` is None.
    """

    change: Change
    roofline: Roofline
    categories: tuple[ProjectedCategory, ...]
    carried_ns: int | None
    seam_ns: int
    reason: str | None

    @property
    def bound_ns(self) -> int:
        """Least time of the round."""
        return self.roofline.prediction.bound_ns

    @property
    def expected_ns(self) -> int:
        """Time of the round to expect, without what was measured."""
        return self.roofline.prediction.expected_ns

    @property
    def carried_tokens_per_s(self) -> float | None:
        """Tokens per second of all requests with the measured excess; None when unknown."""
        tokens = self.roofline.prediction.tokens
        return tokens / self.carried_ns * _NS if tokens and self.carried_ns else None


def project(
    comparison: "Comparison", analysis: Analysis, alternatives: Iterable[Alternative]
) -> tuple[Projection, ...]:
    """Return what the measured rounds would take with each alternative.

    Raises:
        OptionError: When an alternative names what the trace does not have.
    """
    seams = _seams(analysis)
    return tuple(_projection(comparison, seams, each) for each in alternatives)


def _projection(
    comparison: "Comparison", seams: Mapping[str, int], alternative: Alternative
) -> Projection:
    change, roofline = alternative.change, alternative.roofline
    seam_ns = sum(_removed(change, seams))
    speed = _speed(change, comparison)
    is_same = not speed and set(change.values) <= {REMOVE_SEAM}
    if comparison.round_ns is None or (comparison.reason and not is_same):
        return Projection(change, roofline, (), None, seam_ns, comparison.reason)
    if comparison.reason:
        return Projection(change, roofline, (), comparison.round_ns - seam_ns, seam_ns, None)
    carry = _Carry(comparison, roofline, seam_ns, speed)
    categories = tuple(carry.categories())
    rest_ns = comparison.round_ns - sum(e.measured_ns or 0 for e in comparison.categories)
    carried_ns = rest_ns + sum(entry.carried_ns for entry in categories)
    return Projection(change, roofline, categories, carried_ns, seam_ns, None)


@dataclass(frozen=True, slots=True)
class _Carry:
    """What was measured, on its way to an alternative."""

    comparison: "Comparison"
    roofline: Roofline
    seam_ns: int
    speed: str | None

    def categories(self) -> Iterator[ProjectedCategory]:
        """Yield every category of the trace or of the alternative."""
        base = {(entry.phase, entry.category): entry for entry in self.comparison.categories}
        new: dict[Key, CategoryPrediction] = {
            (entry.phase, entry.category): entry for entry in self.roofline.prediction.categories
        }
        phases = {phase for phase, _ in new}
        for key in dict.fromkeys((*base, *new)):
            known, predicted = base.get(key), new.get(key)
            if predicted is not None:
                carried_ns = max(self._predicted(known, predicted), _least_ns(known, predicted))
            elif known is None or known.prediction is not None or _is_gone(known, phases):
                continue
            else:
                carried_ns = known.measured_ns or 0
            yield ProjectedCategory(
                *key,
                known.measured_ns if known else None,
                predicted.bound_ns if predicted else None,
                predicted.expected_ns if predicted else None,
                carried_ns,
            )

    def _predicted(self, known: "ComparedCategory | None", new: CategoryPrediction) -> int:
        if new.category == COMMUNICATION and self.speed == BOUND:
            return new.bound_ns
        if known is None or known.measured_ns is None or known.prediction is None:
            return new.expected_ns
        wait_ns = self._wait(known)
        kept_ns = 0 if self.speed == WIRE else wait_ns
        old_ns, own_ns = known.prediction.expected_ns, known.measured_ns - wait_ns
        if new.category == HOST_GAPS:
            return new.expected_ns + own_ns - old_ns - self.seam_ns
        if not old_ns:
            return new.expected_ns + own_ns + kept_ns
        return round(new.expected_ns * own_ns / old_ns) + kept_ns

    def _wait(self, known: "ComparedCategory") -> int:
        """Return the part of a category's time in which ranks wait.

        It is known of the round; phases have it in proportion to their communication.
        """
        if known.category != COMMUNICATION or not self.comparison.wait_ns:
            return 0
        entries = [e for e in self.comparison.categories if e.category == COMMUNICATION]
        total_ns = sum(entry.measured_ns or 0 for entry in entries)
        measured_ns = known.measured_ns or 0
        return min(measured_ns, self.comparison.wait_ns * measured_ns // max(total_ns, 1))


def _least_ns(known: "ComparedCategory | None", new: CategoryPrediction) -> int:
    """Return the least time; none where the trace is below it, or has the work elsewhere."""
    is_below = known is not None and known.figures.verdict in ("below bound", "not seen")
    return 0 if is_below else new.bound_ns


def _is_gone(known: "ComparedCategory", phases: set[str]) -> bool:
    """Return whether an alternative lacks the whole phase of a category."""
    return known.phase == "draft" and "draft" not in phases


def _seams(analysis: Analysis) -> dict[str, int]:
    """Return the time of each seam in a round, as the mean of the GPUs."""
    sums: dict[str, int] = {}
    for seam in (seam for gaps in analysis.gaps for seam in gaps.seams if seam.per_round_ns):
        sums[seam.seam] = sums.get(seam.seam, 0) + (seam.per_round_ns or 0)
    return {name: round(total / len(analysis.gaps)) for name, total in sums.items()}


def _removed(change: Change, seams: Mapping[str, int]) -> Iterator[int]:
    """Yield the time of each seam that an alternative removes."""
    text = change.values.get(REMOVE_SEAM)
    names: Sequence[str] = () if text is None else text.split("+")
    for name in dict.fromkeys(map(str.strip, names)):
        if name not in seams:
            known = (
                f"expected {', '.join(seams)}, or several joined with +"
                if seams
                else "this trace has none"
            )
            hint = "; quote the > in a shell" if name.endswith("-") else ""
            asked = f"{change.option} {REMOVE_SEAM}={text}"
            raise OptionError(f"{asked}: no seam {name!r} in a round ({known}{hint})")
        yield seams[name]


def _speed(change: Change, comparison: "Comparison") -> str | None:
    """Return how fast communication is in an alternative; None is as measured."""
    speed = change.values.get(COMM)
    if speed is None:
        return None
    asked = f"{change.option} {COMM}={speed}"
    if speed not in (WIRE, BOUND):
        raise OptionError(f"{asked}: unknown speed (expected {WIRE} or {BOUND})")
    if not any(entry.category == COMMUNICATION for entry in comparison.categories):
        raise OptionError(f"{asked}: there is no communication between GPUs")
    if speed == WIRE and comparison.wait_ns is None:
        raise OptionError(f"{asked}: how long ranks wait is not known (expected {COMM}={BOUND})")
    return speed
