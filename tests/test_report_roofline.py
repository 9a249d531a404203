"""What a round takes in a trace beside what the hardware allows, as a person asks for it."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from tests.loading import PID
from tests.recordings import recorded
from tests.round_analyses import speculative
from traceattr.attribution.rank_figures import RankGroup
from traceattr.cli import app
from traceattr.errors import DeploymentError
from traceattr.report.compared import compared
from traceattr.report.comparison import Figures
from traceattr.report.comparison_inputs import deployment_from_trace, with_trace
from traceattr.roofline.deployment import Deployment, deployment_from_flags
from traceattr.roofline.hardware import load_gpus
from traceattr.roofline.inputs import Input
from traces.cases import CASES
from traces.description import Simulation
from traces.export_writer import ExportWriter
from traces.workload_file import QWEN36_27B_A6000, load_workload

DEMO = QWEN36_27B_A6000.with_name("demo.sqlite")
SERVED = ("--model", "Qwen3.6-27B", "--batch", "1", "--context", "500")
KNOWN = (*SERVED, "--accept-length", "3")


def run(*arguments: str | Path, trace: Path = DEMO) -> Result:
    return CliRunner().invoke(app, ["report", str(trace), *map(str, arguments)])


def document(*arguments: str | Path, trace: Path = DEMO) -> dict[str, Any]:
    result = run(*arguments, "--format", "json", trace=trace)
    assert (result.exit_code, result.stderr) == (0, "")
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def roofline(*arguments: str | Path, trace: Path = DEMO) -> dict[str, Any]:
    found: dict[str, Any] = document(*arguments, trace=trace)["roofline"]
    return found


def section(*arguments: str | Path, trace: Path = DEMO) -> str:
    """Return the section of the terminal, as one line."""
    result = run(*arguments, trace=trace)
    assert (result.exit_code, result.stderr) == (0, "")
    _, _, rest = result.stdout.partition("\nRoofline (")
    return " ".join(rest.partition("\n\n")[0].split())


def category(found: dict[str, Any], name: str, phase: str) -> dict[str, Any]:
    [entry] = [e for e in found["categories"] if (e["category"], e["phase"]) == (name, phase)]
    return dict(entry)


@pytest.fixture(scope="module")
def slow_gemms(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a trace in which GEMMs read weights at 0.8 of the bandwidth."""
    folder = tmp_path_factory.mktemp("slow_gemms")
    text = QWEN36_27B_A6000.read_text(encoding="utf-8")
    (folder / "server.toml").write_text(
        text.replace("weight_read_efficiency = 0.93", "weight_read_efficiency = 0.80"),
        encoding="utf-8",
    )
    workload = load_workload(folder / "server.toml")
    return recorded(Simulation(rounds=3, workload=workload))[0]


@pytest.fixture(scope="module")
def hidden() -> Path:
    """Return a trace in which graphs were recorded as a whole."""
    return recorded(Simulation(rounds=6, mode="graph"))[0]


@pytest.mark.parametrize("phase", ["target", "draft"])
def test_gemms_at_0_80_of_the_bandwidth_read_0_80(slow_gemms: Path, phase: str) -> None:
    entry = category(roofline(*KNOWN, trace=slow_gemms), "weight_gemm", phase)

    assert entry["bandwidth_ratio"] == pytest.approx(0.80, abs=0.01)
    assert entry["bound_ratio"] == pytest.approx(1 / 0.80, abs=0.02)
    assert entry["bytes_per_s"] == pytest.approx(0.80 * 768e9, rel=0.01)


def test_the_headline_says_what_the_bandwidth_is_used_for(slow_gemms: Path) -> None:
    headline = roofline(*KNOWN, trace=slow_gemms)["headline"]

    assert " of the round is weight streaming at 0.80 of peak bandwidth; " in headline
    assert " is host seams; the largest excess is " in headline
    assert headline in section(*KNOWN, trace=slow_gemms)


def test_what_the_trace_shows_needs_no_flag() -> None:
    inputs = roofline(*SERVED)["inputs"]

    assert inputs["gpu"] == {"value": "RTX_A6000", "from": "trace"}
    assert inputs["tp"] == {"value": 2, "from": "trace"}
    assert inputs["draft_steps"] == {"value": 3, "from": "trace"}
    assert inputs["batch"] == {"value": 1, "from": "flag"}
    shown = roofline("--model", "Qwen3.6-27B", "--context", "500")["inputs"]
    assert shown["batch"] == {"value": 1, "from": "trace"}


def test_the_latency_of_an_all_reduce_is_measured_without_waiting() -> None:
    measured = roofline(*SERVED)["inputs"]["alpha_us"]
    given = roofline(*SERVED, "--alpha-us", "30")["inputs"]["alpha_us"]

    assert measured["from"] == "trace"
    assert measured["value"] == pytest.approx(5.5, rel=0.02)  # as the simulator makes them
    assert given == {"value": 30.0, "from": "flag"}


def test_without_collectives_their_latency_is_that_of_the_calibration() -> None:
    analysis = replace(speculative(), ranks=(RankGroup((0, 1), reason="no clock"),))
    known = deployment_from_flags(
        model="Qwen3.6-27B", gpu="RTX_A6000", tp=2, batch=1, context=500, draft_steps=3
    )

    assert compared(analysis, known, load_gpus()).roofline.setup.alpha_ns is None


def test_an_excess_is_measured_minus_expected_and_they_are_of_one_gpu() -> None:
    found = document(*KNOWN)

    for entry in found["roofline"]["categories"]:
        if entry["expected_ns"] is not None:
            assert entry["excess_ns"] == entry["measured_ns"] - entry["expected_ns"]
    means = [
        entry["per_round_ns"]["mean"]
        for gpu in found["per_gpu"]
        for entry in gpu["categories"]
        if (entry["category"], entry["phase"]) == ("weight_gemm", "target")
    ]
    gemms = category(found["roofline"], "weight_gemm", "target")
    assert gemms["measured_ns"] == round(sum(means) / 2)


def test_what_is_measured_sums_to_the_round() -> None:
    found = roofline(*KNOWN)

    total = sum(entry["measured_ns"] for entry in found["categories"])
    assert total == pytest.approx(found["round"]["measured_ns"], rel=1e-4)


def test_the_prediction_is_that_of_traceattr_roofline() -> None:
    found = roofline(*KNOWN)
    alpha = str(found["inputs"]["alpha_us"]["value"])
    flags = ("--gpu", "RTX_A6000", "--tp", "2", "--draft-steps", "3", "--alpha-us", alpha)
    result = CliRunner().invoke(app, ["roofline", *KNOWN, *flags, "--format", "json"])
    alone = json.loads(result.stdout)

    assert found["round"]["bound_ns"] == alone["round"]["bound_ns"]
    assert found["round"]["expected_ns"] == alone["round"]["expected_ns"]
    known = [e for e in found["categories"] if e["bound_ns"] is not None]
    keys = ("category", "phase", "group", "bytes", "flop", "bound_ns", "expected_ns", "limited_by")
    assert [[e[key] for key in keys] for e in known] == [
        [e[key] for key in keys] for e in alone["categories"]
    ]


def test_draft_is_compared_with_draft_and_eager_state_commits_with_the_target() -> None:
    found = document(*KNOWN)
    eager = [
        entry["per_round_ns"]["mean"]
        for gpu in found["per_gpu"]
        for entry in gpu["categories"]
        if entry["category"] == "gdn"
    ]

    assert category(found["roofline"], "weight_gemm", "draft")["group"] == "draft"
    assert category(found["roofline"], "gdn", "target")["measured_ns"] == round(sum(eager) / 2)


def test_groups_and_categories_of_a_gpu_have_their_bounds() -> None:
    found = document(*KNOWN)
    groups = {group["group"]: group for group in found["per_gpu"][0]["groups"]}
    gemms = category(found["per_gpu"][0], "weight_gemm", "target")

    predicted = category(found["roofline"], "weight_gemm", "target")
    assert groups["weight GEMM"]["bound_ns"] == gemms["bound_ns"] == predicted["bound_ns"]
    assert groups["weight GEMM"]["expected_ns"] == predicted["expected_ns"]
    assert gemms["bound_ratio"] == gemms["per_round_ns"]["mean"] / gemms["bound_ns"]
    assert groups["host gaps"]["expected_ns"] == 530_000
    assert groups["host gaps"]["bound_ratio"] is None
    assert groups["unclassified"]["bound_ns"] is None


def test_what_the_prediction_lacks_is_null() -> None:
    memory = category(roofline(*KNOWN), "memory", "other")

    assert memory["verdict"] == "not predicted"
    assert memory["bound_ns"] is memory["excess_ns"] is memory["bandwidth_ratio"] is None


def test_tokens_per_s_are_measured_and_an_excess_costs_some() -> None:
    found = roofline(*KNOWN)

    assert found["round"]["tokens_per_s"]["measured"] == pytest.approx(
        3e9 / found["round"]["measured_ns"]
    )
    gaps = category(found, "in-graph gaps", "host")
    without = found["round"]["measured_ns"] - gaps["excess_ns"]
    gain = 3e9 / without - found["round"]["tokens_per_s"]["measured"]
    assert gaps["excess_tokens_per_s"] == pytest.approx(gain)


def test_a_difference_inside_the_error_of_the_model_says_nothing() -> None:
    gdn = category(roofline(*KNOWN), "gdn", "target")

    assert abs(gdn["excess_ns"]) < 0.15 * gdn["expected_ns"]
    assert gdn["verdict"] == "within error"
    assert "(-0.106)" in section(*KNOWN)


@pytest.mark.parametrize(
    ("measured_ns", "verdict"),
    [
        (None, "unknown"),
        (0, "not seen"),
        (499, "below bound"),
        (500, "faster"),
        (850, "faster"),
        (851, "within error"),
        (1_149, "within error"),
        (1_150, "slower"),
    ],
)
def test_a_time_is_judged_by_bound_and_expected(measured_ns: int | None, verdict: str) -> None:
    assert Figures(measured_ns, 500, 1_000).verdict == verdict


def test_without_a_prediction_nothing_is_judged() -> None:
    figures = Figures(7, None, None)

    assert (figures.verdict, figures.excess_ns, figures.bound_ratio) == (
        "not predicted",
        None,
        None,
    )


def test_a_category_below_its_bound_is_not_judged() -> None:
    arguments = (*SERVED, "--draft-steps", "5", "--weights", "fp8")
    found = roofline(*arguments)

    gemms = category(found, "weight_gemm", "draft")
    assert gemms["verdict"] == "below bound"
    assert found["headline"].startswith("Not judged: ")
    assert found["headline"].endswith("(wrong model, number format, batch or rule).")
    text = section(*arguments)
    assert "weight streaming" not in text
    assert "Left to win" not in text
    assert "weight_gemm (draft) takes 7.342 ms, less than its bound of 11.387 ms" in text


def test_a_round_below_its_bound_is_not_judged() -> None:
    headline = roofline(*SERVED, "--tp", "1")["headline"]

    assert headline.startswith("Not judged: the round takes 49.663 ms, less than its bound of ")


def test_a_batch_that_no_graph_was_captured_for_is_said() -> None:
    texts = [notice["text"] for notice in roofline(*SERVED, "--batch", "9")["warnings"]]

    assert texts[0] == "batch is 9 (flag), but the trace shows 1: the prediction takes 9"


def test_flags_that_contradict_the_trace_are_said_in_a_line_each() -> None:
    flags = ("--gpu", "NVIDIA H200", "--tp", "1", "--draft-steps", "2")
    texts = [notice["text"] for notice in roofline(*SERVED, *flags)["warnings"]]

    assert texts[:3] == [
        "gpu is H200_SXM (flag), but the trace shows RTX_A6000: the prediction takes H200_SXM",
        "tp is 1 (flag), but the trace shows 2: the prediction takes 1",
        "draft_steps is 2 (flag), but the trace shows 3: the prediction takes 2",
    ]


@pytest.mark.parametrize(
    ("arguments", "missing"),
    [
        (("--model", "Qwen3.6-27B"), "context (give --context)"),
        (
            ("--model", "Qwen3.6-27B", "--dp-attention", "2"),
            "batch, context (give --batch, --context)",
        ),
        (("--batch", "1", "--context", "9"), "model (give --model)"),
    ],
)
def test_what_matters_and_is_not_shown_is_asked_for(
    arguments: tuple[str, ...], missing: str
) -> None:
    result = run(*arguments)

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.endswith(f"error: not known: {missing}\n")


def test_a_deployment_file_says_the_same_as_flags(tmp_path: Path) -> None:
    file = tmp_path / "served.toml"
    file.write_text('model = "Qwen3.6-27B"\nbatch = 1\ncontext = 500\naccept_length = 3.0\n')

    found = roofline("--deployment", file)

    assert found["inputs"]["batch"] == {"value": 1, "from": "file"}
    assert found["categories"] == roofline(*KNOWN)["categories"]


def test_where_graphs_hide_their_kernels_only_rounds_are_compared(hidden: Path) -> None:
    found = roofline(*SERVED, "--draft-steps", "3", trace=hidden)

    assert {entry["measured_ns"] for entry in found["categories"]} == {None}
    assert found["round"]["measured_ns"] > found["round"]["bound_ns"]
    assert found["round"]["verdict"] == "within error"
    assert "Categories are not compared: CUDA graphs hide which kernels ran" in found["headline"]
    assert found["headline"] in section(*SERVED, "--draft-steps", "3", trace=hidden)
    markdown = run(*SERVED, "--draft-steps", "3", "--format", "markdown", trace=hidden).stdout
    assert re.search(r"\n\| draft \| 8\.\d+ \| [\d.]+ % \|  \|  \|\n", markdown)
    assert re.search(r"\n\| \*\*round\*\* .*\| \*\*41.170\*\* \| \*\*1.2\d\*\* \|\n", markdown)


def test_draft_passes_that_graphs_hide_are_asked_for(hidden: Path) -> None:
    result = run(*SERVED, trace=hidden)

    assert result.exit_code == 2
    assert result.stderr.endswith("error: not known: draft_steps (give --draft-steps)\n")


def test_ranks_of_a_gpu_that_communicates_alone_are_asked_for() -> None:
    made = replace(speculative(), ranks=(RankGroup((0,)),))
    (time,) = made.per_gpu
    silent = replace(time, categories=tuple(e for e in time.categories if e.category != "comm"))

    assert deployment_from_trace(made, ()).tp is None
    assert deployment_from_trace(replace(made, per_gpu=(silent,)), ()).tp == Input(1, "trace")
    with pytest.raises(DeploymentError, match=r"^not known: model, gpu, tp, batch, context, draft"):
        with_trace(Deployment(), deployment_from_trace(made, ()), made)


def test_without_rounds_nothing_is_compared(tmp_path: Path) -> None:
    with ExportWriter(tmp_path / "trace.sqlite") as export:
        export.kernel("f", 1, 2, pid=PID)

    flags = ("--gpu", "RTX_A6000", "--tp", "1")
    found = roofline(*SERVED, *flags, trace=tmp_path / "trace.sqlite")

    assert found["headline"] == "Not compared with the roofline: the trace shows no rounds."
    assert found["reason"] == "the trace shows no rounds"
    assert {entry["measured_ns"] for entry in found["categories"]} == {None}


def test_several_batch_sizes_are_said() -> None:
    trace, _ = recorded(replace(CASES["two-batch-sizes"], rounds=4))

    found = document(*SERVED, trace=trace)

    [notice] = [one for one in found["warnings"] if one["code"] == "batch-sizes-mixed"]
    assert "and a prediction is of one" in notice["text"]
    assert "batch-sizes-mixed" not in [one["code"] for one in document(*SERVED)["warnings"]]


def test_without_a_model_there_is_no_section() -> None:
    assert "Roofline (" not in run().stdout
    assert document()["roofline"] is None


def test_markdown_has_the_sentence_and_the_folded_table() -> None:
    text = run(*KNOWN, "--format", "markdown").stdout

    assert "**Roofline:** 87.0 % of the round is weight streaming at 0.93 of peak" in text
    assert "<details><summary>Roofline (ms per round" in text
    assert "| weight\\_gemm | 35.867 | 33.404 | 41.466 | 1.07 | " in text.replace("&#45;", "-")


@pytest.mark.parametrize("columns", [40, 60, 80, 120])
def test_the_table_fits_the_terminal(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))

    text = run(*KNOWN).stdout

    assert max(map(len, text.splitlines())) <= columns
    assert (" TFLOP/s " in text) == (columns == 120)


def test_every_key_is_in_the_documentation() -> None:
    page = (DEMO.parents[1] / "docs" / "report.md").read_text(encoding="utf-8")
    found = roofline(*KNOWN)
    keys = {*found, *found["round"], *found["categories"][0], *found["round"]["tokens_per_s"]}

    assert [key for key in sorted(keys) if f"`{key}`" not in page] == []


def test_markdown_says_above_the_fold_what_the_trace_contradicts() -> None:
    above, _, _ = run(*KNOWN, "--tp", "4", "--format", "markdown").stdout.partition("<details>")

    assert "\n**Warnings**\n\n- tp is 4 (flag), but the trace shows 2" in above


def test_the_table_above_the_fold_has_bounds_of_groups_and_of_the_round() -> None:
    above, _, _ = run(*KNOWN, "--format", "markdown").stdout.partition("<details>")

    assert "| group | ms/round | share | bound | measured / bound |" in above
    assert "| weight GEMM | 35.838 | 72.2-72.3 % | 33.404 | 1.07 |" in above
    assert "| host gaps | 0.697 | 1.5 % | 0.000 |  |" in above
    assert "| **round** | **49.597** | **100 %** | **41.170** | **1.21** |" in above
