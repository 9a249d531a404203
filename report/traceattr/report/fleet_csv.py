"""The report on several traces as CSV: one row per rank and group."""

from collections.abc import Iterator

from traceattr.attribution.fleet_figures import Fleet, Team
from traceattr.attribution.rank_figures import Communication
from traceattr.report.csv_table import Cell, written

COLUMNS = (
    "run",
    "file",
    "rank",
    "gpu",
    "group",
    "exclusive_ns",
    "share",
    "round_ns",
    "own_ns",
    "wire_round_ns",
    "wait_round_ns",
    "late_share",
    "last_share",
)


def render_fleet_csv(fleet: Fleet) -> str:
    """Return the table; empty is unknown."""
    return written(COLUMNS, _rows(fleet))


def _rows(fleet: Fleet) -> Iterator[tuple[Cell, ...]]:
    for number, run in enumerate(fleet.runs):
        for rank in run.ranks:
            part = rank.part
            communication = tuple(_communication(run.communication_of(rank), run.team_of(rank)))
            for group, ns in part.groups:
                share = None if ns is None or not part.wall_ns else ns / part.wall_ns
                who = (number, part.file, part.rank, part.gpu)
                yield (*who, group, ns, share, rank.round_ns, rank.own_ns, *communication)


def _communication(one: Communication | None, team: Team) -> Iterator[Cell]:
    if one is None:
        yield from (None,) * 4
        return
    yield one.wire_per_round.median if one.wire_per_round else None
    yield one.wait_per_round.median if one.wait_per_round else None
    waiting_ns = team.waiting_ns
    yield one.late_ns / waiting_ns if waiting_ns else None
    yield one.arrived_last / one.collectives
