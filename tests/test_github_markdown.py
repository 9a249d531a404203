"""That nothing in a trace becomes a link, a mention, a picture or HTML on GitHub."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.analyses import analysis, category, gpu_time, idle, kernel
from tests.conftest import GOLDEN
from tests.github_markdown import shown
from traceattr.attribution.analysis import Diagnostic, Notice
from traceattr.report.escape import markdown_code_cell, markdown_sentence, markdown_text, visible
from traceattr.report.markdown_blocks import markdown_table
from traceattr.report.render import ReportFormat, render

HOSTILE = [
    "a|b||c \\| \\",
    "back`tick``s``` `",
    "<script>alert(1)</script><img src=x onerror=y><b>",
    "@everyone, @sgl-project/team",
    "fixes #123, GH-1, gh-2, sgl-project/sglang#7, sglang@5ca97b3dd7a6",
    "5ca97b3 and 0123456789abcdef0123456789abcdef01234567",
    "https://example.com http://a.b/c_d_ www.example.com ftp://x.y me@example.com mailto:a@b.co",
    "~~gone~~ ~gone~ **bold** __bold__ *it* _it_",
    ":x: :+1: a:b:c ::tada::",
    "$x$ $$y$$ $`z`$ costs $5 and $6",
    "note[^1] [^1]: foot [a](b) ![c](d) [e][f] [ ] [x]",
    "&lt;b&gt; &#64;me &amp; &copy;",
    "- [ ] list",
    "     - code",
    "1. list",
    "# head",
    "> [!WARNING]",
    "```mermaid",
    "<!-- marker -->",
    "</details></summary></sub>",
    "---",
    "| a | b |",
    "\x1b[31m\u202e\nnext",
    "",
]
PIECES = st.sampled_from(HOSTILE) | st.text("a1|`\\<>@#&*_[](){}~$:!-+.^/ \n", max_size=20)
TEXTS = st.lists(PIECES, max_size=3).map(" ".join)


def check_harmless(markdown: str, tags: set[str]) -> None:
    page = shown(markdown)

    assert page.automatic == {}
    assert page.links == []
    assert set(page.tags) <= tags


@pytest.mark.parametrize("text", HOSTILE)
def test_prose_shows_the_text_and_nothing_else(text: str) -> None:
    page = shown(f"x {markdown_text(text)} x")

    assert page.text == f"x {visible(text)} x\n"
    check_harmless(f"x {markdown_text(text)} x", {"p", "span"})


@given(TEXTS)
def test_any_prose_shows_the_text_and_nothing_else(text: str) -> None:
    test_prose_shows_the_text_and_nothing_else(text)


@given(TEXTS)
def test_prose_that_begins_a_line_begins_no_block(text: str) -> None:
    check_harmless(f"{markdown_text(text)}\n", {"p", "span"})
    check_harmless(f"- {markdown_sentence(text)}\n", {"ul", "li", "p", "span", "code", "/code"})


@given(TEXTS)
def test_a_name_in_a_table_is_one_cell_of_code(text: str) -> None:
    cells = (markdown_text(text), markdown_code_cell(text))
    page = shown(markdown_table(("text", "name"), "ll", [cells]))

    assert page.codes == [visible(text).strip() or "(no name)"]
    assert page.tags.count("td") == 2
    assert page.automatic == {}
    assert page.links == []


REPORT_TAGS = {
    *("p", "strong", "em", "code", "/code", "sub", "ul", "li", "blockquote", "span", "pre"),
    "/details",
    *("table", "thead", "tbody", "tr", "th", "td", "details", "summary"),
}


@given(TEXTS, TEXTS)
@settings(max_examples=50)
def test_no_text_of_a_trace_is_more_than_text_in_a_report(name: str, text: str) -> None:
    made = analysis(
        gpu_time(0, [category("unclassified", 5)], idle()),
        kernels=[kernel(name, "unclassified", 5)],
        warnings=(Notice("code", text),),
        simulated=text,
    )
    diagnostics = (Diagnostic(2, text, 1, None),)
    made = replace(made, trace=replace(made.trace, file=name, diagnostics=diagnostics))

    report = render(made, ReportFormat.MARKDOWN, width=80, color=False)

    check_harmless(report, REPORT_TAGS)
    assert all(line.isprintable() for line in report.split("\n"))
    assert shown(report).tags.count("table") == 5


@pytest.mark.parametrize("path", sorted(GOLDEN.rglob("*.md")), ids=lambda path: path.stem)
def test_no_rendering_has_what_github_would_link_or_leaves_anything_open(path: Path) -> None:
    page = shown(path.read_text(encoding="utf-8"))

    assert page.automatic == {}
    assert page.links == []
    assert set(page.tags) <= REPORT_TAGS | {"h2", "h3"}
    assert page.tags.count("details") == page.tags.count("/details")
