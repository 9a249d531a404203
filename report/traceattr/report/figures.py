"""How numbers are written: times, shares, counts and rates."""

from dataclasses import dataclass
from fractions import Fraction

UNKNOWN = "unknown"
"""What stands in the place of a figure that the trace does not tell."""

NOTHING = ""
"""What stands in the place of a figure that does not exist."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit of time; one table uses one of them.

    Attributes:
        name: Symbol.
        ns: Nanoseconds in one.
    """

    name: str
    ns: int

    def number(self, duration_ns: int) -> str:
        """Return the bare number with three decimals, rounded half up, for a table's column."""
        thousandths = (duration_ns * 2000 + self.ns) // (self.ns * 2)
        return f"{thousandths // 1000:,}.{thousandths % 1000:03}"

    def brief(self, duration_ns: int) -> str:
        """Return number and unit for prose, with one decimal, or two below ten."""
        value = duration_ns / self.ns
        return f"{value:,.{1 if value >= 10 else 2}f} {self.name}"

    def text(self, duration_ns: int) -> str:
        """Return number and unit."""
        return f"{self.number(duration_ns)} {self.name}"


SECONDS = Unit("s", 1_000_000_000)
MILLISECONDS = Unit("ms", 1_000_000)
MICROSECONDS = Unit("us", 1_000)
_TENTH_PERCENTS = 1_000


def unit_for(longest_ns: int) -> Unit:
    """Return the unit of a table whose largest time is ``longest_ns``."""
    if longest_ns >= 100 * SECONDS.ns:
        return SECONDS
    return MILLISECONDS if longest_ns >= MILLISECONDS.ns else MICROSECONDS


def duration(duration_ns: int) -> str:
    """Return a time in prose, in the unit and with the digits that suit it."""
    if duration_ns >= SECONDS.ns // 10:
        return SECONDS.text(duration_ns)
    for unit in (MILLISECONDS, MICROSECONDS):
        if duration_ns >= unit.ns:
            return unit.brief(duration_ns)
    return f"{duration_ns} ns"


def share(part: int, whole: int) -> str:
    """Return ``part`` of ``whole`` in percent; 0 and 100 are only written when they are exact."""
    if whole == 0:
        return "0 %"
    ratio = Fraction(part, whole)
    if ratio in (0, 1):
        return f"{ratio * 100} %"
    tenths = round(ratio * _TENTH_PERCENTS)
    if 0 < ratio < 1 and tenths in (0, _TENTH_PERCENTS):
        return "<0.1 %" if tenths == 0 else ">99.9 %"
    return f"{tenths / 10:.1f} %"


def whole_percent(part: int, whole: int) -> str:
    """Return ``part`` of ``whole`` in whole percents without their sign; 100 only when exact."""
    percent = round(100 * part / whole)
    return ">99" if percent == 100 and part < whole else f"{percent}"


def share_range(parts: list[tuple[int, int]]) -> str:
    """Return the smallest and the largest share, or one where both read the same."""
    low = share(*min(parts, key=_ratio))
    high = share(*max(parts, key=_ratio))
    return low if low == high else f"{low.removesuffix(' %')}-{high}"


def _ratio(part_of_whole: tuple[int, int]) -> Fraction:
    part, whole = part_of_whole
    return Fraction(part, whole) if whole else Fraction(0)


def count(number: int) -> str:
    """Return a count with thousands separators."""
    return f"{number:,}"


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Return a count and its noun, by default with a plural s where it belongs."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {plural or f'{noun}s'}"


def rate(bytes_per_s: int) -> str:
    """Return a bandwidth in decimal units, as datasheets do."""
    for name, size in (("TB/s", 10**12), ("GB/s", 10**9), ("MB/s", 10**6)):
        if bytes_per_s >= size:
            return f"{bytes_per_s / size:.3g} {name}"
    return f"{bytes_per_s:,} B/s"
