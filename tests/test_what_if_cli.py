"""``traceattr roofline --what-if`` and ``--sweep`` as a person uses them."""

import csv
import json
import re
from io import StringIO
from pathlib import Path
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner, Result

from traceattr.cli import app
from traceattr.report import what_if_markdown
from traceattr.report.bar_chart import Round, bar_chart
from traceattr.report.bar_chart_svg import bars_svg
from traceattr.report.bar_chart_terminal import bar_section
from traceattr.report.console import printed

KNOWN = (
    *("--model", "Qwen3.6-27B", "--gpu", "RTX_A6000", "--tp", "2", "--batch", "1"),
    *("--context", "500", "--draft-steps", "3"),
)
SVG = "{http://www.w3.org/2000/svg}"
H100_IN_MS = "gpu=H100_SXM: expected 15.2, bound 9.4 ms (weight GEMM 10.07, GDN 0.58, "
SEED = (*KNOWN, "--accept-length", "3")


def run(*arguments: str, columns: int = 80) -> Result:
    return CliRunner(env={"COLUMNS": str(columns)}).invoke(app, ["roofline", *arguments])


def section(text: str, title: str) -> str:
    """Return the lines below a title, up to an empty one."""
    return text.split(f"{title}\n", 1)[1].split("\n\n", 1)[0]


def test_a_table_has_a_row_per_alternative() -> None:
    result = run(
        *SEED,
        *("--what-if", "gpu=H100_SXM", "--what-if", "accept_length=4"),
        *("--what-if", "draft_steps=7"),
    )

    assert (result.exit_code, result.stderr) == (0, "")
    assert section(result.stdout, "What if (ms per round)") == (
        "alternative       bound  expected   change  change, %  tokens/s\n"
        "---------------------------------------------------------------\n"
        "as given         41.170    54.637                          54.9\n"
        "gpu=H100_SXM      9.425    15.227  -39.410      -72.1     197.0\n"
        "accept_length=4  41.170    54.637    0.000          0      73.2\n"
        "draft_steps=7    50.939    67.422  +12.784      +23.4   unknown"
    )
    assert "draft_steps=7: tokens/s are unknown" in result.stdout


def test_groups_of_the_expected_time_add_up() -> None:
    result = run(*SEED, "--what-if", "gpu=H100_SXM")

    assert section(result.stdout, "Expected by group (ms per round and GPU)") == (
        "              weight                                     other\n"
        "alternative     GEMM    GDN  attention   comm  draft  GPU work   idle\n"
        "---------------------------------------------------------------------\n"
        "as given      41.466  1.270      0.237  1.356  8.592     0.682  1.035\n"
        "gpu=H100_SXM  10.073  0.582      0.215  0.631  2.058     0.633  1.035"
    )


def test_bars_are_drawn_to_scale_for_times_and_tokens() -> None:
    result = run(*SEED, "--sweep", "batch=1,8")

    [_, base, one, eight, *_] = section(
        result.stdout, "What if (per round), drawn to scale"
    ).splitlines()
    assert base.replace("as given", "batch=1 ") == one
    assert eight.count("\N{FULL BLOCK}") > one.count("\N{FULL BLOCK}") > 0
    assert len(eight) <= 80


@pytest.mark.parametrize("width", [59, 80])
def test_a_bar_is_full_to_the_lower_and_light_to_the_higher_of_both_figures(width: int) -> None:
    old = Round("old", 8_000_000, 4_000_000, 8.0, {})
    rounds = [old, Round("new", 2_000_000, 1_000_000, 8.0, {})]
    bars = bar_section(bar_chart("title", "expected", rounds), width)

    text = printed(bars, width=width, color=False)

    found = [(len(full), len(light)) for full, light in re.findall("(█+)[▉-▏]?(░*)", text)[:-2]]
    places = (0, 1, 2, 3) if width < 60 else (0, 2, 1, 3)
    [old_ms, new_ms, old_rate, new_rate] = [found[place] for place in places]
    assert old_ms[0] == pytest.approx(4 * new_ms[0], abs=4)
    assert old_ms[0] == pytest.approx(old_ms[1], abs=1)
    assert new_rate[0] == pytest.approx(4 * old_rate[0], abs=4)
    assert new_rate[0] == pytest.approx(new_rate[1], abs=1)


def test_at_any_width_every_figure_is_whole() -> None:
    arguments = (*SEED, "--what-if", "gpu=H100_SXM")
    figures = set(re.findall(r"\d+\.\d{3}", run(*arguments, columns=120).stdout))

    assert figures <= set(re.findall(r"\d+\.\d{3}", run(*arguments, columns=40).stdout))


def test_the_parts_of_a_bar_are_as_long_together_as_the_bar() -> None:
    parts = {"weight GEMM": 3_000_000, "GDN": 0, "draft": 1_000_000}
    chart = bar_chart("title", "expected", [Round("a<b", 4_000_000, 2_000_000, None, parts)])

    svg = ElementTree.fromstring(bars_svg(chart))

    whole, gemm, draft, *_ = [float(each.get("width", "")) for each in svg.iter(f"{SVG}rect")]
    assert (gemm, draft) == pytest.approx((0.75 * whole, 0.25 * whole), abs=0.2)
    assert {"weight GEMM", "draft"} <= {each.text for each in svg.iter(f"{SVG}text")}


def test_a_drawing_has_a_bar_and_its_figures_for_every_alternative(tmp_path: Path) -> None:
    plot, report = tmp_path / "plot.svg", tmp_path / "report.md"
    arguments = ("--what-if", "gpu=H100_SXM", "--sweep", "batch=1,8", "--format", "markdown")

    result = run(*SEED, *arguments, "--plot", str(plot), "-o", str(report))

    assert result.stderr == f"Wrote {plot}\nWrote {report}\n"
    assert "![What if (ms per round)](plot.svg)" in report.read_text(encoding="utf-8")
    texts = [element.text for element in ElementTree.parse(plot).iter()]
    assert texts.count("gpu=H100_SXM") == texts.count("batch=8") == 2
    assert "197.0 (bound 318.3)" in texts
    assert [text for text in texts if text and text.startswith(H100_IN_MS)]


@pytest.mark.parametrize("columns", [40, 80, 120])
def test_no_line_is_wider_than_the_terminal(columns: int) -> None:
    arguments = ("--what-if", "gpu=H100_SXM,context=131072,batch=32", "--sweep", "batch=1,8")

    result = run(*SEED, *arguments, columns=columns)

    assert max(map(len, result.stdout.splitlines())) <= columns


def test_json_lists_the_alternatives() -> None:
    document = json.loads(run(*SEED, "--sweep", "batch=1,8", "--format", "json").stdout)

    assert document["round"]["expected_ns"] == 54_637_466
    assert [each["changes"] for each in document["what_if"]] == [{"batch": 1}, {"batch": 8}]
    for each in document["what_if"]:
        assert sum(g["expected_ns"] for g in each["groups"]) == each["round"]["expected_ns"]
        assert sum(g["bound_ns"] for g in each["groups"]) == each["round"]["bound_ns"]
        change = each["round"]["expected_ns"] - document["round"]["expected_ns"]
        assert each["expected_change_ns"] == change
    assert document["what_if"][0]["expected_change_ratio"] == 0


def test_csv_has_a_column_for_every_changed_key() -> None:
    arguments = ("--what-if", "gpu=H100_SXM", "--sweep", "batch=1,8", "--format", "csv")

    rows = list(csv.DictReader(StringIO(run(*SEED, *arguments).stdout)))

    assert [(row["gpu"], row["batch"]) for row in rows] == [
        ("RTX_A6000", "1"),
        ("H100_SXM", "1"),
        ("RTX_A6000", "1"),
        ("RTX_A6000", "8"),
    ]
    assert rows[1]["expected_ns"] == "15227162"
    assert rows[1]["expected_ns: draft"] == "2058402"


def test_markdown_has_both_tables() -> None:
    result = run(*SEED, "--what-if", "gpu=H100_SXM", "--format", "markdown")

    assert "| gpu=H100\\_SXM | 9.425 | 15.227 | \\-39.410 | \\-72.1 | 197.0 |" in result.stdout
    assert "| alternative | weight GEMM | GDN | attention | comm |" in result.stdout


def test_the_best_alternative_is_named() -> None:
    faster = run(*SEED, "--what-if", "draft_vocab=32768", columns=400).stdout
    slower = run(*SEED, "--sweep", "batch=8", columns=400).stdout
    too_large = run(*SEED, "--what-if", "tp=1", columns=400).stdout

    assert faster.splitlines()[1] == (
        "With draft_vocab=32768 a round is expected to take 49.4 ms instead of 54.6 ms (-9.6 %)."
        " Most tokens/s: 60.8 with draft_vocab=32768, 54.9 as given."
    )
    assert slower.splitlines()[1].startswith(
        "No alternative is expected to shorten the round of 54.6 ms. Most tokens/s: "
    )
    assert too_large.splitlines()[1] == "No alternative fits into the memory of its GPUs."
    assert "tp=1: weights, cache and states take more than the memory of each GPU" in too_large


def test_without_an_accept_length_is_said_what_to_give() -> None:
    result = run(*KNOWN, "--what-if", "gpu=H100_SXM", columns=400)

    assert "tokens/s are unknown without the accept length: give --accept-length" in result.stdout
    assert result.stdout.count("tokens/s are unknown") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--what-if", "speed=9"), "--what-if speed=9: unknown key 'speed' (one of model, gpu, "),
        (("--what-if", "gpu=H1000"), "--what-if gpu=H1000: H1000: unknown GPU (expected "),
        (("--sweep", "tp=2,5"), "--sweep tp=5: "),
        (("--sweep", "speed=1,2"), "--sweep speed=1,2: unknown key 'speed' (one of model, gpu, "),
        (("--what-if", "batch=2", "--explain", "gdn"), "--explain does not go with --what-if"),
    ],
)
def test_a_mistake_is_one_line_on_standard_error(arguments: tuple[str, ...], message: str) -> None:
    result = run(*SEED, *arguments)

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"error: {message}")
    assert result.stderr.count("\n") == 1


def test_a_prefill_has_alternatives_too() -> None:
    result = run(*SEED, "--prefill", "2048", "--what-if", "gpu=H100_SXM")

    assert result.exit_code == 0
    assert "What if (ms per pass)" in result.stdout


def test_markdown_says_how_many_alternatives_it_leaves_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(what_if_markdown, "MOST_ALTERNATIVES", 2)

    text = run(*SEED, "--sweep", "batch=1,2,4,8", "--format", "markdown").stdout

    assert text.count("\n| batch=2 |") == 2
    assert text.count("\n| batch=4 |") == 0
    assert text.count("\n2 more alternatives: `--format csv`\n") == 2
