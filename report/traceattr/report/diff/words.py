"""How differences are written."""

from traceattr.report.diff.verdicts import Change
from traceattr.report.figures import NOTHING, UNKNOWN, Unit, duration

_FINE, _COARSE = 0.95, 99.5
"""Percent below which two decimals are written, and from which on none are."""


def signed(time_ns: int) -> str:
    """Return a difference in prose, in the unit that suits it."""
    return f"{_sign(time_ns)}{duration(abs(time_ns))}"


def signed_number(time_ns: int, unit: Unit) -> str:
    """Return a difference as a bare number for a table's column; what reads as 0 has no sign."""
    number = unit.number(abs(time_ns))
    return f"{_sign(time_ns)}{number}" if any(c in "123456789" for c in number) else number


def percent(change: Change) -> str:
    """Return by how much a part changed, nothing where it was not there before."""
    if change.difference_ns is None or not change.before_ns:
        return NOTHING
    return ratio_text(change.difference_ns / change.before_ns)


def ratio_text(ratio: float) -> str:
    """Return a relative difference in percent."""
    value = 100 * ratio
    decimals = 0 if abs(value) >= _COARSE else 1 if abs(value) >= _FINE else 2
    text = f"{value:+,.{decimals}f} %"
    return "0.00 %" if text[1:] == "0.00 %" else text


def difference_text(change: Change) -> str:
    """Return the difference of a part, and how much that is of it."""
    if change.difference_ns is None:
        return UNKNOWN
    relative = percent(change)
    return f"{signed(change.difference_ns)}{f' ({relative})' if relative else ''}"


def verdict_text(change: Change) -> str:
    """Return what became of a part, and of which rounds that is said unless of all."""
    return f"{change.verdict}, {change.rounds}" if change.rounds != "all" else str(change.verdict)


def _sign(time_ns: int) -> str:
    if time_ns == 0:
        return ""
    return "+" if time_ns > 0 else "-"
