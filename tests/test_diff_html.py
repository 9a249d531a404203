"""How a diff looks in a browser."""

from dataclasses import replace

from markupsafe import Markup

from tests.diffs import base, with_graphs
from tests.pages import HOSTILE, read_page
from tests.test_diff_render import DIFFS, NAMES, written
from traceattr.attribution.analysis import Analysis
from traceattr.attribution.sequence_figures import GraphSequence, GraphSequences, NamedKernel
from traceattr.report.diff.diff import compare_analyses
from traceattr.report.diff.formats import DiffFormat
from traceattr.report.diff.render import DiffReport
from traceattr.report.diff.sentences import verdict_sentence


def flat(text: str) -> str:
    return text.replace("\N{NO-BREAK SPACE}", " ")


@NAMES
def test_every_diff_is_a_page_that_is_nested_right(name: str) -> None:
    text = written(DIFFS[name], DiffFormat.HTML)

    page = read_page(text)
    said = text[text.index('<h1 id="headline">') :].partition("</h1>")[0]
    assert flat(Markup(said).striptags()) == verdict_sentence(DIFFS[name].diff)
    targets = {attributes["href"] for attributes in page.all("a")}
    ids = {f"#{attributes['id']}" for _, attributes in page.elements if "id" in attributes}
    assert targets <= ids


@NAMES
def test_a_page_asks_for_nothing_and_runs_only_its_own_scripts(name: str) -> None:
    page = read_page(written(DIFFS[name], DiffFormat.HTML))

    [policy] = [one["content"] for one in page.all("meta") if "http-equiv" in one]
    assert policy is not None
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert not [
        one for tag, one in page.elements if "src" in one or "style" in one or "onclick" in one
    ]


def test_changes_and_noise_are_drawn_from_the_middle() -> None:
    page = read_page(written(DIFFS["slower"], DiffFormat.HTML))

    bars = [one for one in page.all("rect") if one.get("class") == "d-slower"]
    assert bars
    assert {one["x"] for one in bars} == {"50.0%"}
    widths = [float((one["width"] or "").removesuffix("%")) for one in page.all("rect")]
    assert max(widths) <= 100


def hostile() -> Analysis:
    made = base()
    kernels = tuple(NamedKernel(name, "norm") for name in HOSTILE)
    graph = GraphSequence(0, "verify", 9, 9, tuple(range(len(kernels))), (5,) * len(kernels))
    trace = replace(made.trace, file=HOSTILE[1], driver_version=HOSTILE[0])
    return replace(made, trace=trace, sequences=GraphSequences(kernels, (graph,)))


def hostile_page() -> str:
    found = compare_analyses(with_graphs(base()), hostile())
    return written(DiffReport(found), DiffFormat.HTML)


def test_hostile_names_are_text() -> None:
    page = read_page(hostile_page())

    assert len(list(page.all("script"))) == 4
    assert not list(page.all("img"))
    assert "\N{NULL}" not in hostile_page()
