"""What a diff says in sentences: the verdict first."""

from collections.abc import Iterator, Sequence

from traceattr.attribution.groups import GAP_GROUPS
from traceattr.report.diff.diff import Diff
from traceattr.report.diff.gates import Judgement, Outcome
from traceattr.report.diff.parts import ROUND, Part, PartKind
from traceattr.report.diff.slow import slow_sentence
from traceattr.report.diff.verdicts import (
    CHANCE,
    LEAST_SHARE,
    Change,
    Verdict,
)
from traceattr.report.diff.words import difference_text, percent, signed
from traceattr.report.figures import counted, duration, unit_for
from traceattr.report.headline import simulated_text
from traceattr.rules.categories import HOST_GAPS

MOST_NAMED = 3
"""Changed parts that the sentence names."""

METHOD = (
    "Times are means over the rounds, of one GPU as the mean of the GPUs; means add up, so they "
    "differ from the medians of a report. Noise is how large a difference chance alone makes: the "
    "error of both means from a block bootstrap over the rounds, which follow each other and are "
    f"alike, so wide that in all parts together it is exceeded once in {1 / CHANCE:,.0f} "
    "comparisons. A part is slower or faster when it changed by more than its noise, by at least "
    f"{100 * LEAST_SHARE:g} % of itself and a ten-thousandth of the round; less than that differs "
    "from run to run, which the rounds of one run do not show. Where a few rounds make most of the "
    "noise and nothing can be told, a line is about typical rounds, and says so: all but the "
    "longest and the shortest tenth."
)


def is_single(part: Part) -> bool:
    """Return whether a part is no sum of others: a category in a phase, or a kind of gap."""
    if part.kind is PartKind.CATEGORY:
        return part.phase is not None
    if part.kind is PartKind.GROUP:
        return part.name in GAP_GROUPS and part.name != HOST_GAPS
    return part.kind is PartKind.SEAM


def changed_parts(diff: Diff) -> tuple[Change, ...]:
    """Return what became slower or faster and is no sum of others, the largest change first."""
    changed = [one for one in diff.changes if one.is_changed and is_single(one.part)]
    return tuple(sorted(changed, key=lambda one: -abs(one.difference_ns or 0)))


def verdict_sentence(diff: Diff) -> str:
    """Return whether a round changed, and what did."""
    if diff.comparability.obstacles:
        return f"Not comparable: {'; '.join(diff.comparability.obstacles)}."
    change = diff.change(ROUND)
    if change is None:
        return "Not comparable: no rounds."
    return f"{_round_text(diff, change)}{_parts_text(diff, change)}."


def _round_text(diff: Diff, change: Change) -> str:
    name = f"A {diff.head.rounds.kind} round"
    before_ns, after_ns = change.before_ns or 0, change.after_ns or 0
    unit = unit_for(max(before_ns, after_ns))
    both = f"{unit.brief(before_ns)} before, {unit.brief(after_ns)} after"
    if change.verdict is Verdict.CANNOT_TELL:
        kind = diff.head.rounds.kind
        return f"Whether a {kind} round changed cannot be told: {change.reason} ({both})"
    if change.is_changed:
        by = duration(abs(change.difference_ns or 0))
        return f"{name} is {by} {change.verdict} ({percent(change)}: {both})"
    return f"{name} takes as long as before ({percent(change)}: {both})"


def _parts_text(diff: Diff, whole: Change) -> str:
    changed = changed_parts(diff)
    if not changed:
        return "" if whole.verdict is Verdict.CANNOT_TELL else f"; {_nothing_text(diff)}"
    named = [f"{_name(one.part)} {difference_text(one)}" for one in _named(changed)]
    more = len(changed) - len(named)
    rest = f" and {counted(more, 'more part')}" if more else ""
    joined = "; changed: " if whole.is_changed else ", but parts of it changed: "
    return f"{joined}{', '.join(named)}{rest}"


def _named(changed: Sequence[Change]) -> list[Change]:
    """Return the largest changes, one that is slower among them if there is any."""
    named = list(changed[:MOST_NAMED])
    slower = [one for one in changed if one.verdict is Verdict.SLOWER]
    if slower and slower[0] not in named:
        named[-1] = slower[0]
    return named


def _name(part: Part) -> str:
    """Return what a part is called in prose."""
    return part.name if part.kind is PartKind.SEAM else part.label


def _nothing_text(diff: Diff) -> str:
    unknown = sum(one.verdict is Verdict.CANNOT_TELL for one in diff.changes if is_single(one.part))
    if not unknown:
        return "no part of it changed"
    return f"no part of it changed as far as can be told ({counted(unknown, 'part')} cannot)"


def caveats(diff: Diff) -> Iterator[str]:
    """Yield which parts cannot be compared, and what the reader must know."""
    for reason in (diff.comparability.categories, diff.comparability.gaps):
        if reason and not diff.comparability.obstacles:
            yield f"Not compared: {reason}."
    for notice in diff.comparability.notices:
        yield notice.text
    yield from _uneven(diff)
    if (slow := slow_sentence(diff)) is not None:
        yield slow


def _uneven(diff: Diff) -> Iterator[str]:
    """Yield changed parts of which GPUs differ much, as where one rank alone became slower."""
    for change in changed_parts(diff):
        by_gpu = [after - before for before, after in change.per_gpu]
        noise_ns = change.noise_ns or 0
        if by_gpu and max(by_gpu) - min(by_gpu) > max(noise_ns, abs(change.difference_ns or 0)):
            texts = ", ".join(f"GPU {at} {signed(by)}" for at, by in enumerate(by_gpu))
            yield f"{_name(change.part)} changed unevenly: {texts}."


def simulated_sentences(diff: Diff) -> Iterator[str]:
    """Yield that nothing was measured, once where both traces are of one simulation."""
    said = (diff.base.trace.simulated, diff.head.trace.simulated)
    yield from dict.fromkeys(simulated_text(each) for each in said if each)


def gate_text(judgement: Judgement) -> str:
    """Return what became of a gate, and why."""
    return f"`{judgement.gate.text}` {judgement.outcome}: {judgement.why}"


def gates_sentence(judgements: Sequence[Judgement], *, is_advisory: bool) -> str | None:
    """Return whether the gates hold, None without gates."""
    if not judgements:
        return None
    counts = [(outcome, sum(one.outcome is outcome for one in judgements)) for outcome in Outcome]
    found = ", ".join(f"{count} {outcome}" for outcome, count in counts if count)
    advisory = "; advisory: this fails nothing" if is_advisory else ""
    return f"Gates: {found}{advisory}."
