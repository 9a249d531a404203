"""How much longer tracing makes rounds."""

import csv
import functools
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from tests.fake_nsys import write_nsys
from tests.recordings import recorded
from traceattr.cli import app
from traces.description import Simulation

SLOW = 1.25


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory with one load: node by node but slower, and as whole graphs."""
    path = tmp_path_factory.mktemp("one load")
    (path / "node.sqlite").symlink_to(recorded(Simulation(rounds=3, slowdowns=(SLOW, SLOW)))[0])
    (path / "graph.sqlite").symlink_to(recorded(Simulation(rounds=3, mode="graph"))[0])
    return path


def run(folder: Path, *arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["report", str(folder / "node.sqlite"), *map(str, arguments)])


@functools.cache
def document(folder: Path, *arguments: str | Path) -> dict[str, Any]:
    result = run(folder, *arguments, "--format", "json")
    assert result.exit_code == 0, result.stderr
    return dict(json.loads(result.stdout))


def test_each_pass_has_its_own_inflation(folder: Path) -> None:
    found = document(folder, "--calibrate", folder / "graph.sqlite")["inflation"]

    ratios = {part["part"]: part["ratio"] for part in found["parts"]}
    assert list(ratios) == ["draft", "verify", "draft_extend", "between passes", "round"]
    assert ratios["verify"] == pytest.approx(SLOW, rel=0.02)
    assert ratios["draft"] == pytest.approx(SLOW, rel=0.02)
    assert found["ratio"] == ratios["round"]
    assert found["scaled"] == []


def test_categories_are_scaled_only_when_asked_and_to_the_true_length(folder: Path) -> None:
    found = document(folder, "--calibrate", folder / "graph.sqlite", "--scale-to-wall")

    gemm = next(
        one
        for one in found["inflation"]["scaled"]
        if (one["category"], one["phase"]) == ("weight_gemm", "target")
    )
    assert gemm["round_ns"] / gemm["scaled_ns"] == pytest.approx(SLOW, rel=0.02)
    categories = found["per_gpu"][0]["categories"]
    assert categories == document(folder)["per_gpu"][0]["categories"]


def test_a_table_for_programs_has_the_inflation_of_each_phase(folder: Path) -> None:
    text = run(folder, "--calibrate", folder / "graph.sqlite", "--format", "csv").stdout

    rows = [*csv.DictReader(text.splitlines())]
    target = {row["inflation"] for row in rows if row["phase"] == "target"}
    assert float(*target) == pytest.approx(SLOW, rel=0.02)
    assert {row["inflation"] for row in rows if not row["phase"]} == {""}


def test_nothing_is_claimed_of_gaps_above_the_limit(folder: Path) -> None:
    found = document(folder, "--calibrate", folder / "graph.sqlite", "--accept-length", "2")

    assert found["inflation"]["refuses_gaps"]
    assert found["warnings"][0]["code"] == "inflated"
    assert not found["per_gpu"][0]["gaps"]
    assert [p["part"] for p in found["token_cost"]["parts"] if p["is_gap"]] == [
        "all gaps, lengthened by tracing"
    ]


def test_below_the_limit_gaps_stay(folder: Path) -> None:
    round_ms = document(folder)["rounds"]["wall_ns"]["mean"] / 1e6
    tpot_ms = f"{round_ms / 2 / 1.05:.4f}"

    found = document(folder, "--tpot-ms", tpot_ms, "--accept-length", "2")

    assert found["inflation"]["ratio"] == pytest.approx(1.05, rel=1e-3)
    assert found["per_gpu"][0]["gaps"]
    assert found["warnings"][0]["code"] == "inflation"


def test_the_rate_of_the_server_calibrates_too(folder: Path, tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    log.write_text(
        "Decode batch, #running-req: 2, #token: 10, accept len: 3.0, gen throughput (token/s):"
        " 100.0\n",
        encoding="utf-8",
    )

    [*_, whole] = document(folder, "--server-log", log)["inflation"]["parts"]

    assert whole["true_ns"] == 60_000_000  # 2 requests x 3 tokens / 100 tokens/s


def test_rounds_shorter_than_the_truth_are_of_another_load(folder: Path) -> None:
    found = document(folder, "--tpot-ms", "1000", "--accept-length", "2")

    assert "these are two loads" in found["warnings"][0]["text"]


def test_formats_for_people_have_the_tables_and_no_single_gap(folder: Path) -> None:
    calibrated = ("--calibrate", folder / "graph.sqlite", "--scale-to-wall")
    formats = ("terminal", "markdown", "html")
    texts = [run(folder, *calibrated, "--format", f).stdout for f in formats]

    for text in texts:
        assert "Inflation by tracing" in text
        assert "between passes" in text
        assert "Scaled: the mean time of a category" in " ".join(text.split())
        assert "verify->draft_extend" not in text.replace("&gt;", ">")


def test_recording_both_modes_calibrates_the_one_with_the_other(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    export = f"""
mode = "graph" if sys.argv[-1].endswith("-graph.nsys-rep") else "node"
shutil.copyfile(f"{folder}/{{mode}}.sqlite", output)
"""
    nsys = write_nsys(tmp_path / "nsys", export=export)
    monkeypatch.chdir(tmp_path)
    arguments = ["profile", "--both-modes", "--nsys", str(nsys), "-o", "a", "--format", "json"]

    result = CliRunner().invoke(app, [*arguments, "--", "true"])

    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    calibrated = document(folder, "--calibrate", folder / "graph.sqlite")["inflation"]
    assert found["inflation"]["parts"] == calibrated["parts"]
    assert found["inflation"]["source"] == "graph-mode trace a-graph.sqlite"
    assert sorted(path.name for path in tmp_path.glob("a*")) == [
        "a-graph.nsys-rep",
        "a-graph.sqlite",
        "a.nsys-rep",
        "a.sqlite",
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--scale-to-wall"], "--scale-to-wall: to which wall? give --calibrate TRACE"),
        (["--tpot-ms", "10"], "--tpot-ms: a round has as many tokens as are accepted; give"),
        (["--calibrate", "node.sqlite"], "node.sqlite: traces graphs as: node (expected a trace"),
        (["--calibrate", "none.sqlite"], "none.sqlite: no such file"),
    ],
)
def test_a_mistake_is_one_line(
    folder: Path, arguments: list[str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)

    result = run(folder, *arguments)

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"error: {message}")
    assert result.stderr.count("\n") == 1
