"""The second trace's times as github-action-benchmark takes them: ``customSmallerIsBetter``."""

from collections.abc import Iterator
from typing import Any

from traceattr.report.diff.diff import Diff
from traceattr.report.diff.parts import ROUND, PartKind
from traceattr.report.diff.verdicts import Change
from traceattr.report.diff.words import difference_text
from traceattr.report.figures import MILLISECONDS
from traceattr.report.json_document import dumped

UNIT = "ms/round"


def render_benchmark(diff: Diff) -> str:
    """Return a list of the round, the groups and the seams, whatever became of them.

    Values are those of the second trace, as a chart draws one point for each commit.
    """
    return dumped(list(_entries(diff)))


def _entries(diff: Diff) -> Iterator[dict[str, Any]]:
    whole = diff.change(ROUND)
    parts = (*diff.of_kind(PartKind.GROUP), *diff.of_kind(PartKind.SEAM))
    for change in (*([whole] if whole else []), *parts):
        if change.after_ns is not None:
            yield _entry(change, change.after_ns)


def _entry(change: Change, after_ns: int) -> dict[str, Any]:
    entry = {
        "name": change.part.label,
        "unit": UNIT,
        "value": after_ns / MILLISECONDS.ns,
        "extra": f"{change.verdict}: {change.reason or difference_text(change)}",
    }
    if change.noise_ns is not None:
        entry["range"] = f"± {MILLISECONDS.number(change.noise_ns)}"
    return entry
