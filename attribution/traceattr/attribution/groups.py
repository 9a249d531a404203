"""The groups of the top table: who owns what, draft work and gaps included."""

from traceattr.attribution.round_figures import Phase
from traceattr.rules.categories import DRAFT, HOST_GAPS, IN_GRAPH_GAPS
from traceattr.rules.categories import group_of as group_of_category

NO_WORK = "no work"
"""Idle time at the edges and in pauses; it joins nothing."""

GAP_GROUPS = (IN_GRAPH_GAPS, HOST_GAPS, NO_WORK)
"""Groups in which nothing runs, in table order after those of `GROUPS`."""


def group_of(category: str, phase: Phase | None) -> str:
    """Return the group that shows a category in a phase."""
    return DRAFT if phase == "draft" else group_of_category(category)
