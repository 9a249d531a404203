"""What a report says about communication across ranks: wire, wait, and who keeps the others."""

from collections.abc import Iterator, Sequence

from traceattr.attribution.analysis import Analysis
from traceattr.attribution.rank_figures import IDLE, Communication, RankGroup, Straggler
from traceattr.attribution.round_figures import Spread
from traceattr.report.breakdown import mean
from traceattr.report.figures import UNKNOWN, Unit, count, counted, duration, share, unit_for
from traceattr.report.sampled import has_percentiles

RANK_TITLES = ("GPU", "wire", "p99", "wait", "p99", "late", "last")

RANKS_NOTE = (
    "wire: moving data once all ranks are there; wait: for the last rank; late: share of the "
    "waiting that the rank causes; last: collectives at which it arrives last."
)

NOTABLE_RATIO = 0.01
"""Share of communication from which on it is said that it was not compared."""


def has_ranks(analysis: Analysis) -> bool:
    """Return whether any GPU has others to wait for."""
    return bool(_groups(analysis))


def ranks_title(analysis: Analysis) -> str:
    """Return what the section is called, and what its figures are."""
    rounds = _fewest_rounds(analysis)
    over = f", median over {counted(rounds, 'round')}" if rounds else ""
    return f"Communication across ranks ({_unit(analysis).name}/round{over})"


def rank_columns(analysis: Analysis) -> tuple[int, ...]:
    """Return the positions in `RANK_TITLES` of what so many rounds can tell."""
    if has_percentiles(_fewest_rounds(analysis)):
        return tuple(range(len(RANK_TITLES)))
    return tuple(at for at, title in enumerate(RANK_TITLES) if title != "p99")


def _fewest_rounds(analysis: Analysis) -> int:
    """Return over how many rounds figures are, in the group that has fewest."""
    known = [group.decode_rounds for group in _groups(analysis) if group.per_gpu]
    return min(known, default=0)


def rank_rows(analysis: Analysis) -> tuple[tuple[str, ...], ...]:
    """Return one line for each GPU of which something can be said, as in `RANK_TITLES`."""
    unit = _unit(analysis)
    return tuple(
        _row(one, group.per_gpu, unit)
        for group in _groups(analysis)
        if group.per_gpu
        for one in group.per_gpu
    )


def rank_sentences(analysis: Analysis) -> tuple[str, ...]:
    """Return who keeps the others in each group, or why nothing can be said."""
    groups = _groups(analysis)
    return tuple(f"{_name(group, groups)}{_sentence(group)}" for group in groups)


def ranks_summary(analysis: Analysis) -> tuple[str, ...]:
    """Return the same sentences with what stands in the lines of the GPUs, as means."""
    groups, unit = _groups(analysis), _unit(analysis)
    return tuple(
        f"{_name(group, groups)}{' '.join((*_figures(group, unit), _sentence(group)))}"
        for group in groups
    )


def _groups(analysis: Analysis) -> list[RankGroup]:
    return [group for group in analysis.ranks if len(group.gpus) > 1]


def _name(group: RankGroup, groups: Sequence[RankGroup]) -> str:
    if len(groups) == 1:
        return ""
    return f"GPUs {', '.join(map(str, group.gpus))}: "


def _figures(group: RankGroup, unit: Unit) -> Iterator[str]:
    """Yield the medians of wire and wait, as the mean of the GPUs."""
    spreads = [(one.wire_per_round, one.wait_per_round) for one in group.per_gpu or ()]
    wire_ns = mean(tuple(wire.median if wire else None for wire, _ in spreads))
    wait_ns = mean(tuple(wait.median if wait else None for _, wait in spreads))
    if wire_ns is not None and wait_ns is not None:
        yield f"{unit.text(wire_ns)}/round on the wire, {unit.text(wait_ns)} waiting for others."


def _sentence(group: RankGroup) -> str:
    if group.per_gpu is None:
        why = group.reason or UNKNOWN
        return f"Waiting for other ranks cannot be told from transfer: {why}."
    return " ".join(_about(group, group.per_gpu))


def _about(group: RankGroup, per_gpu: Sequence[Communication]) -> Iterator[str]:
    if group.straggler is None:
        yield "No rank keeps the others waiting more than chance would."
    else:
        mine = next(one for one in per_gpu if one.gpu == group.straggler.gpu)
        yield _blame(mine, per_gpu)
        yield _cause(group.straggler, mine)
    if group.rounds_left_out:
        whole = group.rounds + group.rounds_left_out
        yield (
            f"Left out: {count(group.rounds_left_out)} of {counted(whole, 'round')}, in which "
            "the ranks run different collectives."
        )

    if (unmatched := _unmatched(per_gpu)) is not None:
        yield unmatched


def _unmatched(per_gpu: Sequence[Communication]) -> str | None:
    """Return how much was not compared, if that is much."""
    unmatched_ns = sum(one.unmatched_ns for one in per_gpu)
    whole_ns = unmatched_ns + sum(one.wire_ns + one.wait_ns for one in per_gpu)
    if unmatched_ns < NOTABLE_RATIO * whole_ns or not unmatched_ns:
        return None
    return (
        f"Not compared: {share(unmatched_ns, whole_ns)} of communication, outside such rounds or "
        "in kernels that do not wait for all ranks."
    )


def _blame(mine: Communication, per_gpu: Sequence[Communication]) -> str:
    late = share(mine.late_ns, sum(one.late_ns for one in per_gpu))
    last = share(mine.arrived_last, mine.collectives)
    return (
        f"GPU {mine.gpu} keeps the others waiting: it causes {late} of the waiting, and arrives "
        f"last at {last} of {counted(mine.collectives, 'collective')}."
    )


def _cause(straggler: Straggler, mine: Communication) -> str:
    """Return what keeps it, on average over the collectives at which it arrives last."""
    times = max(mine.arrived_last, 1)
    if straggler.category is None or straggler.excess_ns is None or straggler.behind_ns <= 0:
        return "No category shows what keeps it."
    behind = f"It is {duration(round(straggler.behind_ns / times))} behind each time"
    excess = duration(round(straggler.excess_ns / times))
    if straggler.category == IDLE:
        return f"{behind}, idle {excess} longer than the others: its host is late."
    return f"{behind}, with {excess} more {straggler.category} than the others."


def _row(one: Communication, per_gpu: Sequence[Communication], unit: Unit) -> tuple[str, ...]:
    return (
        str(one.gpu),
        *_spread_cells(one.wire_per_round, unit),
        *_spread_cells(one.wait_per_round, unit),
        share(one.late_ns, sum(other.late_ns for other in per_gpu)),
        share(one.arrived_last, one.collectives),
    )


def _spread_cells(spread: Spread | None, unit: Unit) -> tuple[str, str]:
    if spread is None:
        return UNKNOWN, UNKNOWN
    return unit.number(spread.median), unit.number(spread.p99)


def _unit(analysis: Analysis) -> Unit:
    wall = analysis.rounds.wall
    return unit_for(wall.median if wall else 0)
