"""A value of the prediction and where it came from."""

from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")

SOURCES: tuple[str, ...] = (
    "flag",
    "config",
    "trace",
    "server log",
    "metrics",
    "file",
    "what-if",
    "default",
)
"""Where an input can come from."""


@dataclass(frozen=True, slots=True)
class Input(Generic[T]):
    """One input of the prediction.

    Attributes:
        value: The value.
        source: One of `SOURCES`.
    """

    value: T
    source: str
