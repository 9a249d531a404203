"""The invisible line by which a comment is found again."""

import re

import typer

LONGEST_KEY = 100

_MARKER = re.compile(r"^<!-- traceattr:(?P<key>.+?) -->[ \t\r]*$", re.MULTILINE)


def sticky_key(text: str) -> str:
    """Return a key that can stand in an HTML comment.

    Raises:
        typer.BadParameter: It cannot.
    """
    is_plain = text.isascii() and text.isprintable() and text == text.strip()
    if not text or not is_plain or len(text) > LONGEST_KEY or re.search(r"[<>]|--|-$", text):
        raise typer.BadParameter(
            f"{text!r} is no key (expected at most {LONGEST_KEY} letters, digits and signs, without"
            " <, > and --)"
        )
    return text


def marker(key: str) -> str:
    """Return the line that says whose comment this is."""
    return f"<!-- traceattr:{key} -->"


def key_of(body: str) -> str | None:
    """Return the key of a comment: that of its first marker, as reports may quote others."""
    found = _MARKER.search(body)
    return found["key"] if found else None
