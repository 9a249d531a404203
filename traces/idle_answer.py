"""Name the idle time of one GPU: inside stages, in the seams between them, in pauses."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Sequence
from functools import reduce
from itertools import pairwise
from operator import add
from typing import TypeAlias

from traces.host_story import HostStory
from traces.timeline import NO_ROUND, ReplaySpan, StageSpan
from traces.truth import CauseTruth, GapTruth, IdleTruth, PauseTruth, SeamTruth, StageTruth

Window: TypeAlias = tuple[int, int]


class IdleAnswer:
    """The gaps of one GPU among its stages; a gap is never cut, for stages start and end busy."""

    def __init__(
        self,
        gaps: Sequence[Window],
        story: HostStory,
        stages: Sequence[StageSpan],
        replays: Sequence[ReplaySpan],
        mode: str,
    ) -> None:
        """Take the gaps, stages and replays in order of time."""
        self.total_ns = sum(end - start for start, end in gaps)
        self._pauses = dict.fromkeys(gap for gap in gaps if story.is_pause(*gap))
        self._gaps = gaps
        self._starts = [start for start, _ in gaps]
        self._story = story
        self._stages = stages
        self._replays = replays
        self._mode = mode

    def split(self) -> IdleTruth:
        """Split idle time by where it lies among the replays."""
        starts = [replay.start_ns for replay in self._replays]
        in_graph = between_graph = other = 0
        for start_ns, end_ns in self._gaps:
            before = bisect_right(starts, start_ns)  # how many replays have begun by then
            if before and end_ns <= self._replays[before - 1].end_ns:
                in_graph += end_ns - start_ns
            elif 0 < before < len(starts):
                between_graph += end_ns - start_ns
            else:
                other += end_ns - start_ns
        no_work = sum(end - start for start, end in self._pauses)
        in_graph_ns = in_graph if self._mode == "node" else None
        return IdleTruth(in_graph_ns, between_graph, other, no_work)

    def pauses(self) -> tuple[PauseTruth, ...]:
        """Return the gaps in which there was no work to do."""
        return tuple(PauseTruth(*gap) for gap in self._pauses)

    def stages(self) -> tuple[StageTruth, ...]:
        """Return the stages with the idle time inside each."""
        return tuple(self._stage(stage) for stage in self._stages)

    def seams(self) -> dict[str, tuple[SeamTruth, ...]]:
        """Return the seams by what they join."""
        seams: defaultdict[str, list[SeamTruth]] = defaultdict(list)
        for left, right in pairwise(self._stages):
            if NO_ROUND not in (left.round, right.round):
                seams[f"{left.kind}->{right.kind}"].append(self._seam(left, right))
        return {name: tuple(found) for name, found in sorted(seams.items())}

    def _stage(self, stage: StageSpan) -> StageTruth:
        idle_ns = sum(end - start for start, end in self._within(stage.start_ns, stage.end_ns))
        is_opaque = stage.is_replay and self._mode == "graph"
        return StageTruth(
            stage.kind,
            stage.round,
            stage.start_ns,
            stage.end_ns,
            stage.is_replay,
            None if is_opaque else idle_ns,
            None if stage.is_replay else _sum(self._told(stage.start_ns, stage.end_ns)),
        )

    def _seam(self, left: StageSpan, right: StageSpan) -> SeamTruth:
        gaps = self._told(left.end_ns, right.start_ns)
        lengths = tuple(gap.end_ns - gap.start_ns for gap in gaps)
        times = (left.end_ns, right.start_ns, sum(lengths))
        return SeamTruth(left.round, *times, gaps_ns=lengths, cause=_sum(gaps), gaps=gaps)

    def _told(self, start_ns: int, end_ns: int) -> tuple[GapTruth, ...]:
        gaps = self._within(start_ns, end_ns)
        return tuple(self._story.gap(*gap) for gap in gaps if gap not in self._pauses)

    def _within(self, start_ns: int, end_ns: int) -> Sequence[Window]:
        first, last = bisect_left(self._starts, start_ns), bisect_left(self._starts, end_ns)
        return self._gaps[first:last]


def _sum(gaps: Sequence[GapTruth]) -> CauseTruth:
    return reduce(add, (gap.cause for gap in gaps), CauseTruth())
