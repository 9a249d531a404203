"""Which communication kernels of the ranks are the same collective."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from traceattr.attribution.account import Account
from traceattr.attribution.analysis import Window
from traceattr.attribution.intervals import Times
from traceattr.attribution.labels import LABELS
from traceattr.attribution.timeline import Ids
from traceattr.rules.categories import COMMUNICATION

ENOUGH = 0.9
"""Share of a kernel's runs that must find all ranks inside it at once, and of rounds that must have
the same collectives on all ranks."""

HIDDEN = "collectives are hidden in graphs that were not traced per node"
"""Why nothing can be said where `hides_collectives`."""


@dataclass(frozen=True, slots=True)
class CommunicationKernels:
    """Communication kernels of one GPU in rounds, in order; arrays of shape (kernels,)."""

    position: Ids
    round: Ids
    name: Ids


@dataclass(frozen=True, slots=True)
class Collectives:
    """Matched collectives; arrays of shape (gpus, collectives), `round` and `name` without gpus.

    Attributes:
        position: Where they are in each timeline.
        round: Common number of the round.
        name: Kernel name.
        start_ns: Begins.
        end_ns: Ends.
    """

    position: Ids
    round: Ids
    name: Ids
    start_ns: Times
    end_ns: Times

    @property
    def complete_ns(self) -> Times:
        """Return when the last rank arrived, or when a rank was through if that is earlier."""
        complete_ns: Times = np.minimum(self.start_ns.max(axis=0), self.end_ns)
        return complete_ns

    @property
    def wait_ns(self) -> Times:
        """Return what each rank waited."""
        return self.complete_ns - self.start_ns

    @property
    def wire_ns(self) -> Times:
        """Return what each rank spent after the last one had arrived."""
        return self.end_ns - self.complete_ns

    @property
    def last(self) -> Ids:
        """Return which rank arrived last, -1 where several did; shape (collectives,)."""
        is_last = self.start_ns == self.start_ns.max(axis=0)
        latest: Ids = is_last.argmax(axis=0)
        return np.where(is_last.sum(axis=0) == 1, latest, -1)

    @property
    def caused_ns(self) -> Times:
        """Return the waiting of the others that each rank caused by arriving last."""
        latest = self.start_ns.argmax(axis=0)
        ranks = np.arange(len(self.start_ns))[:, np.newaxis]
        return np.where(ranks == latest, self.wait_ns.sum(axis=0), 0)

    def where(self, chosen: npt.NDArray[np.bool_]) -> "Collectives":
        """Return some of the collectives."""
        return Collectives(
            self.position[:, chosen],
            self.round[chosen],
            self.name[chosen],
            self.start_ns[:, chosen],
            self.end_ns[:, chosen],
        )


_IS_COMMUNICATION = np.array([label.category == COMMUNICATION for label in LABELS])


def kernels_in_window(
    accounts: Sequence[Account], numbers: Sequence[Ids], window: Window
) -> list[CommunicationKernels]:
    """Return the communication kernels of the rounds that touch the window on some rank."""
    count = max(int(number.max(initial=-1)) for number in numbers) + 1
    touches = np.zeros(count + 1, np.bool_)  # the last is for what is in no round
    for account, number in zip(accounts, numbers, strict=True):
        rounds = account.rounds
        inside = (rounds.start_ns < window.end_ns) & (rounds.end_ns > window.start_ns)
        touches[number[inside]] = True
    found = []
    for account, number in zip(accounts, numbers, strict=True):
        position = communication_kernels(account)
        of_round = np.append(number, -1)[account.rounds.of(position)]
        chosen = touches[of_round]
        names = account.timeline.name_id[position[chosen]].astype(np.int64)
        found.append(CommunicationKernels(position[chosen], of_round[chosen], names))
    return found


def hides_collectives(account: Account, window: Window) -> bool:
    """Return whether graphs in a window were recorded without their kernels."""
    replays = account.timeline.replays
    inside = (replays.start_ns < window.end_ns) & (replays.end_ns > window.start_ns)
    return bool(replays.is_envelope[inside].any())


def communication_kernels(account: Account) -> Ids:
    """Return the positions of the communication kernels of one GPU."""
    return np.flatnonzero(_IS_COMMUNICATION[account.timeline.label])


def compare_rounds(
    kernels: Sequence[CommunicationKernels], numbers: Sequence[Ids]
) -> tuple[Ids, Ids]:
    """Return the rounds in which all ranks run the same collectives, and those in which not.

    Only rounds that every rank has count; the first and the last of them may be cut by an end of
    the capture, and then count as neither.
    """
    first = max(int(number[0]) for number in numbers)
    last = min(int(number[-1]) for number in numbers)
    width = 1 + max(int(of_gpu.name.max(initial=0)) for of_gpu in kernels)
    tables = [
        np.unique(of_gpu.round * width + of_gpu.name, return_counts=True) for of_gpu in kernels
    ]
    keys = np.unique(np.concatenate([key for key, _ in tables]))
    counts = np.zeros((len(tables), len(keys)), np.int64)
    for of_gpu, (key, count) in zip(counts, tables, strict=True):
        of_gpu[np.searchsorted(keys, key)] = count
    rounds = keys // width
    differing = np.unique(rounds[(counts != counts[0]).any(axis=0)])
    shared = np.unique(rounds[(rounds >= first) & (rounds <= last)])
    good = np.setdiff1d(shared, differing)
    bad = differing[(differing > first) & (differing < last)]
    return good, bad


def match(
    start_ns: Sequence[Times],
    end_ns: Sequence[Times],
    kernels: Sequence[CommunicationKernels],
    rounds: Ids,
) -> Collectives:
    """Return the n-th run of each kernel in each round, rank by rank; times are of each rank."""
    columns = [_in_matching_order(of_gpu, rounds) for of_gpu in kernels]
    position = np.stack([column.position for column in columns])
    return Collectives(
        position=position,
        round=columns[0].round,
        name=columns[0].name,
        start_ns=_of_each(position, start_ns),
        end_ns=_of_each(position, end_ns),
    )


def those_that_meet(collectives: Collectives) -> Collectives:
    """Return the collectives without the kernels that do not wait for all ranks.

    A kernel that some ranks leave before others have begun it is a copy or a count beside a
    collective.
    """
    together = collectives.start_ns.max(axis=0) <= collectives.end_ns.min(axis=0)
    runs = np.bincount(collectives.name)
    met = np.bincount(collectives.name, weights=together, minlength=len(runs))
    return collectives.where((met >= ENOUGH * runs)[collectives.name])


def _in_matching_order(kernels: CommunicationKernels, rounds: Ids) -> CommunicationKernels:
    """Return the kernels of some rounds by round, by name, by start."""
    chosen = np.flatnonzero(np.isin(kernels.round, rounds))
    order = chosen[np.lexsort((kernels.name[chosen], kernels.round[chosen]))]
    return CommunicationKernels(kernels.position[order], kernels.round[order], kernels.name[order])


def _of_each(position: Ids, times_ns: Sequence[Times]) -> Times:
    return np.stack([times[at] for times, at in zip(times_ns, position, strict=True)])


def doubt(kernels: Sequence[CommunicationKernels], good: Ids, bad: Ids) -> str | None:
    """Return why the rounds cannot be compared, of which some have the same collectives."""
    if not any(len(of_gpu.position) for of_gpu in kernels):
        return "no collectives in the rounds of the window"
    if not len(good) or len(good) < ENOUGH * (len(good) + len(bad)):
        which = f"{len(bad):,} of {len(good) + len(bad):,} rounds" if len(good) else "every round"
        return (
            f"the ranks run different collectives in {which}: work is missing from the trace, or"
            " these are not the ranks of one group"
        )
    return None


def sum_by_round(amount_ns: Times, of_round: Ids, rounds: Ids) -> Times:
    """Return the amounts in each of some rounds, which are in ascending order."""
    result = np.zeros(len(rounds), np.int64)
    chosen = np.isin(of_round, rounds)
    np.add.at(result, np.searchsorted(rounds, of_round[chosen]), amount_ns[chosen])
    return result
