"""The tables of a list of gaps, whatever they are written in."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from traceattr.attribution.gap_figures import Cause, Gap, GpuGaps, LaunchFigures, PairTime, SeamTime
from traceattr.attribution.window import seconds
from traceattr.report.escape import visible
from traceattr.report.figures import (
    MICROSECONDS,
    MILLISECONDS,
    NOTHING,
    UNKNOWN,
    count,
    counted,
    duration,
    share,
    whole_percent,
)
from traceattr.report.gap_view import GapView
from traceattr.report.sampled import has_percentiles

if TYPE_CHECKING:  # it imports what reads traces, and reports on stored analyses do not
    from traceattr.attribution.gap_report import GapReport

_HOST = "host"
"""Title of the column that says what the host was doing; it may go below the row."""


_ROUNDS, _P99 = 2, 4
"""Positions among the columns of seams of what some traces have nothing for."""


@dataclass(frozen=True, slots=True)
class GapTable:
    """One table; all cells are as in a trace, not escaped.

    Attributes:
        title: What it shows.
        columns: Titles of its columns.
        aligned: ``l`` or ``r`` for each column.
        rows: Cells; the last one of each may be long.
    """

    title: str
    columns: tuple[str, ...]
    aligned: str
    rows: tuple[tuple[str, ...], ...]


CAUSE_WORDS = {
    "sync": "in a call that waits for the GPU",
    "launch": "in a call that launches",
    "api": "in another CUDA call",
    "os": "in an operating-system call",
    "python": "in no recorded call",
    "dependency": "done: waiting on the GPU's side",
    "unknown": "the launching call is not in this trace",
}
"""What the host was doing, in the order of the fields of `Cause`."""


def gap_tables(report: "GapReport", view: GapView) -> Iterator[GapTable]:
    """Yield the tables of a view, GPU by GPU; ranks are never added up."""
    for gpu in report.per_gpu:
        match view:
            case GapView.SEAM:
                yield _seam_table(gpu, report.choice.min_ns)
            case GapView.PAIR:
                yield _pair_table(gpu, report.choice.top)
            case GapView.CAUSE:
                yield _cause_table(gpu, report.choice.min_ns)
            case GapView.GAP:
                yield _gap_table(gpu)
    if view is GapView.SEAM:
        yield from _launch_tables(report)


HOST_CODE = "host code"
"""What ``python`` is called where operating-system calls are not known, as it may be them too."""

_NO_CUDA_CALL = "in no CUDA call: its own code, or an operating-system call"


def cause_parts(cause: Cause, knows_os_calls: bool = True) -> dict[str, int]:
    """Return the parts by the words of reports, without OS calls where nothing knows them."""
    parts = {name.removesuffix("_ns"): value for name, value in asdict(cause).items()}
    if knows_os_calls:
        return parts
    return {_cause_name(name): value for name, value in parts.items() if name != "os"}


def _cause_name(name: str) -> str:
    return HOST_CODE if name == "python" else name


def cause_legend(report: "GapReport") -> str | None:
    """Return what the words for causes mean, as far as they are used; None where none is."""
    used = {
        name: CAUSE_WORDS.get(name, _NO_CUDA_CALL)
        for gpu in report.per_gpu
        for name, ns in cause_parts(gpu.cause, gpu.knows_os_calls).items()
        if ns
    }
    texts = [f"{name} = {meaning}" for name, meaning in used.items()]
    return f"The host was: {'; '.join(texts)}." if texts else None


def _gpu_title(gpu: GpuGaps) -> str:
    facts = [
        f"{name} {value}"
        for name, value in (("rank", gpu.rank), ("pid", gpu.pid))
        if value is not None
    ]
    return f"GPU {gpu.gpu} ({', '.join(facts)})" if facts else f"GPU {gpu.gpu}"


def _idle_title(gpu: GpuGaps) -> str:
    most = "at most " if gpu.completeness == "incomplete" else ""
    idle = f"idle {most}{duration(gpu.idle_ns)} of {duration(gpu.wall_ns)}"
    return f"{_gpu_title(gpu)}: {idle} ({share(gpu.idle_ns, gpu.wall_ns)})"


def _seam_table(gpu: GpuGaps, min_ns: int) -> GapTable:
    has_rounds = gpu.rounds > 0
    of_rounds = f"; means of {counted(gpu.rounds, 'round')}" if has_rounds else ""
    table = GapTable(
        title=f"{_idle_title(gpu)}{of_rounds}",
        columns=(
            "seam",
            "gaps/round" if has_rounds else "gaps",
            "rounds",
            f"median, {MICROSECONDS.name}",
            f"p99, {MICROSECONDS.name}",
            f"{MILLISECONDS.name}/round" if has_rounds else f"total, {MILLISECONDS.name}",
            "of idle",
            _HOST,
        ),
        aligned="lrrrrrrl",
        rows=(
            *(_seam_row(seam, gpu) for seam in gpu.seams),
            *(() if gpu.pairs == () else (_in_graph_row(gpu),)),
            *(() if gpu.no_work is None else (_seam_row(gpu.no_work, gpu),)),
            *_shorter_rows(gpu, min_ns),
        ),
    )
    if has_rounds and not has_percentiles(gpu.rounds):
        table = _without(table, _P99)
    is_partly = any(0 < (seam.rounds_with or 0) < gpu.rounds for seam in gpu.seams)
    return table if is_partly else _without(table, _ROUNDS)


def _without(table: GapTable, column: int) -> GapTable:
    """Return a table without one column."""
    return GapTable(
        title=table.title,
        columns=(*table.columns[:column], *table.columns[column + 1 :]),
        aligned=table.aligned[:column] + table.aligned[column + 1 :],
        rows=tuple((*row[:column], *row[column + 1 :]) for row in table.rows),
    )


def _seam_row(seam: SeamTime, gpu: GpuGaps) -> tuple[str, ...]:
    """Return the row of a seam; what belongs to no round has no figures per round."""
    is_outside = bool(gpu.rounds) and not seam.per_round_count
    return (
        seam.seam,
        NOTHING if is_outside else _gaps([seam.per_round_count], [seam.count]),
        NOTHING if is_outside or seam.rounds_with is None else count(seam.rounds_with),
        MICROSECONDS.number(seam.median_ns),
        MICROSECONDS.number(seam.p99_ns),
        NOTHING if is_outside else _time([seam.per_round_ns], seam.total_ns),
        share(seam.total_ns, gpu.idle_ns),
        cause_text(seam.cause, gpu.knows_os_calls),
    )


def _in_graph_row(gpu: GpuGaps) -> tuple[str, ...]:
    if gpu.pairs is None or gpu.pairs_ns is None:
        return "inside graphs", UNKNOWN, *(NOTHING,) * 3, UNKNOWN, UNKNOWN, NOTHING
    return (
        "inside graphs",
        _gaps([pair.per_round_count for pair in gpu.pairs], [pair.count for pair in gpu.pairs]),
        NOTHING,
        NOTHING,
        NOTHING,
        _time([pair.per_round_ns for pair in gpu.pairs], gpu.pairs_ns),
        share(gpu.pairs_ns, gpu.idle_ns),
        NOTHING,
    )


def _gaps(per_round: Sequence[float | None], counts: Sequence[int]) -> str:
    """Return how many gaps there are: in a round, or in all where there are no rounds."""
    known = [value for value in per_round if value is not None]
    if not known:
        return count(sum(counts))
    return "<0.1" if 0 < sum(known) < 0.05 else f"{sum(known):,.1f}"


def _time(per_round: Sequence[int | None], total_ns: int) -> str:
    known = [value for value in per_round if value is not None]
    return MILLISECONDS.number(sum(known) if known else total_ns)


def _shorter_rows(gpu: GpuGaps, min_ns: int) -> Iterator[tuple[str, ...]]:
    if gpu.shorter_count:
        time = NOTHING if gpu.rounds else MILLISECONDS.number(gpu.shorter_ns)
        gaps = NOTHING if gpu.rounds else count(gpu.shorter_count)
        part = share(gpu.shorter_ns, gpu.idle_ns)
        yield f"below {duration(min_ns)}", gaps, *(NOTHING,) * 3, time, part, NOTHING


def cause_text(cause: Cause, knows_os_calls: bool) -> str:
    """Return what hosts did in one line, the largest part first."""
    parts = host_parts(cause, knows_os_calls)
    return ", ".join(f"{name} {percent} %" for name, percent in parts)


def host_parts(cause: Cause, knows_os_calls: bool) -> tuple[tuple[str, str], ...]:
    """Return what hosts did for at least a hundredth of the time, in whole percents."""
    parts = sorted(cause_parts(cause, knows_os_calls).items(), key=lambda part: -part[1])
    whole_ns = cause.total_ns
    return tuple(
        (name, whole_percent(ns, whole_ns)) for name, ns in parts if 100 * ns >= whole_ns > 0
    )


def _pair_table(gpu: GpuGaps, top: int) -> GapTable:
    pairs = gpu.pairs or ()
    rows = [_pair_row(f"{pair.before}->{pair.after}", [pair], gpu) for pair in pairs[:top]]
    if len(pairs) > top:
        rest = pairs[top:]
        rows.append(_pair_row(counted(len(rest), "more pair"), rest, gpu))
    return GapTable(
        title=f"{_idle_title(gpu)}; {_pairs_words(gpu)}",
        columns=(
            "inside graphs",
            "gaps/round" if gpu.rounds else "gaps",
            f"median, {MICROSECONDS.name}",
            f"{MILLISECONDS.name}/round" if gpu.rounds else f"total, {MILLISECONDS.name}",
            "of idle",
        ),
        aligned="lrrrr",
        rows=tuple(rows),
    )


def _pair_row(name: str, pairs: Sequence[PairTime], gpu: GpuGaps) -> tuple[str, ...]:
    total_ns = sum(pair.total_ns for pair in pairs)
    return (
        name,
        _gaps([pair.per_round_count for pair in pairs], [pair.count for pair in pairs]),
        MICROSECONDS.number(pairs[0].median_ns) if len(pairs) == 1 else NOTHING,
        _time([pair.per_round_ns for pair in pairs], total_ns),
        share(total_ns, gpu.idle_ns),
    )


def _pairs_words(gpu: GpuGaps) -> str:
    if gpu.pairs_ns is None:
        return "inside graphs unknown"
    return f"{duration(gpu.pairs_ns)} inside graphs"


def _cause_table(gpu: GpuGaps, min_ns: int) -> GapTable:
    rows = list(_cause_rows(gpu))
    graphs = UNKNOWN if gpu.pairs_ns is None else MILLISECONDS.number(gpu.pairs_ns)
    part = UNKNOWN if gpu.pairs_ns is None else share(gpu.pairs_ns, gpu.idle_ns)
    rows.append(("inside graphs", graphs, part, "not asked"))
    if gpu.no_work is not None:
        ns = gpu.no_work.total_ns
        rows.append((gpu.no_work.seam, MILLISECONDS.number(ns), share(ns, gpu.idle_ns), NOTHING))
    if gpu.shorter_count:
        ns = gpu.shorter_ns
        name = f"below {duration(min_ns)}"
        rows.append((name, MILLISECONDS.number(ns), share(ns, gpu.idle_ns), "left out"))
    return GapTable(
        title=_idle_title(gpu),
        columns=("cause", f"total, {MILLISECONDS.name}", "of idle", "the host was"),
        aligned="lrrl",
        rows=tuple(rows),
    )


def _cause_rows(gpu: GpuGaps) -> Iterator[tuple[str, ...]]:
    for name, ns in cause_parts(gpu.cause).items():
        time, part = MILLISECONDS.number(ns), share(ns, gpu.idle_ns)
        if gpu.knows_os_calls or name not in ("os", "python"):
            yield name, time, part, CAUSE_WORDS[name]
        elif name == "os":
            yield name, UNKNOWN, UNKNOWN, CAUSE_WORDS[name]
        else:
            yield HOST_CODE, time, part, _NO_CUDA_CALL


def _gap_table(gpu: GpuGaps) -> GapTable:
    return GapTable(
        title=f"{_idle_title(gpu)}; the {counted(len(gpu.longest), 'longest gap')}",
        columns=("start, s", f"length, {MICROSECONDS.name}", "joins", _HOST),
        aligned="rrll",
        rows=tuple(
            (
                seconds(gap.start_ns),
                MICROSECONDS.number(gap.length_ns),
                gap.seam,
                _gap_host(gap, gpu.knows_os_calls),
            )
            for gap in gpu.longest
        ),
    )


def _gap_host(gap: Gap, knows_os_calls: bool) -> str:
    if gap.kind == "in-graph":
        return "inside a graph"
    text = cause_text(gap.cause, knows_os_calls)
    return text if gap.host_range is None else f"{text}; in {visible(gap.host_range)}"


def _launch_tables(report: "GapReport") -> Iterator[GapTable]:
    """Yield a table per kind of round, with a row for each GPU."""
    every = [(gpu, figures) for gpu in report.per_gpu for figures in gpu.launches]
    for kind in dict.fromkeys(figures.kind for _, figures in every):
        mine = [(gpu, figures) for gpu, figures in every if figures.kind == kind]
        rounds = max(figures.rounds for _, figures in mine)
        yield GapTable(
            title=f"Launching in a {kind} round (mean of {count(rounds)}; times in ms)",
            columns=(
                "GPU",
                "graphs",
                "nodes",
                "eager",
                "launch",
                "CPU span",
                "GPU span",
                "busy",
                "kernels",
            ),
            aligned="rrrrrrrrr",
            rows=tuple(_launch_row(gpu, figures) for gpu, figures in mine),
        )


def _launch_row(gpu: GpuGaps, figures: LaunchFigures) -> tuple[str, ...]:
    return (
        str(gpu.gpu),
        _mean(figures.graph_launches),
        _mean(figures.graph_nodes),
        _mean(figures.eager_launches),
        *(
            UNKNOWN if value is None else MILLISECONDS.number(value)
            for value in (
                figures.graph_launch_ns,
                figures.cpu_span_ns,
                figures.gpu_span_ns,
                figures.busy_ns,
                figures.kernel_ns,
            )
        ),
    )


def _mean(value: float | None) -> str:
    if value is None:
        return UNKNOWN
    return count(int(value)) if value == int(value) else f"{value:,.1f}"
