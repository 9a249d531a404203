"""From a loaded trace to its rounds one by one, as `--rounds` counts them."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from importlib.metadata import version

import numpy as np

from traceattr.attribution.analysis import RoundsSummary, RulesId
from traceattr.attribution.choice import Choice
from traceattr.attribution.gpu_time import OwnedTime
from traceattr.attribution.intervals import Times
from traceattr.attribution.per_round import RoundSample
from traceattr.attribution.round_summary import ENOUGH_ROUNDS, summarise_rounds
from traceattr.attribution.rounds import Rounds
from traceattr.attribution.steady import leader_of, main_kind
from traceattr.attribution.survey import survey
from traceattr.ingest.trace import Trace
from traceattr.rules.rule_set import RuleSet


class Mark(StrEnum):
    """How long a round is among others."""

    SLOWEST = "slowest"
    SLOW = "slow"
    USUAL = "usual"


@dataclass(frozen=True, slots=True)
class ListedRound:
    """One round of a GPU.

    Attributes:
        index: Its number for `--rounds`; None for prefills and rounds that the capture cut.
        kind: What it does.
        start_ns: Begin of its first operation.
        end_ns: Begin of the next round, or its own end where a pause or nothing follows.
        mark: How it compares with those that the report's figures per round are about; None when
            it is none of them.
    """

    index: int | None
    kind: str
    start_ns: int
    end_ns: int
    mark: Mark | None

    @property
    def length_ns(self) -> int:
        """Return how long it lasts."""
        return self.end_ns - self.start_ns


@dataclass(frozen=True, slots=True)
class RoundList:
    """Everything that a list of rounds shows.

    Attributes:
        version: Version of traceattr.
        rules: Which rules decided the categories.
        file: Name of the trace, without its directories.
        simulated: What the simulator says when the trace is not a recording.
        gpu: The GPU whose rounds these are: the one that shows most.
        summary: What a report of this GPU alone says of its rounds.
        rounds: The rounds of the whole trace, in order.
    """

    version: str
    rules: RulesId
    file: str
    simulated: str | None
    gpu: int | None
    summary: RoundsSummary
    rounds: tuple[ListedRound, ...]


def list_rounds(trace: Trace, rules: RuleSet, choice: Choice) -> RoundList:
    """Return the rounds of a trace; none where no graph replay shows a target model.

    Raises:
        OptionError: A kind was given for a graph that is not in the trace.
    """
    found = survey(trace, rules, choice)
    leader = leader_of(found.accounts)
    owned = next(one for one in found.owned if one.account is leader)
    return RoundList(
        version=version("traceattr"),
        rules=RulesId(rules.name, rules.sha256),
        file=trace.capture.file,
        simulated=trace.capture.simulated,
        gpu=leader.timeline.gpu_id,
        summary=summarise_rounds((owned,), found.steady, found.facts),
        rounds=tuple(_listed(owned, found.steady.pause_ns or 0)),
    )


def _listed(owned: OwnedTime, pause_ns: int) -> Iterator[ListedRound]:
    rounds, kind = owned.account.rounds, main_kind(owned.account)
    reported = _marks(owned.sample)
    index = 0
    for found, start_ns, end_ns in zip(
        rounds.kind, rounds.start_ns.tolist(), _ends(rounds, pause_ns).tolist(), strict=True
    ):
        is_main = found == kind
        yield ListedRound(
            index=index if is_main else None,
            kind=str(found),
            start_ns=start_ns,
            end_ns=end_ns,
            mark=reported.get(start_ns) if is_main else None,
        )
        index += is_main


def _marks(sample: RoundSample) -> dict[int, Mark]:
    """Return the mark of each round that figures per round are about, by its begin."""
    longest_ns = sample.wall_ns.max(initial=0)
    has_percentile = len(sample) >= ENOUGH_ROUNDS
    slow = sample.is_slow if has_percentile else np.zeros(len(sample), np.bool_)
    marks = np.where(slow, Mark.SLOW, Mark.USUAL)
    marks = np.where(sample.wall_ns == longest_ns, Mark.SLOWEST, marks)
    return dict(zip(sample.start_ns.tolist(), map(Mark, marks.tolist()), strict=True))


def _ends(rounds: Rounds, pause_ns: int) -> Times:
    following = np.append(rounds.start_ns[1:], np.iinfo(np.int64).max)
    return np.where(following - rounds.end_ns <= pause_ns, following, rounds.end_ns)
