"""What each kernel takes in the graphs of a round, before and after."""

from collections import defaultdict
from dataclasses import dataclass

from traceattr.attribution.analysis import Analysis
from traceattr.report.diff.diff import Diff


@dataclass(frozen=True, slots=True)
class KernelChange:
    """One kernel in the graphs of a round, on the first GPU.

    Attributes:
        name: Demangled name.
        launches_before: How often it runs in a round; a mean, as not every round has every graph.
        launches_after: The same of the second trace.
        before_ns: Its time in a round, from medians of each of its places.
        after_ns: The same of the second trace.
    """

    name: str
    launches_before: float
    launches_after: float
    before_ns: int
    after_ns: int

    @property
    def difference_ns(self) -> int:
        """Return by how much it became longer."""
        return self.after_ns - self.before_ns


def kernel_changes(diff: Diff) -> tuple[KernelChange, ...]:
    """Return every kernel of the graphs, the one that changed most first."""
    before, after = _kernels(diff.base), _kernels(diff.head)
    if not before or not after:
        return ()
    none = _Kernel()
    found = (
        KernelChange(
            name=name,
            launches_before=before.get(name, none).launches,
            launches_after=after.get(name, none).launches,
            before_ns=round(before.get(name, none).time_ns),
            after_ns=round(after.get(name, none).time_ns),
        )
        for name in dict.fromkeys((*before, *after))
    )
    return tuple(sorted(found, key=lambda one: (-abs(one.difference_ns), one.name)))


@dataclass(slots=True)
class _Kernel:
    launches: float = 0.0
    time_ns: float = 0.0


def _kernels(analysis: Analysis) -> dict[str, _Kernel]:
    sequences = analysis.sequences
    per_round = dict(analysis.rounds.replays_per_round)
    first = min((graph.gpu for graph in sequences.graphs), default=0)
    found: defaultdict[str, _Kernel] = defaultdict(_Kernel)
    for graph in sequences.graphs:
        times = per_round.get(graph.kind, 0.0)
        if graph.gpu != first or not times:
            continue
        for at, median_ns in zip(graph.kernels, graph.median_ns, strict=True):
            kernel = found[sequences.kernels[at].name]
            kernel.launches += times
            kernel.time_ns += times * median_ns
    return dict(found)
