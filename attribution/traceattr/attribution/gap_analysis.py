"""The idle time of every GPU: what it joins, what the host was doing, what launching costs."""

from collections.abc import Sequence
from dataclasses import dataclass

import duckdb
import numpy as np

from traceattr.attribution.blocks import blocks
from traceattr.attribution.gap_figures import Gap, GapKindName, GpuGaps, PairTime, SeamTime
from traceattr.attribution.gpu_time import OwnedTime
from traceattr.attribution.groups import NO_WORK
from traceattr.attribution.host_calls import (
    NO_LAUNCH,
    Calls,
    GpuLaunches,
    Launches,
    read_calls,
    read_launches,
)
from traceattr.attribution.host_ranges import name_ranges
from traceattr.attribution.host_story import Story, tell_story
from traceattr.attribution.intervals import Times
from traceattr.attribution.launch_figures import launch_figures
from traceattr.attribution.per_round import RoundSample
from traceattr.attribution.seams import (
    GapKind,
    Gaps,
    pair_names,
    seam_name,
    whole_rounds,
)
from traceattr.attribution.spread import lower_median
from traceattr.attribution.timeline import Ids, Places
from traceattr.ingest.for_each import for_each
from traceattr.ingest.identity import ProcessGpu
from traceattr.ingest.trace import Trace

KIND_NAMES: dict[GapKind, GapKindName] = {
    GapKind.SEAM: "seam",
    GapKind.IN_GRAPH: "in-graph",
    GapKind.NO_WORK: "no work",
}


@dataclass(frozen=True, slots=True)
class GapChoice:
    """Which gaps are wanted.

    Attributes:
        top: How many single gaps of each GPU, and how many pairs in a table.
        min_ns: Length below which gaps are left out and only counted.
    """

    top: int = 20
    min_ns: int = 0


EVERY_GAP = GapChoice()
"""All gaps, and the longest one by one."""


@dataclass(frozen=True, slots=True)
class ToldGaps:
    """The gaps of one GPU with what the host was doing, and what that was told from.

    Attributes:
        gaps: The gaps.
        story: What the host was doing in each.
        launches: What launched the work of the GPU.
        calls: The CUDA calls of its process in and around the window.
    """

    gaps: Gaps
    story: Story
    launches: GpuLaunches
    calls: Calls


@dataclass(frozen=True, slots=True)
class _Told:
    """Gaps with what the host was doing, and the rounds to relate them to.

    Attributes:
        gaps: The gaps.
        story: What the host was doing.
        rounds: How many rounds figures per round are means over.
        round: Which of them each gap begins in, -1 for none; shape (gaps,).
    """

    gaps: Gaps
    story: Story
    rounds: int
    round: Places


def gap_analysis(
    trace: Trace, owned: Sequence[OwnedTime], choice: GapChoice = EVERY_GAP
) -> tuple[GpuGaps, ...]:
    """Return the gaps of every GPU.

    OS calls and NVTX ranges are used when they were loaded (see `traceattr.ingest.host`).

    Args:
        trace: The trace.
        owned: Who owns the window on each GPU, in the order of the trace.
        choice: Which gaps are wanted.
    """

    def find(pair: tuple[ProcessGpu, OwnedTime]) -> GpuGaps:
        with trace.cursor() as cursor:
            return _gpu_gaps(cursor, *pair, choice)

    return for_each(find, zip(trace.gpus, owned, strict=True))


def _gpu_gaps(
    connection: duckdb.DuckDBPyConnection, gpu: ProcessGpu, owned: OwnedTime, choice: GapChoice
) -> GpuGaps:
    timeline = owned.account.timeline
    found = told_gaps(connection, owned)
    gaps, launches, calls = found.gaps, found.launches, found.calls
    sample = whole_rounds(gaps, owned.sample)
    told = _Told(gaps, found.story, len(sample), _round_of(gaps, sample))
    shown = {kind: _shown(gaps, kind, choice.min_ns) for kind in GapKind}
    shorter = _shorter(gaps, choice.min_ns)
    longest = _longest(gaps, choice)
    return GpuGaps(
        gpu=timeline.gpu_id,
        rank=gpu.rank,
        pid=gpu.pid,
        wall_ns=owned.window.wall_ns,
        idle_ns=owned.idle.gaps.total_ns,
        completeness=owned.idle.completeness,
        rounds=told.rounds,
        seams=_seams(told, shown[GapKind.SEAM]),
        pairs=None if owned.idle.hides_gaps else _pairs(told, shown[GapKind.IN_GRAPH]),
        no_work=_no_work(told, shown[GapKind.NO_WORK]),
        shorter_count=len(shorter),
        shorter_ns=int(gaps.lengths_ns(shorter).sum()),
        longest=name_ranges(
            connection, calls, told.story, longest.tolist(), gap_list(gaps, told.story, longest)
        ),
        launches=launch_figures(owned, launches, calls),
        knows_os_calls=told.story.knows_os_calls,
    )


def told_gaps(connection: duckdb.DuckDBPyConnection, owned: OwnedTime) -> ToldGaps:
    """Return every gap of one GPU with what the host was doing."""
    gaps = owned.gaps
    launches = read_launches(connection, owned.account.timeline.gpu_id)
    by = launches.of_operations(owned.account.timeline, gaps.next_operation)
    calls = _read_calls(connection, owned, gaps, [by, *_launches_in(owned, launches)])
    return ToldGaps(gaps, tell_story(connection, gaps, by, calls), launches, calls)


def _launches_in(owned: OwnedTime, launches: GpuLaunches) -> list[Launches]:
    """Return what launched the work that begins in the window."""
    window, replays_ns = owned.window, owned.account.timeline.replays.start_ns
    work = ((replays_ns, launches.replays), (launches.eager.start_ns, launches.eager.launches))
    return [
        by.of(np.flatnonzero((begins >= window.start_ns) & (begins <= window.end_ns)))
        for begins, by in work
    ]


def _read_calls(
    connection: duckdb.DuckDBPyConnection, owned: OwnedTime, gaps: Gaps, launches: list[Launches]
) -> Calls:
    """Return the calls in the window, and those outside it that made any of some launches."""
    window = owned.window
    launch_ns = np.concatenate([one.launch_ns for one in launches])
    known_ns = launch_ns[launch_ns != NO_LAUNCH]
    times_ns = (known_ns, gaps.since_ns[:1], [window.start_ns, window.end_ns - 1])
    bounds = np.concatenate(times_ns)
    return read_calls(
        connection, owned.account.timeline.gpu_id, int(bounds.min()), int(bounds.max()) + 1
    )


def _round_of(gaps: Gaps, sample: RoundSample) -> Places:
    """Return which round of a sample each gap begins in, -1 for none."""
    found = np.empty(len(gaps.start_ns), np.int32)
    for part in blocks(len(found)):
        found[part] = sample.index_of(gaps.start_ns[part])
    return found


def _shorter(gaps: Gaps, min_ns: int) -> Ids:
    """Return the positions of the gaps that are left out."""
    if min_ns <= 0:
        return np.empty(0, np.int64)
    return np.flatnonzero(gaps.length_ns < min_ns)


def _shown(gaps: Gaps, kind: GapKind, min_ns: int) -> Places:
    """Return the positions of the gaps of one kind that are long enough."""
    chosen = np.flatnonzero(gaps.kind == kind).astype(np.int32)
    return chosen[gaps.lengths_ns(chosen) >= min_ns] if min_ns > 0 else chosen


def _seams(told: _Told, chosen: Ids | Places) -> tuple[SeamTime, ...]:
    seams = (_seam(seam_name(key), told, group) for key, group in told.gaps.groups(chosen))
    return tuple(sorted(seams, key=lambda seam: (-seam.total_ns, seam.seam)))


def _no_work(told: _Told, chosen: Ids | Places) -> SeamTime | None:
    return _seam(NO_WORK, told, chosen) if len(chosen) else None


def _seam(name: str, told: _Told, chosen: Ids | Places) -> SeamTime:
    length = told.gaps.lengths_ns(chosen)
    median, p99 = np.quantile(length, (0.5, 0.99), method="inverted_cdf")
    count, per_round_ns = _per_round(told, chosen, length)
    return SeamTime(
        seam=name,
        count=len(length),
        total_ns=int(length.sum()),
        median_ns=int(median),
        p99_ns=int(p99),
        longest_ns=int(length.max()),
        per_round_count=count,
        per_round_ns=per_round_ns,
        cause=told.story.cause(chosen),
        rounds_with=_rounds_with(told, chosen),
    )


def _per_round(
    told: _Told, chosen: Ids | Places, length_ns: Times
) -> tuple[float | None, int | None]:
    """Return the mean number and length of some gaps in a round."""
    if not told.rounds:
        return None, None
    inside = told.round[chosen] >= 0
    total_ns = int(length_ns[inside].sum())
    return int(inside.sum()) / told.rounds, round(total_ns / told.rounds)


def _rounds_with(told: _Told, chosen: Ids | Places) -> int | None:
    """Return in how many rounds some gaps occur, None without rounds."""
    if not told.rounds:
        return None
    at = told.round[chosen]
    return len(np.unique(at[at >= 0]))


def _pairs(told: _Told, chosen: Ids | Places) -> tuple[PairTime, ...]:
    pairs = (_pair(told, key, group) for key, group in told.gaps.groups(chosen))
    return tuple(sorted(pairs, key=lambda pair: (-pair.total_ns, pair.before, pair.after)))


def _pair(told: _Told, key: int, chosen: Ids | Places) -> PairTime:
    length = told.gaps.lengths_ns(chosen)
    before, after = pair_names(key)
    count, per_round_ns = _per_round(told, chosen, length)
    return PairTime(
        before=before,
        after=after,
        count=len(length),
        total_ns=int(length.sum()),
        median_ns=lower_median(length),
        per_round_count=count,
        per_round_ns=per_round_ns,
    )


def _longest(gaps: Gaps, choice: GapChoice) -> Ids:
    """Return the positions of the longest gaps; of equal ones the earlier come first."""
    found = [_longest_in(part, gaps, choice) for part in blocks(len(gaps.start_ns))]
    chosen = np.concatenate([np.empty(0, np.int64), *found])
    return chosen[np.argsort(-gaps.lengths_ns(chosen), kind="stable")[: choice.top]]


def _longest_in(part: slice, gaps: Gaps, choice: GapChoice) -> Ids:
    """Return the positions of the longest gaps in a part, and of those as long as the last."""
    length, least_ns, top = gaps.end_ns[part] - gaps.start_ns[part], choice.min_ns, choice.top
    if 0 < top < len(length):
        least_ns = max(least_ns, int(np.partition(length, -top)[-top]))
    at: Ids = np.flatnonzero(length >= least_ns)
    return at + int(part.start)


def gap_list(gaps: Gaps, story: Story, positions: Ids) -> list[Gap]:
    """Return the gaps at some positions one by one, with what the host was doing in each."""
    return [
        Gap(
            start_ns=int(gaps.start_ns[at]),
            end_ns=int(gaps.end_ns[at]),
            kind=KIND_NAMES[GapKind(int(gaps.kind[at]))],
            seam=gaps.name(at),
            cause=story.cause(np.array([at])),
        )
        for at in positions.tolist()
    ]
