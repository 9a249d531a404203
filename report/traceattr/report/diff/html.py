"""How a diff looks in a browser: one file that needs no network and runs nothing but its own."""

from traceattr.report.diff.html_page import diff_page
from traceattr.report.diff.render import DiffReport
from traceattr.report.html import render_page

_STYLES = ("page.css", "diff.css", "print.css")
_SCRIPTS = ("format.js", "theme.js", "tables.js", "diff.js")


def render_html(report: DiffReport) -> str:
    """Return the page; everything in it that comes from a trace is text and never code."""
    return render_page("diff.html", diff_page(report), styles=_STYLES, scripts=_SCRIPTS)
