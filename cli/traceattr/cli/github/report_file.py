"""A report in Markdown as it comes from a file or a pipe."""

import sys
from pathlib import Path

from traceattr.errors import OptionError

MOST_BYTES = 16 << 20
"""Far above any report; more is some other file."""

_OTHERS = (
    (b"SQLite format 3\0", "is a trace", "make its report: traceattr report TRACE --format"),
    (b"<!doctype html", "is HTML", "make the report with --format"),
    (b"<html", "is HTML", "make the report with --format"),
    (b"{", "is JSON", "make the report with --format"),
)
"""What other files begin with, what they are, and what to do."""


def read_report(path: Path) -> str:
    """Return a report; ``-`` is standard input.

    Raises:
        OptionError: It cannot be read, or is no Markdown.
    """
    name = "standard input" if str(path) == "-" else str(path)
    data = _read(path, name)
    for start, what, remedy in _OTHERS:
        if data[: len(start)].lower() == start.lower():
            raise OptionError(f"{name}: {what} (expected Markdown); {remedy} markdown -o report.md")
    if len(data) > MOST_BYTES:
        raise OptionError(f"{name}: is larger than {MOST_BYTES >> 20} MiB (expected a report)")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise OptionError(f"{name}: is no text in UTF-8 (expected a report in Markdown)") from error
    if not text.strip():
        raise OptionError(f"{name}: is empty (expected a report in Markdown)")
    return text.replace("\r\n", "\n").replace("\0", "\N{REPLACEMENT CHARACTER}")


def _read(path: Path, name: str) -> bytes:
    try:
        if str(path) != "-":
            with path.open("rb") as file:
                return file.read(MOST_BYTES + 1)
        if sys.stdin is None:
            raise OptionError(f"{name}: is closed (expected a report in Markdown)")
        return sys.stdin.buffer.read(MOST_BYTES + 1)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise OptionError(
            f"{name}: cannot be read: {reason} (expected a report in Markdown)"
        ) from error
