"""The report as CSV."""

import csv
from io import StringIO

from hypothesis import given, settings

from tests.analyses import analysis, graph_mode, two_gpus
from tests.round_analyses import opaque_rounds, speculative
from tests.test_report_grouped import gpu_times
from traceattr.attribution.analysis import Analysis, GpuTime
from traceattr.report.render import ReportFormat, render


def rows(made: Analysis) -> list[dict[str, str]]:
    text = render(made, ReportFormat.CSV, width=80, color=False)
    return list(csv.DictReader(StringIO(text)))


def test_columns_keep_their_order() -> None:
    text = render(two_gpus(), ReportFormat.CSV, width=80, color=False)

    assert text.splitlines()[:2] == [
        "category,group,phase,gpu,exclusive_ns,share,sum_ns,operations,subcategory,"
        "round_median_ns,round_p99_ns",
        "weight_gemm,weight GEMM,,0,965300000,0.7934081288784778,968300000,16000,,,",
    ]


@given(gpu_times())
@settings(deadline=None)
def test_rows_of_a_gpu_add_up_to_its_wall_time(time: GpuTime) -> None:
    assert sum(int(row["exclusive_ns"] or 0) for row in rows(analysis(time))) == time.wall_ns


def test_each_gpu_has_its_own_rows_with_the_subcategories_of_communication() -> None:
    found = [
        (row["gpu"], row["subcategory"]) for row in rows(two_gpus()) if row["category"] == "comm"
    ]

    assert found == [("0", "custom"), ("0", "nccl"), ("1", "custom"), ("1", "nccl")]


def test_what_the_trace_cannot_tell_is_an_empty_cell() -> None:
    found = {row["category"]: row for row in rows(graph_mode())}

    assert found["in-graph gaps"]["exclusive_ns"] == ""
    assert found["in-graph gaps"]["share"] == ""
    assert found["no work"]["exclusive_ns"] == "0"


def test_each_phase_has_its_own_row_with_its_time_in_a_round() -> None:
    found = [
        (row["category"], row["group"], row["phase"], row["round_median_ns"], row["round_p99_ns"])
        for row in rows(speculative())
        if row["category"] in ("attention", "host gaps")
    ]

    assert found == [
        ("attention", "attention", "target", "190000", "190675"),
        ("attention", "attention", "other", "7000", "7225"),
        ("attention", "draft", "draft", "24000", "24675"),
        ("host gaps", "host gaps", "", "682000", "753250"),
    ]


def test_hidden_gaps_have_no_time_in_a_round() -> None:
    found = {row["category"]: row for row in rows(opaque_rounds())}

    assert found["in-graph gaps"]["round_median_ns"] == ""
    assert found["host gaps"]["round_median_ns"] == "682000"
