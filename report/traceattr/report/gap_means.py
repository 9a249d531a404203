"""What the gaps of several GPUs are on average; ranks work at the same time, so none add up."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace

from traceattr.attribution.analysis import Analysis
from traceattr.attribution.gap_figures import Cause, LaunchFigures, PairTime, SeamTime
from traceattr.report.breakdown import mean


@dataclass(frozen=True, slots=True)
class GapMean:
    """Gaps that join the same, as the mean of the GPUs.

    Attributes:
        name: What they join.
        count: Gaps in the window.
        total_ns: Their length.
        per_round_count: Gaps in a round, None without rounds.
        per_round_ns: Time in a round, None without rounds.
        median_ns: Median length of one; None of several kinds of gap.
        p99_ns: 99th percentile of that; None too inside graphs.
        cause: What the hosts were doing, all of them; only its shares say something.
        rounds_with: In how many rounds they occur on the GPU that has fewest; None without rounds
            and inside graphs.
    """

    name: str
    count: float
    total_ns: int
    per_round_count: float | None
    per_round_ns: int | None
    median_ns: int | None
    p99_ns: int | None
    cause: Cause
    rounds_with: int | None = None

    @property
    def is_in_rounds(self) -> bool:
        """Return whether rounds of the main kind have such gaps; without rounds, any counts."""
        return self.per_round_count is None or self.per_round_count > 0


@dataclass(frozen=True, slots=True)
class LaunchMean:
    """What launching costs in a round of one kind, as the mean of the GPUs.

    Attributes:
        kind: What the rounds do.
        rounds: How many these are means over, on each GPU.
        figures: Mean of each figure of `LaunchFigures`, None where it is unknown of a GPU.
    """

    kind: str
    rounds: int
    figures: Mapping[str, float | None]


def seam_means(analysis: Analysis) -> tuple[GapMean, ...]:
    """Return every seam, the one that takes most of a round first."""
    per_gpu = [{seam.seam: seam for seam in gaps.seams} for gaps in analysis.gaps]
    names = dict.fromkeys(name for seams in per_gpu for name in seams)
    none = _none_in_a_round(analysis)
    means = (_seam_mean(name, [seams.get(name) for seams in per_gpu], none) for name in names)
    return tuple(sorted(means, key=_longest_first))


def pair_means(analysis: Analysis) -> tuple[GapMean, ...] | None:
    """Return every pair of categories inside graphs; None where graphs hide some."""
    found = [gaps.pairs for gaps in analysis.gaps if gaps.pairs is not None]
    if len(found) < len(analysis.gaps):
        return None
    per_gpu = [{f"{pair.before}->{pair.after}": pair for pair in pairs} for pairs in found]
    names = dict.fromkeys(name for pairs in per_gpu for name in pairs)
    none = _none_in_a_round(analysis)
    means = (_gap_mean(name, [pairs.get(name) for pairs in per_gpu], none) for name in names)
    return tuple(sorted(means, key=_longest_first))


def _none_in_a_round(analysis: Analysis) -> int | None:
    """Return what a GPU without some gaps has of them in a round, None without rounds."""
    return 0 if all(gaps.rounds for gaps in analysis.gaps) else None


def together(name: str, means: Sequence[GapMean]) -> GapMean:
    """Return gaps of several kinds as one; their medians do not add up."""
    counts = [one.per_round_count for one in means if one.per_round_count is not None]
    times_ns = [one.per_round_ns for one in means if one.per_round_ns is not None]
    return GapMean(
        name=name,
        count=sum(one.count for one in means),
        total_ns=sum(one.total_ns for one in means),
        per_round_count=sum(counts) if len(counts) == len(means) else None,
        per_round_ns=sum(times_ns) if len(times_ns) == len(means) else None,
        median_ns=None,
        p99_ns=None,
        cause=sum((one.cause for one in means), Cause()),
    )


def launch_means(analysis: Analysis) -> tuple[LaunchMean, ...]:
    """Return what launching costs in each kind of round."""
    every = [figures for gaps in analysis.gaps for figures in gaps.launches]
    kinds = dict.fromkeys(figures.kind for figures in every)
    return tuple(_launch_mean([one for one in every if one.kind == kind]) for kind in kinds)


def _launch_mean(found: Sequence[LaunchFigures]) -> LaunchMean:
    names = [field.name for field in fields(LaunchFigures) if field.name not in ("kind", "rounds")]
    return LaunchMean(
        kind=found[0].kind,
        rounds=max(one.rounds for one in found),
        figures={name: _mean([getattr(one, name) for one in found]) for name in names},
    )


def _longest_first(one: GapMean) -> tuple[int, int, str]:
    return -(one.per_round_ns or 0), -one.total_ns, one.name


def _seam_mean(name: str, found: Sequence[SeamTime | None], none: int | None) -> GapMean:
    seams = [seam for seam in found if seam is not None]
    return replace(
        _gap_mean(name, found, none),
        p99_ns=mean(tuple(seam.p99_ns for seam in seams)),
        cause=sum((seam.cause for seam in seams), Cause()),
        rounds_with=_fewest([seam.rounds_with for seam in seams]),
    )


def _fewest(rounds: Sequence[int | None]) -> int | None:
    known = [number for number in rounds if number is not None]
    return min(known) if len(known) == len(rounds) else None


def _gap_mean(name: str, found: Sequence[SeamTime | PairTime | None], none: int | None) -> GapMean:
    """Return the mean over the GPUs; one that has no such gap counts with none."""
    return GapMean(
        name=name,
        count=sum(one.count for one in found if one) / len(found),
        total_ns=mean(tuple(one.total_ns if one else 0 for one in found)) or 0,
        per_round_count=_mean([one.per_round_count if one else none for one in found]),
        per_round_ns=mean(tuple(one.per_round_ns if one else none for one in found)),
        median_ns=mean(tuple(one.median_ns for one in found if one)),
        p99_ns=None,
        cause=Cause(),
    )


def _mean(values: Sequence[float | None]) -> float | None:
    """Return the mean, None where a value is unknown."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None
