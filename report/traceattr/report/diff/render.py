"""In which format a diff is written."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from traceattr.report.diff.diff import Diff
from traceattr.report.diff.formats import DiffFormat
from traceattr.report.diff.gates import Judgement

if TYPE_CHECKING:  # it takes a while to import, and few diffs need it
    from traceattr.report.comparison import Comparison


@dataclass(frozen=True, slots=True)
class DiffReport:
    """A diff and what is said beside it.

    Attributes:
        diff: The diff.
        judgements: What became of the gates.
        is_advisory: Whether gates fail nothing.
        comparison: The second trace beside its roofline, None when no model was given.
    """

    diff: Diff
    judgements: tuple[Judgement, ...] = ()
    is_advisory: bool = False
    comparison: "Comparison | None" = None


def render_diff(
    report: DiffReport,
    format: DiffFormat,  # noqa: A002
    *,
    width: int,
    color: bool,
) -> str:
    """Return the diff as text; width and colour are for the terminal only."""
    match format:
        case DiffFormat.TERMINAL:
            from traceattr.report.diff.terminal import render_terminal

            return render_terminal(report, width=width, color=color)
        case DiffFormat.MARKDOWN:
            from traceattr.report.diff.markdown import render_markdown

            return render_markdown(report)
        case DiffFormat.JSON:
            from traceattr.report.diff.document import render_json

            return render_json(report)
        case DiffFormat.HTML:
            from traceattr.report.diff.html import render_html

            return render_html(report)
        case DiffFormat.BENCHMARK:
            from traceattr.report.diff.benchmark import render_benchmark

            return render_benchmark(report.diff)
