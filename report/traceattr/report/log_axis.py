"""A logarithmic axis: which values are marked, and where a value stands on it."""

from dataclasses import dataclass
from math import ceil, floor, log10

_DIGITS = 1e-9
"""What a logarithm may be off."""


@dataclass(frozen=True, slots=True)
class LogAxis:
    """An axis between two positive values.

    Attributes:
        low: Value at its beginning.
        high: Value at its end.
    """

    low: float
    high: float

    def place(self, value: float) -> float:
        """Return where a value stands: 0 at the beginning, 1 at the end."""
        return log10(value / self.low) / log10(self.high / self.low)

    @property
    def decades(self) -> tuple[float, ...]:
        """Powers of ten on it."""
        first, last = ceil(log10(self.low) - _DIGITS), floor(log10(self.high) + _DIGITS)
        return tuple(10.0**power for power in range(first, last + 1))


def tick_text(value: float) -> str:
    """Return a power of ten as a person writes it."""
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"
