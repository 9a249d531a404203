"""How figures vary over the rounds of one GPU; times are integer ns."""

from dataclasses import dataclass
from typing import Literal

Phase = Literal["target", "draft", "prefill", "other"]


@dataclass(frozen=True, slots=True)
class Spread:
    """Order statistics of a figure over the rounds, in ns.

    Quantiles are of the nearest rank (``inverted_cdf``), so each is a value that occurred.
    """

    median: int
    p99: int
    mean: int
    min: int
    max: int
