"""How a kernel is called in a table: what tells it apart, in at most 60 characters."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace

from traceattr.report.cpp_names import CppName, parse
from traceattr.report.escape import visible

LIMIT = 60
"""Characters of a kernel's label in every table."""

ELLIPSIS = "..."
NAMELESS = "(no name)"
_SHORT_NAME = 12
"""A name below this many characters says too little without its namespace."""

_LAUNCHER = 16
"""A kernel's name up to this many characters gives way to its only argument, which it launches."""

_TELLING = 8
"""A wrapped name from this many characters on says more than what is wrapped around it."""

_FUNCTOR = re.compile(r"(?i)functor|ops?$")
_WORDS = tuple(map(re.compile, (r"[^\W_]\w*", r"[^\W_]+", r"[A-Z]+[a-z]*\d*|[a-z]+\d*|\d+")))
_EMPTY_WORDS = frozenset({"void", "const"})
_LONGEST_MARK = 32
_LONGEST_WORD = 20
_MOST_WORDS = 6
_MOST_ALIKE = 40
"""What is added to alike labels: how long, in words of how many characters, how many words; and
up to how many names, as a number is as good for more."""


def shorten(name: str, limit: int = LIMIT) -> str:
    """Return ``name`` without what every kernel of its kind shares, in ``limit`` characters.

    Return type, parameters, numbers and scalar types go; functors and policies stay while there
    is room for them.  The result depends on nothing but the name.
    """
    shown = visible(name).strip() or NAMELESS
    parsed = parse(shown)
    if parsed is None:
        return cut(shown, limit)
    label = ""
    for label in _labels(_with_scope(parsed)):
        if len(label) <= limit:
            return label
    return cut(label, limit)


def label_names(names: Iterable[str], limit: int = LIMIT) -> dict[str, str]:
    """Return a label for each name; two different names never get the same label."""
    groups: dict[str, list[str]] = defaultdict(list)
    for name in sorted(set(names)):
        groups[shorten(name, limit)].append(name)
    labels: dict[str, str] = {}
    taken = {label for label, alike in groups.items() if len(alike) == 1}
    for label, alike in groups.items():
        for name, told_apart in zip(alike, _tell_apart(label, alike, taken, limit), strict=True):
            labels[name] = told_apart
            taken.add(told_apart)
    return labels


def cut(text: str, limit: int) -> str:
    """Return ``text`` with an ellipsis inside if it is too long; both ends tell kernels apart.

    Template arguments are kept whole where that leaves a few characters of the name before them.
    """
    if len(text) <= limit:
        return text
    room = limit - len(ELLIPSIS)
    if room <= 0:
        return ELLIPSIS[:limit]
    arguments = len(text) - text.find("<") if "<" in text else limit
    tail = arguments if room - arguments >= _TELLING else room * 2 // 5
    return text[: room - tail] + ELLIPSIS + text[len(text) - tail :]


def _with_scope(parsed: CppName) -> CppName:
    if len(parsed.name) >= _SHORT_NAME or not parsed.scope or parsed.scope == parsed.name:
        return parsed
    return replace(parsed, name=f"{parsed.scope}::{parsed.name}")


def _labels(root: CppName) -> Iterator[str]:
    """Yield labels of one name, from the fullest to the barest."""
    yield _written(root, _depth(root), None)
    bare = replace(root, arguments=tuple(map(_unwrapped, root.arguments)))
    inner = bare.arguments[0] if len(bare.arguments) == 1 and len(bare.name) <= _LAUNCHER else bare
    if inner.arguments:
        yield from _shorter_and_shorter(inner)
    yield _written(bare, 1, None)
    yield _written(bare, 1, 1)
    yield inner.name if inner is not bare else _written(bare, 1, 1)


def _shorter_and_shorter(node: CppName) -> Iterator[str]:
    for depth in range(_depth(node), 0, -1):
        for most in (None, 2, 1):
            yield _written(node, depth, most)


def _depth(node: CppName) -> int:
    return 1 + max((_depth(argument) for argument in node.arguments), default=-1)


def _unwrapped(node: CppName, telling: int = _TELLING) -> CppName:
    """Return the innermost of wrappers that have one named argument each.

    A function with parameters is where a lambda was written, so it names the operation; it only
    gives way to another function or to a functor.  Elsewhere an inner name of ``telling``
    characters will do, or with 0, as below the first level, one longer than what is around it.
    """
    if len(node.arguments) == 1:
        inner = _unwrapped(node.arguments[0], telling)
        gives_way = not node.is_function or inner.is_function or _FUNCTOR.search(inner.name)
        if len(inner.name) >= (telling or len(node.name) + 1) and gives_way:
            return inner
    return replace(node, arguments=tuple(_unwrapped(a, 0) for a in node.arguments))


def _written(node: CppName, depth: int, most: int | None) -> str:
    if depth == 0 or not node.arguments:
        return node.name
    parts = list(dict.fromkeys(_written(each, depth - 1, most) for each in node.arguments))
    shown = parts[:most]
    if len(shown) < len(parts):
        shown.append(ELLIPSIS)
    return f"{node.name}<{', '.join(shown)}>"


def _tell_apart(label: str, names: list[str], taken: set[str], limit: int) -> Iterator[str]:
    """Yield ``label`` once for each name, marked with what makes that name different."""
    if len(names) == 1:
        yield label
        return
    for number, mark in enumerate(_marks(names), start=1):
        marked = _marked(label, mark, limit)
        while marked in taken:
            marked = _marked(label, f"#{number}", limit)
            number += len(names)
        yield marked


def _marked(label: str, mark: str, limit: int) -> str:
    return f"{cut(label, limit - len(mark) - 1)} {mark}" if mark else cut(label, limit)


def _marks(names: list[str]) -> list[str]:
    """Return for each name the few words that only some of the names have, or else its number."""
    for pattern in _WORDS if len(names) <= _MOST_ALIKE else ():
        words = [[w for w in pattern.findall(name) if w not in _EMPTY_WORDS] for name in names]
        for columns_of in (_columns_by_position, _columns_by_presence):
            chosen = _telling_columns(columns_of(words), len(names))
            told = [[w for w in row if w] for row in zip(*chosen, strict=True)]
            if len(set(map(tuple, told))) == len(names) and all(map(_is_short, told)):
                return [f"{{{','.join(row)}}}" if row else "" for row in told]
    return [f"#{number}" for number, _ in enumerate(names, start=1)]


def _is_short(words: list[str]) -> bool:
    return sum(map(len, words)) + len(words) < _LONGEST_MARK and not any(
        len(word) > _LONGEST_WORD for word in words
    )


def _columns_by_position(words: list[list[str]]) -> list[tuple[str, ...]]:
    """Return the first words of all names, their second words and so on, if they are aligned."""
    return list(zip(*words, strict=True)) if len({len(each) for each in words}) == 1 else []


def _columns_by_presence(words: list[list[str]]) -> list[tuple[str, ...]]:
    """Return for each word where it is present, and nothing for the names that lack it."""
    present = [set(each) for each in words]
    every = dict.fromkeys(word for each in words for word in each)
    return [tuple(word if word in mine else "" for mine in present) for word in every]


def _telling_columns(columns: list[tuple[str, ...]], names: int) -> list[tuple[str, ...]]:
    """Return the few columns that together tell all names apart, in their order."""
    chosen: set[int] = set()
    apart = 1
    while apart < names and len(chosen) < _MOST_WORDS:
        scores = [
            len(set(zip(*(columns[i] for i in sorted({*chosen, at})), strict=True)))
            for at in range(len(columns))
        ]
        if max(scores, default=0) <= apart:
            break
        apart = max(scores)
        chosen.add(scores.index(apart))
    return [columns[at] for at in sorted(chosen)]
