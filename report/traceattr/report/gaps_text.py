"""What a report says about idle gaps: seams, gaps inside graphs, what launching costs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from traceattr.attribution.analysis import Analysis
from traceattr.attribution.gap_figures import Cause
from traceattr.report.breakdown import is_idle_upper_limit
from traceattr.report.figures import (
    MICROSECONDS,
    MILLISECONDS,
    NOTHING,
    UNKNOWN,
    Unit,
    count,
    counted,
    unit_for,
    whole_percent,
)
from traceattr.report.gap_means import GapMean, pair_means, seam_means, together
from traceattr.report.gap_tables import HOST_CODE, cause_parts, host_parts
from traceattr.report.sampled import has_gap_percentiles, sampled_rounds

MOST_PAIRS = 3
MOST_OUTSIDE = 3
"""Pairs of categories inside graphs, and seams outside rounds, that a sentence names."""

_MEANINGS = {
    "sync": "a call that waits for the GPU",
    "launch": "one that launches",
    "api": "another CUDA call",
    "os": "an OS call",
    "python": "none of the recorded calls",
    HOST_CODE: "no CUDA call",
    "dependency": "a wait on the GPU's side",
    "unknown": "work whose launch is not in the trace",
}
"""What hosts were doing, by the words for it."""

_FEWEST, _MANY = 0.05, 100
"""Gaps in a round from which on one decimal shows some, and from which on it is needless."""


@dataclass(frozen=True, slots=True)
class GapRow:
    """One line of a list of gaps.

    Attributes:
        cells: Texts in the order of `gap_titles`.
        cause: What the host was doing.
        knows_os_calls: Whether that tells host code from operating-system calls.
    """

    cells: tuple[str, str, str, str, str]
    cause: Cause
    knows_os_calls: bool


def gaps_title(analysis: Analysis) -> str:
    """Return what the section is called, and what its figures are."""
    of = []
    if is_per_round(analysis):
        of.append(_rounds_text(analysis))
    if len(analysis.gaps) > 1:
        of.append(counted(len(analysis.gaps), "GPU"))
    mean = f"mean of {' and '.join(of)}; " if of else ""
    figures = "median and p99" if has_gap_percentiles(analysis) else "median"
    return f"Gaps ({mean}{figures} of one gap in {MICROSECONDS.name})"


def _rounds_text(analysis: Analysis) -> str:
    """Return over how many rounds figures are, and of how many in the window if not all."""
    rounds = min(gaps.rounds for gaps in analysis.gaps)
    return sampled_rounds(replace(analysis.rounds, sampled=rounds))


def is_per_round(analysis: Analysis) -> bool:
    """Return whether gaps are those of a round, and not of the window."""
    return bool(analysis.gaps) and all(gaps.rounds for gaps in analysis.gaps)


def gap_titles(analysis: Analysis) -> tuple[str, str, str, str, str]:
    """Return the titles of the columns before what the host was doing."""
    unit = _unit(analysis)
    time = f"{unit.name}/round" if is_per_round(analysis) else f"total, {unit.name}"
    return "seam", "gaps", time, "median", "p99"


def gap_rows(analysis: Analysis, most: int) -> tuple[GapRow, ...]:
    """Return the seams of a round, or of the window, that take longest, and the rest as one."""
    means = [one for one in seam_means(analysis) if one.is_in_rounds]
    shown = means if len(means) <= most + 1 else means[:most]
    rest = means[len(shown) :]
    if rest:
        shown = [*shown, together(f"{count(len(rest))} more", rest)]
    return tuple(_row(one, analysis) for one in shown)


def full_titles(analysis: Analysis) -> tuple[str, ...]:
    """Return the titles of the columns of a folded list; times of the window are last."""
    window = (f"window, {MILLISECONDS.name}",) if is_per_round(analysis) else ()
    return *gap_titles(analysis), *window


def full_rows(analysis: Analysis) -> tuple[tuple[GapMean, tuple[str, ...]], ...]:
    """Return every seam with its cells, those outside rounds too."""
    return tuple((one, _full_cells(one, analysis)) for one in seam_means(analysis))


def pair_rows(analysis: Analysis) -> tuple[tuple[str, ...], ...]:
    """Return the cells of every pair inside graphs; nothing where they are hidden."""
    return tuple(_full_cells(one, analysis) for one in pair_means(analysis) or ())


def _full_cells(one: GapMean, analysis: Analysis) -> tuple[str, ...]:
    window = (MILLISECONDS.number(one.total_ns),) if is_per_round(analysis) else ()
    return *_row(one, analysis).cells, *window


def gap_facts(analysis: Analysis) -> tuple[tuple[str, str], ...]:
    """Return pairs of a label and a text on what is no line of the list."""
    return tuple(_facts(analysis))


def _facts(analysis: Analysis) -> Iterator[tuple[str, str]]:
    if (inside := _inside_graphs(analysis)) is not None:
        yield "in graphs", inside
    rounds = min((gaps.rounds for gaps in analysis.gaps), default=0)
    partly = [one for one in seam_means(analysis) if 0 < (one.rounds_with or 0) < rounds]
    if partly:
        texts = [f"{one.name} in {count(one.rounds_with or 0)}" for one in partly]
        whole = counted(rounds, "round")
        yield "partly", f"{_listed(texts, MOST_OUTSIDE)} of {whole}; means are over all of them"
    outside = [one for one in seam_means(analysis) if not one.is_in_rounds]
    if outside:
        texts = [f"{one.name} {MILLISECONDS.text(one.total_ns)}" for one in outside]
        where = "in the window, but not in these rounds"
        yield "elsewhere", f"{where}: {_listed(texts, MOST_OUTSIDE)}"
    if any(gaps.seams for gaps in analysis.gaps):
        yield "host", _host_text(analysis)
        if is_idle_upper_limit(analysis):
            yield "limits", "gaps and what hosts did in them are upper limits: work is missing"


def _inside_graphs(analysis: Analysis) -> str | None:
    """Return the gaps inside graphs, None where there are none."""
    pairs = pair_means(analysis)
    if pairs is None:
        return f"{UNKNOWN}: graphs were recorded without what they ran"
    if not pairs:
        return None
    unit, whole = _unit(analysis), together("in graphs", pairs)
    per_round = "/round" if is_per_round(analysis) else ""
    texts = [f"{one.name} {unit.number(_time_ns(one))}" for one in pairs]
    return (
        f"{unit.number(_time_ns(whole))} {unit.name}{per_round} in {_gaps(whole)} gaps: "
        f"{_listed(texts, MOST_PAIRS)}"
    )


def _host_text(analysis: Analysis) -> str:
    """Return what the words that need it mean, as far as they are used."""
    cause = sum((gaps.cause for gaps in analysis.gaps), Cause())
    knows_os_calls = all_know_os_calls(analysis)
    names = [name for name, _ in host_parts(cause, knows_os_calls)]
    used = [f"{name}: {meaning}" for name, meaning in _MEANINGS.items() if name in names]
    more = "has more" if knows_os_calls else "tells OS calls apart if they were recorded"
    return "; ".join([*used, f"`traceattr gaps` {more}"])


def all_know_os_calls(analysis: Analysis) -> bool:
    """Return whether host code can be told from operating-system calls."""
    return all(gaps.knows_os_calls for gaps in analysis.gaps)


def _listed(texts: Sequence[str], most: int) -> str:
    """Return the first texts, and how many more there are."""
    named = ", ".join(texts[:most])
    return named if len(texts) <= most else f"{named}, {count(len(texts) - most)} more"


def _unit(analysis: Analysis) -> Unit:
    """Return the unit of the table of groups, so that one can be held against the other."""
    if analysis.rounds.wall is not None:
        return unit_for(analysis.rounds.wall.median)
    return unit_for(max((time.wall_ns for time in analysis.per_gpu), default=0))


def _row(one: GapMean, analysis: Analysis) -> GapRow:
    lengths = (_microseconds(one.median_ns), _microseconds(one.p99_ns))
    time = _unit(analysis).number(_time_ns(one))
    cells = (one.name, _gaps(one), time, *lengths)
    return GapRow(cells, one.cause, all_know_os_calls(analysis))


def _time_ns(one: GapMean) -> int:
    return one.total_ns if one.per_round_ns is None else one.per_round_ns


def _gaps(one: GapMean) -> str:
    if one.per_round_count is None:
        return count(round(one.count))
    if 0 < one.per_round_count < _FEWEST:
        return "<0.1"
    return f"{one.per_round_count:,.{0 if one.per_round_count >= _MANY else 1}f}"


def _microseconds(length_ns: int | None) -> str:
    return NOTHING if length_ns is None else f"{length_ns / MICROSECONDS.ns:,.1f}"


def other_text(cause: Cause, named: Sequence[str], knows_os_calls: bool) -> str:
    """Return what is left beside some causes, in the same percents."""
    parts = cause_parts(cause, knows_os_calls)
    rest_ns = sum(ns for name, ns in parts.items() if name not in named)
    return f"other {whole_percent(rest_ns, cause.total_ns)}"
