"""The scheduler's NVTX ranges beside the rounds that were found without them."""

import shutil
import sqlite3
from pathlib import Path

import pytest

from tests.recordings import recorded
from traceattr.attribution.analysis import Notice
from traceattr.attribution.gap_report import report_gaps
from traceattr.ingest.host import load_host_ranges, load_os_calls
from traceattr.ingest.trace import open_trace
from traceattr.rules.rule_set import load_rules
from traces.description import Simulation


def notices(simulation: Simulation, folder: Path, *edits: str) -> list[Notice]:
    path = Path(shutil.copyfile(recorded(simulation)[0], folder / "trace.sqlite"))
    with sqlite3.connect(path) as connection:
        for edit in edits:
            connection.execute(edit)
    connection.close()
    with open_trace(path) as trace:
        load_os_calls(trace)
        load_host_ranges(trace)
        return [n for n in report_gaps(trace, load_rules()).warnings if n.code.startswith("rounds")]


@pytest.mark.parametrize("program", ["round", "round_v2", "decode"])
def test_scheduler_ranges_confirm_the_rounds(program: str, tmp_path: Path) -> None:
    found = notices(Simulation(rounds=4, round_program=program, nvtx=True), tmp_path)

    assert [notice.code for notice in found] == ["rounds-confirmed"] * 2
    assert found[0].text.startswith("NVTX: 4 of 4 rounds with graphs on GPU 0")


def test_rounds_that_share_a_range_are_doubted(tmp_path: Path) -> None:
    found = notices(
        Simulation(rounds=4, nvtx=True),
        tmp_path,
        """UPDATE NVTX_EVENTS SET "end" = "end" + 60000000 WHERE text = 'scheduler.run_batch'""",
        """DELETE FROM NVTX_EVENTS WHERE text = 'scheduler.run_batch' AND start IN (
            SELECT start FROM (
                SELECT start, row_number() OVER (PARTITION BY globalTid ORDER BY start) AS n
                FROM NVTX_EVENTS WHERE text = 'scheduler.run_batch'
            ) WHERE n = 2
        )""",
    )

    assert [notice.code for notice in found] == ["rounds-doubted"] * 2
    assert found[0].text.startswith("NVTX: 2 of 4 rounds")


def test_nothing_is_said_without_scheduler_ranges(tmp_path: Path) -> None:
    assert notices(Simulation(rounds=4), tmp_path) == []
