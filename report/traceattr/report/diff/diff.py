"""Two analyses set side by side: everything that a diff shows, nothing rendered."""

from dataclasses import dataclass

from traceattr.attribution.analysis import Analysis
from traceattr.report.diff.comparable import Comparability, compare_settings
from traceattr.report.diff.graphs import GraphChange, graph_changes
from traceattr.report.diff.parts import Part, PartKind, Rounds, rounds_of, without_hidden
from traceattr.report.diff.verdicts import Change, changes
from traceattr.report.grouped import hides_work


@dataclass(frozen=True, slots=True)
class Diff:
    """What differs between two traces.

    Attributes:
        base: The trace before.
        head: The trace after.
        rounds: How many rounds of each are compared.
        comparability: What cannot be compared, and why.
        changes: What became of each part of a round.
        graphs: What became of each kind of graph.
    """

    base: Analysis
    head: Analysis
    rounds: tuple[int, int]
    comparability: Comparability
    changes: tuple[Change, ...]
    graphs: tuple[GraphChange, ...]

    def change(self, part: Part) -> Change | None:
        """Return what became of a part, None where neither trace has it."""
        return next((one for one in self.changes if one.part == part), None)

    def of_kind(self, kind: PartKind) -> tuple[Change, ...]:
        """Return what became of all parts of one kind."""
        return tuple(one for one in self.changes if one.part.kind is kind)


def compare_analyses(base: Analysis, head: Analysis) -> Diff:
    """Return what differs between two traces, per round."""
    comparability = compare_settings(base, head)
    before, after = (_rounds(analysis, comparability) for analysis in (base, head))
    return Diff(
        base=base,
        head=head,
        rounds=(before.count, after.count),
        comparability=comparability,
        changes=changes(before, after, comparability.why_not),
        graphs=() if comparability.obstacles else graph_changes(base, head),
    )


def _rounds(analysis: Analysis, comparability: Comparability) -> Rounds:
    rounds = rounds_of(analysis)
    is_alone = comparability.categories is not None and any(map(hides_work, analysis.per_gpu))
    return without_hidden(rounds) if is_alone else rounds
