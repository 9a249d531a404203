"""From the arguments of a command to an analysis."""

from pathlib import Path
from typing import TYPE_CHECKING

from traceattr.cli.progress import progress

if TYPE_CHECKING:
    from traceattr.attribution.analysis import Analysis


def load_analysis(trace: Path, *, rules: Path | None, window: str) -> "Analysis":
    """Read a trace and analyse it; imports wait until here so that ``--help`` does not.

    Raises:
        TraceattrError: The trace, the rules or the window cannot be used.
    """
    from traceattr.attribution.analyze import analyze
    from traceattr.attribution.window import parse_window
    from traceattr.ingest.trace import open_trace
    from traceattr.rules.rule_set import load_rules

    ends = parse_window(window) if window else (None, None)
    rule_set = load_rules(rules)
    with progress(trace.name) as step, open_trace(trace, progress=step) as loaded:
        step("analysing")
        return analyze(loaded, rule_set, window=ends)
