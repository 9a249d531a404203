"""The part of a trace in which the server does what it repeats.

Loading, graph capture, warm-up and the time without requests say nothing about a round, so they
are left out of the window, and the report says so.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from traceattr.attribution.account import Account
from traceattr.attribution.analysis import Window
from traceattr.attribution.intervals import Times
from traceattr.attribution.piece_kinds import PieceKind
from traceattr.attribution.rounds import RoundKind
from traceattr.attribution.window import RoundsOption
from traceattr.errors import OptionError

PAUSE_ROUNDS = 4
"""A pause is longer than this many median rounds ..."""

PAUSE_NS = 50_000_000
"""... and than this; a garbage collection of the host takes less."""

WARM_UP_ROUNDS = 4
"""A row of fewer rounds than this at the beginning is a warm-up, if there are longer ones."""

MAIN_KINDS = (RoundKind.SPECULATIVE, RoundKind.DECODE)


@dataclass(frozen=True, slots=True)
class Steady:
    """Which part to report.

    Attributes:
        window: The part.
        pause_ns: Idle time from which on no request can be in flight; None without rounds.
        cut: What lies outside and why, one sentence each.
    """

    window: Window
    pause_ns: int | None
    cut: tuple[str, ...]


def main_kind(account: Account) -> RoundKind | None:
    """Return what the server mostly does, None when no round was found."""
    counts = {kind: account.rounds.kind.count(kind) for kind in MAIN_KINDS}
    best = max(counts, key=lambda kind: counts[kind])
    return best if counts[best] else None


def round_length(account: Account) -> int | None:
    """Return the median time from the begin of one round to that of the next, in ns."""
    kind = main_kind(account)
    if kind is None:
        return None
    is_main = np.array([found == kind for found in account.rounds.kind])
    starts = account.rounds.start_ns[is_main]
    lengths = np.diff(starts) if len(starts) > 1 else account.rounds.end_ns[is_main] - starts
    return int(np.median(lengths))


def pause_length(account: Account) -> int | None:
    """Return the idle time from which on no request can be in flight, None without rounds."""
    length_ns = round_length(account)
    return None if length_ns is None else max(PAUSE_NS, PAUSE_ROUNDS * length_ns)


def leader_of(accounts: Sequence[Account]) -> Account:
    """Return the GPU that shows most rounds."""
    return max(accounts, key=lambda account: len(account.rounds.kind))


def find_steady(accounts: Sequence[Account], whole: Window) -> Steady:
    """Return the steady part of ``whole``, which is all of it where nothing tells otherwise."""
    leader = leader_of(accounts)
    pause_ns, length_ns = pause_length(leader), round_length(leader)
    if pause_ns is None or length_ns is None:
        return Steady(whole, None, ())
    first, last = _steady_rounds(leader, pause_ns)
    start_ns = min(_begin(account, leader, first) for account in accounts)
    end_ns = max(_end(account, leader, last) for account in accounts)
    # Less than a round at an end is one that the capture cut in two.
    is_cut = (start_ns - whole.start_ns > length_ns, whole.end_ns - end_ns > length_ns)
    window = Window(
        start_ns if is_cut[0] else whole.start_ns,
        end_ns if is_cut[1] else whole.end_ns,
        "steady rounds" if any(is_cut) else whole.why,
    )
    return Steady(window, pause_ns, _cuts(whole, window))


def window_of_rounds(accounts: Sequence[Account], option: RoundsOption) -> Steady:
    """Return the window of some rounds of the main kind, to the begin of the round after them.

    It reaches to where the last GPU begins that round, so that each of them is whole on every GPU.

    Raises:
        OptionError: There are no rounds, or not so many.
    """
    leader = leader_of(accounts)
    kind = main_kind(leader)
    found = [at for at, is_kind in enumerate(leader.rounds.kind) if is_kind == kind]
    first, last = option[0] or 0, len(found) if option[1] is None else option[1]
    if kind is None:
        raise OptionError("--rounds: this trace shows no rounds; use --window")
    if first >= len(found) or last > len(found):
        raise OptionError(f"--rounds: the trace has rounds 0:{len(found)}")
    start_ns = min(_begin(account, leader, found[first]) for account in accounts)
    if last < len(found):
        end_ns = max(_begin(account, leader, found[last]) for account in accounts)
    else:
        end_ns = max(_end(account, leader, found[-1]) for account in accounts)
    window = Window(start_ns, end_ns, f"rounds {first}:{last}")
    return Steady(window, pause_length(leader), ())


def _steady_rounds(account: Account, pause_ns: int) -> tuple[int, int]:
    """Return the first and the last round of the steady part."""
    rows = _rows(account, pause_ns)
    enough = min(WARM_UP_ROUNDS, max(end - begin for begin, end in rows))
    first = next(begin for begin, end in rows if end - begin >= enough)
    last = rows[-1][1] - 1
    kinds, rounds = account.rounds.kind, account.rounds
    while (
        first
        and kinds[first - 1] is RoundKind.PREFILL
        and rounds.start_ns[first] - rounds.end_ns[first - 1] <= pause_ns
    ):
        first -= 1
    return first, last


def _rows(account: Account, pause_ns: int) -> list[tuple[int, int]]:
    """Return the rows of regular rounds: begin and end of each, end exclusive.

    A round is regular when it has the passes that most rounds of its kind have; a row ends at a
    pause and at anything else, such as a prefill.
    """
    rounds = account.rounds
    passes = _passes(account)
    kind = main_kind(account)
    of_kind = [passes[at] for at, found in enumerate(rounds.kind) if found == kind]
    regular = Counter(of_kind).most_common(1)[0][0]
    rows: list[tuple[int, int]] = []
    for at, found in enumerate(rounds.kind):
        if found != kind or passes[at] != regular:
            continue
        follows = bool(rows) and rows[-1][1] == at
        if follows and rounds.start_ns[at] - rounds.end_ns[at - 1] <= pause_ns:
            rows[-1] = (rows[-1][0], at + 1)
        else:
            rows.append((at, at + 1))
    return rows


def _passes(account: Account) -> list[frozenset[PieceKind]]:
    """Return which kinds of pass each round has."""
    found: list[set[PieceKind]] = [set() for _ in account.rounds.kind]
    for at, kind in zip(account.rounds.of_piece.tolist(), account.kinds.of_piece, strict=True):
        if at >= 0:
            found[at].add(kind)
    return [frozenset(kinds) for kinds in found]


def _begin(account: Account, leader: Account, at: int) -> int:
    """Return when a round of the leader begins on another GPU: its nearest begin there."""
    return _nearest(account.rounds.start_ns, int(leader.rounds.start_ns[at]))


def _end(account: Account, leader: Account, at: int) -> int:
    return _nearest(account.rounds.end_ns, int(leader.rounds.end_ns[at]))


def _nearest(times_ns: Times, moment_ns: int) -> int:
    if not len(times_ns):
        return moment_ns
    return int(times_ns[np.argmin(np.abs(times_ns - moment_ns))])


def _cuts(whole: Window, window: Window) -> tuple[str, ...]:
    before_s = (window.start_ns - whole.start_ns) / 1e9
    after_s = (whole.end_ns - window.end_ns) / 1e9
    sides = ((before_s, "before", "loading, capture or warm-up"), (after_s, "after", "no rounds"))
    return tuple(
        f"{seconds:.3f} s {side} the steady rounds are left out ({what})"
        for seconds, side, what in sides
        if seconds > 0
    )
