"""How a report looks in a pull request."""

import re
from dataclasses import replace

import pytest

from tests.analyses import (
    NASTY,
    analysis,
    category,
    gpu_time,
    idle,
    kernel,
    mostly_unclassified,
    one_gpu,
    two_gpus,
)
from tests.conftest import CheckGolden
from tests.github_markdown import html_of, shown
from tests.round_analyses import cut_rounds, speculative_two_gpus
from tests.round_parts import seam
from tests.test_report_terminal import ALL, CASES
from traceattr.attribution.analysis import Analysis, Notice
from traceattr.report.markdown import MOST_CHARACTERS
from traceattr.report.names import shorten
from traceattr.report.render import ReportFormat, render


def markdown(made: Analysis) -> str:
    return render(made, ReportFormat.MARKDOWN, width=80, color=False)


@pytest.mark.parametrize("name", ALL)
def test_the_report_looks_as_reviewed(name: str, check_golden: CheckGolden) -> None:
    check_golden(f"report-{name}.md", markdown(ALL[name]))


@CASES
def test_what_is_above_the_fold_fits_a_screen(made: Analysis) -> None:
    above, _, _ = markdown(made).partition("<details>")

    assert len(above.splitlines()) < 60


def everything() -> Analysis:
    """Return a report with as much to say above the fold as there can be."""
    made = mostly_unclassified()
    rounds = cut_rounds()
    (gaps,) = rounds.gaps
    seams = tuple(seam(f"{name}->verify", 9_000_000, 120) for name in "abcdefgh")
    return replace(
        rounds,
        kernels=made.kernels,
        gaps=(replace(gaps, seams=seams),),
        trace=replace(made.trace, simulated="by hand"),
        warnings=tuple(Notice(f"code-{number}", "text") for number in range(30)),
    )


def test_a_report_with_much_to_say_fits_a_screen_too() -> None:
    above, _, _ = markdown(everything()).partition("<details>")

    assert len(above.splitlines()) < 60
    assert re.search(r"\n- \d+ more warnings: ", above)
    assert "| 4 more | " in above


@CASES
def test_communication_is_above_the_fold_and_layers_are_in_the_details(made: Analysis) -> None:
    above, _, details = markdown(made).partition("<details>")

    assert above.count("**Communication:** ") == (len(made.gpus) > 1)
    assert details.count("\n- layers: ") == (len(made.gpus) > 0)


@CASES
def test_the_first_table_has_few_rows_and_ends_with_their_sum(made: Analysis) -> None:
    first = re.search(r"(?m)^\| group .*\n\|.*\n((?:\|.*\n)+)", markdown(made))

    assert (first is None) == (not made.per_gpu)
    if first is not None:
        *groups, total = first[1].splitlines()
        assert 1 <= len(groups) <= 10
        assert re.match(r"\| \*\*(round|window)\*\* \|", total)
        assert not [row for row in groups if row.split(" | ")[1].strip(" |") == "0.000"]


def test_the_chart_has_a_slice_for_each_group_with_time() -> None:
    [chart] = re.findall(r"```mermaid\n(.*?)```", markdown(speculative_two_gpus()), re.DOTALL)

    head, title, *slices = chart.splitlines()
    assert (head, title) == ("pie showData", "    title ms of a round")
    assert all(re.fullmatch(r' {4}"[\w -]+" : \d+\.\d{3}', line) for line in slices)
    assert [line.split('"')[1] for line in slices][:2] == ["weight GEMM", "GDN"]


def test_what_was_not_above_the_fold_is_in_the_details() -> None:
    _, _, details = markdown(speculative_two_gpus()).partition("<details>")

    assert "| seam | gaps | ms/round | median | p99 | window, ms | host |" in details
    assert "| inside graphs | gaps | ms/round | median | window, ms |" in details
    assert "| round | graphs | nodes | eager | launch | CPU span |" in details
    assert "| GPU | wire | p99 | wait | p99 | late | last |" in details


@CASES
def test_every_detail_that_opens_closes(made: Analysis) -> None:
    text = markdown(made)

    assert text.count("<details>") == text.count("</details>") > 0


@CASES
def test_every_row_of_a_table_has_as_many_cells_as_its_head(made: Analysis) -> None:
    for table in re.findall(r"<table>.*?</table>", html_of(markdown(made)), flags=re.DOTALL):
        rows = re.findall(r"<tr>.*?</tr>", table, flags=re.DOTALL)
        assert len({len(re.findall(r"<t[hd][ >]", row)) for row in rows}) == 1


def test_the_report_stands_on_its_own() -> None:
    above, _, _ = shown(markdown(two_gpus())).text.partition("Chart of the time")

    for fact in (
        "SIMULATED",
        "2 x NVIDIA RTX A6000",
        "driver 580.95.05",
        "nsys 2026.2.1.210, schema 3.25.0",
        "traced per node",
        "0.500000000 s to 1.716650000 s",
        "0123456789ab",
        "traceattr 0.1.0",
    ):
        assert fact in above


def test_a_hostile_kernel_name_is_text_in_its_cell() -> None:
    made = analysis(
        gpu_time(0, [category("gdn", 5)], idle()), kernels=[kernel(NASTY, "gdn", 5, rule="a|b")]
    )

    assert shorten(NASTY) in shown(markdown(made)).codes


def test_a_long_list_of_kernels_is_shortened_and_says_so() -> None:
    kernels = [kernel(f"kernel_{n}_{'|' * 50}", "gdn", 10_000 - n) for n in range(3_000)]

    text = markdown(analysis(gpu_time(0, [category("gdn", 5)], idle()), kernels=kernels))

    assert len(text) < MOST_CHARACTERS
    assert "Kernels by total time (100 of 3,000)" in text
    assert "2,900 more: `traceattr kernels`" in text


def test_a_report_on_very_many_gpus_is_cut_and_says_so() -> None:
    times = [gpu_time(number, [category("gdn", 5)], idle()) for number in range(500)]

    text = markdown(analysis(*times))

    assert 30_000 < len(text) < MOST_CHARACTERS
    assert text.endswith("too long for a comment: `traceattr report --format json`\n")
    assert html_of(text).count("<details>") == html_of(text).count("</details>")


def test_many_warnings_still_leave_the_report_postable() -> None:
    warnings = tuple(Notice(f"code-{n}", f"{n} {'x' * 9_999}") for n in range(2_000))

    text = markdown(analysis(gpu_time(0, [category("gdn", 5)], idle()), warnings=warnings))

    assert len(text) < MOST_CHARACTERS
    assert "1,990 more warnings" in text


def test_a_command_in_a_warning_stays_code() -> None:
    made = analysis(
        gpu_time(0, [category("gdn", 5)], idle()),
        warnings=(Notice("code", "re-profile with `nsys profile --cuda-graph-trace=node`"),),
    )

    assert "- re-profile with `nsys profile --cuda-graph-trace=node`\n" in markdown(made)


def test_warnings_have_a_heading_and_none_have_none() -> None:
    notice = Notice("rows-reversed", "3 of 10 GPU operations end before they begin.")
    warned = markdown(replace(one_gpu(), warnings=(notice,)))

    assert "\n**Warnings**\n\n- 3 of 10 GPU operations end before they begin.\n" in warned
    assert "Warnings" not in markdown(replace(one_gpu(), warnings=()))


def test_a_group_that_rounds_to_nothing_is_no_slice() -> None:
    times = [category("gdn", 900_000_000), category("norm", 400)]

    text = markdown(analysis(gpu_time(0, times, idle())))

    assert '"GDN" : 900.000\n' in text
    assert '"other GPU work" :' not in text
