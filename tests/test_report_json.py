"""The JSON document, whose keys are a contract."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.analyses import (
    analysis,
    category,
    gpu_time,
    graph_mode,
    idle,
    kernel,
    mostly_unclassified,
    one_gpu,
    two_gpus,
)
from tests.conftest import CheckGolden
from tests.round_analyses import (
    COUNT,
    ROUNDS,
    opaque_rounds,
    speculative,
    speculative_two_gpus,
)
from tests.test_report_gap_means import analyses
from tests.test_report_grouped import gpu_times
from tests.test_report_terminal import ALL, CASES
from traceattr.attribution.analysis import Analysis, GpuTime, Notice
from traceattr.attribution.analyze import analyze
from traceattr.ingest.trace import open_trace
from traceattr.report.headline import headline
from traceattr.report.json_document import dumped
from traceattr.report.json_gaps import gap_entries
from traceattr.report.render import ReportFormat, render
from traceattr.rules.rule_set import load_rules

DEMO = Path(__file__).parents[1] / "traces" / "demo.sqlite"

CONTRACT = {
    "": "format traceattr rules trace gpus window rounds per_gpu roofline headline warnings "
    "rank_groups",
    "rules": "name sha256",
    "trace": "file nsys_version schema_version graph_trace duration_ns diagnostics",
    "gpus": "gpu pid process device_id rank name sm_count memory_bandwidth_bytes_per_s",
    "window": "start_ns end_ns wall_ns why",
    "rounds": "kind why count prefills wall_ns replays_per_round graphs slow cut",
    "rounds.wall_ns": "median p99 mean",
    "rounds.graphs": "gpu graph_ids replays kind confidence evidence",
    "rounds.replays_per_round": "draft verify draft_extend decode",
    "per_gpu": "gpu wall_ns busy_ns idle_ns categories groups gaps communication in_graph_gaps "
    "no_work_gaps launches layers",
    "per_gpu.categories": ("category group phase exclusive_ns sum_ns operations per_round_ns"),
    "per_gpu.categories.per_round_ns": "median p99",
    "per_gpu.groups": ("group exclusive_ns share per_round_ns bound_ns expected_ns bound_ratio"),
    "per_gpu.groups.per_round_ns": "median p99",
    "per_gpu.gaps": "seam count total_ns median_ns p99_ns per_round_ns cause",
    "per_gpu.gaps.cause": "sync_ns launch_ns api_ns os_ns python_ns dependency_ns unknown_ns",
    "per_gpu.communication": "wire_ns wait_ns late_ns collectives",
    "per_gpu.communication.wait_per_round_ns": "median p99",
    "per_gpu.layers": "layers period reason",
    "per_gpu.layers.attention_layer_ns": "median p99",
    "rank_groups": "gpus straggler reason",
    "warnings": "code text",
}


@pytest.fixture(scope="module")
def demo() -> Analysis:
    """Return the analysis of the sample trace."""
    with open_trace(DEMO) as trace:
        return analyze(trace, load_rules(None))


def document(made: Analysis) -> dict[str, Any]:
    text = render(made, ReportFormat.JSON, width=80, color=False)
    assert text.isascii()
    parsed: dict[str, Any] = json.loads(text)
    return parsed


def at(value: Any, path: str) -> list[dict[str, Any]]:
    """Return every object at a dotted path, through lists."""
    found = [value]
    for key in filter(None, path.split(".")):
        found = [item[key] for item in found]
        found = [one for item in found for one in (item if isinstance(item, list) else [item])]
    return found


@pytest.mark.parametrize("name", ["one_gpu", "graph_mode", "unsure_rounds"])
def test_the_document_looks_as_reviewed(name: str, check_golden: CheckGolden) -> None:
    check_golden(f"report-{name}.json", render(ALL[name], ReportFormat.JSON, width=80, color=False))


@CASES
def test_every_key_of_the_contract_is_there(made: Analysis) -> None:
    whole = document(made)

    missing = {
        path: set(keys.split()) - found.keys()
        for path, keys in CONTRACT.items()
        for found in at(whole, path)
        if not set(keys.split()) <= found.keys()
    }

    assert missing == {}


@given(gpu_times())
@settings(deadline=None)
def test_groups_add_up_to_the_wall_time_and_categories_to_the_busy_time(time: GpuTime) -> None:
    (per_gpu,) = document(analysis(time))["per_gpu"]

    assert sum(group["exclusive_ns"] or 0 for group in per_gpu["groups"]) == per_gpu["wall_ns"]
    assert sum(entry["exclusive_ns"] for entry in per_gpu["categories"]) == per_gpu["busy_ns"]
    assert per_gpu["busy_ns"] + per_gpu["idle_ns"] == per_gpu["wall_ns"]


def test_shares_are_ratios_of_the_wall_time() -> None:
    per_gpu, _ = document(two_gpus())["per_gpu"]

    shares = {group["group"]: group["share"] for group in per_gpu["groups"]}
    assert shares["weight GEMM"] == 965_300_000 / 1_216_650_000
    assert sum(shares.values()) == pytest.approx(1)


def test_communication_has_one_category_with_its_subcategories() -> None:
    per_gpu, _ = document(two_gpus())["per_gpu"]

    (entry,) = [e for e in per_gpu["categories"] if e["category"] == "comm"]
    assert entry["exclusive_ns"] == 131_200_000
    assert [(s["subcategory"], s["exclusive_ns"]) for s in entry["subcategories"]] == [
        ("custom", 130_000_000),
        ("nccl", 1_200_000),
    ]


def test_gaps_inside_opaque_graphs_are_null_and_busy_groups_lower_bounds() -> None:
    groups = {g["group"]: g for g in document(graph_mode())["per_gpu"][0]["groups"]}

    assert groups["in-graph gaps"]["exclusive_ns"] is None
    assert groups["in-graph gaps"]["share"] is None
    assert groups["weight GEMM"]["lower_bound"] is True
    assert groups["graph (not traced per node)"]["lower_bound"] is False
    assert groups["host gaps"]["lower_bound"] is False


def test_every_null_has_a_reason_among_the_warnings() -> None:
    codes = [warning["code"] for warning in document(one_gpu())["warnings"]]

    assert codes == [
        "no-rounds",
        "roofline-not-analysed",
        "os-calls-unknown",
        "wait-unknown",
        "layers-unknown",
    ]


def test_rounds_have_their_figures() -> None:
    rounds = document(speculative())["rounds"]

    assert rounds["kind"] == "speculative"
    assert rounds["count"] == COUNT
    assert rounds["wall_ns"]["median"] == 11_113_000
    assert rounds["replays_per_round"] == {
        "draft": 1.0,
        "verify": 1.0,
        "draft_extend": 1.0,
        "decode": None,
    }
    assert rounds["slow"]["group"] == "host gaps"


def test_the_document_of_a_trace_with_rounds_is_json(demo: Analysis) -> None:
    found = document(demo)

    assert found["rounds"]["count"] == 3
    assert [gpu["gpu"] for gpu in found["gpus"]] == [0, 1]


def test_without_rounds_their_figures_are_null() -> None:
    found = document(one_gpu())

    assert found["rounds"]["count"] is None
    assert set(found["rounds"]["wall_ns"].values()) == {None}
    assert {g["per_round_ns"]["median"] for g in found["per_gpu"][0]["groups"]} == {None}


@pytest.mark.parametrize("name", ROUNDS)
def test_phases_and_categories_add_up_to_busy_time_and_groups_to_the_wall(name: str) -> None:
    for per_gpu in document(ROUNDS[name])["per_gpu"]:
        categories, phases = per_gpu["categories"], per_gpu["phases"]

        assert sum(entry["exclusive_ns"] for entry in categories) == per_gpu["busy_ns"]
        assert sum(entry["exclusive_ns"] for entry in phases) == per_gpu["busy_ns"]
        assert sum(group["exclusive_ns"] or 0 for group in per_gpu["groups"]) == per_gpu["wall_ns"]


def test_the_draft_can_be_seen_by_phase_and_by_category() -> None:
    (per_gpu,) = document(speculative())["per_gpu"]

    draft = {e["category"]: e for e in per_gpu["categories"] if e["group"] == "draft"}
    assert list(draft)[:2] == ["weight_gemm", "attention"]
    assert draft["weight_gemm"]["phase"] == "draft"
    assert draft["weight_gemm"]["per_round_ns"]["median"] == 1_044_000
    assert {e["phase"]: e["exclusive_ns"] // COUNT for e in per_gpu["phases"]} == {
        "target": 7_941_000,
        "other": 180_000,
        "draft": 1_373_000,
    }


def test_a_reason_of_the_analysis_is_not_repeated() -> None:
    mine = Notice("roofline-not-analysed", "mine")

    warnings = document(analysis(gpu_time(0, [], idle()), warnings=(mine,)))["warnings"]

    assert [w["text"] for w in warnings if w["code"] == mine.code] == ["mine"]


@given(gpu_times())
@settings(deadline=None)
def test_all_gaps_add_up_to_the_idle_time(time: GpuTime) -> None:
    (per_gpu,) = document(analysis(time))["per_gpu"]

    gaps = [*per_gpu["gaps"], *(per_gpu["in_graph_gaps"] or ()), per_gpu["no_work_gaps"]]
    assert sum(gap["total_ns"] for gap in gaps if gap) == per_gpu["idle_ns"]


@given(analyses())
@settings(deadline=None)
def test_causes_add_up_to_their_seam(made: Analysis) -> None:
    seams = [gap_entries(replace(gaps, knows_os_calls=True))["gaps"] for gaps in made.gaps]

    for entry in (entry for entries in seams for entry in entries):
        assert sum(filter(None, entry["cause"].values())) == entry["total_ns"]


def test_os_calls_that_nobody_looked_at_are_unknown() -> None:
    (gaps,) = speculative().gaps
    known = replace(speculative(), gaps=(replace(gaps, knows_os_calls=True),))

    assert document(speculative())["per_gpu"][0]["gaps"][0]["cause"]["os_ns"] is None
    assert document(known)["per_gpu"][0]["gaps"][0]["cause"]["os_ns"] == 0
    assert "os-calls-unknown" not in [w["code"] for w in document(known)["warnings"]]


def test_gaps_in_hidden_graphs_are_null_and_without_graphs_none() -> None:
    (gaps,) = one_gpu().gaps
    without = replace(one_gpu(), gaps=(replace(gaps, pairs=()),))

    assert document(graph_mode())["per_gpu"][0]["in_graph_gaps"] is None
    assert document(without)["per_gpu"][0]["in_graph_gaps"] == []


def test_wire_and_wait_of_each_gpu_and_the_straggler_of_their_group() -> None:
    found = document(speculative_two_gpus())

    waits = [gpu["communication"]["wait_ns"] for gpu in found["per_gpu"]]
    assert waits == [200_000 * COUNT, 20_000 * COUNT]
    assert found["per_gpu"][0]["communication"]["wire_per_round_ns"]["median"] == 1_043_000
    (group,) = found["rank_groups"]
    assert (group["gpus"], group["straggler"]["gpu"]) == ([0, 1], 1)


def test_wire_and_wait_of_a_gpu_alone_are_null() -> None:
    communication = document(speculative())["per_gpu"][0]["communication"]

    assert communication["wire_ns"] is communication["collectives"] is None
    assert set(communication["wait_per_round_ns"].values()) == {None}


def test_layers_have_their_order_and_costs() -> None:
    layers = document(speculative())["per_gpu"][0]["layers"]

    assert layers["period"] == {
        "layers": [*3 * ["recurrent"], "attention"],
        "repeats": 16,
        "rest": 0,
    }
    assert layers["recurrent_layer_ns"]["median"] == 134_100
    assert document(opaque_rounds())["per_gpu"][0]["layers"]["reason"].startswith("no layers")


def test_integers_of_arrays_are_integers() -> None:
    assert json.loads(dumped([np.int64(120), np.uint32(7)])) == [120, 7]


def test_what_is_no_number_is_an_error() -> None:
    with pytest.raises(TypeError):
        dumped({"key": object()})


def test_the_headline_is_the_first_line() -> None:
    assert document(one_gpu())["headline"] == headline(one_gpu())


def test_unclassified_kernels_are_counted_and_listed_by_whole_name() -> None:
    found = document(mostly_unclassified())

    assert found["unclassified"]["kernel_names"] == 31
    assert found["unclassified"]["kernels"][0]["name"].startswith("evil|kernel`<b>")
    assert found["kernel_names"] == 32


@given(st.text(st.characters(codec=None)))
@settings(deadline=None)
def test_any_kernel_name_comes_back_unchanged(name: str) -> None:
    made = analysis(gpu_time(0, [category("gdn", 5)], idle()), kernels=[kernel(name, "gdn", 5)])

    assert document(made)["kernels"][0]["name"] == name
