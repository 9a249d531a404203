"""The report on several traces as CSV: one row per rank and group."""

from collections.abc import Iterator

from traceattr.attribution.fleet import Fleet
from traceattr.report.csv_table import Cell, written

COLUMNS = ("run", "file", "rank", "gpu", "group", "exclusive_ns", "share", "round_ns", "own_ns")


def render_fleet_csv(fleet: Fleet) -> str:
    """Return the table; empty is unknown."""
    return written(COLUMNS, _rows(fleet))


def _rows(fleet: Fleet) -> Iterator[tuple[Cell, ...]]:
    for number, run in enumerate(fleet.runs):
        for rank in run.ranks:
            part = rank.part
            for group, ns in part.groups:
                share = None if ns is None or not part.wall_ns else ns / part.wall_ns
                who = (number, part.file, part.rank, part.gpu)
                yield (*who, group, ns, share, rank.round_ns, rank.own_ns)
