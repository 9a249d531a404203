"""Pages for tests, and what is in one."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from tests.round_analyses import speculative
from traceattr.attribution.analysis import Analysis
from traceattr.attribution.analyze import analysis_of
from traceattr.attribution.choice import STEADY_ROUNDS
from traceattr.attribution.closeup import Closeups, closeups
from traceattr.attribution.round_figures import RoundSeries, Series
from traceattr.attribution.survey import survey
from traceattr.ingest.trace import open_trace
from traceattr.report.html import render_html
from traceattr.rules.rule_set import load_rules
from traces.export_writer import ExportWriter

NO_CLOSEUPS = Closeups((), ())

HOSTILE = (
    "</script><script>window.pwned = 1</script>",
    "<img src=x onerror='window.pwned = 2'>",
    '" onmouseover="window.pwned = 3" x=\'',
    "</style><style>body { display: none }</style>",
    "<!-- <script> --> ]]> {{ 7 * 7 }} {% raw %}",
    "javascript:window.pwned=4",
    "\N{RIGHT-TO-LEFT OVERRIDE}drowssap\N{LINE SEPARATOR}\N{NULL}",
    "\N{HEBREW LETTER ALEF}\N{HEBREW LETTER BET} \N{SNOWMAN} &lt;b&gt; `code` | pipe",
    "x" * 5_000,
)
"""Kernel names that try to be markup, to hide, or to be too long."""

VOID = {"meta", "link", "input", "br", "img", "hr"}


@dataclass
class Page(HTMLParser):
    """The elements of a page, checked for being nested right."""

    open: list[str] = field(default_factory=list)
    elements: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)
    texts: list[tuple[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open[-1] == tag, f"</{tag}> closes <{self.open[-1]}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        if self.open:
            self.texts.append((self.open[-1], data))

    def all(self, tag: str) -> Iterator[dict[str, str | None]]:
        return (attributes for found, attributes in self.elements if found == tag)

    def inside(self, tag: str) -> list[str]:
        return [text for found, text in self.texts if found == tag]


def read_page(text: str) -> Page:
    page = Page()
    page.feed(text)
    page.close()
    assert page.open == []
    return page


def page_data(text: str, name: str = "closeup-data") -> Any:
    """Return the data that a page holds for its scripts."""
    start = text.index(">", text.index(f'id="{name}"')) + 1
    return json.loads(text[start : text.index("</script>", start)])


def analysed(path: Path) -> tuple[Analysis, Closeups]:
    with open_trace(path) as trace:
        rules = load_rules()
        found = survey(trace, rules, STEADY_ROUNDS)
        return analysis_of(trace, rules, found), closeups(trace, found)


def page_of_trace(path: Path) -> str:
    return render_html(*analysed(path))


def with_round_series(*lengths: int) -> Analysis:
    """Return an analysis whose rounds were of some lengths, one after the other."""
    starts = tuple(sum(lengths[:at]) for at in range(len(lengths)))
    groups = (Series("draft", lengths), Series("in-graph gaps", None))
    return replace(speculative(), series=(RoundSeries(0, starts, lengths, (), groups, (), 0),))


def hostile_page(folder: Path) -> str:
    """Return the page of a trace whose names, all of them, are up to something."""
    folder.mkdir(exist_ok=True)
    path = folder / "evil<b>'name.sqlite"
    with ExportWriter(path) as export:
        export.process(101, "sglang::scheduler_TP0<img src=x onerror='window.pwned = 5'>")
        for at, name in enumerate(HOSTILE):
            export.kernel(name, 1_000 * at, 1_000 * at + 600, pid=101)
        export.diagnostic("<script>window.pwned = 6</script>", severity=3)
    return page_of_trace(path)
