"""What was measured, as the page and the plots in docs/."""

import os
import platform
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from benchmarks.fleet import FEW, MORE, ONE, FleetMeasured
from benchmarks.performance_plot import BYTES, SECONDS, plot
from benchmarks.programs import COLD, Run

DOCS = Path(__file__).parent.parent / "docs"
BEGIN, END = "<!-- measured -->\n", "<!-- /measured -->\n"
GROWS_FROM = 0.9e6
"""Kernels from which on time should grow with the trace; below, starting takes longer."""


@dataclass(frozen=True, slots=True)
class Measured:
    """The least of some runs of one program on a trace."""

    program: str
    kernels: int
    run: Run


@dataclass(frozen=True, slots=True)
class Results:
    """Everything that was measured, and what with."""

    programs: Sequence[Measured]
    fleet: Sequence[FleetMeasured]
    others: str


def text(results: Results) -> str:
    """Return the results as Markdown."""
    parts = [machine(results.others)]
    if results.programs:
        parts += [table(results.programs), growth(results.programs)]
    if results.fleet:
        parts += [fleet_table(results.fleet), fleet_sentence(results.fleet)]
    return "\n".join(parts)


def table(measured: Sequence[Measured]) -> str:
    """Return one row per size and program."""
    lines = [
        "| kernels | program | wall | of our cold report | processor time | of it | peak memory |",
        "| ---: | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for one in measured:
        ours = next(m.run for m in measured if m.program == COLD and m.kernels == one.kernels)
        cells = (
            f"{one.kernels:,}",
            one.program,
            f"{one.run.wall_s:.2f} s",
            f"{one.run.wall_s / ours.wall_s:.2f} x",
            f"{one.run.cpu_s:.2f} s",
            f"{one.run.cpu_s / ours.cpu_s:.2f} x",
            _megabytes(one.run),
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def growth(measured: Sequence[Measured]) -> str:
    """Return what a cold report takes per million kernels, and how even that is."""
    ours = [one for one in measured if one.program == COLD]
    parts = [
        f"{one.run.wall_s / one.kernels * 1e6:.2f} s ({one.run.cpu_s / one.kernels * 1e6:.2f} s of"
        f" processor time) and {one.run.peak_bytes / one.kernels:,.0f} MB at"
        f" {one.kernels / 1e6:.1f} million"
        for one in ours
    ]
    said = f"A cold report per million kernels: {'; '.join(parts)}."
    large = [one for one in ours if one.kernels >= GROWS_FROM]
    if len(large) > 1:
        wall = _range([one.run.wall_s / one.kernels for one in large])
        cpu = _range([one.run.cpu_s / one.kernels for one in large])
        said += (
            f" From {large[0].kernels / 1e6:.0f} to {large[-1].kernels / 1e6:.0f} million the"
            f" longest time per million is {wall:.2f} times the shortest, of processor time"
            f" {cpu:.2f} times."
        )
    return f"{said}\n"


def _range(values: Sequence[float]) -> float:
    return max(values) / min(values)


def fleet_table(measured: Sequence[FleetMeasured]) -> str:
    """Return one row per way to read a fleet."""
    lines = [
        "| traces | cold report | wall | processor time | largest process |",
        "| ---: | --- | ---: | ---: | ---: |",
    ]
    for one in measured:
        cells = (
            f"{one.traces}",
            one.how,
            f"{one.run.wall_s:.2f} s",
            f"{one.run.cpu_s:.2f} s",
            _megabytes(one.run),
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def fleet_sentence(measured: Sequence[FleetMeasured]) -> str:
    """Return what a second worker is worth, and what a trace of a fleet costs."""
    wall_s = {one.how: one.run.wall_s for one in measured}
    traces = max(one.traces for one in measured)
    return (
        f"A second core makes the report on {traces} traces {wall_s[FEW] / wall_s[MORE]:.2f} times"
        f" as fast. On one core a trace of the fleet takes"
        f" {wall_s[FEW] / traces / wall_s[ONE]:.2f} times what it takes alone.\n"
    )


def _megabytes(run: Run) -> str:
    return f"{run.peak_bytes / 1e6:,.0f} MB"


def machine(others: str) -> str:
    """Return what was measured on what."""
    used = ", ".join(f"{name} {version(name)}" for name in ("duckdb", "numpy", "pyarrow"))
    cores = len(os.sched_getaffinity(0))
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    return (
        f"traceattr {version('traceattr')}, Python {platform.python_version()}, {used}"
        f"{', ' if others else ''}{others}; {platform.system()} {platform.machine()},"
        f" {_processor()}{cores} cores, {memory:.0f} GB of memory.\n"
    )


def _processor() -> str:
    """Return the name of the processor with a comma, where Linux knows it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    names = (line.partition(": ")[2] for line in lines if line.startswith("model name"))
    return next((f"{name}, " for name in names), "")


def write(results: Results) -> None:
    """Put the results into the page, and the plots beside it."""
    page = DOCS / "performance.md"
    before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    page.write_text(f"{before}{BEGIN}\n{text(results)}\n{END}{after}", encoding="utf-8")
    for name, drawing in _drawings(results.programs):
        (DOCS / name).write_text(drawing, encoding="utf-8")


def _drawings(measured: Sequence[Measured]) -> Iterator[tuple[str, str]]:
    def lines(value: Callable[[Run], float]) -> dict[str, list[tuple[float, float]]]:
        found: dict[str, list[tuple[float, float]]] = {}
        for one in measured:
            found.setdefault(one.program, []).append((one.kernels, value(one.run)))
        return found

    yield "performance.svg", plot("Wall time", lines(lambda run: run.wall_s), SECONDS)
    yield "performance-cpu.svg", plot("Processor time", lines(lambda run: run.cpu_s), SECONDS)
    yield "performance-memory.svg", plot("Peak memory", lines(lambda run: run.peak_bytes), BYTES)
