"""What one accepted token costs, in every format of a report."""

import csv
import functools
import io
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from traceattr.cli import app

DEMO = Path(__file__).parent.parent / "traces" / "demo.sqlite"
# The demo begins at 03:06:40 and its window is 1.2 s later.
ARGUMENTS = (
    "[2026-04-24 03:06:38] server_args=ServerArgs(model_path='Qwen/Qwen3.6-27B', tp_size=2,"
    " speculative_algorithm='EAGLE', speculative_num_steps=3, api_key='sk-secret')\n"
)
LINE = (
    "[2026-04-24 03:06:{second} TP0] Decode batch, #running-req: 1, #full token: 512, accept len:"
    " {accept}, accept rate: 0.71, cuda graph: True, gen throughput (token/s): {rate}\n"
)
LOG = (
    ARGUMENTS
    + LINE.format(second=41, accept=2.84, rate=55.1)
    + LINE.format(second=59, accept=1.5, rate=1)
)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "server.log"
    path.write_text(LOG, encoding="utf-8")
    return path


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["report", str(DEMO), *map(str, arguments)])


@functools.cache
def document(*arguments: str | Path) -> dict[str, dict[str, object]]:
    result = run(*arguments, "--format", "json")
    assert result.exit_code == 0, result.stderr
    return dict(json.loads(result.stdout))


def test_parts_sum_to_the_round_and_their_tokens_to_the_token(log: Path) -> None:
    cost = json.loads(run("--server-log", log, "--format", "json").stdout)["token_cost"]

    assert cost["accept_length"] == {"value": 2.84, "from": "server log"}
    assert abs(sum(part["round_ns"] for part in cost["parts"]) - cost["round_ns"]) <= 10
    assert abs(cost["token_ns"] - cost["round_ns"] / 2.84) <= 1
    assert [part["part"] for part in cost["parts"]] == [
        *("target", "draft", "other", "in-graph gaps"),
        *("verify->draft_extend", "draft->verify", "draft_extend->draft"),
    ]
    assert [part["is_gap"] for part in cost["parts"]] == [False] * 3 + [True] * 4


def test_the_log_of_that_time_is_set_beside_the_rounds(log: Path) -> None:
    found = document("--server-log", log)

    cost, roofline = found["token_cost"], found["roofline"]
    rates = cost["tokens_per_s"]
    assert isinstance(rates, dict)
    assert rates["server"] == 55.1
    assert rates["rounds"] == pytest.approx(2.84 / cost["round_ns"] * 1e9)  # type: ignore[operator]
    assert roofline["inputs"]["model"] == {  # type: ignore[index]
        "value": "Qwen/Qwen3.6-27B",
        "from": "server log",
    }


def test_every_format_says_it_and_none_the_key_of_the_server(log: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    run("--server-log", log, "--format", "html", "-o", page)
    texts = [page.read_text(encoding="utf-8")]
    texts += [run("--server-log", log, "--format", f).stdout for f in ("terminal", "markdown")]

    for text in texts:
        words = " ".join(text.replace("\N{NO-BREAK SPACE}", " ").split())
        assert "One token of a request costs 17.5 ms at 2.84 tokens per round" in words
        assert "draft passes" in words
        assert "sk-secret" not in text


def test_csv_has_the_share_of_a_token_in_each_row(log: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(run("--server-log", log, "--format", "csv").stdout)))

    gemm = next(
        row for row in rows if row["category"] == "weight_gemm" and row["phase"] == "target"
    )
    assert int(gemm["token_ns"]) == pytest.approx(int(gemm["round_median_ns"]) / 2.84, rel=0.01)


def test_the_accept_length_alone_is_enough() -> None:
    found = document("--accept-length", "2.5")

    assert found["token_cost"]["accept_length"] == {"value": 2.5, "from": "flag"}
    assert found["roofline"] is None


def test_a_flag_wins_over_the_log_and_that_over_metrics(log: Path, tmp_path: Path) -> None:
    metrics = tmp_path / "metrics.txt"
    metrics.write_text("sglang:spec_accept_length 3.5\n", encoding="utf-8")
    wins: list[tuple[str | Path, str | Path]]
    wins = [("--metrics", metrics), ("--server-log", log), ("--accept-length", "2.0")]

    said = [
        document(*(word for pair in wins[: n + 1] for word in pair))["token_cost"]["accept_length"]
        for n in range(3)
    ]

    assert [one["from"] for one in said] == ["metrics", "server log", "flag"]  # type: ignore[index]


def test_a_model_that_is_not_known_leaves_the_cost_and_says_why(tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    path.write_text(LOG.replace("Qwen/Qwen3.6-27B", "/models/mine"), encoding="utf-8")

    found = document("--server-log", path)

    assert found["roofline"] is None
    assert found["token_cost"]["token_ns"] is not None
    assert any("no roofline beside it" in text for text in found["token_cost"]["warnings"])


def test_a_log_of_another_time_is_said_to_be_one(log: Path) -> None:
    log.write_text(LOG.replace("2026-04-24", "2025-01-01"), encoding="utf-8")

    warnings = document("--server-log", log)["token_cost"]["warnings"]

    assert warnings == [
        "the server log could not be matched to the window by its times; this is all 2 intervals"
    ]


def test_speculation_without_an_accept_length_abstains(tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    path.write_text(LINE.format(second=41, accept="?", rate=50), encoding="utf-8")

    cost = document("--server-log", path)["token_cost"]

    assert cost["token_ns"] is None
    assert cost["warnings"] == [
        "the cost of a token is unknown without the accept length, and the server log does not say"
        " it; give --accept-length"
    ]


@pytest.mark.parametrize(
    ("option", "content", "message"),
    [
        ("--server-log", "hello\n", "no line on decoding and no arguments of a server"),
        ("--metrics", "hello 1\n", "no metric of SGLang"),
        ("--server-log", None, "cannot be read: No such file or directory"),
    ],
)
def test_a_file_of_something_else_is_one_line(
    tmp_path: Path, option: str, content: str | None, message: str
) -> None:
    path = tmp_path / "file"
    if content is not None:
        path.write_text(content, encoding="utf-8")

    result = run(option, path)

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"error: {path}: {message}")
    assert result.stderr.count("\n") == 1
