"""In which format a roofline, an explanation or the list of what is known is rendered.

Renderers are imported when they are needed, as for reports on traces.
"""

from collections.abc import Iterable

from traceattr.report.render import ReportFormat
from traceattr.roofline.explain import explain
from traceattr.roofline.hardware import GpuSpec
from traceattr.roofline.roofline import Roofline


def render_roofline(
    roofline: Roofline,
    report_format: ReportFormat,
    *,
    width: int,
    color: bool,
    plot_link: str | None = None,
) -> str:
    """Return the whole roofline; width and colour are for the terminal only.

    ``plot_link`` is where Markdown finds the plot.
    """
    match report_format:
        case ReportFormat.TERMINAL:
            from traceattr.report.roofline_terminal import render_terminal

            return render_terminal(roofline, width=width, color=color)
        case ReportFormat.MARKDOWN:
            from traceattr.report.roofline_markdown import render_markdown

            return render_markdown(roofline, plot_link)
        case ReportFormat.JSON:
            from traceattr.report.roofline_json import render_json

            return render_json(roofline)
        case ReportFormat.CSV:
            from traceattr.report.roofline_json import render_csv

            return render_csv(roofline)


def render_explanation(
    roofline: Roofline, category: str, report_format: ReportFormat, *, width: int
) -> str:
    """Return where the figures of one category come from; CSV holds the text of a terminal."""
    from traceattr.report.roofline_explain import explanation_markdown, explanation_text

    explanations = explain(roofline, category)
    match report_format:
        case ReportFormat.JSON:
            from traceattr.report.roofline_json import render_json_with

            return render_json_with(roofline, explanations)
        case ReportFormat.MARKDOWN:
            return explanation_markdown(explanations)
        case _:
            return explanation_text(explanations, width=width)


def render_known(models: Iterable[str], gpus: Iterable[GpuSpec]) -> str:
    """Return the models and GPUs that need no file."""
    lines = ["Models", *(f"  {name}" for name in models), "", "GPUs"]
    for gpu in gpus:
        bandwidth = f"{gpu.memory_bandwidth_bytes_per_s / 1e9:,.0f} GB/s"
        names = ", ".join(gpu.device_names)
        lines.append(f"  {gpu.name:<28}{bandwidth:>10}  {names}")
    return "".join(f"{line}\n" for line in lines)
