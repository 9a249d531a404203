"""How a diff looks in each format."""

import html
import json
from dataclasses import replace

import pytest
from markdown_it import MarkdownIt

from tests.analyses import NASTY
from tests.conftest import CheckGolden
from tests.diffs import LAYER, base, head, with_graphs, with_rounds
from tests.round_analyses import COUNT, opaque_rounds, speculative, speculative_eight_gpus
from traceattr.attribution.analysis import Analysis
from traceattr.attribution.round_figures import Series
from traceattr.attribution.sequence_figures import GraphSequence, GraphSequences, NamedKernel
from traceattr.report.diff.diff import compare_analyses
from traceattr.report.diff.formats import DiffFormat
from traceattr.report.diff.gates import judge, parse_gates
from traceattr.report.diff.render import DiffReport, render_diff
from traceattr.report.markdown import MOST_CHARACTERS
from traceattr.rules.categories import CATEGORIES

GATES = parse_gates(["round>1%", "draft>1%", "seam:verify->draft_extend>20us", "seam:a->b>1us"])


def reported(before: Analysis, after: Analysis) -> DiffReport:
    found = compare_analyses(before, after)
    return DiffReport(found, judge(GATES, found))


def slower() -> DiffReport:
    more = {"target/weight_gemm": 160_000, "seam:verify->draft_extend": 60_000}
    fused = ("norm", "gemm", "gating_recurrence", "act")
    return reported(with_graphs(base()), with_graphs(head(more), fused))


DIFFS = {
    "slower": slower(),
    "same": reported(base(), head()),
    "few": reported(base(), head({"target/norm": 9_000}, rounds=4)),
    "modes": reported(
        with_rounds(speculative()),
        replace(with_rounds(opaque_rounds()), gpus=speculative().gpus),
    ),
    "incomparable": reported(base(), with_rounds(speculative_eight_gpus())),
}
NAMES = pytest.mark.parametrize("name", DIFFS)


def written(report: DiffReport, format_: DiffFormat, width: int = 80) -> str:
    return render_diff(report, format_, width=width, color=False)


@NAMES
def test_a_diff_looks_in_a_terminal_as_reviewed(name: str, check_golden: CheckGolden) -> None:
    check_golden(f"diff-{name}.txt", written(DIFFS[name], DiffFormat.TERMINAL))


@NAMES
def test_a_diff_looks_in_a_pull_request_as_reviewed(name: str, check_golden: CheckGolden) -> None:
    check_golden(f"diff-{name}.md", written(DIFFS[name], DiffFormat.MARKDOWN))


@pytest.mark.parametrize("name", ["slower"])
def test_machines_read_what_was_reviewed(name: str, check_golden: CheckGolden) -> None:
    check_golden(f"diff-{name}.json", written(DIFFS[name], DiffFormat.JSON))
    check_golden(f"diff-{name}-benchmark.json", written(DIFFS[name], DiffFormat.BENCHMARK))


@NAMES
@pytest.mark.parametrize("width", [1, 40, 60, 100, 200])
def test_no_line_is_wider_than_the_terminal(name: str, width: int) -> None:
    text = written(DIFFS[name], DiffFormat.TERMINAL, width)

    assert max(map(len, text.splitlines())) <= max(width, 40)
    assert text.isascii()


@NAMES
def test_what_is_above_the_fold_fits_a_screen(name: str) -> None:
    above, _, _ = written(DIFFS[name], DiffFormat.MARKDOWN).partition("<details>")

    assert len(above.splitlines()) < 60


def test_as_much_as_there_can_be_above_the_fold_fits_a_screen() -> None:
    everything = {f"{part}/{name}": 900_000 for part in ("target", "draft") for name in CATEGORIES}
    before, after = base(), head(everything)
    extra = tuple(Series(f"decode->prefill {at}", (9_000,) * COUNT) for at in range(20))
    series = tuple(replace(one, seams=(*one.seams, *extra)) for one in after.series)
    trace = replace(after.trace, simulated="another server", driver_version="1.2")
    rounds = replace(after.rounds, target_graphs=(1, 2, 3))
    found = compare_analyses(before, replace(after, series=series, trace=trace, rounds=rounds))
    gates = parse_gates([f"round>{limit}%" for limit in range(20)])

    text = written(DiffReport(found, judge(gates, found)), DiffFormat.MARKDOWN)

    above, _, _ = text.partition("<details>")
    assert 45 < len(above.splitlines()) < 60
    assert above.count("more: `--format json`") == 3


def hostile(count: int) -> Analysis:
    """Return an analysis with names that Markdown, HTML and terminals would obey."""
    made = base()
    names = [f"{NASTY}|`{at}` @me #1 </details> https://a.b/" for at in range(count)]
    kernels = tuple(NamedKernel(name, CATEGORIES[0]) for name in names)
    graph = GraphSequence(0, "verify", 9, 9, tuple(range(count)), (5,) * count)
    trace = replace(made.trace, file=f"{NASTY}.sqlite", driver_version=NASTY)
    return replace(made, trace=trace, sequences=GraphSequences(kernels, (graph,)))


def test_hostile_names_are_text_in_a_pull_request() -> None:
    text = written(reported(with_graphs(base()), hostile(20)), DiffFormat.MARKDOWN)

    page = MarkdownIt("commonmark").enable("table").render(text)

    assert "<script" not in page
    assert "<b>" not in page
    assert page.count("<details>") == page.count("</details>") == text.count("\n</details>\n")
    assert "<a " not in page
    assert "red &lt;script" in html.unescape(page).replace("<script", "&lt;script")
    cells = [line.count("<td") for line in page.split("</tr>")]
    assert {count for count in cells if count} <= {2, 6, 7}


def test_hostile_names_are_text_in_a_terminal() -> None:
    text = written(reported(with_graphs(base()), hostile(20)), DiffFormat.TERMINAL)

    assert "\x1b" not in text


def test_a_long_diff_is_cut_and_says_so() -> None:
    text = written(reported(with_graphs(base()), hostile(3_000)), DiffFormat.MARKDOWN)

    assert len(text) <= MOST_CHARACTERS
    assert "more kinds of edit left out" in text
    assert "more, which changed less, are left out" in text
    assert text.rstrip().endswith("</details>")


def test_times_add_up_for_machines_and_nothing_is_infinite() -> None:
    document = json.loads(written(DIFFS["slower"], DiffFormat.JSON))

    assert document["format"] == 1
    assert document["changed"] == ["target/weight_gemm", "seam:verify->draft_extend"]
    assert document["round"]["difference_ns"] == (
        document["round"]["after_ns"] - document["round"]["before_ns"]
    )
    assert sum(group["after_ns"] for group in document["groups"]) == pytest.approx(
        document["round"]["after_ns"], abs=20
    )
    [verify] = document["graphs"]
    assert verify["edits"][0]["kind"] == "fused"
    assert [gate["outcome"] for gate in document["gates"]["judged"]] == [
        "failed",
        "passed",
        "failed",
        "cannot judge",
    ]


@NAMES
def test_a_chart_gets_the_second_trace_with_names_values_and_units(name: str) -> None:
    entries = json.loads(written(DIFFS[name], DiffFormat.BENCHMARK))

    assert all({"name", "unit", "value", "extra"} <= entry.keys() for entry in entries)
    assert len({entry["name"] for entry in entries}) == len(entries)
    assert entries[0]["name"] == "round"
    assert entries[0]["unit"] == "ms/round"


def test_layers_are_those_of_the_reviewed_graph() -> None:
    assert len(DIFFS["slower"].diff.base.sequences.graphs[0].kernels) == 48 * len(LAYER)
