"""How text from a trace is made harmless for the place it is shown in."""

import re

_FORMULA = ("=", "+", "-", "@")


def visible(text: str) -> str:
    """Return ``text`` on one line: what is invisible or obeyed by a terminal is written out."""
    if text.isprintable():
        return text
    return "".join(map(_visible_character, text))


def _visible_character(character: str) -> str:
    if character.isprintable():
        return character
    return character.encode("unicode_escape").decode("ascii")


def markdown_text(text: str) -> str:
    """Return ``text`` as prose for GitHub's Markdown: nothing in it formats, links or mentions."""
    escaped = re.sub(r"([\\`*_\[\]#!|~])", r"\\\1", visible(text))
    escaped = escaped.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    escaped = re.sub(r"^\s*([-+=]|\d+(?=[.)](\s|$)))", _list_marker_as_text, escaped)
    # Four blanks in front would make it a block of code.
    escaped = re.sub(r"^ (?=   )", "&#32;", escaped)
    # GitHub asks for the span: a backslash does not always keep a formula from beginning.
    return _HASH.sub(_hash_as_text, _JOINT.sub(_NOTHING, escaped)).replace("$", "<span>$</span>")


_NOTHING = "<!-- -->"
"""Shows nothing, and what stands on both sides of it is no longer one word."""

_JOINT = re.compile(
    r"""(?ix)
    (?<=@) (?=[\w\\])                  # @name, name@host
    | (?<=\\\#) (?=\w)                  # #123, owner/name#123
    | (?<=\bgh) (?=-\d)                 # GH-123
    | (?<=:/) (?=/)                     # https://host
    | (?<=www) (?=\.)                   # www.host
    | (?<=:) (?=[\w+\\-]+:)             # :emoji:
    """
)
"""Where links, mentions and pictures can be broken that GitHub makes without being asked."""

_HASH = re.compile(r"(?i)\b(?=\d*[a-f])[\da-f]{7,40}\b")
"""What may be the hash of a commit."""

_SHORTEST_HASH = 7


def _hash_as_text(found: re.Match[str]) -> str:
    step = _SHORTEST_HASH - 1
    return _NOTHING.join(found[0][start : start + step] for start in range(0, len(found[0]), step))


def _list_marker_as_text(marker: re.Match[str]) -> str:
    """Return what would begin a list, a rule or a heading, so that it does not."""
    text = marker[0]
    return f"{text}{_NOTHING}" if text[-1].isdigit() else f"{text[:-1]}\\{text[-1]}"


def markdown_code(text: str) -> str:
    """Return ``text`` as a code span, in which GitHub neither formats, links nor mentions.

    The fence is longer than any run of backticks inside.
    """
    shown = visible(text).strip() or "(no name)"
    fence = "`" * (max(map(len, re.findall(r"`+", shown)), default=0) + 1)
    space = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{fence}{space}{shown}{space}{fence}"


def markdown_code_cell(text: str) -> str:
    """Return ``text`` as a code span for a table, where a bar ends the cell even inside code."""
    return markdown_code(text).replace("|", r"\|")


def markdown_sentence(text: str) -> str:
    """Return prose in which pairs of backticks mark code, as in a warning that names a command."""
    pieces = text.split("`")
    if len(pieces) % 2 == 0:
        return markdown_text(text)
    return "".join(
        markdown_code(piece) if position % 2 else markdown_text(piece)
        for position, piece in enumerate(pieces)
    )


def csv_text(text: str) -> str:
    """Return ``text`` for a spreadsheet: no control characters, never taken for a formula."""
    shown = visible(text)
    return f"'{shown}" if shown.lstrip().startswith(_FORMULA) else shown
