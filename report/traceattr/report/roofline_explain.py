"""How the explanation of a category is written, as plain text or Markdown."""

from collections.abc import Iterable, Iterator
from textwrap import wrap

from traceattr.report.escape import markdown_text, visible
from traceattr.report.figures import MILLISECONDS
from traceattr.report.render import NARROWEST
from traceattr.roofline.explain import Explanation, Step

_LABEL = 14


def explanation_text(explanations: Iterable[Explanation], *, width: int) -> str:
    """Return formula, numbers and sources of every term, in lines of ``width`` columns."""
    lines: list[str] = []
    for explanation in explanations:
        lines += [*wrap(visible(_title(explanation)), max(width, NARROWEST)), ""]
        for label, text in _facts(explanation):
            lines += _labelled(label, visible(text), max(width, NARROWEST))
        lines.append("")
    return "".join(f"{line}\n" for line in lines[:-1])


def explanation_markdown(explanations: Iterable[Explanation]) -> str:
    """Return the same as Markdown, a list for each term."""
    lines: list[str] = []
    for explanation in explanations:
        lines += [f"**{markdown_text(_title(explanation))}**", ""]
        for label, text in _facts(explanation):
            indent = "" if label in _HEADS else "  "
            lines.append(f"{indent}- {markdown_text(label)}: {markdown_text(text)}")
        lines.append("")
    return "".join(f"{line}\n" for line in lines)


_HEADS = ("term", "note", "GPU")
"""Labels that are not indented."""

_SHARED = ("formula", "source", "calibration")


def _title(explanation: Explanation) -> str:
    entry = explanation.entry
    bound, expected = MILLISECONDS.text(entry.bound_ns), MILLISECONDS.text(entry.expected_ns)
    return (
        f"{entry.category} ({entry.phase}): bound {bound}, expected {expected},"
        f" limited by {entry.limited_by}"
    )


def _facts(explanation: Explanation) -> Iterator[tuple[str, str]]:
    """Yield labels and texts; what a term shares with the one before is not repeated."""
    said: dict[str, str] = {}
    for step in explanation.steps:
        for label, text in _step_facts(step):
            if label not in _SHARED or said.get(label) != text:
                yield label, text
            said[label] = text
    for note in explanation.notes:
        yield "note", note
    for name, source in explanation.sources:
        yield "GPU", f"{name}: {source}"


def _step_facts(step: Step) -> Iterator[tuple[str, str]]:
    term = step.term
    yield "term", f"{term.part}, {term.count:,} per round ({term.stage})"
    yield "formula", term.formula
    yield "numbers", term.numbers
    yield "source", term.source
    limits = ", ".join(f"{name} {MILLISECONDS.text(round(value))}" for name, value in step.limits)
    yield "bound", f"{step.rates}: {limits}" if limits else "nothing moves"
    expected = MILLISECONDS.text(round(step.floor_ns + step.moving_ns))
    yield "expected", f"{step.calibration}: {expected}"
    yield "calibration", step.calibration_source


def _labelled(label: str, text: str, width: int) -> Iterator[str]:
    """Yield lines with the label in front of the first; a term's own line is not indented."""
    margin = "" if label in _HEADS else "  "
    first = f"{margin}{label}".ljust(_LABEL)
    yield from wrap(text, width, initial_indent=first, subsequent_indent=" " * _LABEL)
