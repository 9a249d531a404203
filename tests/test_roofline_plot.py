"""The roofline plot: what is drawn where, in a terminal and as SVG."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner, Result

from tests.conftest import CheckGolden
from tests.recordings import recorded
from tests.round_analyses import speculative
from traceattr.cli import app
from traceattr.report.canvas import Canvas
from traceattr.report.comparison import compare
from traceattr.report.comparison_terminal import comparison_section
from traceattr.report.console import printed
from traceattr.report.drawing import in_ascii
from traceattr.report.log_axis import LogAxis
from traceattr.report.roofline_plot import RooflinePlot, measured_plot, predicted_plot
from traceattr.report.roofline_plot_terminal import plot_section
from traceattr.report.roofline_svg import roofline_svg
from traceattr.report.svg import svg_file
from traceattr.roofline.deployment import deployment_from_flags
from traceattr.roofline.hardware import load_gpus
from traceattr.roofline.roofline import Roofline, build_roofline
from traces.description import Simulation
from traces.workload_file import QWEN36_27B_A6000

DEMO = QWEN36_27B_A6000.with_name("demo.sqlite")
SERVED = ("--model", "Qwen3.6-27B", "--batch", "1", "--context", "500")
SVG = "{http://www.w3.org/2000/svg}"


def built(model: str, gpu: str, **served: int) -> Roofline:
    known = {"batch": 1, "context": 500, "tp": 2} | served
    flags = deployment_from_flags(model=model, gpu=gpu, **known)  # type: ignore[arg-type]
    return build_roofline(flags, load_gpus(), version="1")


@pytest.fixture(scope="module")
def predicted() -> RooflinePlot:
    return predicted_plot(built("Qwen3.6-27B", "RTX_A6000", draft_steps=3))


def report(*arguments: str | Path, trace: Path = DEMO) -> Result:
    return CliRunner().invoke(app, ["report", str(trace), *map(str, arguments)])


def roofline(*arguments: str | Path, charset: str = "utf-8") -> Result:
    runner = CliRunner(charset=charset)
    return runner.invoke(app, ["roofline", *SERVED, "--gpu", "H100_SXM", *map(str, arguments)])


def test_a_point_has_the_operations_of_its_category_over_bytes_and_over_time() -> None:
    made = built("Qwen3.6-27B", "RTX_A6000", draft_steps=3)
    [gemm] = [e for e in made.prediction.categories if (e.phase, e.category) == GEMM]

    [point] = [p for p in predicted_plot(made).points if (p.phase, p.category) == GEMM]

    assert point.flop_per_byte == gemm.flop / gemm.bytes
    assert point.measured_flop_per_s is None
    assert point.expected_flop_per_s == pytest.approx(gemm.flop / gemm.expected_ns * 1e9)
    assert point.bound_flop_per_s == pytest.approx(point.flop_per_byte * 768e9, rel=1e-6)


GEMM = ("target", "weight_gemm")


def test_every_category_and_phase_with_tensor_operations_is_a_point(
    predicted: RooflinePlot,
) -> None:
    assert [(p.mark, p.phase, p.category) for p in predicted.points] == [
        ("A", "target", "weight_gemm"),
        ("B", "target", "gdn"),
        ("C", "target", "attention"),
        ("a", "draft", "weight_gemm"),
        ("c", "draft", "attention"),
    ]
    assert {"comm", "norm", "kv_cache"} <= set(predicted.left_out)


@pytest.mark.parametrize(
    ("model", "gpu", "roofs"),
    [
        ("DeepSeek-V3", "H100_SXM", [("bf16", 989.4e12), ("fp8", 1978.9e12)]),
        ("Qwen3-8B", "RTX_A6000", [("bf16", 154.8e12)]),
    ],
)
def test_flat_roofs_are_the_dense_peaks_of_the_formats_in_use(
    model: str, gpu: str, roofs: list[tuple[str, float]]
) -> None:
    found = [
        (roof.number_format, roof.flop_per_s) for roof in predicted_plot(built(model, gpu)).roofs
    ]

    assert [name for name, _ in found] == [name for name, _ in roofs]
    assert [peak for _, peak in found] == pytest.approx([peak for _, peak in roofs], rel=1e-3)


@given(st.floats(1e-6, 1e15), st.floats(1.1, 1e12))
def test_every_power_of_ten_on_an_axis_is_marked_where_it_stands(low: float, factor: float) -> None:
    axis = LogAxis(low, low * factor)

    places = [axis.place(value) for value in axis.decades]

    assert places == sorted(places)
    assert all(-1e-6 <= place <= 1 + 1e-6 for place in places)
    assert all(low * 0.999 <= value <= low * factor * 1.001 for value in axis.decades)


def test_a_line_is_drawn_in_dots_without_gaps_and_text_covers_it() -> None:
    canvas = Canvas(4, 2)

    canvas.line((0, 0), (1, 1))
    canvas.put(1, 2, "A")

    assert canvas.lines() == ["  ⡠⠊", "⡠⠊A "]


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_the_plot_fits_its_width_and_shows_every_point(predicted: RooflinePlot, width: int) -> None:
    text = printed(plot_section(predicted, width), width=width, color=False)
    chart = "".join(re.findall(r"(?m)^[ \d,.]* \|(.*)$", text))

    assert max(map(len, text.splitlines())) <= width
    assert {point.mark for point in predicted.points} <= set(chart)
    assert "768 GB/s" in chart
    assert "bf16 155" in chart


def test_a_terminal_without_braille_gets_ascii() -> None:
    plain, drawn = roofline(charset="ascii").stdout, roofline().stdout

    assert "\nRoofline plot (expected, H100_SXM)\n" in plain
    assert plain.isascii()
    assert "?" not in plain
    assert plain == in_ascii(drawn) != drawn


def test_dots_keep_their_height_in_ascii() -> None:
    assert in_ascii("⠁⠂⠄⡀⠈⠐⠠⢀⠀█░ A") == "'-._'-._ #- A"


def elements(svg: str) -> Iterator[ElementTree.Element]:
    yield from ElementTree.fromstring(svg).iter()


def test_a_drawing_says_in_words_what_it_shows(predicted: RooflinePlot) -> None:
    root = ElementTree.fromstring(roofline_svg(predicted))
    title, description = root.find(f"{SVG}title"), root.find(f"{SVG}desc")

    assert root.get("role") == "img"
    assert title is not None
    assert description is not None
    assert root.get("aria-labelledby") == title.get("id")
    assert root.get("aria-describedby") == description.get("id")
    assert title.text == "Roofline plot (expected, RTX_A6000)"
    assert "draft attention: 11.7 FLOP/B, expected 1.15, bound 9 TFLOP/s." in (
        description.text or ""
    )


def test_a_drawing_for_a_page_needs_no_style_sheet_and_a_file_has_one(
    predicted: RooflinePlot,
) -> None:
    svg = roofline_svg(predicted)

    assert {element.tag for element in elements(svg)}.isdisjoint({f"{SVG}style", f"{SVG}script"})
    assert not [element for element in elements(svg) if element.get("style")]
    assert [element.tag for element in elements(svg_file(svg))].count(f"{SVG}style") == 1


def test_a_hostile_name_is_text_in_a_drawing(tmp_path: Path) -> None:
    name = "</text><script>alert(1)</script>&\\u0007"
    file = tmp_path / "gpus.toml"
    file.write_text(
        f'[[gpu]]\nname = "{name}"\ndevice_names = []\narchitecture = "Hopper"\n'
        'compute_capability = "9.0"\nsm_count = 1\nmemory_gb = 1000\n'
        'memory_bandwidth_gb_per_s = 1000\nlink = "NVLink"\nlink_gb_per_s = 1\n'
        "bandwidth_efficiency = 0.8\n[gpu.peak_tflop_per_s]\nbf16 = 100\n[gpu.sources]\n",
        encoding="utf-8",
    )

    result = roofline(
        "--gpu-file",
        file,
        "--gpu",
        name.encode().decode("unicode_escape"),
        "--plot",
        tmp_path / "plot.svg",
    )
    assert (result.exit_code, result.stderr) == (0, f"Wrote {tmp_path / 'plot.svg'}\n")
    svg = (tmp_path / "plot.svg").read_text(encoding="utf-8")

    assert f"{SVG}script" not in {element.tag for element in elements(svg)}
    assert f"Roofline plot (expected, {name.replace('u0007', 'x07')})" in {
        e.text for e in elements(svg)
    }


def test_markdown_shows_the_plot_by_a_link_from_where_it_is_written(tmp_path: Path) -> None:
    (tmp_path / "my plots").mkdir()

    plot, output = tmp_path / "my plots" / "a(1).svg", tmp_path / "report.md"
    result = report(*SERVED, "--format", "markdown", "--plot", plot, "-o", output)

    assert result.stderr == f"Wrote {plot}\nWrote {output}\n"
    link = "![Roofline plot (measured, RTX\\_A6000)](my%20plots/a%281%29.svg)"
    assert link in output.read_text(encoding="utf-8")
    assert "![" not in report(*SERVED, "--format", "markdown").stdout


def test_measured_points_are_drawn_in_the_report(tmp_path: Path, check_golden: CheckGolden) -> None:
    plot = tmp_path / "plot.svg"
    result = report(*SERVED, "--accept-length", "3", "--plot", plot)

    assert "\nRoofline plot (measured, RTX_A6000)\n" in result.stdout
    assert "; + expected; o bound\n" in result.stdout
    check_golden("../../docs/roofline-plot.svg", plot.read_text(encoding="utf-8"))


def test_without_measured_categories_the_drawing_says_why(tmp_path: Path) -> None:
    trace, _ = recorded(Simulation(rounds=6, mode="graph"))
    plot = tmp_path / "plot.svg"

    result = report(*SERVED, "--draft-steps", "3", "--tp", "2", "--plot", plot, trace=trace)

    assert result.exit_code == 0
    assert "Roofline plot" not in result.stdout
    assert "Nothing measured is shown: CUDA graphs hide which" in plot.read_text(encoding="utf-8")


def test_a_trace_without_any_category_of_the_plot_has_none_in_the_terminal() -> None:
    compared = compare(speculative(), built("Qwen3.6-27B", "RTX_A6000", draft_steps=3))
    kept = [entry for entry in compared.categories if entry.category == "norm"]
    compared = replace(compared, categories=tuple(kept))

    text = printed(comparison_section(compared, 80), width=80, color=False)

    assert "Roofline plot" not in text
    assert "no category with tensor FLOP was seen" in roofline_svg(measured_plot(compared))


def test_what_takes_less_than_a_nanosecond_is_a_point_too() -> None:
    made = built("Qwen3.6-27B", "RTX_A6000", draft_steps=3)
    entries = [replace(entry, bound_ns=0) for entry in made.prediction.categories]

    plot = predicted_plot(
        replace(made, prediction=replace(made.prediction, categories=tuple(entries)))
    )

    assert all(point.bound_flop_per_s > point.expected_flop_per_s for point in plot.points)
    assert "<svg " in roofline_svg(plot)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (
            ("--plot", "plot.png"),
            "--plot plot.png: plots are SVG (expected a name that ends in .svg)",
        ),
        (("--plot", "-"), "--plot -: plots are SVG (expected a name that ends in .svg)"),
        (
            ("--plot", "p.svg", "-o", "p.svg"),
            "--plot p.svg: is the output file too; name another file",
        ),
        (("--plot", "no/p.svg"), "no/p.svg: no such directory; create it: mkdir -p no"),
        (("--plot", "old.svg"), "old.svg: exists; overwrite it with --force"),
        (
            ("--plot", "p.svg", "--explain", "gdn"),
            "--plot does not go with --explain or --list, which draw nothing",
        ),
    ],
)
def test_a_plot_that_cannot_be_written_is_refused_before_anything_is(
    arguments: tuple[str, ...], error: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("old.svg").write_text("mine", encoding="utf-8")

    result = roofline(*arguments)

    assert (result.exit_code, result.stdout, result.stderr) == (2, "", f"error: {error}\n")
    assert [(path.name, path.read_text(encoding="utf-8")) for path in Path().iterdir()] == [
        ("old.svg", "mine")
    ]


def test_a_plot_of_a_report_needs_a_model(tmp_path: Path) -> None:
    plot = tmp_path / "plot.svg"

    result = report("--plot", plot)

    draws = "draws the roofline (give --model, --batch, --context)"
    assert (result.exit_code, result.stderr) == (2, f"error: --plot {plot}: {draws}\n")
