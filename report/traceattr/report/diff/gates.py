"""Conditions on a diff that fail a build: ``weight_gemm>2%``, ``seam:draft->verify>20us``."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import get_args

from traceattr.attribution.groups import GAP_GROUPS
from traceattr.attribution.round_figures import Phase
from traceattr.errors import OptionError
from traceattr.report.diff.diff import Diff
from traceattr.report.diff.launches import COUNTED, LaunchChange, launch_changes
from traceattr.report.diff.parts import ROUND, Part, PartKind
from traceattr.report.diff.verdicts import LEAST_NS, Change
from traceattr.report.diff.words import difference_text, signed
from traceattr.report.figures import duration
from traceattr.rules.categories import CATEGORIES, GROUPS

_FORM = re.compile(r"\s*(?P<name>.+?)\s*>\s*(?P<value>\d+(\.\d+)?)\s*(?P<unit>%|ns|us|ms|s|)\s*")
_NS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
_SEAM = "seam:"
_EXPECTED = (
    "expected NAME>LIMIT with %, us or ms, such as 'weight_gemm>2%' or 'round>100us', or a number"
    " of launches, such as 'graph_launches>0'"
)
_PHASES: tuple[Phase, ...] = get_args(Phase)


class Outcome(StrEnum):
    """What became of a gate."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_JUDGED = "cannot judge"


@dataclass(frozen=True, slots=True)
class Gate:
    """A part of a round, and by how much more it may take.

    Attributes:
        text: As the user wrote it.
        part: The part.
        limit: By how much more it may become; a share of what it was, ns, or a number of launches.
        is_share: Whether it is a share.
    """

    text: str
    part: Part
    limit: float
    is_share: bool

    def limit_of(self, before: float) -> float:
        """Return by how much more it may become than it was."""
        return self.limit * before if self.is_share else self.limit


@dataclass(frozen=True, slots=True)
class Judgement:
    """What became of a gate, and why.

    Attributes:
        gate: The gate.
        outcome: What became of it.
        why: The reason, a sentence without a full stop.
    """

    gate: Gate
    outcome: Outcome
    why: str


def parse_gates(texts: Iterable[str]) -> tuple[Gate, ...]:
    """Return the gates that command-line options state.

    Raises:
        OptionError: A text is malformed or names no part of a round.
    """
    return tuple(map(_parse, texts))


def _parse(text: str) -> Gate:
    form = _FORM.fullmatch(text)
    if form is None:
        raise OptionError(f"--fail-on {text!r}: not a gate ({_EXPECTED})")
    unit, value, part = form["unit"], float(form["value"]), _part(form["name"], text)
    if unit == "%":
        return Gate(text.strip(), part, value / 100, is_share=True)
    if (unit == "") != (part.kind is PartKind.LAUNCHES):
        raise OptionError(f"--fail-on {text!r}: not a gate ({_EXPECTED})")
    return Gate(text.strip(), part, value * _NS.get(unit, 1), is_share=False)


def _part(name: str, text: str) -> Part:
    """Return the part of a name: groups first, which tables show, then categories and phases."""
    if (name.startswith(_SEAM) and len(name) > len(_SEAM)) or "->" in name:
        return Part(PartKind.SEAM, name.removeprefix(_SEAM).strip())
    phase, slash, category = name.partition("/")
    if slash and category in CATEGORIES:
        for known in _PHASES:
            if phase == known:
                return Part(PartKind.CATEGORY, category, known)
    for is_meant in (name.__eq__, lambda known: _plain(known) == _plain(name)):
        if found := [part for part in _named_parts() if is_meant(part.name)]:
            return found[0]
    raise OptionError(f"--fail-on {text!r}: {name!r} is no part of a round ({_known()})")


def _plain(name: str) -> str:
    """Return a name without what users may not remember: capitals, and what joins its words."""
    return re.sub(r"[ _-]+", " ", name.casefold())


def _named_parts() -> Iterable[Part]:
    yield ROUND
    yield from (Part(PartKind.GROUP, name) for name in (*GROUPS, *GAP_GROUPS))
    yield from (Part(PartKind.CATEGORY, name) for name in CATEGORIES)
    yield from (Part(PartKind.PHASE, phase) for phase in _PHASES)
    yield from (Part(PartKind.LAUNCHES, figure) for figure in COUNTED)


def _known() -> str:
    names = ", ".join(dict.fromkeys(part.name for part in _named_parts()))
    return f"expected one of {names}; PHASE/CATEGORY such as draft/weight_gemm; seam:BEFORE->AFTER"


def judge(gates: Sequence[Gate], diff: Diff) -> tuple[Judgement, ...]:
    """Return what becomes of each gate."""
    return tuple(Judgement(gate, *_judged(gate, diff)) for gate in gates)


def _judged(gate: Gate, diff: Diff) -> tuple[Outcome, str]:
    change = diff.change(gate.part)
    if (reason := diff.comparability.why_not(gate.part)) is not None:
        return Outcome.NOT_JUDGED, reason
    if gate.part.kind is PartKind.LAUNCHES:
        return _counted(gate, launch_changes(diff))
    if change is None and gate.part.kind is PartKind.SEAM:
        seams = ", ".join(one.part.name for one in diff.of_kind(PartKind.SEAM)) or "none"
        return Outcome.NOT_JUDGED, f"no such seam in the rounds of either trace (seams: {seams})"
    if change is None:
        return Outcome.PASSED, "neither trace spends any time in it"
    if change.noise_ns is None or change.difference_ns is None:
        return Outcome.NOT_JUDGED, change.reason or "it cannot be compared"
    return _compared(gate, change, change.difference_ns, change.noise_ns)


def _compared(gate: Gate, change: Change, difference_ns: int, noise_ns: int) -> tuple[Outcome, str]:
    limit_ns = max(gate.limit_of(change.before_ns or 0), 0 if change.before_ns else LEAST_NS)
    what = f"{difference_text(change)}, noise {duration(noise_ns)}"
    if difference_ns > limit_ns:
        if difference_ns > noise_ns:
            return Outcome.FAILED, f"{what}: beyond the limit and beyond noise"
        return Outcome.PASSED, f"{what}: beyond the limit, but within noise; record more rounds"
    if noise_ns > limit_ns:
        hidden = f"as noise is, more than {signed(noise_ns)} would be needed to fail"
        return Outcome.PASSED, f"{what}: within the limit; {hidden}"
    return Outcome.PASSED, f"{what}: within the limit"


def _counted(gate: Gate, changes: Iterable[LaunchChange]) -> tuple[Outcome, str]:
    for one in changes:
        if one.figure == gate.part.name and one.before is not None and one.after is not None:
            what = f"{one.before:,.4g} before and {one.after:,.4g} after per round"
            if one.after - one.before > gate.limit_of(one.before):
                return Outcome.FAILED, f"{what}: beyond the limit"
            return Outcome.PASSED, f"{what}: within the limit"
    return Outcome.NOT_JUDGED, "a trace does not show it"
