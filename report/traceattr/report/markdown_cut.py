"""Markdown that is too long for where it goes: cut where what is shown stays whole, and said."""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from itertools import accumulate, takewhile
from operator import itemgetter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it.token import Token

Size = Callable[[str], int]
"""How a limit counts: `len` for characters, `bytes_of` for bytes."""

_DRAWN = {"geojson", "math", "mermaid", "stl", "topojson"}
"""Code that GitHub draws; half of it would be an error message."""

_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_FOLD = re.compile(r"<(/?)details\b", re.IGNORECASE)


def bytes_of(text: str) -> int:
    """Return how many bytes the text takes in UTF-8."""
    return len(text.encode())


def cut_markdown(text: str, most: int, note: str, size: Size = len) -> str:
    """Return the text, or as many whole blocks, rows and items as fit, and then the note.

    Code blocks and folded sections that are open at the cut are closed before the note. Where not
    even the first block fits the note comes first, as nothing can be known of what is open.
    """
    if size(text) <= most:
        return text
    lines = text.split("\n")
    fitting = sum(1 for _ in takewhile(most.__ge__, accumulate(size(each) + 1 for each in lines)))
    # The line that does not fit tells whether the one before it ends something.
    start = "\n".join([*lines[:fitting], lines[fitting][:most]])
    for line, closing in sorted(_cuts(start), reverse=True):
        shown = "\n".join(lines[:line]).rstrip("\n") + closing
        if size(f"{shown}\n\n{note}\n") <= most:
            return f"{shown}\n\n{note}\n"
    room = most - size(f"{note}\n\n\n")
    return f"{note}\n\n{_beginning(text, room, size)}\n"


def _beginning(text: str, room: int, size: Size) -> str:
    """Return the first characters of the text that fit."""
    shown = text[: max(room, 0)]
    while (over := size(shown) - room) > 0 and shown:
        shown = shown[: -max(over // 4, 1)]
    return shown


def _cuts(text: str) -> Iterator[tuple[int, str]]:
    """Yield after how many lines the text may be cut, and what then closes what is open."""
    from markdown_it import MarkdownIt

    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    folds = [fold for token in tokens for fold in _folds(token)]
    open_after = list(accumulate((change for _, change in folds), _never_below_zero, initial=0))
    for line, fence in _ends(tokens):
        if line:
            depth = open_after[bisect_left(folds, line, key=itemgetter(0))]
            yield line, fence + "\n\n</details>" * depth


def _never_below_zero(depth: int, change: int) -> int:
    """Return how many sections are open; an end without a begin closes none."""
    return max(depth + change, 0)


def _ends(tokens: "list[Token]") -> Iterator[tuple[int, str]]:
    """Yield each line before which a block, a row or an item begins, or code goes on."""
    rows = 0
    for token in tokens:
        if token.map is None or token.nesting < 0:
            continue
        first, last = token.map
        rows = 0 if token.type == "tbody_open" else rows + (token.type == "tr_open")
        if token.level == 0 or (token.level == 1 and token.type == "list_item_open"):
            yield first, ""
        if token.type == "tr_open" and token.level == 2 and rows > 1:
            yield first, ""
        if token.type == "fence" and token.level == 0 and token.info.strip() not in _DRAWN:
            yield from ((line, f"\n{token.markup}") for line in range(first + 2, last))


def _folds(token: "Token") -> Iterator[tuple[int, int]]:
    """Yield the line and +1 for each folded section that begins in a block, -1 for each end."""
    if token.map is None:
        return
    if token.type == "html_block":
        pieces = [token.content]
    else:
        pieces = [c.content for c in token.children or () if c.type == "html_inline"]
    for piece in pieces:
        for slash in _FOLD.findall(_COMMENT.sub("", piece)):
            yield token.map[0], -1 if slash else 1
