"""How much longer rounds are in a trace than without it: computed, nothing rendered."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from statistics import fmean

from traceattr.attribution.analysis import Analysis, Notice
from traceattr.attribution.pass_walls import PassWalls
from traceattr.errors import OptionError

MOST_INFLATION = 1.10
"""Traced over true round from which on nothing is claimed of gaps: tracing made part of them."""

_SHORTEST = 0.95
"""Traced over true round below which the two are not of one load."""

BETWEEN = "between passes"
ROUND = "round"

_PHASE_OF = {"verify": "target", "decode": "target", "draft": "draft", "draft_extend": "draft"}


@dataclass(frozen=True, slots=True)
class InflatedPart:
    """One part of a round.

    Attributes:
        name: A kind of pass, ``between passes`` or ``round``.
        traced_ns: Its length in this trace.
        true_ns: Its length without that way of tracing; None where the source does not tell.
    """

    name: str
    traced_ns: int
    true_ns: int | None

    @property
    def ratio(self) -> float | None:
        """Return traced over true."""
        return self.traced_ns / self.true_ns if self.true_ns else None


@dataclass(frozen=True, slots=True)
class ScaledTime:
    """One category as it would be at the true length of its phase.

    Attributes:
        category: Name.
        phase: Of which model's pass it is part.
        round_ns: Mean time in a round of this trace.
        scaled_ns: The same over the inflation of its phase.
    """

    category: str
    phase: str
    round_ns: int
    scaled_ns: int


@dataclass(frozen=True, slots=True)
class Inflation:
    """How tracing lengthens a round.

    Attributes:
        source: Where the true length comes from.
        parts: Passes, what is between them, and the round at the end.
        scaled: Categories at the true length; empty unless asked for.
    """

    source: str
    parts: tuple[InflatedPart, ...]
    scaled: tuple[ScaledTime, ...] = ()

    @property
    def ratio(self) -> float:
        """Return traced over true round."""
        return self.parts[-1].ratio or 1.0

    @property
    def refuses_gaps(self) -> bool:
        """Whether nothing is claimed of gaps."""
        return self.ratio > MOST_INFLATION

    @property
    def notice(self) -> Notice:
        """What the reader must know."""
        text = (
            f"Tracing makes a round {self.ratio:.2f} times as long as it is ({self.source});"
            " figures are those of the trace"
        )
        if self.ratio < _SHORTEST:
            text = (
                f"A round of the trace is {self.ratio:.2f} times as long as one without tracing"
                f" ({self.source}), which tracing cannot do: these are two loads"
            )
        if self.refuses_gaps:
            text += (
                f". Above {MOST_INFLATION:.2f} nothing is claimed of gaps: record whole graphs"
                " (--graphs graph) to see how long passes and seams are"
            )
        return Notice("inflated" if self.refuses_gaps else "inflation", f"{text}.")


def with_inflation(analysis: Analysis, inflation: Inflation) -> Analysis:
    """Return an analysis that says so, without gaps where nothing can be claimed of them."""
    return replace(
        analysis,
        gaps=() if inflation.refuses_gaps else analysis.gaps,
        warnings=(inflation.notice, *analysis.warnings),
    )


def measured_inflation(
    traced: PassWalls | None,
    *,
    source: str,
    true: PassWalls | None = None,
    true_round_ns: float | None = None,
) -> Inflation:
    """Return the inflation of a trace.

    Args:
        traced: The trace that the report is about.
        source: Where the truth comes from, for people.
        true: A trace of whole graphs of the same load.
        true_round_ns: Length of a round without tracing, when only that is known.

    Raises:
        OptionError: One of them has no rounds, or they do not do the same.
    """
    if traced is None:
        raise OptionError("the trace shows no rounds, so nothing can be calibrated")
    if true is None:
        assert true_round_ns is not None
        unknown = [InflatedPart(kind, ns, None) for kind, ns in traced.kinds]
        whole = InflatedPart(ROUND, traced.round_ns, round(true_round_ns))
        return Inflation(source, (*unknown, whole))
    kinds, truths = dict(traced.kinds), dict(true.kinds)
    if kinds.keys() != truths.keys():
        names = " and ".join(", ".join(each) or "none" for each in (kinds, truths))
        raise OptionError(f"{source}: does other passes than the trace ({names}); record one load")
    parts = [InflatedPart(kind, ns, truths[kind]) for kind, ns in traced.kinds]
    between = [walls.round_ns - sum(ns for _, ns in walls.kinds) for walls in (traced, true)]
    return Inflation(
        source,
        (
            *parts,
            InflatedPart(BETWEEN, max(between[0], 0), max(between[1], 0)),
            InflatedPart(ROUND, traced.round_ns, true.round_ns),
        ),
    )


def scaled_times(analysis: Analysis, inflation: Inflation) -> tuple[ScaledTime, ...]:
    """Return every category over the inflation of its phase, or of the round where that is all."""
    ratios = phase_ratios(inflation)
    sums: dict[tuple[str, str], list[float]] = {}
    for series in analysis.series:
        for entry in series.categories:
            sums.setdefault((entry.category, entry.phase), []).append(fmean(entry.ns))
    return tuple(_scaled(sums, ratios, len(analysis.series), inflation.ratio))


def _scaled(
    sums: dict[tuple[str, str], list[float]], ratios: dict[str, float], gpus: int, whole: float
) -> Iterator[ScaledTime]:
    for (category, phase), means in sums.items():
        round_ns = sum(means) / gpus
        ratio = ratios.get(phase, whole)
        yield ScaledTime(category, phase, round(round_ns), round(round_ns / ratio))


def phase_ratios(inflation: Inflation) -> dict[str, float]:
    """Return the inflation of each phase of which it is known."""
    traced: dict[str, int] = {}
    true: dict[str, int] = {}
    for part in inflation.parts:
        phase = _PHASE_OF.get(part.name)
        if phase is not None and part.true_ns:
            traced[phase] = traced.get(phase, 0) + part.traced_ns
            true[phase] = true.get(phase, 0) + part.true_ns
    return {phase: traced[phase] / true[phase] for phase in traced}
