"""What a roofline says, in words and cells that every format shares."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from traceattr.report.figures import MILLISECONDS, counted, share
from traceattr.roofline.calibration import EXPECTED_ERROR_PERCENT
from traceattr.roofline.prediction import CategoryPrediction
from traceattr.roofline.roofline import Roofline
from traceattr.roofline.work import PHASES

TITLES = ("category", "bytes", "FLOP", "launches", "bound", "expected", "limited by")
ALIGNED = "lrrrrrl"

COLUMNS = (tuple(range(len(TITLES))), (0, 1, 4, 5, 6), (0, 4, 5))
"""Choices of columns, the widest first."""

TABLE_TITLE = "Per round and GPU (times in ms)"
PREFILL_TITLE = "Per pass and GPU (times in ms)"

METHOD = (
    "bound: bytes at datasheet bandwidth, FLOP at the dense peak, messages at the nominal link"
    " rate, no latency and no host; expected: measured efficiencies, launch floors, collective"
    f" latency and host, meant within {EXPECTED_ERROR_PERCENT} %."
)

WEIGHTS = ("weight_gemm", "moe_gemm")
"""Categories that stream weights."""

_SOURCES = {"flag": "flag", "default": "default", "config": "model's config"}


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table.

    Attributes:
        cells: As `TITLES`.
        depth: 0 for a phase and the total, 1 for a category.
    """

    cells: tuple[str, ...]
    depth: int


def roofline_headline(roofline: Roofline) -> str:
    """Return the answer in one sentence."""
    prediction = roofline.prediction
    bound, expected = prediction.bound_ns, prediction.expected_ns
    weights = sum(e.bound_ns for e in prediction.categories if e.category in WEIGHTS)
    text = f"{_subject(roofline)} takes at least {MILLISECONDS.brief(bound)} and is expected to"
    text += f" take {MILLISECONDS.brief(expected)} ({_range(expected)});"
    text += f" {share(weights, bound)} of the bound is weights"
    if prediction.bound_tokens_per_s is None or prediction.expected_tokens_per_s is None:
        return f"{text}."
    most, likely = prediction.bound_tokens_per_s, prediction.expected_tokens_per_s
    return f"{text}. That is at most {_rate(most)} tokens/s, expected {_rate(likely)}."


def table_title(roofline: Roofline) -> str:
    """Return what stands above the table."""
    return TABLE_TITLE if roofline.prefill_tokens is None else PREFILL_TITLE


def total_name(roofline: Roofline) -> str:
    """Return what the last line of the table is."""
    return "round" if roofline.prefill_tokens is None else "pass"


def roofline_rows(roofline: Roofline) -> Iterator[Row]:
    """Yield a line for each phase and, below it, for its categories."""
    entries = roofline.prediction.categories
    for phase in PHASES:
        own = [entry for entry in entries if entry.phase == phase]
        if own:
            yield Row(_sum_cells(phase, own), 0)
            yield from (Row(_cells(entry), 1) for entry in own)


def total_row(roofline: Roofline) -> Row:
    """Return the line of the whole round."""
    return Row(_sum_cells(total_name(roofline), roofline.prediction.categories), 0)


def input_facts(roofline: Roofline) -> Iterator[tuple[str, str]]:
    """Yield every input with its value and where it came from."""
    for name, found in roofline.inputs:
        if found is not None:
            value = f"{found.value:,}" if isinstance(found.value, int) else str(found.value)
            yield name, f"{value} ({_SOURCES.get(found.source, found.source)})"
        elif name == "accept_length":
            yield name, "unknown"


def gpu_fact(roofline: Roofline) -> str:
    """Return what the prediction takes from the table of GPUs."""
    gpu = roofline.gpu
    peaks = ", ".join(f"{name} {rate / 1e12:g}" for name, rate in gpu.peak_flop_per_s.items())
    return (
        f"{gpu.memory_bandwidth_bytes_per_s / 1e9:g} GB/s, dense TFLOP/s {peaks};"
        f" {gpu.link} {gpu.link_bandwidth_bytes_per_s / 1e9:g} GB/s;"
        f" {gpu.bandwidth_efficiency:g} of bandwidth expected in weight GEMMs"
    )


def bytes_text(number: int) -> str:
    """Return bytes in decimal units, three digits or more."""
    return _scaled(number, (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)), "B")


def flop_text(number: int) -> str:
    """Return operations in decimal units, three digits or more."""
    return _scaled(number, (("T", 10**12), ("G", 10**9), ("M", 10**6), ("k", 10**3)), "")


def _subject(roofline: Roofline) -> str:
    setup = roofline.setup
    gpus = f"{setup.parallel.tp} x {roofline.gpu.name}"
    requests = counted(setup.batch, "request")
    what = "A decode step"
    if setup.draft_steps:
        what = f"A round with {counted(setup.draft_steps, 'draft step')}"
    if roofline.prefill_tokens is not None:
        what = f"A prefill of {roofline.prefill_tokens:,} tokens each"
    of = f"of {roofline.model.name} on {gpus} with {requests} at {setup.context:,} tokens"
    return f"{what} {of}"


def _range(expected_ns: int) -> str:
    low = expected_ns * (100 - EXPECTED_ERROR_PERCENT) // 100
    high = expected_ns * (100 + EXPECTED_ERROR_PERCENT) // 100
    return f"{MILLISECONDS.brief(low).removesuffix(' ms')} to {MILLISECONDS.brief(high)}"


def _rate(tokens_per_s: float) -> str:
    return f"{tokens_per_s:,.1f}"


def _cells(entry: CategoryPrediction) -> tuple[str, ...]:
    return (entry.category, *_figures([entry]), entry.limited_by)


def _sum_cells(name: str, entries: Sequence[CategoryPrediction]) -> tuple[str, ...]:
    return (name, *_figures(entries), "")


def _figures(entries: Sequence[CategoryPrediction]) -> tuple[str, ...]:
    launches = sum(entry.launches for entry in entries)
    return (
        bytes_text(sum(entry.bytes for entry in entries)),
        flop_text(sum(entry.flop for entry in entries)),
        f"{launches:,}",
        MILLISECONDS.number(sum(entry.bound_ns for entry in entries)),
        MILLISECONDS.number(sum(entry.expected_ns for entry in entries)),
    )


def _scaled(number: int, units: Sequence[tuple[str, int]], least: str) -> str:
    for name, size in units:
        if number >= size:
            value = number / size
            return f"{value:,.{2 if value < 10 else 1 if value < 100 else 0}f} {name}"
    return f"{number} {least}".rstrip()
