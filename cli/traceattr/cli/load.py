"""From the arguments of a command to an analysis."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from traceattr.cli.progress import progress
from traceattr.errors import OptionError

if TYPE_CHECKING:
    from traceattr.attribution.analysis import Analysis


def load_analysis(
    trace: Path,
    *,
    rules: Path | None,
    window: str,
    rounds: str = "",
    graph_kinds: Sequence[str] = (),
) -> "Analysis":
    """Read a trace and analyse it; imports wait until here so that ``--help`` does not.

    Raises:
        TraceattrError: The trace, the rules or an option cannot be used.
    """
    from traceattr.attribution.analyze import analyze
    from traceattr.attribution.kinds import parse_graph_kinds
    from traceattr.attribution.window import parse_rounds, parse_window
    from traceattr.ingest.trace import open_trace
    from traceattr.rules.rule_set import load_rules

    if window and rounds:
        raise OptionError("--window and --rounds: only one of them can be used")
    ends = parse_window(window) if window else (None, None)
    numbers = parse_rounds(rounds) if rounds else None
    kinds = parse_graph_kinds(graph_kinds)
    rule_set = load_rules(rules)
    with progress(trace.name) as step, open_trace(trace, progress=step) as loaded:
        step("analysing")
        return analyze(loaded, rule_set, window=ends, rounds=numbers, graph_kinds=kinds)
