"""In which format a report on several traces is rendered."""

from importlib.metadata import version

from traceattr.attribution.fleet_figures import Fleet
from traceattr.report.render import ReportFormat


def render_fleet(
    fleet: Fleet,
    format: ReportFormat,  # noqa: A002
    *,
    width: int,
    color: bool,
    rules_sha256: str,
) -> str:
    """Return the report on several traces; width and colour are for the terminal only."""
    match format:
        case ReportFormat.TERMINAL:
            from traceattr.report.fleet_terminal import render_fleet_terminal

            return render_fleet_terminal(fleet, width=width, color=color)
        case ReportFormat.MARKDOWN:
            from traceattr.report.fleet_markdown import render_fleet_markdown

            return render_fleet_markdown(fleet)
        case ReportFormat.JSON:
            from traceattr.report.fleet_json import render_fleet_json

            return render_fleet_json(fleet, version=version("traceattr"), rules_sha256=rules_sha256)
        case ReportFormat.CSV:
            from traceattr.report.fleet_csv import render_fleet_csv

            return render_fleet_csv(fleet)
