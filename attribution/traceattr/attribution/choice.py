"""What part of a trace the user wants to see."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from traceattr.attribution.piece_kinds import PieceKind, parse_graph_kinds
from traceattr.attribution.window import (
    RoundsOption,
    WindowOption,
    parse_rounds,
    parse_window,
)
from traceattr.errors import OptionError


@dataclass(frozen=True, slots=True)
class Choice:
    """What to look at, and what the user knows better.

    Attributes:
        window: The part to look at, None for the steady part.
        rounds: The rounds to look at, instead of a window.
        graph_kinds: What graphs are for, by id.
    """

    window: WindowOption | None = None
    rounds: RoundsOption | None = None
    graph_kinds: Mapping[int, PieceKind] = field(default_factory=dict)


STEADY_ROUNDS = Choice()
"""What most people want to see."""


def parse_choice(*, window: str, rounds: str, graph_kinds: Iterable[str]) -> Choice:
    """Return the choice that command-line options state; empty texts state none.

    Raises:
        OptionError: A text is malformed, or two options exclude each other.
    """
    if window and rounds:
        raise OptionError("--window and --rounds: only one of them can be used")
    return Choice(
        window=parse_window(window) if window else None,
        rounds=parse_rounds(rounds) if rounds else None,
        graph_kinds=parse_graph_kinds(graph_kinds),
    )
