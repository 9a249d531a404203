"""How a diff looks in a browser."""

from traceattr.report.diff.html_page import diff_page
from traceattr.report.diff.render import DiffReport
from traceattr.report.html_document import render_page

_STYLES = ("page.css", "diff.css", "print.css")
_SCRIPTS = ("format.js", "theme.js", "tables.js", "page.js")


def render_html(report: DiffReport) -> str:
    """Return the page."""
    return render_page("diff.html", diff_page(report), styles=_STYLES, scripts=_SCRIPTS)
