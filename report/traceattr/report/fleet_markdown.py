"""How a report on several traces looks in Markdown."""

from collections.abc import Iterator

from traceattr.attribution.fleet_figures import Fleet
from traceattr.report.escape import markdown_sentence, markdown_text
from traceattr.report.fleet_text import fleet_headline, run_title, sections
from traceattr.report.markdown_blocks import markdown_items, markdown_table


def render_fleet_markdown(fleet: Fleet) -> str:
    """Return the report as GitHub Markdown."""
    return "\n".join(_blocks(fleet))


def _blocks(fleet: Fleet) -> Iterator[str]:
    yield f"**{markdown_sentence(fleet_headline(fleet))}**\n"
    for run in fleet.runs:
        for section in sections(run, run_title(fleet, run)):
            yield f"#### {markdown_text(section.title)}\n"
            if section.rows:
                aligned = "l" * section.texts + "r" * (len(section.columns) - section.texts)
                rows = [[markdown_text(cell) for cell in row] for row in section.rows]
                yield markdown_table(section.columns, aligned, rows)
            if section.note:
                yield f"{markdown_sentence(section.note)}\n"
    if fleet.failed:
        yield "#### Not read\n"
        yield markdown_items([reason for _, reason in fleet.failed])
    if fleet.warnings:
        yield "#### Notices\n"
        yield markdown_items([notice.text for notice in fleet.warnings])
