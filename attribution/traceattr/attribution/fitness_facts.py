"""What checks of a capture look at, and the command that records a better one."""

from dataclasses import dataclass

from traceattr.attribution.analysis import Analysis


@dataclass(frozen=True, slots=True)
class Contents:
    """What a capture holds beside GPU work; see ``sql/fitness.sql``."""

    os_calls: int
    host_ranges: int
    instantiations: int
    unlinked_replays: int
    launched: int
    early: int
    early_ns: int
    span_ns: int


def record(*, delay_s: int = 120, duration_s: int = 5, traced: str = "", graphs: str = "") -> str:
    """Return the command that records a server so that its time can be attributed."""
    options = [
        *((f"--trace {traced}",) if traced else ()),
        *((f"--graphs {graphs}",) if graphs else ()),
        f"--delay {delay_s}",
        f"--duration {duration_s}",
    ]
    return f"traceattr profile {' '.join(options)} -- python -m sglang.launch_server ..."


def category_ns(analysis: Analysis, categories: set[str]) -> int:
    """Return the exclusive time of some categories, of all GPUs together."""
    return sum(
        row.exclusive_ns
        for time in analysis.per_gpu
        for row in time.categories
        if row.category in categories
    )


def busy_ns(analysis: Analysis) -> int:
    """Return the time in which GPUs were busy, of all together."""
    return sum(time.busy_ns for time in analysis.per_gpu)


def percent(part: int, whole: int) -> str:
    """Return a share in percent; 0 and 100 are only written when they are exact."""
    tenths = round(1000 * part / whole) if whole else 0
    if tenths == 0 < part:
        return "<0.1 %"
    if tenths == 1000 and part < whole:
        return ">99.9 %"
    return f"{tenths / 10:.1f} %"
