"""What alternatives to a measured round say, in words and cells that every format shares."""

import operator
from collections.abc import Iterable, Iterator, Mapping

from traceattr.report.bar_chart import BarChart, Round, bar_chart
from traceattr.report.comparison import HOST, Comparison
from traceattr.report.figures import MILLISECONDS, UNKNOWN
from traceattr.report.projection import Projection
from traceattr.report.what_if_text import is_too_large, percent, prediction_round
from traceattr.rules.categories import DRAFT, group_of

BASE = "as measured"

TITLES = ("alternative", "bound", "expected", "with excess", "change, %", "tokens/s")

METHOD = (
    "with excess: expected, with what the trace measured carried over. Work of a GPU keeps its"
    " ratio of measured to expected time; waiting for other ranks, host gaps and what is not"
    " predicted keep their time; nothing is faster than its bound. change and tokens/s are those of"
    " this column."
)


def projections_title(comparison: Comparison) -> str:
    """Return what stands above the table."""
    gpus = "1 GPU" if comparison.gpus == 1 else f"mean of {comparison.gpus} GPUs"
    return f"What if (ms per round, {gpus})"


def projections_headline(comparison: Comparison) -> str | None:
    """Return which alternative that fits into memory is best; None where nothing carries over."""
    measured_ns = comparison.round_ns
    fitting = [each for each in comparison.projections if not is_too_large(each.roofline)]
    known = {each.change.name: each.carried_ns for each in fitting if each.carried_ns is not None}
    if measured_ns is None or not known:
        return None
    name, carried_ns = min(known.items(), key=operator.itemgetter(1))
    if carried_ns >= measured_ns:
        return f"No alternative shortens the round of {MILLISECONDS.brief(measured_ns)}."
    change = percent(carried_ns, measured_ns)
    return (
        f"With {name} a round would take {MILLISECONDS.brief(carried_ns)} instead of"
        f" {MILLISECONDS.brief(measured_ns)} ({change} %)."
    )


def projection_rows(comparison: Comparison) -> Iterator[tuple[str, ...]]:
    """Yield the cells of what was measured and of each alternative, under `TITLES`."""
    whole = comparison.round
    assert whole.bound_ns is not None
    assert whole.expected_ns is not None
    yield (
        BASE,
        MILLISECONDS.number(whole.bound_ns),
        MILLISECONDS.number(whole.expected_ns),
        _time(whole.measured_ns),
        "",
        _rate(comparison.measured_tokens_per_s),
    )
    for each in comparison.projections:
        yield _cells(each, whole.measured_ns)


def projections_chart(comparison: Comparison) -> BarChart:
    """Return bars of every alternative: with the excess, or where a trace hides it as predicted."""
    title = projections_title(comparison).replace("ms ", "")
    base, shown = comparison.roofline.prediction, comparison.projections
    carried = [
        Round(each.change.name, each.carried_ns, each.bound_ns, tokens, _carried_parts(each))
        for each in shown
        for tokens in [each.roofline.prediction.tokens]
        if each.carried_ns is not None
    ]
    if comparison.round_ns is not None and len(carried) == len(shown):
        parts = _summed((entry.group, entry.measured_ns or 0) for entry in comparison.categories)
        first = Round(BASE, comparison.round_ns, base.bound_ns, base.tokens, parts)
        return bar_chart(title, "expected with the excess", [first, *carried])
    others = (prediction_round(each.change.name, each.roofline) for each in shown)
    rounds = [prediction_round("as predicted", comparison.roofline), *others]
    return bar_chart(title, "expected", rounds)


def _carried_parts(projection: Projection) -> Mapping[str, int]:
    return _summed(
        (_group(entry.phase, entry.category), entry.carried_ns) for entry in projection.categories
    )


def _group(phase: str, category: str) -> str:
    if phase == HOST:
        return category
    return DRAFT if phase == DRAFT else group_of(category)


def _summed(times_ns: Iterable[tuple[str, int]]) -> Mapping[str, int]:
    """Return the sum of each group, in the order in which they come."""
    sums: dict[str, int] = {}
    for group, time_ns in times_ns:
        sums[group] = sums.get(group, 0) + time_ns
    return sums


def projection_notes(comparison: Comparison) -> Iterator[str]:
    """Yield what to know about the alternatives."""
    if any(each.carried_ns is None for each in comparison.projections):
        yield f"The excess cannot be carried over: {comparison.reason}."
    if not comparison.can_be_judged:
        yield "The prediction does not fit the trace, as said above: neither do the alternatives."
    known = {notice.text for notice in comparison.roofline.notices}
    for each in comparison.projections:
        if each.seam_ns:
            seam = MILLISECONDS.text(each.seam_ns)
            yield f"{each.change.name}: {seam} of the measured round."
        for notice in each.roofline.notices:
            if notice.text not in known:
                yield f"{each.change.name}: {notice.text}."


def _cells(each: Projection, measured_ns: int | None) -> tuple[str, ...]:
    is_known = each.carried_ns is not None and measured_ns is not None
    return (
        each.change.name,
        MILLISECONDS.number(each.bound_ns),
        MILLISECONDS.number(each.expected_ns),
        _time(each.carried_ns),
        percent(each.carried_ns or 0, measured_ns or 0) if is_known else UNKNOWN,
        _rate(each.carried_tokens_per_s),
    )


def _time(time_ns: int | None) -> str:
    return UNKNOWN if time_ns is None else MILLISECONDS.number(time_ns)


def _rate(tokens_per_s: float | None) -> str:
    return UNKNOWN if tokens_per_s is None else f"{tokens_per_s:,.1f}"
