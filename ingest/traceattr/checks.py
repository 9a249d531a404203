"""Checks of a trace or a machine: whether it will do, and what mends it."""

from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """How a check came out; what cannot be known is a warning."""

    PASS = "pass"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Check:
    """One check.

    Attributes:
        code: Stable lower-case word for machines, such as ``graph-mode``.
        status: How it came out.
        text: What was found, in a sentence or two.
        remedy: A command line that mends it, None where nothing is to be mended or no command can.
        details: What the text sums up, one line each.
    """

    code: str
    status: Status
    text: str
    remedy: str | None = None
    details: tuple[str, ...] = ()


def passed(code: str, text: str) -> Check:
    """Return a check that found nothing wrong."""
    return Check(code, Status.PASS, text)


def warned(code: str, text: str, remedy: str | None = None, details: tuple[str, ...] = ()) -> Check:
    """Return a check that found something to know."""
    return Check(code, Status.WARN, text, remedy, details)


def failed(code: str, text: str, remedy: str | None = None, details: tuple[str, ...] = ()) -> Check:
    """Return a check that found what makes figures wrong or unknown."""
    return Check(code, Status.FAIL, text, remedy, details)
