"""How a report looks in a terminal."""

import re
import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.analyses import (
    GEMM,
    analysis,
    category,
    eight_gpus,
    empty_window,
    gpu_time,
    graph_mode,
    idle,
    kernel,
    mostly_copies,
    mostly_unclassified,
    one_gpu,
    two_gpus,
)
from tests.conftest import CheckGolden
from tests.round_analyses import (
    ROUNDS,
    decode_rounds,
    opaque_rounds,
    speculative,
    speculative_eight_gpus,
    speculative_four_gpus,
    speculative_two_gpus,
)
from traceattr.attribution.analysis import Analysis, Notice
from traceattr.report.drawing import in_ascii
from traceattr.report.render import ReportFormat, render

ALL = {
    "one_gpu": one_gpu(),
    "two_gpus": two_gpus(),
    "eight_gpus": eight_gpus(),
    "graph_mode": graph_mode(),
    "unclassified": mostly_unclassified(),
    "copies": mostly_copies(),
    "empty": empty_window(),
    "no_gpu": analysis(),
    **ROUNDS,
}
CASES = pytest.mark.parametrize("made", [pytest.param(made, id=name) for name, made in ALL.items()])
FIGURE = r"unknown|[<>]?[\d.,]+(-[\d.]+)?( %)?"
ANSI = re.compile(r"\x1b\[[0-9;]*m")


def plain(made: Analysis, width: int = 80) -> str:
    return render(made, ReportFormat.TERMINAL, width=width, color=False)


@pytest.mark.parametrize("name", ALL)
def test_the_report_looks_as_reviewed(name: str, check_golden: CheckGolden) -> None:
    check_golden(f"report-{name}.txt", plain(ALL[name]))


@CASES
@pytest.mark.parametrize("width", [40, 60, 80, 100, 200])
def test_every_line_fits_and_is_plain_ascii_but_for_bars(made: Analysis, width: int) -> None:
    lines = plain(made, width).splitlines()

    assert max(map(len, lines)) <= width
    assert all(in_ascii(line).isascii() and line.isprintable() for line in lines)
    assert all(line == line.rstrip() for line in lines)


@pytest.mark.parametrize(("width", "room"), [(40, 14), (80, 25), (200, 40)])
def test_bars_are_shares_of_a_round(width: int, room: int) -> None:
    table = plain(speculative_eight_gpus(), width).partition("\nTime is")[0]

    bars = dict(re.findall(r"(?m)^(\S.*?)  .* (█+[▉-▏]?)$", table))

    assert len(bars["weight GEMM"]) == pytest.approx(0.491 * room, abs=1)
    assert len(bars["draft"]) == pytest.approx(0.125 * room, abs=1)
    assert "round" not in bars


@CASES
def test_every_figure_of_the_first_table_is_whole_in_the_narrowest_terminal(made: Analysis) -> None:
    table = re.search(r"(?s)\ngroup  +(.*?)\nTime is", plain(made, 40))

    title, *rows = table[1].split("\n") if table else ["share"]
    cells = [row.rstrip("█▉▊▋▌▍▎▏ ").split("  ")[-1].strip() for row in rows if row[0] != "-"]

    assert title.split()[-1] in {"ms/round", "share", "highest", "1"}
    assert not [cell for cell in cells if not re.fullmatch(FIGURE, cell)]


@CASES
def test_colour_adds_nothing_but_colour(made: Analysis) -> None:
    colored = render(made, ReportFormat.TERMINAL, width=80, color=True)

    without = [line.rstrip() for line in ANSI.sub("", colored).splitlines()]
    assert "\x1b[" in colored
    assert without == plain(made).splitlines()


def test_a_wider_terminal_shows_a_share_for_each_of_eight_gpus() -> None:
    assert "lowest  highest" in plain(eight_gpus(), 80)
    assert all(f"  GPU {number}  " in plain(eight_gpus(), 100) for number in range(7))


def test_80_columns_show_what_a_round_takes_on_any_number_of_gpus() -> None:
    assert "group                ms/round     p99   share\n" in plain(speculative())
    assert "ms/round     p99   GPU 0   GPU 1\n" in plain(speculative_two_gpus())
    assert "ms/round     p99   GPU 0   GPU 1   GPU 2   GPU 3\n" in plain(speculative_four_gpus())
    assert "ms/round     p99  lowest  highest\n" in plain(speculative_eight_gpus())
    assert "ms/round      p99    GPU 0    GPU 1\n" in plain(opaque_rounds())


def test_a_narrow_terminal_keeps_the_time_of_a_round() -> None:
    assert re.search(r"draft +1\.469", plain(opaque_rounds(), 40))
    assert re.search(r"draft +1\.382", plain(speculative_eight_gpus(), 40))


def test_80_columns_show_seams_with_the_two_main_causes() -> None:
    text = plain(speculative())

    assert "\nseam                  gaps  ms/round  median    p99  host, %\n" in text
    assert (
        "\nverify->draft_extend  16.0     0.301     4.7  150.4  host code 58,\n"
        f"{' ' * 53}dependency 20, other 22\n"
    ) in text


def test_a_wide_terminal_shows_every_cause_and_a_narrow_one_the_time() -> None:
    assert "150.4  host code 58, dependency 20, launch 12, sync 10\n" in plain(speculative(), 120)
    assert "verify->draft_extend     0.301  host code 58," in plain(speculative(), 60)
    assert "verify->draft_extend     0.301\n" in plain(speculative(), 40)


def test_launching_has_a_column_for_each_kind_of_round_where_it_is_narrow() -> None:
    assert "\nspeculative       3  1,248   20.5" in plain(speculative(), 80)
    assert re.search(r"\nround +decode  prefill\n-+\ngraphs +1 +0\n", plain(decode_rounds(), 60))


def test_a_narrow_terminal_keeps_wire_and_wait_of_each_rank() -> None:
    made = speculative_two_gpus()

    assert "GPU   wire    p99   wait    p99    late    last\n" in plain(made, 80)
    assert "GPU   wire   wait    late    last\n" in plain(made, 40)


def test_sections_are_short() -> None:
    text = plain(speculative_two_gpus())

    for title, most in (("Gaps (", 17), ("Launching (", 4), ("Communication", 10), ("Layers", 4)):
        section, _, _ = text[text.index(f"\n{title}") + 1 :].partition("\n\n")
        assert len(section.splitlines()) <= most


def test_short_rounds_are_in_microseconds() -> None:
    made = speculative()
    wall = replace(made.rounds.wall, median=900_000) if made.rounds.wall else None

    assert "us/round" in plain(replace(made, rounds=replace(made.rounds, wall=wall)))


def test_figures_are_never_cut_in_a_narrow_terminal() -> None:
    text = plain(one_gpu(), 40)

    assert "966.200  ampere_bf16" in text
    assert "16,000" not in text


def test_unclassified_names_are_shown_and_the_rest_counted() -> None:
    text = plain(mostly_unclassified())

    assert "31 kernel names matched no rule" in " ".join(text.split())
    assert "user_kernel_3\n26 more: `traceattr kernels --unclassified`" in text


def test_that_nothing_is_unclassified_is_said() -> None:
    assert "Unclassified: 0. Every kernel name matched a rule." in plain(one_gpu())


@given(st.text(max_size=80))
@settings(max_examples=50, deadline=None)
def test_no_text_of_a_trace_reaches_the_terminal_raw(text: str) -> None:
    made = analysis(
        gpu_time(0, [category("gdn", 5)], idle()),
        kernels=[kernel("k[bold]\x1b[31m", "gdn", 5), kernel(f"{text}\x1b[31m", "gdn", 5)],
        warnings=(Notice("code", f"{text}[/red]:smile:\x07"),),
        simulated=f"{text}\x1b]0;title\x07",
    )

    report = plain(made, 1000)  # no word is so long that it is broken

    assert all(line.isprintable() for line in report.split("\n"))
    assert "[/red]:smile:\\x07" in report
    assert "k[bold]\\x1b[31m" in report


def test_help_does_not_pay_for_the_renderers() -> None:
    code = "import sys, traceattr.report.render; sys.exit('rich' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_same_analysis_gives_the_same_bytes() -> None:
    assert plain(two_gpus()) == plain(two_gpus())


def test_times_below_a_millisecond_are_in_microseconds() -> None:
    text = plain(
        analysis(
            gpu_time(0, [category("gdn", 5_250)], idle()), kernels=[kernel(GEMM, "gdn", 5_250)]
        )
    )

    assert re.search(r"time, us\s+share", text)
    assert re.search(r"GDN\s+5\.250\s+100 %", text)
