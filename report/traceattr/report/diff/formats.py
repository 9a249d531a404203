"""The formats of a diff; nothing else, so that ``--help`` need not wait."""

from enum import StrEnum


class DiffFormat(StrEnum):
    """Formats of a diff."""

    TERMINAL = "terminal"
    MARKDOWN = "markdown"
    JSON = "json"
    HTML = "html"
    BENCHMARK = "github-action-benchmark"
