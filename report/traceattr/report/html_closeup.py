"""The data of the timeline of a page, and the same in words for those who do not see it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from traceattr.attribution.analysis import Analysis
from traceattr.attribution.closeup import (
    MOST_OPERATIONS,
    Closeup,
    Closeups,
    ForwardPass,
    GpuCloseup,
    OperationName,
)
from traceattr.attribution.gap_figures import Gap
from traceattr.attribution.window import seconds
from traceattr.report.escape import visible
from traceattr.report.figures import MILLISECONDS, UNKNOWN, count, counted, duration
from traceattr.report.gap_tables import cause_text
from traceattr.report.html_names import category_class
from traceattr.report.html_table import HtmlTable, html_table
from traceattr.report.names import cut, label_names
from traceattr.rules.categories import CATEGORIES

Json = dict[str, Any]

LONGEST_NAME = 2_000
"""Characters of a kernel's whole name in a page."""

PASS_TITLES = ("pass", "GPU", "begins, ms", "lasts, ms", "operations", "idle, ms")


@dataclass(frozen=True, slots=True)
class CloseupView:
    """The section of a page.

    Attributes:
        title: What the section is called.
        sentences: One for each part: what it is and when it was.
        data: What the timeline draws.
        passes: The forward passes of each part in figures.
    """

    title: str
    sentences: tuple[str, ...]
    data: Json
    passes: tuple[HtmlTable, ...]


def closeup_view(analysis: Analysis, closeups: Closeups) -> CloseupView:
    """Return what is shown of some close-ups."""
    has_rounds = analysis.rounds.wall is not None
    tables = (_pass_table(part) for part in closeups.parts)
    return CloseupView(
        title="One round, operation by operation" if has_rounds else "Operation by operation",
        sentences=tuple(_sentence(part, has_rounds) for part in closeups.parts),
        data=_data(analysis, closeups),
        passes=tuple(table for table in tables if table is not None),
    )


def _sentence(part: Closeup, has_rounds: bool) -> str:
    length_ns = part.end_ns - part.start_ns
    counts = [len(gpu.operations.start_ns) for gpu in part.per_gpu]
    few, many = count(min(counts)), count(max(counts))
    operations = counted(max(counts), "operation") if few == many else f"{few} to {many} operations"
    of_gpu = f" of GPU {part.per_gpu[0].gpu}" if has_rounds and len(counts) > 1 else ""
    on_each = " on each GPU" if len(counts) > 1 else ""
    short = (
        f" That is a part of {duration(part.whole_ns)}: a page has at most"
        f" {count(MOST_OPERATIONS)} operations."
        if length_ns < part.whole_ns
        else ""
    )
    number = "" if part.round is None else f" (`--rounds {part.round}:{part.round + 1}`)"
    return (
        f"The {part.title}{of_gpu}{number}: {duration(length_ns)} from"
        f" {seconds(part.start_ns)} s on the clock of the trace, {operations}{on_each}.{short}"
    )


def _data(analysis: Analysis, closeups: Closeups) -> Json:
    labels = label_names(one.name for one in closeups.names)
    used = {one.category for one in closeups.names}
    return {
        "names": [_name(one, labels[one.name]) for one in closeups.names],
        "classes": {name: category_class(name) for name in CATEGORIES if name in used},
        "parts": [_part(part, analysis) for part in closeups.parts],
    }


def _name(one: OperationName, label: str) -> list[str]:
    """Return label, whole name where it says more, category and rule."""
    whole = cut(visible(one.name), LONGEST_NAME)
    return [label, "" if whole == label else whole, one.category, one.rule or ""]


def _part(part: Closeup, analysis: Analysis) -> Json:
    return {
        "title": part.title,
        "length": part.end_ns - part.start_ns,
        "gpus": [_gpu(gpu, part.start_ns, analysis) for gpu in part.per_gpu],
    }


def _gpu(gpu: GpuCloseup, start_ns: int, analysis: Analysis) -> Json:
    operations = gpu.operations
    streams = np.unique(operations.stream_id)
    rank = next((one.rank for one in analysis.gpus if one.gpu == gpu.gpu), None)
    knows_os_calls = all(one.knows_os_calls for one in analysis.gaps)
    return {
        "gpu": gpu.gpu,
        "rank": rank,
        "streams": streams.tolist(),
        "starts": np.diff(operations.start_ns - start_ns, prepend=0).tolist(),
        "lengths": (operations.end_ns - operations.start_ns).tolist(),
        "names": operations.name.tolist(),
        "lanes": np.searchsorted(streams, operations.stream_id).tolist(),
        "passes": [_pass(one, start_ns) for one in gpu.passes],
        **_gaps(gpu.gaps, start_ns, knows_os_calls),
    }


def _pass(one: ForwardPass, start_ns: int) -> list[Any]:
    return [one.kind, one.start_ns - start_ns, one.end_ns - one.start_ns, one.graph_id]


def _gaps(gaps: Sequence[Gap], start_ns: int, knows_os_calls: bool) -> Json:
    """Return gaps as columns; what they join and what the host did are texts, each stored once."""
    texts = [_gap_texts(gap, knows_os_calls) for gap in gaps]
    distinct = list(dict.fromkeys(texts))
    number = {pair: at for at, pair in enumerate(distinct)}
    return {
        "gapStarts": [gap.start_ns - start_ns for gap in gaps],
        "gapLengths": [gap.length_ns for gap in gaps],
        "gapTexts": [number[pair] for pair in texts],
        "gapKinds": [list(pair) for pair in distinct],
    }


def _gap_texts(gap: Gap, knows_os_calls: bool) -> tuple[str, str, str]:
    """Return what kind it is, what it joins and what the host was doing."""
    host = "" if gap.kind == "in-graph" else cause_text(gap.cause, knows_os_calls)
    return gap.kind, gap.seam, host


def _pass_table(part: Closeup) -> HtmlTable | None:
    rows = (_pass_row(one, gpu, part) for gpu in part.per_gpu for one in gpu.passes)
    return html_table(f"Forward passes in the {part.title}", PASS_TITLES, rows, "lrrrrr")


def _pass_row(one: ForwardPass, gpu: GpuCloseup, part: Closeup) -> tuple[str, ...]:
    operations = gpu.operations
    inside = (operations.start_ns >= one.start_ns) & (operations.end_ns <= one.end_ns)
    idle_ns = sum(_overlap_ns(gap, one) for gap in gpu.gaps)
    name = one.kind if one.graph_id is None else f"{one.kind}, graph {one.graph_id}"
    return (
        name,
        str(gpu.gpu),
        _milliseconds(one.start_ns - part.start_ns),
        MILLISECONDS.number(one.end_ns - one.start_ns),
        UNKNOWN if one.is_envelope else count(int(inside.sum())),
        UNKNOWN if one.is_envelope else MILLISECONDS.number(idle_ns),
    )


def _overlap_ns(gap: Gap, one: ForwardPass) -> int:
    return max(min(gap.end_ns, one.end_ns) - max(gap.start_ns, one.start_ns), 0)


def _milliseconds(ns: int) -> str:
    """Return a time that may be before the part begins."""
    return f"-{MILLISECONDS.number(-ns)}" if ns < 0 else MILLISECONDS.number(ns)
