"""The list of kernels in every format."""

import csv
import json
from dataclasses import replace
from io import StringIO

import pytest

from tests.analyses import NASTY, analysis, kernel, mostly_unclassified, two_gpus
from tests.conftest import CheckGolden
from traceattr.report.kernels import render_kernels
from traceattr.report.render import ReportFormat

SUFFIXES = {"terminal": "txt", "markdown": "md", "json": "json", "csv": "csv"}


@pytest.mark.parametrize("name", SUFFIXES)
def test_the_list_looks_as_reviewed(name: str, check_golden: CheckGolden) -> None:
    text = render_kernels(two_gpus(), ReportFormat(name), width=80, color=False)

    check_golden(f"kernels.{SUFFIXES[name]}", text)


@pytest.mark.parametrize("width", [40, 60, 80, 100, 160])
def test_a_terminal_shows_rules_and_whole_figures_in_any_width(width: int) -> None:
    text = render_kernels(two_gpus(), ReportFormat.TERMINAL, width=width, color=False)

    assert max(map(len, text.splitlines())) <= width
    assert "966.200" in text
    assert "custom-all-reduce" in text


def test_a_wide_terminal_has_a_column_for_rules() -> None:
    text = render_kernels(two_gpus(), ReportFormat.TERMINAL, width=120, color=False)

    assert "category     rule               kernel" in text


@pytest.mark.parametrize("report_format", [ReportFormat.TERMINAL, ReportFormat.MARKDOWN])
def test_an_empty_list_says_so(report_format: ReportFormat) -> None:
    text = render_kernels(analysis(), report_format, width=80, color=False)

    assert text == "No such kernel in the window.\n"


def test_an_empty_list_is_still_a_document() -> None:
    text = render_kernels(analysis(), ReportFormat.JSON, width=80, color=False)

    assert json.loads(text)["kernels"] == []


def test_json_and_csv_hold_whole_names() -> None:
    made = mostly_unclassified()

    as_json = json.loads(render_kernels(made, ReportFormat.JSON, width=80, color=False))
    as_csv = csv.DictReader(StringIO(render_kernels(made, ReportFormat.CSV, width=80, color=False)))

    assert as_json["kernels"][0]["name"] == NASTY
    assert next(as_csv)["name"].startswith("evil|kernel`<b>bold</b>` @everyone #1\\n\\x1b[31mred")


def test_no_cell_of_the_csv_is_a_formula() -> None:
    made = replace(analysis(), kernels=(kernel("=1+1", "gdn", 5, rule="-x"),))

    text = render_kernels(made, ReportFormat.CSV, width=80, color=False)

    assert text.splitlines()[1] == "gdn,,'-x,1,1,5,5,'=1+1"
