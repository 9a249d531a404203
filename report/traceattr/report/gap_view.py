"""By what gaps are listed."""

from enum import StrEnum


class GapView(StrEnum):
    """What a row of the list is about."""

    SEAM = "seam"
    PAIR = "pair"
    CAUSE = "cause"
    GAP = "gap"
