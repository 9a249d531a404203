"""``traceattr roofline`` as a person uses it."""

import csv
import json
from importlib.metadata import version
from io import StringIO
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tests.conftest import CheckGolden
from traceattr.cli import app
from traceattr.roofline.hardware import load_gpus
from traceattr.roofline.model import catalogue

SEED = (
    *("--model", "Qwen3.6-27B", "--gpu", "RTX_A6000", "--tp", "2", "--batch", "1"),
    *("--context", "500", "--draft-steps", "3", "--accept-length", "3"),
)
MOE = (
    *("--model", "Qwen3-235B-A22B", "--gpu", "NVIDIA H200", "--tp", "8", "--dp-attention", "2"),
    *("--batch", "64", "--context", "4096", "--kv-dtype", "fp8"),
)
SUFFIXES = {"terminal": "txt", "markdown": "md", "json": "json", "csv": "csv"}


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["roofline", *map(str, arguments)])


def same_in_every_version(text: str) -> str:
    return text.replace(f'"traceattr": "{version("traceattr")}"', '"traceattr": "VERSION"')


def without(flag: str) -> list[str]:
    """Return the arguments of the seed case without a flag and its value."""
    place = SEED.index(flag)
    return [*SEED[:place], *SEED[place + 2 :]]


@pytest.mark.parametrize("name", SUFFIXES)
@pytest.mark.parametrize("case", ["speculative", "experts"])
def test_a_roofline_looks_as_reviewed(case: str, name: str, check_golden: CheckGolden) -> None:
    result = run(*(SEED if case == "speculative" else MOE), "--format", name)

    assert (result.exit_code, result.stderr) == (0, "")
    check_golden(f"roofline-{case}.{SUFFIXES[name]}", same_in_every_version(result.stdout))


@pytest.mark.parametrize("name", ["terminal", "markdown", "json"])
@pytest.mark.parametrize("category", ["weight_gemm", "comm", "host gaps"])
def test_an_explanation_looks_as_reviewed(
    category: str, name: str, check_golden: CheckGolden
) -> None:
    result = run(*SEED, "--explain", category, "--format", name)

    assert (result.exit_code, result.stderr) == (0, "")
    check_golden(
        f"roofline-explain-{category.replace(' ', '_')}.{SUFFIXES[name]}",
        same_in_every_version(result.stdout),
    )


def test_json_keeps_its_contract() -> None:
    document = json.loads(run(*SEED, "--format", "json").stdout)

    assert document["format"] == 1
    assert document["inputs"]["tp"] == {"value": 2, "from": "flag"}
    assert document["inputs"]["draft_tokens"] == {"value": 4, "from": "default"}
    assert document["inputs"]["state_format"] == {"value": "fp32", "from": "config"}
    assert document["round"]["bound_ns"] == sum(c["bound_ns"] for c in document["categories"])
    assert document["round"]["expected_ns"] == sum(c["expected_ns"] for c in document["categories"])
    assert document["round"]["tokens_per_s"]["expected"] == pytest.approx(54.9, abs=0.1)
    assert {c["phase"] for c in document["categories"]} == {"target", "draft", "host"}
    assert {c["group"] for c in document["categories"] if c["phase"] == "draft"} == {"draft"}


def test_csv_has_a_row_for_every_category_of_the_json() -> None:
    rows = list(csv.DictReader(StringIO(run(*SEED, "--format", "csv").stdout)))

    document = json.loads(run(*SEED, "--format", "json").stdout)
    assert [int(row["bound_ns"]) for row in rows] == [c["bound_ns"] for c in document["categories"]]


def test_without_an_accept_length_there_are_no_tokens() -> None:
    document = json.loads(run(*without("--accept-length"), "--format", "json").stdout)

    assert document["inputs"]["accept_length"] == {"value": None, "from": None}
    assert document["round"]["tokens_per_s"] == {"bound": None, "expected": None}
    [warning] = (w for w in document["warnings"] if w["code"] == "accept-length")
    assert "--accept-length" in warning["text"]


def test_without_a_draft_a_request_gains_one_token() -> None:
    plain = without("--accept-length")
    plain = [*plain[: plain.index("--draft-steps")]]

    document = json.loads(run(*plain, "--format", "json").stdout)

    assert document["inputs"]["accept_length"] == {"value": 1.0, "from": "default"}
    assert {c["phase"] for c in document["categories"]} == {"target", "host"}


@pytest.mark.parametrize("flag", ["--model", "--gpu", "--batch", "--context", "--draft-steps"])
def test_what_matters_and_is_not_known_is_asked_for(flag: str) -> None:
    result = run(*without(flag))

    name = flag.removeprefix("--").replace("-", "_")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"error: not known: {name} (give {flag})\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--gpu", "H1000"), "H1000: unknown GPU"),
        (("--model", "GPT-9"), "GPT-9: no such model"),
        (("--tp", "5"), "do not split over 5 GPUs"),
        (("--ep", "3"), "ep 3 (flag) does not divide tp 2 (flag)"),
        (("--accept-length", "5"), "above the 4 tokens that a round proposes"),
        (("--weights", "int3"), "unknown number format 'int3'"),
        (("--kv-dtype", "int3"), "field 'kv_format' is 'int3'"),
        (("--model", "Qwen3-32B"), "Qwen3-32B has no draft layer"),
        (("--draft-steps", "0", "--accept-length", "1", "--draft-tokens", "4"), "draft_tokens 4"),
        (("--explain", "moe_gemm"), "--explain moe_gemm: not in this prediction"),
        (("--server-args", "nope.log"), "nope.log: cannot be read"),
        (("--deployment", "nope.toml"), "nope.toml"),
        (("--gpu-file", "nope.toml"), "nope.toml"),
    ],
)
def test_a_mistake_is_one_line_on_standard_error(arguments: tuple[str, ...], message: str) -> None:
    result = run(*SEED, *arguments)

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("error: ")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_flags_win_over_a_file_and_a_file_over_the_server(tmp_path: Path) -> None:
    deployment = tmp_path / "deployment.toml"
    deployment.write_text("tp = 4\ncontext = 1000\n", encoding="utf-8")
    log = tmp_path / "server.log"
    log.write_text(
        "server_args=ServerArgs(model_path='Qwen/Qwen3.6-27B', tp_size=8, context_length=None,"
        " speculative_algorithm='NEXTN', speculative_num_steps=3,"
        " speculative_num_draft_tokens=4)\n",
        encoding="utf-8",
    )

    result = run(
        *("--gpu", "H100_SXM", "--batch", "1", "--context", "2000", "--format", "json"),
        *("--deployment", deployment, "--server-args", log),
    )

    inputs = json.loads(result.stdout)["inputs"]
    assert inputs["context"] == {"value": 2000, "from": "flag"}
    assert inputs["tp"] == {"value": 4, "from": "file"}
    assert inputs["draft_steps"] == {"value": 3, "from": "server log"}


def test_a_prefill_has_a_phase_of_its_own() -> None:
    document = json.loads(run(*SEED, "--prefill", "2048", "--format", "json").stdout)

    assert document["inputs"]["prefill"] == {"value": 2048, "from": "flag"}
    assert {c["phase"] for c in document["categories"]} == {"prefill", "draft", "host"}
    assert run(*SEED, "--prefill", "2048").stdout.startswith("A prefill of 2,048 tokens each of")


def test_what_does_not_fit_is_said() -> None:
    document = json.loads(run(*SEED, "--tp", "1", "--format", "json").stdout)

    [warning] = (w for w in document["warnings"] if w["code"] == "memory")
    assert "of each GPU, which has 48 GB" in warning["text"]


def test_the_list_names_every_model_and_gpu() -> None:
    result = run("--list")

    assert result.exit_code == 0
    words = result.stdout.split()
    assert set(catalogue()) <= set(words)
    assert {gpu.name for gpu in load_gpus()} <= set(words)


@pytest.mark.parametrize("width", ["60", "80", "120"])
def test_a_terminal_is_not_overrun(width: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", width)

    for arguments in (SEED, MOE, (*SEED, "--explain", "gdn")):
        assert max(map(len, run(*arguments).stdout.splitlines())) <= int(width)


def test_output_goes_to_the_file(tmp_path: Path) -> None:
    target = tmp_path / "roofline.md"

    result = run(*SEED, "--format", "markdown", "-o", target)

    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == f"Wrote {target}\n"
    assert target.read_text(encoding="utf-8").startswith("**A round with 3 draft steps")
