"""What is in the page of a report."""

import base64
import hashlib
import re
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest

from tests.analyses import kernel, one_gpu
from tests.pages import (
    HOSTILE,
    NO_CLOSEUPS,
    analysed,
    hostile_page,
    page_data,
    page_of_trace,
    read_page,
    with_round_series,
)
from tests.recordings import recorded
from tests.test_report_terminal import CASES
from traceattr.attribution.analysis import Analysis
from traceattr.attribution.closeup import Closeups
from traceattr.report.headline import headline
from traceattr.report.html import render_html
from traceattr.report.html_histogram import histograms
from traceattr.report.html_json import embedded_json
from traceattr.report.html_kernels import MOST_KERNELS
from traces.description import Simulation

DEMO = Path(__file__).parent.parent / "traces" / "demo.sqlite"
ASSETS = files("traceattr.report") / "html_assets"


@pytest.fixture(scope="module")
def sample() -> tuple[Analysis, Closeups]:
    return analysed(DEMO)


@pytest.fixture(scope="module")
def demo(sample: tuple[Analysis, Closeups]) -> str:
    return render_html(*sample)


def flat(text: str) -> str:
    """Return text as it is before lines are kept from breaking between numbers and units."""
    return text.replace("\N{NO-BREAK SPACE}", " ")


@CASES
def test_every_report_is_a_page_that_is_nested_right(made: Analysis) -> None:
    page = read_page(render_html(made, NO_CLOSEUPS))

    assert flat("".join(page.inside("h1"))) == headline(made)
    assert len(list(page.all("main"))) == 1
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_the_same_input_gives_the_same_bytes(tmp_path: Path) -> None:
    assert hostile_page(tmp_path / "one") == hostile_page(tmp_path / "another")


def test_scripts_and_styles_are_those_that_the_policy_names(demo: str) -> None:
    [policy] = re.findall(r'Content-Security-Policy" content="([^"]*)"', demo)
    allowed = set(re.findall(r"&#39;(sha256-[^&]*)&#39;", policy))
    texts = re.findall(r"<(?:script|style)>(.*?)</(?:script|style)>", demo, re.DOTALL)

    assert policy.startswith("default-src &#39;none&#39;; ")
    assert {_digest(text) for text in texts} == allowed
    assert len(texts) == 14
    for keyword in ("unsafe", "nonce", "http", "*"):
        assert keyword not in policy


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def test_nothing_in_the_page_leads_out_of_it(demo: str) -> None:
    page = read_page(demo)

    for _, attributes in page.elements:
        assert not {"src", "srcset", "action", "style"} & attributes.keys()
        assert not [name for name in attributes if name.startswith("on")]
        assert (attributes.get("href") or "#").startswith(("#", "data:,"))


def test_our_scripts_neither_evaluate_text_nor_make_markup_of_it() -> None:
    for path in ASSETS.iterdir():
        if path.name.endswith(".js"):
            text = path.read_text(encoding="utf-8")
            for word in ("eval(", "new Function", "innerHTML", "outerHTML", "insertAdjacentHTML"):
                assert word not in text, f"{path.name} uses {word}"


def test_the_plot_library_is_the_one_that_was_reviewed() -> None:
    folder = ASSETS / "uplot"
    for line in (folder / "SHA256SUMS").read_text(encoding="utf-8").splitlines():
        digest, name = line.split()
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest, name


def test_hostile_names_are_text(tmp_path: Path) -> None:
    page = read_page(hostile_page(tmp_path))

    assert [tag for tag, _ in page.elements if tag in ("img", "b")] == []
    assert not [name for _, attributes in page.elements for name in attributes if "onm" in name]
    names = page.inside("code")
    assert HOSTILE[0] in names
    assert HOSTILE[1] in names
    assert r"\u202edrowssap\u2028\x00" in names
    assert not [text for text in names if "\N{RIGHT-TO-LEFT OVERRIDE}" in text]
    assert all(len(text) <= 2_000 for text in names)


def test_embedded_data_cannot_end_its_element() -> None:
    text = embedded_json(["</script><!--", "\N{LINE SEPARATOR}&"])

    assert text == r'["\u003c/script\u003e\u003c!--","\u2028\u0026"]'


def test_the_timeline_has_every_operation_of_the_round(
    demo: str, sample: tuple[Analysis, Closeups]
) -> None:
    data, (_, found) = page_data(demo), sample

    for part, shown in zip(found.parts, data["parts"], strict=True):
        assert shown["length"] == part.end_ns - part.start_ns
        for gpu, drawn in zip(part.per_gpu, shown["gpus"], strict=True):
            starts = [sum(drawn["starts"][: at + 1]) for at in (0, len(drawn["starts"]) - 1)]
            first, last = gpu.operations.start_ns[[0, -1]].tolist()
            assert starts == [first - part.start_ns, last - part.start_ns]
            assert drawn["lengths"] == (gpu.operations.end_ns - gpu.operations.start_ns).tolist()
            names = [data["names"][at] for at in drawn["names"]]
            assert [full or label for label, full, *_ in names] == [
                found.names[at].name for at in gpu.operations.name
            ]


def test_every_gap_of_the_round_says_what_it_joins(demo: str) -> None:
    [drawn, _] = page_data(demo)["parts"][0]["gpus"]
    kinds = [drawn["gapKinds"][at] for at in drawn["gapTexts"]]

    assert {kind for kind, _, _ in kinds} == {"seam", "in-graph"}
    assert all(host for kind, _, host in kinds if kind == "seam")
    assert len(kinds) == len(drawn["gapStarts"]) == len(drawn["gapLengths"])


def test_what_a_graph_hides_is_said() -> None:
    path, _ = recorded(Simulation(rounds=2, mode="graph"))

    text = page_of_trace(path)

    data = page_data(text)
    numbers = {at for gpu in data["parts"][0]["gpus"] for at in gpu["names"]}
    names = {data["names"][at][0] for at in numbers}
    assert "work of a CUDA graph that was traced as a whole" in names
    rows = re.findall(r"<tr>\s*<th[^>]*>verify, graph.*?</tr>", text, re.DOTALL)
    assert rows
    assert all(row.count(">unknown<") == 2 for row in rows)


def test_kernels_beyond_the_most_are_counted() -> None:
    kernels = tuple(kernel(f"k{n}", "other", 2_000 - n) for n in range(MOST_KERNELS + 3))

    text = render_html(replace(one_gpu(), kernels=kernels), NO_CLOSEUPS)

    assert text.count("<tr data-category=") == MOST_KERNELS
    assert "3 more names: <code>traceattr kernels</code>" in text


def test_rounds_are_drawn_one_by_one_and_counted_by_length() -> None:
    text = render_html(with_round_series(*range(100, 110), 200), NO_CLOSEUPS)

    data = page_data(text, "rounds-data")
    assert data["lengths"] == [*range(100, 110), 200]
    assert (data["median"], data["p99"]) == (105, 200)
    assert list(data["groups"]) == ["draft"]
    bars = re.findall(r"<title>([\d,]+) rounds? from", text)
    assert sum(map(int, bars)) == 11


def test_one_very_long_round_does_not_squeeze_all_others() -> None:
    [histogram] = histograms([[*range(1_000, 1_100), 50_000]])

    assert histogram.ends == ("1.000 us", "1.190 us and more")
    assert histogram.bins[-1].label == "1 round from 1.18 us to 1.19 us and more"
    assert [mark.text for mark in histogram.marks] == ["median 1.050 us", "p99 1.099 us"]
    assert sum(int(one.label.split()[0]) for one in histogram.bins) == 101


def test_few_rounds_and_equal_ones_have_no_distribution() -> None:
    few = render_html(with_round_series(*range(100, 109)), NO_CLOSEUPS)
    equal = render_html(with_round_series(*[100] * 20), NO_CLOSEUPS)

    assert "histogram" not in few.split("<body>")[1].split("<script")[0]
    assert "rounds-data" not in few.split("<script>")[0]
    assert '<figure class="histogram">' not in equal


def test_an_ordinary_page_is_small(demo: str) -> None:
    assert len(demo.encode()) < 500_000
