"""What a report on several traces shows, as frozen dataclasses; see `fleet`."""

from dataclasses import dataclass

from traceattr.attribution.analysis import Notice
from traceattr.attribution.fleet_part import RankPart
from traceattr.attribution.rank_figures import Communication, SharedCollectives


@dataclass(frozen=True, slots=True)
class RankFigures:
    """One rank beside the others.

    Attributes:
        number: Its place in the run, from 0.
        part: What its trace says.
        rounds: How many rounds.
        round_ns: Their median length, None without rounds.
        own_ns: Median of a round without communication, None when it is hidden.
        behind_ns: By how much that exceeds the median of the other ranks of its group.
        slowest: In how many of the rounds that were matched its own work took longest; None when
            that of a rank is hidden.
        clock_ns: How much later its clock shows what the first rank of its group does at the same
            time.
    """

    number: int
    part: RankPart
    rounds: int
    round_ns: int | None
    own_ns: int | None
    behind_ns: int | None
    slowest: int | None
    clock_ns: int | None


@dataclass(frozen=True, slots=True)
class GroupSpread:
    """How the share of one group of time varies over the ranks.

    Attributes:
        group: Name.
        lowest: Share of the window of the rank with the least.
        median: Of the ranks.
        highest: Of the rank with the most.
        highest_rank: Number of that rank.
    """

    group: str
    lowest: float
    median: float
    highest: float
    highest_rank: int


@dataclass(frozen=True, slots=True)
class WorstRound:
    """One of the longest rounds.

    Attributes:
        start_ns: Begin since that of the first round.
        wall_ns: How long it took on the rank where it took longest.
        rank: Number of the rank whose own work exceeds its median most; None when hidden.
        excess_ns: By how much.
    """

    start_ns: int
    wall_ns: int
    rank: int | None
    excess_ns: int | None


@dataclass(frozen=True, slots=True)
class Team:
    """The ranks of one tensor-parallel group, which do their rounds together.

    Attributes:
        name: What its titles share, such as ``DP0 PP1``, or a number; empty for a team alone.
        ranks: Their numbers in the run.
        matched: Rounds that were found on every rank.
        why_unmatched: Why none were, None when some were.
        collectives: Waiting and wire; None for a rank alone.
        straggler: Number of the rank that the others wait for: by the collectives, or by the work
            of each where nothing can be said of these.
    """

    name: str
    ranks: tuple[int, ...]
    matched: int
    why_unmatched: str | None
    collectives: SharedCollectives | None
    straggler: int | None

    @property
    def waiting_ns(self) -> int:
        """Return the waiting of all ranks together, in the collectives that were compared."""
        found = self.collectives.per_rank if self.collectives else None
        return sum(one.wait_ns for one in found or ())


@dataclass(frozen=True, slots=True)
class Run:
    """Traces that were recorded at the same time.

    Attributes:
        ranks: The GPUs, by their titles and ranks.
        parallel: How many of each kind of group there are by the highest number in a title, such as
            ("TP", 4).
        teams: Which of them do their rounds together; each rank is in one.
        spreads: Groups in table order.
        worst: The longest of the matched rounds.
    """

    ranks: tuple[RankFigures, ...]
    parallel: tuple[tuple[str, int], ...]
    teams: tuple[Team, ...]
    spreads: tuple[GroupSpread, ...]
    worst: tuple[WorstRound, ...]

    @property
    def matched(self) -> int:
        """Return how many rounds were found on every rank of a team."""
        return sum(team.matched for team in self.teams)

    @property
    def straggler(self) -> int | None:
        """Return a rank that others wait for, that of the first team which has one."""
        return next((team.straggler for team in self.teams if team.straggler is not None), None)

    def team_of(self, rank: RankFigures) -> Team:
        """Return the team of a rank."""
        return next(team for team in self.teams if rank.number in team.ranks)

    def communication_of(self, rank: RankFigures) -> Communication | None:
        """Return what a rank spends in collectives, None when nothing can be said."""
        collectives = self.team_of(rank).collectives
        found = collectives.per_rank if collectives else None
        return next((one for one in found or () if one.gpu == rank.number), None)


@dataclass(frozen=True, slots=True)
class Fleet:
    """What several traces say together.

    Attributes:
        traces: How many different ones were given.
        runs: Those that could be read, by when they were recorded; the one of most ranks first.
        failed: Name and reason of those that could not.
        warnings: What to know before trusting the numbers.
    """

    traces: int
    runs: tuple[Run, ...]
    failed: tuple[tuple[str, str], ...]
    warnings: tuple[Notice, ...]
