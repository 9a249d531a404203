"""The rank that the others wait for, and what keeps it."""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from traceattr.attribution.account import Account
from traceattr.attribution.analysis import Window
from traceattr.attribution.labels import LABELS
from traceattr.attribution.matching import Collectives, sum_by_round
from traceattr.attribution.rank_figures import IDLE, Straggler
from traceattr.attribution.timeline import Ids

TIMES_THE_WAITING = 2
"""A straggler causes at least this many times the waiting that any other rank causes."""

DEVIATIONS = 3
"""Standard deviations above equal chances from which on coming last is no accident."""


def find_straggler(
    accounts: Sequence[Account], collectives: Collectives, window: Window
) -> Straggler | None:
    """Return the rank that the others wait for.

    It causes at least twice the waiting that any other rank causes, and by no accident: it comes
    last in more collectives, or causes the most waiting in more rounds, than equal chances give.
    """
    rank = waited_for(collectives)
    return None if rank is None else _explained(accounts, collectives, rank, window)


def waited_for(collectives: Collectives) -> int | None:
    """Return which rank that is, by its place among the ranks."""
    caused_ns = collectives.caused_ns
    total_ns = caused_ns.sum(axis=1)
    *_, second, most = sorted(total_ns.tolist())
    rank = int(total_ns.argmax())
    if most == 0 or most < TIMES_THE_WAITING * second:
        return None
    rounds = np.unique(collectives.round)
    by_round = np.stack([sum_by_round(row, collectives.round, rounds) for row in caused_ns])
    worst = np.where(by_round.any(axis=0), by_round.argmax(axis=0), -1)
    if any(_is_no_accident(who, rank, len(caused_ns)) for who in (collectives.last, worst)):
        return rank
    return None


def _is_no_accident(who: Ids, rank: int, ranks: int) -> bool:
    """Return whether a rank occurs more often than chance gives one of so many; -1 is nobody."""
    cases = int((who >= 0).sum())
    chance = 1 / ranks
    deviation = math.sqrt(cases * chance * (1 - chance))
    return cases > 0 and int((who == rank).sum()) - cases * chance >= DEVIATIONS * deviation


def _explained(
    accounts: Sequence[Account], collectives: Collectives, rank: int, window: Window
) -> Straggler:
    """Return a straggler with what keeps it: where it spends more than the others do."""
    chosen = collectives.last == rank
    order = np.argsort(collectives.position, axis=1, kind="stable")
    chosen[order[:, :1]] = False  # nothing to count from
    spent = np.stack(
        [
            _spent_before(account, collectives, at, order[at], chosen, window)
            for at, account in enumerate(accounts)
        ]
    )
    others = np.delete(spent, rank, axis=0).mean(axis=0)
    excess = dict(zip((*_CATEGORIES, IDLE), (spent[rank] - others).tolist(), strict=True))
    behind_ns = round(sum(excess.values()))
    category = max(excess, key=lambda name: excess[name])
    gpu = accounts[rank].timeline.gpu_id
    if excess[category] <= 0:
        return Straggler(gpu, behind_ns, None, None)
    return Straggler(gpu, behind_ns, category, round(excess[category]))


_CATEGORIES = tuple(dict.fromkeys(label.category for label in LABELS))
_CATEGORY_OF_LABEL = np.array([_CATEGORIES.index(label.category) for label in LABELS])


def _spent_before(
    account: Account,
    collectives: Collectives,
    rank: int,
    order: Ids,
    chosen: npt.NDArray[np.bool_],
    window: Window,
) -> npt.NDArray[np.float64]:
    """Return the exclusive time per category of one rank, and last its idle time.

    It is the time before the chosen collectives, each from the end of the collective before.
    """
    position = collectives.position[rank, order]
    timeline = account.timeline
    exclusive_ns = account.partition(window).exclusive_ns.copy()
    exclusive_ns[position] = 0
    is_collective = np.zeros(len(exclusive_ns), np.int64)
    is_collective[position] = 1
    next_collective = np.cumsum(is_collective) - is_collective
    counts = np.append(chosen[order], False)[next_collective]
    spent = np.bincount(
        _CATEGORY_OF_LABEL[timeline.label[counts]],
        weights=exclusive_ns[counts],
        minlength=len(_CATEGORIES),
    )
    begins, ends = collectives.start_ns[rank, order], collectives.end_ns[rank, order]
    total_ns = (begins[1:] - ends[:-1])[chosen[order][1:]].sum()
    return np.append(spent, total_ns - spent.sum())
