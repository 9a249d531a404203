"""The part of a trace that the numbers are about."""

from decimal import Decimal, InvalidOperation

from traceattr.attribution.analysis import Window
from traceattr.errors import OptionError

WindowOption = tuple[int | None, int | None]
"""Begin and end in ns as the user gave them; None means the first or last operation."""

RoundsOption = tuple[int | None, int | None]
"""First round and the one after the last, as the user gave them; None means an end."""

_NS_PER_S = 1_000_000_000


def parse_window(text: str) -> WindowOption:
    """Return the ends of ``A:B`` in ns; A and B are decimal seconds, and either may be missing.

    Raises:
        OptionError: It is not of that form, finer than a nanosecond, or ends before it begins.
    """
    begin, colon, end = text.partition(":")
    if not colon:
        raise OptionError(
            f"--window {text!r}: no colon (expected A:B in seconds, such as 1.5:2.75)"
        )
    start_ns, end_ns = _nanoseconds(begin, text), _nanoseconds(end, text)
    if start_ns is not None and end_ns is not None and start_ns >= end_ns:
        raise OptionError(f"--window {text!r}: ends before it begins (expected A:B with A < B)")
    return start_ns, end_ns


def parse_rounds(text: str) -> RoundsOption:
    """Return the ends of ``A:B``, counted from 0; B is left out of it, and either may be missing.

    Raises:
        OptionError: It is not of that form, or empty.
    """
    begin, colon, end = text.partition(":")
    if not colon or not all(part.strip().isdecimal() or not part.strip() for part in (begin, end)):
        raise OptionError(f"--rounds {text!r}: not A:B (expected whole numbers, such as 10:20)")
    first = int(begin) if begin.strip() else None
    last = int(end) if end.strip() else None
    if last is not None and (first or 0) >= last:
        raise OptionError(f"--rounds {text!r}: holds no round (expected A:B with A < B)")
    return first, last


def choose_window(recorded_ns: tuple[int, int], option: WindowOption) -> Window:
    """Return the window asked for.

    Args:
        recorded_ns: Begin of the first and end of the last operation of any GPU, for open ends.
        option: What the user gave.

    Raises:
        OptionError: No work was recorded there.
    """
    first_ns, last_ns = recorded_ns
    start_ns = first_ns if option[0] is None else option[0]
    end_ns = last_ns if option[1] is None else option[1]
    if option != (None, None) and not (
        start_ns < end_ns and start_ns < last_ns and end_ns > first_ns
    ):
        raise OptionError(
            f"--window: nothing was recorded there (GPU work lies in {seconds(first_ns)}:"
            f"{seconds(last_ns)} s on the clock of the trace)"
        )
    why = "first to last GPU operation" if option == (None, None) else "--window"
    return Window(start_ns, end_ns, why)


def seconds(time_ns: int) -> str:
    """Return a time in seconds with all its digits, as ``--window`` takes it."""
    return f"{Decimal(time_ns).scaleb(-9):f}"


def _nanoseconds(text: str, window: str) -> int | None:
    if not text.strip():
        return None
    try:
        nanoseconds = Decimal(text.strip()) * _NS_PER_S
    except InvalidOperation:
        nanoseconds = Decimal("NaN")
    if not nanoseconds.is_finite() or nanoseconds != int(nanoseconds):
        raise OptionError(
            f"--window {window!r}: {text.strip()!r} is no time"
            " (expected seconds with up to nine decimals)"
        )
    return int(nanoseconds)
