"""Which kind of idle each gap is."""

from dataclasses import dataclass

import numpy as np

from traceattr.attribution.analysis import Idle
from traceattr.attribution.gap_figures import Completeness
from traceattr.attribution.intervals import Cover, Times
from traceattr.attribution.roles import Flags
from traceattr.attribution.timeline import Timeline


@dataclass(frozen=True, slots=True)
class IdleParts:
    """The gaps of one GPU and which kind each is; arrays of shape (gaps,).

    Attributes:
        gaps: Where nothing runs.
        in_graph: Whether it lies inside one replay.
        no_work: Whether it lies before the first or after the last operation, or is a pause.
        between: Whether it is neither, after the first replay began and before the last ended.
        hides_gaps: Whether graphs ran whose nodes were not recorded, and none that were.
        completeness: As in `Idle`.
    """

    gaps: Cover
    in_graph: Flags
    no_work: Flags
    between: Flags
    hides_gaps: bool
    completeness: Completeness

    @property
    def length_ns(self) -> Times:
        """Return the length of each gap."""
        return self.gaps.end_ns - self.gaps.start_ns

    def total(self) -> Idle:
        """Return the sums."""
        length = self.length_ns
        in_graph_ns = int(length[self.in_graph].sum())
        return Idle(
            total_ns=int(length.sum()),
            in_graph_ns=None if self.hides_gaps else in_graph_ns,
            between_graph_ns=int(length[self.between].sum()),
            other_ns=int(length[~self.in_graph & ~self.between].sum()),
            no_work_ns=int(length[self.no_work].sum()),
            completeness=self.completeness,
        )


def split_idle(
    timeline: Timeline,
    gaps: Cover,
    *,
    pause_ns: int | None,
    hides_gaps: bool,
    completeness: Completeness,
) -> IdleParts:
    """Return which kind each gap is; see `Idle`.

    Args:
        timeline: The GPU.
        gaps: Where nothing runs.
        pause_ns: Idle time from which on no request can be in flight; None when not known.
        hides_gaps: Whether graphs ran on this GPU whose nodes were not recorded.
        completeness: Whether what the process launched was recorded.
    """
    in_graph = _in_graph(timeline, gaps)
    no_work = ~in_graph & (_at_edge(timeline, gaps) | _is_pause(gaps, pause_ns))
    return IdleParts(
        gaps=gaps,
        in_graph=in_graph,
        no_work=no_work,
        between=_between(timeline, gaps) & ~in_graph & ~no_work,
        hides_gaps=hides_gaps and bool(timeline.replays.is_envelope.all()),
        completeness=completeness,
    )


def _in_graph(timeline: Timeline, gaps: Cover) -> Flags:
    """Return whether one replay reaches from before each gap to after it."""
    replays = timeline.replays
    if not len(replays.start_ns):
        return np.zeros(len(gaps.start_ns), np.bool_)
    latest: Times = np.maximum.accumulate(replays.end_ns)
    at = np.searchsorted(replays.start_ns, gaps.start_ns, side="right") - 1
    return (at >= 0) & (latest[at] >= gaps.end_ns)


def _between(timeline: Timeline, gaps: Cover) -> Flags:
    """Return whether each gap lies after the first replay began and before the last one ended."""
    replays = timeline.replays
    if not len(replays.start_ns):
        return np.zeros(len(gaps.start_ns), np.bool_)
    first_ns, last_ns = int(replays.start_ns[0]), int(replays.end_ns.max())
    return (gaps.start_ns >= first_ns) & (gaps.end_ns <= last_ns)


def _at_edge(timeline: Timeline, gaps: Cover) -> Flags:
    """Return whether each gap lies before the GPU's first operation or after its last."""
    first_ns, last_ns = int(timeline.start_ns[0]), int(timeline.end_ns.max())
    return (gaps.end_ns <= first_ns) | (gaps.start_ns >= last_ns)


def _is_pause(gaps: Cover, pause_ns: int | None) -> Flags:
    if pause_ns is None:
        return np.zeros(len(gaps.start_ns), np.bool_)
    return gaps.end_ns - gaps.start_ns > pause_ns
