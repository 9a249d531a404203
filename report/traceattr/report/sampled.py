"""Over how many rounds figures per round are, and what so many can tell."""

from traceattr.attribution.analysis import Analysis, RoundsSummary
from traceattr.report.figures import count, counted

FEWEST_FOR_P99 = 10
"""Rounds below which no 99th percentile is written: it is one of very few values."""

LEFT_OUT = "those that no other follows at once are left out"


def sampled_rounds(rounds: RoundsSummary) -> str:
    """Return over how many rounds figures are, and of how many in the window if not all."""
    if rounds.sampled == rounds.count:
        return counted(rounds.sampled, "round")
    return f"{count(rounds.sampled)} of {counted(rounds.count, 'round')}"


def has_percentiles(rounds: int) -> bool:
    """Return whether so many rounds have a 99th percentile worth writing."""
    return rounds >= FEWEST_FOR_P99


def has_gap_percentiles(analysis: Analysis) -> bool:
    """Return whether the lengths of gaps have one: in few rounds none has."""
    return all(not gaps.rounds or has_percentiles(gaps.rounds) for gaps in analysis.gaps)
