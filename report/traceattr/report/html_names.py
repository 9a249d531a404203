"""Classes of a page's style sheet for names of groups, categories and causes."""

import re

from traceattr.attribution.groups import group_of
from traceattr.rules.categories import GRAPH


def group_class(group: str) -> str:
    """Return the class that gives a group its colour."""
    return "g-graph" if group == GRAPH else f"g-{_word(group)}"


def category_class(category: str) -> str:
    """Return the class of a category: it has the colour of its group."""
    return group_class(group_of(category, None))


def cause_class(cause: str) -> str:
    """Return the class that gives a cause of idle time its colour."""
    return f"c-{_word(cause)}"


def _word(name: str) -> str:
    return re.sub(r"\W+", "-", name.lower())
