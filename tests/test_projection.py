"""What a measured round would take with something changed, as a person asks for it."""

import csv
import json
import re
from io import StringIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner, Result

from tests.recordings import recorded
from traceattr.cli import app
from traces.description import Simulation
from traces.workload_file import QWEN36_27B_A6000

DEMO = QWEN36_27B_A6000.with_name("demo.sqlite")
KNOWN = (
    *("--model", "Qwen3.6-27B", "--batch", "1", "--context", "500", "--accept-length", "3"),
    *("--draft-steps", "3"),
)


def run(*what_ifs: str, trace: Path = DEMO, format_: str = "terminal") -> Result:
    options = [part for text in what_ifs for part in ("--what-if", text)]
    return CliRunner().invoke(app, ["report", str(trace), *KNOWN, *options, "--format", format_])


def report(*what_ifs: str, trace: Path = DEMO) -> dict[str, Any]:
    result = run(*what_ifs, trace=trace, format_="json")
    assert (result.exit_code, result.stderr) == (0, "")
    found: dict[str, Any] = json.loads(result.stdout)
    return found


@pytest.fixture(scope="module")
def alternatives() -> dict[str, Any]:
    """Return the roofline of the demo, with alternatives by name."""
    found = report(
        *("gpu=H100_SXM", "batch=8", "tp=1", "draft_steps=0", "context=500"),
        *("comm=wire", "comm=bound", "remove_seam=verify->draft_extend"),
        "remove_seam=verify->draft_extend+draft->verify",
    )
    roofline: dict[str, Any] = found["roofline"]
    seams = [gap for gpu in found["per_gpu"] for gap in gpu["gaps"]]
    return {
        **roofline,
        "by_name": {each["name"]: each for each in roofline["what_if"]},
        "seams": {
            name: round(sum(s["per_round_ns"] for s in seams if s["seam"] == name) / 2)
            for name in ("verify->draft_extend", "draft->verify")
        },
    }


def carried(alternatives: dict[str, Any], name: str) -> int:
    return int(alternatives["by_name"][name]["round"]["expected_with_excess_ns"])


def test_an_alternative_that_changes_nothing_takes_the_measured_round(
    alternatives: dict[str, Any],
) -> None:
    [same] = [each for each in alternatives["what_if"] if each["name"] == "context=500"]

    assert carried(alternatives, "context=500") == alternatives["round"]["measured_ns"]
    assert (same["change_ns"], same["change_ratio"]) == (0, 0.0)
    assert same["changes"] == {"context": 500}
    assert alternatives["by_name"]["comm=wire"]["changes"] == {"comm": "wire"}
    assert same["round"]["tokens_per_s"]["expected_with_excess"] == pytest.approx(
        alternatives["round"]["tokens_per_s"]["measured"]
    )


def test_work_of_a_gpu_keeps_its_ratio_of_measured_to_expected(
    alternatives: dict[str, Any],
) -> None:
    entries = alternatives["by_name"]["gpu=H100_SXM"]["categories"]
    [gemm] = [e for e in entries if (e["category"], e["phase"]) == ("weight_gemm", "target")]
    [old] = [
        e
        for e in alternatives["categories"]
        if (e["category"], e["phase"]) == ("weight_gemm", "target")
    ]

    ratio = old["measured_ns"] / old["expected_ns"]
    assert gemm["expected_with_excess_ns"] == pytest.approx(ratio * gemm["expected_ns"], abs=1)
    assert gemm["measured_ns"] == old["measured_ns"]


def test_host_gaps_and_waiting_keep_their_time(alternatives: dict[str, Any]) -> None:
    entries = alternatives["by_name"]["batch=8"]["categories"]
    [host] = [e for e in entries if e["category"] == "host gaps"]
    comm = [e for e in entries if e["category"] == "comm"]
    old = [e for e in alternatives["categories"] if e["category"] == "comm"]
    wait_ns = alternatives["comm_wait_ns"]

    assert host["expected_with_excess_ns"] == host["measured_ns"]
    total_ns = sum(e["measured_ns"] for e in old)
    assert sum(e["expected_with_excess_ns"] for e in comm) == pytest.approx(
        sum(
            new["expected_ns"] * o["measured_ns"] * (1 - wait_ns / total_ns) / o["expected_ns"]
            for new, o in zip(comm, old, strict=True)
        )
        + wait_ns,
        abs=5,
    )


def test_a_removed_seam_takes_its_time_out_of_the_round(alternatives: dict[str, Any]) -> None:
    measured, seams = alternatives["round"]["measured_ns"], alternatives["seams"]

    one = alternatives["by_name"]["remove_seam=verify->draft_extend"]
    assert one["removed_ns"] == seams["verify->draft_extend"] > 0
    assert measured - carried(alternatives, one["name"]) == one["removed_ns"]
    both = carried(alternatives, "remove_seam=verify->draft_extend+draft->verify")
    assert measured - both == sum(seams.values())
    assert one["round"]["bound_ns"] == alternatives["round"]["bound_ns"]


def test_communication_can_be_without_waiting_or_at_its_bound(
    alternatives: dict[str, Any],
) -> None:
    measured = alternatives["round"]["measured_ns"]
    comm = [e for e in alternatives["categories"] if e["category"] == "comm"]

    assert measured - carried(alternatives, "comm=wire") == pytest.approx(
        alternatives["comm_wait_ns"], abs=2
    )
    assert measured - carried(alternatives, "comm=bound") == sum(
        e["measured_ns"] - e["bound_ns"] for e in comm
    )


def test_what_an_alternative_lacks_is_gone(alternatives: dict[str, Any]) -> None:
    alone = alternatives["by_name"]["tp=1"]["categories"]
    plain = alternatives["by_name"]["draft_steps=0"]["categories"]

    assert "comm" not in {e["category"] for e in alone}
    assert "draft" not in {e["phase"] for e in plain}


def test_no_alternative_is_faster_than_its_bound(alternatives: dict[str, Any]) -> None:
    for each in alternatives["what_if"]:
        for entry in each["categories"]:
            assert entry["expected_with_excess_ns"] >= (entry["bound_ns"] or 0)


def test_bars_begin_with_what_was_measured(tmp_path: Path) -> None:
    plot = tmp_path / "plot.svg"
    arguments = ["report", str(DEMO), *KNOWN, "--what-if", "gpu=H100_SXM", "--plot", str(plot)]

    result = CliRunner().invoke(app, arguments)

    assert "\nWhat if (per round, mean of 2 GPUs), drawn to scale\n" in result.stdout
    texts = [element.text or "" for element in ElementTree.parse(plot).iter()]
    named = [text.partition(" (")[0] for text in texts]
    assert "as measured: expected with the excess 49.7, bound 41.2 ms" in named
    assert [text for text in named if re.match("gpu=H100_SXM: expected with .* tokens/s$", text)]


def test_tables_and_csv_show_the_same() -> None:
    names = ("batch=8", "comm=wire")
    found = report(*names)["roofline"]

    terminal, markdown = run(*names).stdout, run(*names, format_="markdown").stdout
    rows = list(csv.DictReader(StringIO(run(*names, format_="csv").stdout)))

    assert [row["alternative"] for row in rows] == ["as measured", *names]
    for each, row in zip(found["what_if"], rows[1:], strict=True):
        round_ns = each["round"]["expected_with_excess_ns"]
        assert row["expected_with_excess_ns"] == str(round_ns)
        assert f"{round_ns / 1e6:.3f}" in terminal
        assert f"{round_ns / 1e6:.3f}" in markdown
    assert "with excess: expected, with what the trace measured carried over." in terminal


def test_the_best_alternative_that_fits_is_named() -> None:
    best = "With gpu=H100_SXM a round would take 15.2 ms instead of 49.7 ms (-69.4 %)."

    for format_ in ("terminal", "markdown"):
        text = " ".join(run("batch=8", "gpu=H100_SXM", format_=format_).stdout.split())
        assert best in text.replace("\\", "").replace("&#45;", "-")
    worse = " ".join(run("batch=8").stdout.split())
    assert "No alternative shortens the round of 49.7 ms." in worse


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("remove_seam=draft->lunch", "no seam 'draft->lunch' in a round (expected "),
        ("remove_seam=verify-", "draft->verify, "),
        ("remove_seam=verify-", "quote the > in a shell"),
        ("comm=light", "unknown speed (expected wire or bound)"),
        ("gpu=H1000", "H1000: unknown GPU"),
        ("speed=9", "unknown key 'speed' (one of model, gpu, "),
    ],
)
def test_a_mistake_is_one_line_on_standard_error(what: str, message: str) -> None:
    result = run(what)

    assert (result.exit_code, result.stdout) == (2, "")
    assert f"--what-if {what}: " in result.stderr
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_where_graphs_hide_kernels_only_seams_carry_over() -> None:
    trace, _ = recorded(Simulation(rounds=6, mode="graph"))

    found = report("remove_seam=verify->draft_extend", "batch=8", trace=trace)["roofline"]

    seam, batch = found["what_if"]
    measured = found["round"]["measured_ns"]
    assert seam["round"]["expected_with_excess_ns"] == measured - seam["removed_ns"]
    assert batch["round"]["expected_with_excess_ns"] is None
    assert batch["reason"].startswith("CUDA graphs hide which kernels ran")

    text = run("remove_seam=verify->draft_extend", "batch=8", trace=trace).stdout
    assert "\nas predicted  " in text.partition(", drawn to scale\n")[2]


def test_a_page_draws_the_alternatives_too() -> None:
    page = run("gpu=H100_SXM", format_="html").stdout

    assert page.count('id="roofline-plot-title"') == page.count('id="alternatives-plot-title"') == 1
    assert "gpu=H100_SXM: expected with the excess 15.2, bound 9.4 ms" in page
