"""The parts of a round that two traces are compared by, with their time in each round."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from traceattr.attribution.analysis import Analysis
from traceattr.attribution.groups import NO_WORK
from traceattr.attribution.round_figures import Phase, RoundSeries
from traceattr.rules.categories import GRAPH, HOST_GAPS

Times = npt.NDArray[np.int64]
"""Time of one part, shape (GPUs, rounds)."""


class PartKind(StrEnum):
    """What a part is a part of; launches are counted and take no time of their own."""

    ROUND = "round"
    GROUP = "group"
    PHASE = "phase"
    CATEGORY = "category"
    SEAM = "seam"
    LAUNCHES = "launches"


@dataclass(frozen=True, slots=True)
class Part:
    """Something that takes time in a round.

    Attributes:
        kind: What it is a part of.
        name: Group, phase, category, seam or figure of launching; ``round`` for the whole.
        phase: Of a category, of which model's pass it is part; None for all phases together.
    """

    kind: PartKind
    name: str
    phase: Phase | None = None

    @property
    def label(self) -> str:
        """Return it as gates name it: ``draft/weight_gemm``, ``seam:draft->verify``."""
        if self.kind is PartKind.SEAM:
            return f"seam:{self.name}"
        return f"{self.phase}/{self.name}" if self.phase else self.name


ROUND = Part(PartKind.ROUND, "round")


@dataclass(frozen=True, slots=True)
class Rounds:
    """The rounds of one trace that are compared.

    Attributes:
        count: How many on each GPU: as many as the GPU with fewest has.
        times: Time of each part; None for what the trace cannot tell.
        gpus: Number of GPUs.
    """

    count: int
    times: Mapping[Part, Times | None]
    gpus: int

    def of(self, part: Part) -> Times | None:
        """Return the time of a part, nothing but zeros where it does not occur."""
        if part in self.times:
            return self.times[part]
        return np.zeros((self.gpus, self.count), np.int64)


def rounds_of(analysis: Analysis) -> Rounds:
    """Return every part of the rounds, those without any time left out.

    A first round of which the trace does not show how it begins is left out of all of them.
    """
    count = min((len(one.wall_ns) - one.seams_from for one in analysis.series), default=0)
    times: dict[Part, list[Times | None]] = {}
    for one in analysis.series:
        for part, values in _of_gpu(one).items():
            times.setdefault(part, []).append(values)
    gpus = len(analysis.series)
    stacked = {part: _stacked(rows, gpus, count) for part, rows in times.items()}
    seen = {part: rows for part, rows in stacked.items() if rows is None or rows.any()}
    return Rounds(count, seen, gpus)


def without_hidden(rounds: Rounds) -> Rounds:
    """Return rounds in which what runs is unknown, of a trace that shows graphs as a whole only.

    Beside a trace that shows their kernels, what runs outside graphs alone would look like less.
    """
    return replace(
        rounds,
        times={
            part: times if _is_seen_around_graphs(part) else None
            for part, times in rounds.times.items()
        },
    )


def _is_seen_around_graphs(part: Part) -> bool:
    if part.kind in (PartKind.ROUND, PartKind.SEAM):
        return True
    return part.name in (HOST_GAPS, NO_WORK, GRAPH)


def _stacked(rows: list[Times | None], gpus: int, count: int) -> Times | None:
    """Return the last rounds of every GPU; one without a part spends nothing in it."""
    known = [row[len(row) - count :] for row in rows if row is not None]
    if len(known) < len(rows):
        return None
    nothing = [np.zeros(count, np.int64)] * (gpus - len(known))
    return np.stack([*known, *nothing]) if known else None


def _of_gpu(series: RoundSeries) -> dict[Part, Times | None]:
    found: dict[Part, Times | None] = {ROUND: np.array(series.wall_ns, np.int64)}
    for one in series.groups:
        values = None if one.ns is None else np.array(one.ns, np.int64)
        found[Part(PartKind.GROUP, one.name)] = values
    found.update(_categories(series))
    for one in series.seams:
        if one.ns is not None:
            found[Part(PartKind.SEAM, one.name)] = np.array(one.ns, np.int64)
    return found


def _categories(series: RoundSeries) -> Iterator[tuple[Part, Times]]:
    """Yield each category in each phase, and the sums over both."""
    sums: dict[Part, Times] = {}
    for one in series.categories:
        values = np.array(one.ns, np.int64)
        yield Part(PartKind.CATEGORY, one.category, one.phase), values
        for whole in (Part(PartKind.PHASE, one.phase), Part(PartKind.CATEGORY, one.category)):
            sums[whole] = sums[whole] + values if whole in sums else values
    yield from sums.items()
