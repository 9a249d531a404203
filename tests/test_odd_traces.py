"""Traces of random work with random faults: an analysis that adds up, or one line of error."""

import sqlite3
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from traceattr.attribution.analyze import analysis_of
from traceattr.attribution.choice import STEADY_ROUNDS
from traceattr.attribution.survey import survey
from traceattr.errors import ExportError
from traceattr.ingest.trace import open_trace
from traceattr.rules.rule_set import load_rules
from traces.export_writer import ERAS, ExportWriter

RULES = load_rules()

FAULTS = {
    "globalPid": (None, 0),
    "deviceId": (None, 300, 2**31 - 1),
    "contextId": (None, -5),
    "streamId": (None, 2**40),
    "correlationId": (None, 0, -5, 2**31 - 1),
    "graphNodeId": (None, 0, -5),
    "graphId": (None, 0, 300),
    "demangledName": (None, 2**40),
    "start": (None,),
    "end": (None, 0),
}
"""What may stand in some rows of a column instead of what belongs there."""


def write_random_work(export: ExportWriter, random: Random) -> None:
    """Write graph replays, of which some overlap, and eager work of some processes."""
    pids = [100 + number for number in range(random.randint(1, 3))]
    for pid in pids:
        export.process(pid, random.choice([f"sglang::scheduler_TP{pid - 100}", "python3"]))
    now, correlation = random.choice([0, -500, 1753 * 10**15]), random.choice([1, 2**31 - 70])
    for _ in range(random.randint(1, 40)):
        now += random.choice([0, 1, 100, 3000])
        correlation += 1
        place: dict[str, Any] = {"pid": random.choice(pids), "device": random.choice([0, 0, 1])}
        place["stream"] = random.choice([7, 13])
        linked = random.choice([None, correlation])
        if random.random() < 0.6:
            call = random.choice(["cudaGraphLaunch_v10000", "cudaLaunchKernel_v7000"])
            export.api(call, now - 50, now - 40, pid=place["pid"], correlation=correlation)
        if random.random() < 0.2 and export.era not in ("2.7", "3.0"):
            export.graph_trace(now, now + 80, graph=9, correlation=linked, **place)
        for node in range(random.choice([1, 1, 3, 5])):
            begin = now + 10 * node
            part: dict[str, Any] = {"graph": random.choice([None, 9, 10]), "node": node + 1}
            part["correlation"] = linked
            end = begin + random.choice([-3, 0, 5, 30])
            if random.random() < 0.8:
                name = random.choice(["flash_fwd_splitkv", "gemm", "unknown", "embedding_kernel"])
                export.kernel(name, begin, end, **place, **part)
            else:
                export.memcpy(begin, end, kind=random.choice([1, 2, 8]), **place, **part)


def add_faults(path: Path, random: Random) -> None:
    with closing(sqlite3.connect(path)) as database:
        tables = database.execute(
            "SELECT name FROM sqlite_master WHERE name LIKE 'CUPTI_ACTIVITY_KIND_%'"
        ).fetchall()
        for (table,) in tables:
            columns = database.execute("SELECT name FROM pragma_table_info(?)", (table,))
            for (column,) in columns.fetchall():
                if column in FAULTS and random.random() < 0.15:
                    database.execute(
                        f'UPDATE OR IGNORE {table} SET "{column}" = ? WHERE rowid % ? = 0',  # noqa: S608
                        (random.choice(FAULTS[column]), random.randint(2, 9)),
                    )
        database.commit()


@pytest.mark.parametrize("seed", range(20))
def test_work_of_any_kind_adds_up_or_is_refused(tmp_path: Path, seed: int) -> None:
    random, path = Random(seed), tmp_path / "trace.sqlite"
    with ExportWriter(path, random.choice(ERAS)) as export:
        write_random_work(export, random)
    add_faults(path, random)
    try:
        with open_trace(path) as trace:
            looked = survey(trace, RULES, STEADY_ROUNDS)
            found = analysis_of(trace, RULES, looked)
    except ExportError:
        return  # no GPU can be told
    for time in found.per_gpu:
        assert sum(row.exclusive_ns for row in time.categories) == time.busy_ns
        assert time.busy_ns + time.idle.total_ns == time.wall_ns == found.window.wall_ns
    for owned in looked.owned:
        parts = owned.by_round.sum(axis=1) + owned.idle_by_round.sum(axis=1)
        assert parts.tolist() == owned.sample.wall_ns.tolist()
    for account in looked.accounts:
        assert (account.rounds.first < account.rounds.stop).all()
        assert (account.rounds.stop[:-1] <= account.rounds.first[1:]).all()
        assert (account.rounds.start_ns <= account.rounds.end_ns).all()
        assert np.isin(account.rounds.of_piece, range(-1, len(account.rounds.kind))).all()
