"""What a pattern tells before it is searched: literals it needs, repetitions that could explode."""

import re

_TOKEN = re.compile(
    r"""
    (?P<zero_width>\^|\$|\\b)
    |(?P<open>\((?:\?:|\?P<\w+>)?(?!\?))
    |(?P<close>\))
    |(?P<either>\|)
    |(?P<set>\[\^?\]?(?:\\.|[^\]\\])*\]|\\[A-Za-z0-9]|\.)
    |(?P<quantifier>[*+?]\??|\{\d+(?:,\d*)?\}\??)
    |(?P<plain>\\[^A-Za-z0-9]|[^\\()\[\]{}|*+?.^$])
    """,
    re.VERBOSE,
)
_Literals = tuple[str, ...]


def required_literals(pattern: str) -> _Literals:
    """Return literals of which every name that ``pattern`` matches holds at least one.

    Empty when no such literals were found; a search then has to try the pattern itself.
    """
    tokens = _tokens(pattern)
    return _alternatives(tokens) if tokens else ()


def has_nested_repetition(pattern: str) -> bool:
    """Return whether a repeated group of ``pattern`` repeats something itself.

    RE2 does not mind, but a backtracking engine may need exponential time on a long name.
    """
    inside = [False]
    tokens = _tokens(pattern)
    while tokens:
        kind, text = tokens.pop()
        if kind == "open":
            inside.append(False)
        elif kind == "close":
            repeats = len(inside) > 1 and inside.pop()
            if repeats and tokens and _is_unbounded(tokens[-1]):
                return True
            inside[-1] = inside[-1] or repeats
        elif _is_unbounded((kind, text)):
            inside[-1] = True
    return False


def _is_unbounded(token: tuple[str, str]) -> bool:
    kind, text = token
    return kind == "quantifier" and (text[0] in "*+" or text.rstrip("?").endswith(",}"))


def _tokens(pattern: str) -> list[tuple[str, str]]:
    """Return the (kind, text) tokens in reverse order, or none where the syntax is beyond us."""
    tokens: list[tuple[str, str]] = []
    position = 0
    while position < len(pattern):
        token = _TOKEN.match(pattern, position)
        if token is None:
            return []
        tokens.append((str(token.lastgroup), token[0]))
        position = token.end()
    return tokens[::-1]


def _alternatives(tokens: list[tuple[str, str]]) -> _Literals:
    """Consume up to the closing bracket; every alternative has to offer a literal."""
    found = [_sequence(tokens)]
    while tokens and tokens[-1][0] == "either":
        tokens.pop()
        found.append(_sequence(tokens))
    if tokens:
        tokens.pop()
    return tuple(dict.fromkeys(s for literals in found for s in literals)) if all(found) else ()


def _sequence(tokens: list[tuple[str, str]]) -> _Literals:
    """Consume one alternative and return the most selective literals of it."""
    candidates: list[_Literals] = []
    run = ""
    while tokens and tokens[-1][0] not in ("either", "close"):
        kind, text = tokens.pop()
        if kind == "zero_width":
            continue
        group = _alternatives(tokens) if kind == "open" else ()
        least, repeated = _repetition(tokens)
        if kind == "plain" and least:
            run += text[-1]
        elif group and least:
            candidates.append(group)
        if kind != "plain" or repeated:
            candidates.append((run,))
            run = ""
    candidates.append((run,))
    return max(candidates, key=_selectivity) if any(map(_selectivity, candidates)) else ()


def _repetition(tokens: list[tuple[str, str]]) -> tuple[bool, bool]:
    """Consume a quantifier; return whether the atom must occur, and whether there was one."""
    if not tokens or tokens[-1][0] != "quantifier":
        return True, False
    text = tokens.pop()[1]
    return text[0] not in "*?" and not text.startswith("{0"), True


def _selectivity(literals: _Literals) -> int:
    return min(map(len, literals), default=0)
