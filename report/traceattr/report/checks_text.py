"""How checks are written: in a terminal, as Markdown or as JSON."""

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from enum import StrEnum

from traceattr.checks import Check, Status
from traceattr.report.escape import markdown_code, markdown_text, visible
from traceattr.report.figures import counted
from traceattr.report.render import NARROWEST

FORMAT = 1
"""Format number of the JSON document.

1: first version.
"""

_ORDER = (Status.FAIL, Status.WARN, Status.PASS)
_INDENT = " " * 6


class ChecksFormat(StrEnum):
    """Formats of a list of checks."""

    TERMINAL = "terminal"
    MARKDOWN = "markdown"
    JSON = "json"


def render_checks(
    checks: Sequence[Check],
    format: ChecksFormat,  # noqa: A002
    *,
    file: str | None,
    version: str,
    width: int,
) -> str:
    """Return the checks, those that failed first.

    Args:
        checks: The checks.
        format: How to write them.
        file: Name of the trace; None for checks of a machine.
        version: Version of traceattr.
        width: Columns to fill in a terminal.
    """
    match format:
        case ChecksFormat.TERMINAL:
            return "\n".join(_terminal(checks, file, max(width, NARROWEST))) + "\n"
        case ChecksFormat.MARKDOWN:
            return "\n".join(_markdown(checks, file)) + "\n"
        case ChecksFormat.JSON:
            from traceattr.report.json_document import dumped  # --help need not wait for it

            return dumped(
                {
                    "format": FORMAT,
                    "traceattr": version,
                    "trace": None if file is None else {"file": file},
                    "failed": _count(checks, Status.FAIL),
                    "warned": _count(checks, Status.WARN),
                    "passed": _count(checks, Status.PASS),
                    "checks": [asdict(check) for check in checks],
                }
            )


def _headline(checks: Sequence[Check], file: str | None) -> str:
    failed, warned = _count(checks, Status.FAIL), _count(checks, Status.WARN)
    verdict = (
        "is not fit for attribution"
        if failed
        else "is fit for attribution, with reservations"
        if warned
        else "is fit for attribution"
    )
    counts = f"{counted(len(checks), 'check')}: {failed} failed, {warned} warned"
    return f"{counts}." if file is None else f"{file} {verdict}. {counts}."


def _count(checks: Sequence[Check], status: Status) -> int:
    return sum(check.status is status for check in checks)


def _sorted(checks: Sequence[Check]) -> list[Check]:
    return sorted(checks, key=lambda check: _ORDER.index(check.status))


def _terminal(checks: Sequence[Check], file: str | None, width: int) -> Iterator[str]:
    """Yield lines; a remedy stays on one line, so that it can be copied."""
    yield from textwrap.wrap(visible(_headline(checks, file)), width)
    yield ""
    for check in _sorted(checks):
        word = check.status.value
        label = f"{word if check.status is Status.PASS else word.upper():<6}{check.code}: "
        yield from textwrap.wrap(
            visible(check.text), width, initial_indent=label, subsequent_indent=_INDENT
        )
        yield from (f"{_INDENT}- {visible(line)}" for line in check.details)
        if check.remedy:
            yield f"{_INDENT}$ {visible(check.remedy)}"


def _markdown(checks: Sequence[Check], file: str | None) -> Iterator[str]:
    yield f"**{markdown_text(_headline(checks, file))}**"
    yield ""
    for check in _sorted(checks):
        yield f"- {check.status.value.upper()} {check.code}: {markdown_text(check.text)}"
        yield from (f"  - {markdown_text(line)}" for line in check.details)
        if check.remedy:
            yield f"  - remedy: {markdown_code(check.remedy)}"
