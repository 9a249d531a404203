"""From what and with what a diff was made."""

from traceattr.attribution.analysis import Analysis
from traceattr.report.diff.diff import Diff
from traceattr.report.figures import counted
from traceattr.report.provenance import provenance


def rounds_title(diff: Diff) -> str:
    """Return over how many rounds the figures are means."""
    before, after = diff.rounds
    gpus = len(diff.head.per_gpu)
    over = f" and {counted(gpus, 'GPU')}" if gpus > 1 else ""
    if before == after:
        return f"Per round, mean of {counted(before, 'round')}{over}"
    return f"Per round, mean of {counted(before, 'round')} before and {after:,} after{over}"


def provenance_facts(diff: Diff) -> tuple[tuple[str, str], ...]:
    """Return what somebody needs to judge or repeat the figures; once where both are alike."""
    before, after = (_facts(analysis) for analysis in (diff.base, diff.head))
    facts: list[tuple[str, str]] = []
    for label in dict.fromkeys((*before, *after)):
        was, became = before.get(label), after.get(label)
        if was == became:
            facts.append((label, was or ""))
        else:
            facts += [(f"BASE {label}", was or "none"), (f"HEAD {label}", became or "none")]
    return tuple(facts)


def _facts(analysis: Analysis) -> dict[str, str]:
    return dict(provenance(analysis))
