"""What a comparison with the roofline says, in words and cells that every format shares."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from traceattr.report.comparison import HOST, PHASE_ORDER, ComparedCategory, Comparison, Figures
from traceattr.report.figures import MILLISECONDS, NOTHING, counted, share
from traceattr.report.roofline_text import WEIGHTS, input_facts
from traceattr.roofline.calibration import EXPECTED_ERROR_PERCENT
from traceattr.rules.categories import HOST_GAPS, IN_GRAPH_GAPS

TITLE = "Roofline"

TITLES = (
    *("category", "measured", "bound", "expected", "x bound", "excess"),
    *("of BW", "TFLOP/s", "FLOP/B"),
)
"""Of the whole table; `COLUMNS` names choices of them, the widest first."""

COLUMNS = (
    tuple(range(len(TITLES))),
    (0, 1, 2, 3, 4, 5, 6),
    (0, 1, 2, 3, 5),
    (0, 1, 3, 5),
    (0, 1, 5),
)

UNKNOWN = "-"
NOT_PREDICTED = "not predicted"
MOST_TO_WIN = 3


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table.

    Attributes:
        cells: As `TITLES`.
        depth: 0 for a phase and the round, 1 for a category.
    """

    cells: tuple[str, ...]
    depth: int


def comparison_title(comparison: Comparison) -> str:
    """Return what stands above the table."""
    gpus = "1 GPU" if comparison.gpus == 1 else f"mean of {comparison.gpus} GPUs"
    return f"{TITLE} (ms per round, mean over the rounds, {gpus})"


def comparison_headline(comparison: Comparison) -> str:
    """Return in one sentence what bounds the round and what is left to win, if it can be judged."""
    whole = comparison.round
    if comparison.round_ns is None:
        return f"Not compared with the roofline: {comparison.reason}."
    if whole.verdict == "below bound":
        return _refusal("the round", whole)
    if comparison.suspects:
        worst = max(comparison.suspects, key=lambda entry: _below_ns(entry.figures))
        return _refusal(_name(worst), worst.figures)
    if comparison.reason:
        return f"{_total_sentence(comparison)} Categories are not compared: {comparison.reason}."
    parts = (*_streaming(comparison), *_seams(comparison), _largest_excess(comparison))
    return f"{'; '.join(parts)}."


def comparison_rows(comparison: Comparison) -> Iterator[Row]:
    """Yield a line for each phase and, below it, for its categories if they can be compared."""
    for phase in PHASE_ORDER:
        own = [entry for entry in comparison.categories if entry.phase == phase]
        if not own:
            continue
        known = [entry for entry in own if entry.prediction is not None]
        yield Row((phase, *_cells(_sum(own)), *3 * ("",)), 0)
        if comparison.reason:
            continue
        yield from (Row(_category_cells(comparison, entry), 1) for entry in known)
        rest = [entry for entry in own if entry.prediction is None]
        if rest and known:
            yield Row((NOT_PREDICTED, *_cells(_sum(rest)), *3 * ("",)), 1)


def round_row(comparison: Comparison) -> Row:
    """Return the line of the whole round."""
    return Row(("round", *_cells(comparison.round), *3 * ("",)), 0)


def group_figures(comparison: Comparison, group: str) -> Figures:
    """Return the time of a group of the top table beside its two predictions."""
    return _sum([entry for entry in comparison.categories if entry.group == group])


def bound_cells(figures: Figures) -> tuple[str, str]:
    """Return the bound, and what was measured as a multiple of it; empty without a prediction."""
    if figures.bound_ns is None:
        return NOTHING, NOTHING
    _, bound, _, ratio, _ = _cells(figures)
    return bound, NOTHING if figures.bound_ratio is None else ratio


def comparison_notes(comparison: Comparison) -> Iterator[str]:
    """Yield sentences below the table: doubts first, then what is left to win."""
    for entry in comparison.suspects:
        yield f"{_too_fast(_name(entry), entry.figures)}: {_CAUSES}."
    unseen = [_name(e) for e in comparison.categories if _is_missed(e)]
    if unseen:
        yield f"Predicted, but not in the trace: {', '.join(unseen)}."
    yield from _to_win_sentences(comparison)
    yield from _communication_sentence(comparison)
    if (tokens := _tokens_sentence(comparison)) is not None:
        yield tokens


METHOD = (
    "bound is the least time, expected is meant within"
    f" {EXPECTED_ERROR_PERCENT} %: an excess (measured - expected) inside that is in parentheses"
    " and says nothing. Eager work around the passes counts with the target; tracing per node"
    " lengthens in-graph gaps. of BW: predicted bytes over measured time, as a share of the"
    " datasheet bandwidth."
)


def inputs_sentence(comparison: Comparison) -> str:
    """Return every input with where it came from."""
    return ", ".join(f"{name} {value}" for name, value in input_facts(comparison.roofline))


_CAUSES = "wrong model, number format, batch or rule"


def _refusal(name: str, figures: Figures) -> str:
    return f"Not judged: {_too_fast(name, figures)} ({_CAUSES})."


def _too_fast(name: str, figures: Figures) -> str:
    measured, bound = figures.measured_ns or 0, figures.bound_ns or 0
    return (
        f"{name} takes {MILLISECONDS.text(measured)}, less than its bound of"
        f" {MILLISECONDS.text(bound)}"
    )


def _below_ns(figures: Figures) -> int:
    return (figures.bound_ns or 0) - (figures.measured_ns or 0)


def _name(entry: ComparedCategory) -> str:
    if entry.category == IN_GRAPH_GAPS:
        return f"{entry.category} (an upper limit)"
    return entry.category if entry.phase == HOST else f"{entry.category} ({entry.phase})"


def _total_sentence(comparison: Comparison) -> str:
    whole = comparison.round
    assert whole.measured_ns is not None
    assert whole.bound_ns is not None
    assert whole.expected_ns is not None
    excess_ns = whole.measured_ns - whole.expected_ns
    judged = {
        "within error": "within the model's error of",
        "slower": f"{MILLISECONDS.brief(excess_ns)} more than",
        "faster": f"{MILLISECONDS.brief(-excess_ns)} less than",
    }[whole.verdict]
    return (
        f"A round takes {MILLISECONDS.brief(whole.measured_ns)},"
        f" {whole.measured_ns / whole.bound_ns:.2f} times its bound and {judged} the expected"
        f" {MILLISECONDS.brief(whole.expected_ns)}."
    )


def _streaming(comparison: Comparison) -> Iterator[str]:
    """Yield what reading weights takes, and how fast that goes."""
    weights = [entry for entry in comparison.categories if entry.category in WEIGHTS]
    known = [e for e in weights if e.prediction is not None and e.measured_ns]
    measured_ns = sum(entry.measured_ns or 0 for entry in known)
    if not measured_ns:
        return
    part = share(measured_ns, comparison.round_ns or 0)
    total_bytes = sum(e.prediction.bytes for e in known if e.prediction)
    total_flop = sum(e.prediction.flop for e in known if e.prediction)
    if all(entry.prediction and entry.prediction.limited_by == "memory" for entry in known):
        peak = comparison.roofline.gpu.memory_bandwidth_bytes_per_s
        ratio = total_bytes / measured_ns * 1e9 / peak
        yield f"{part} of the round is weight streaming at {ratio:.2f} of peak bandwidth"
    else:
        rate = total_flop / measured_ns * 1e9 / 1e12
        yield f"{part} of the round is weight GEMMs at {rate:,.1f} TFLOP/s"


def _seams(comparison: Comparison) -> Iterator[str]:
    host = [e.measured_ns for e in comparison.categories if e.category == HOST_GAPS]
    for measured_ns in host:
        if measured_ns is not None:
            yield f"{share(measured_ns, comparison.round_ns or 0)} is host seams"


def _largest_excess(comparison: Comparison) -> str:
    if not comparison.to_win:
        return (
            f"no category is more than the model's error ({EXPECTED_ERROR_PERCENT} %) above what"
            " is expected"
        )
    return f"the largest excess is {_excess_text(comparison, comparison.to_win[0])}"


def _excess_text(comparison: Comparison, entry: ComparedCategory) -> str:
    text = f"{_name(entry)}, {MILLISECONDS.text(entry.figures.excess_ns or 0)}"
    won = comparison.won_tokens_per_s(entry)
    return text if won is None else f"{text} ({won:+,.2f} tokens/s)"


def _to_win_sentences(comparison: Comparison) -> Iterator[str]:
    """Yield the largest excesses; nothing where the prediction is of something else."""
    if comparison.reason or not comparison.can_be_judged:
        return
    first = comparison.to_win[:MOST_TO_WIN]
    if first:
        listed = "; ".join(_excess_text(comparison, entry) for entry in first)
        more = len(comparison.to_win) - len(first)
        rest = f"; {counted(more, 'smaller one')}" if more else ""
        yield f"Left to win in a round: {listed}{rest}."


def _communication_sentence(comparison: Comparison) -> Iterator[str]:
    found = [e for e in comparison.categories if e.category == "comm" and e.measured_ns]
    if not found:
        return
    wait = (
        "an unknown part" if comparison.wait_ns is None else MILLISECONDS.text(comparison.wait_ns)
    )
    yield f"comm is measured with its waiting, {wait} of a round; predictions have none."


def _tokens_sentence(comparison: Comparison) -> str | None:
    measured = comparison.measured_tokens_per_s
    prediction = comparison.roofline.prediction
    if measured is None:
        return None
    return (
        f"Tokens/s: measured {measured:,.1f}, expected {prediction.expected_tokens_per_s:,.1f},"
        f" at most {prediction.bound_tokens_per_s:,.1f}."
    )


def _is_missed(entry: ComparedCategory) -> bool:
    return entry.figures.verdict == "not seen" and entry.phase != HOST


def _sum(entries: Sequence[ComparedCategory]) -> Figures:
    """Return the figures of several categories; without any prediction there is none of the sum."""
    measured = [entry.measured_ns for entry in entries]
    known = [entry.prediction for entry in entries if entry.prediction is not None]
    return Figures(
        None if None in measured else sum(ns or 0 for ns in measured),
        sum(entry.bound_ns for entry in known) if known else None,
        sum(entry.expected_ns for entry in known) if known else None,
    )


def _ratio(ratio: float) -> str:
    """Return a ratio whose digits do not claim more than a bound near zero can tell."""
    return f"{ratio:.2f}" if ratio < 10 else f"{ratio:,.0f}"


def _cells(figures: Figures) -> tuple[str, ...]:
    ratio = figures.bound_ratio
    mark = "!" if figures.verdict == "below bound" else ""
    return (
        _time(figures.measured_ns),
        _time(figures.bound_ns),
        _time(figures.expected_ns),
        UNKNOWN if ratio is None else f"{_ratio(ratio)}{mark}",
        _excess(figures),
    )


def _category_cells(comparison: Comparison, entry: ComparedCategory) -> tuple[str, ...]:
    peak = comparison.roofline.gpu.memory_bandwidth_bytes_per_s
    bandwidth, flop, intensity = entry.bytes_per_s, entry.flop_per_s, entry.flop_per_byte
    return (
        entry.category,
        *_cells(entry.figures),
        UNKNOWN if bandwidth is None else f"{bandwidth / peak:.2f}",
        UNKNOWN if flop is None else f"{flop / 1e12:,.2f}",
        UNKNOWN if intensity is None else f"{intensity:,.1f}",
    )


def _time(time_ns: int | None) -> str:
    return UNKNOWN if time_ns is None else MILLISECONDS.number(time_ns)


def _excess(figures: Figures) -> str:
    """Return the excess; inside the model's error it is in parentheses."""
    excess_ns = figures.excess_ns
    if excess_ns is None:
        return UNKNOWN
    text = f"{'-' if excess_ns < 0 else '+'}{MILLISECONDS.number(abs(excess_ns))}"
    return f"({text})" if figures.verdict == "within error" else text
