"""How long the passes of a round last from begin to end, which every way of tracing shows."""

from dataclasses import dataclass

import duckdb

from traceattr.ingest.database import read_sql


@dataclass(frozen=True, slots=True)
class PassWalls:
    """Means per round, as the mean of the GPUs.

    Attributes:
        kinds: Kind of pass and its length in a round, in the order of a round.
        round_ns: Length of a round.
        rounds: Rounds that these are means over, of all GPUs together.
    """

    kinds: tuple[tuple[str, int], ...]
    round_ns: int
    rounds: int


def pass_walls(connection: duckdb.DuckDBPyConnection) -> PassWalls | None:
    """Return the lengths, None without rounds.

    Args:
        connection: Holds the tables ``pass`` and ``round``.
    """
    [(rounds, round_ns)] = connection.execute(
        "SELECT count(*), avg(wall_ns) FROM round WHERE is_sampled AND wall_ns IS NOT NULL"
    ).fetchall()
    if not rounds:
        return None
    totals: dict[str, int] = {}
    for kind, _gpu, total_ns in connection.execute(
        read_sql("traceattr.attribution", "pass_walls")
    ).fetchall():
        totals[kind] = totals.get(kind, 0) + total_ns
    kinds = tuple((kind, round(total_ns / rounds)) for kind, total_ns in totals.items())
    return PassWalls(kinds, round(round_ns), rounds)
