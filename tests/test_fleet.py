"""Traces of single ranks, put together: who is slow, and what cannot be used."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, nullcontext
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from threading import Event, Thread
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from tests.decoding import ALL_REDUCE, ATTENTION, write_replays
from tests.recordings import recorded
from tests.remote_files import serving
from traceattr.attribution.fleet import combine
from traceattr.attribution.fleet_part import RankPart, RankRounds, TracePart
from traceattr.attribution.fleet_rounds import clock_offset
from traceattr.cli import app, fleet
from traceattr.cli.fleet import expand
from traceattr.report.fleet_terminal import render_fleet_terminal
from traceattr.report.fleet_text import fleet_headline
from traces.cases import CASES

NS_PER_S = 10**9
INTERRUPTIBLE = """
import signal
if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    from traceattr.ingest import machine
    from traceattr.cli import fleet
    machine.cores, fleet._BYTES_WORTH_A_PROCESS = lambda: 2, 1
    from traceattr.__main__ import main
    main()
"""
SERVER = replace(CASES["fused-all-reduce"], rounds=6, before=())
SLOW_RANK = 2


@pytest.fixture(scope="module")
def ranks(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Return one trace per rank, begun at other times on machines whose clocks differ."""
    folder = tmp_path_factory.mktemp("ranks")
    whole, _ = recorded(SERVER)
    paths = []
    for rank in range(4):
        path = Path(shutil.copyfile(whole, folder / f"rank{rank}.sqlite"))
        with closing(sqlite3.connect(path)) as database, database:
            keep_rank(database, rank, later_ns=rank * NS_PER_S, skew_ns=rank * 300_000)
        paths.append(path)
    return paths


def keep_rank(database: sqlite3.Connection, rank: int, *, later_ns: int, skew_ns: int) -> None:
    """Leave one rank of a trace, as of a recording that began later, by a clock that is late."""
    pids = database.execute(
        "SELECT DISTINCT globalPid FROM CUPTI_ACTIVITY_KIND_KERNEL ORDER BY globalPid"
    ).fetchall()
    [pid] = pids[rank]
    for (table,) in database.execute("SELECT name FROM sqlite_master").fetchall():
        rows = database.execute("SELECT name FROM pragma_table_info(?)", (table,))
        columns = {name for (name,) in rows}
        if "start" not in columns:
            continue
        key = "globalPid" if "globalPid" in columns else "globalTid - globalTid % 16777216"
        database.execute(f"DELETE FROM {table} WHERE {key} != ?", (pid,))  # noqa: S608
        for column in sorted({"start", "end"} & columns):
            change = f'"{column}" = "{column}" - ?'
            database.execute(f"UPDATE {table} SET {change}", (later_ns,))  # noqa: S608
    database.execute(
        "UPDATE TARGET_INFO_SESSION_START_TIME SET utcEpochNs = utcEpochNs + ?",
        (later_ns + skew_ns,),
    )


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def document(*arguments: str | Path) -> Any:
    result = run("report", *arguments, "--format", "json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


@pytest.fixture(scope="module")
def runs(ranks: list[Path]) -> Any:
    """Return what is known of all ranks together."""
    return document(*ranks)["runs"]


def test_the_slow_rank_and_the_clocks_are_found(runs: Any) -> None:
    [found] = runs
    assert [rank["rank"] for rank in found["ranks"]] == [0, 1, 2, 3]
    assert found["straggler"] == SLOW_RANK
    assert found["matched_rounds"] >= 4
    assert found["parallel"] == {"TP": 4}
    for number, rank in enumerate(found["ranks"]):
        assert abs(rank["clock_ns"] - number * 300_000) < 100_000
    behind = [rank["behind_ns"] for rank in found["ranks"]]
    assert behind[SLOW_RANK] == max(behind) > 0
    assert [worst["rank"] for worst in found["worst_rounds"]]


def test_waiting_and_wire_are_those_of_one_trace_of_all_ranks(runs: Any) -> None:
    whole, _ = recorded(SERVER)
    wanted = [gpu["communication"] for gpu in document(whole, "--rounds", "0:5")["per_gpu"]]

    found = [rank["communication"] for rank in runs[0]["ranks"]]

    assert runs[0]["rank_groups"][0]["rounds"] == 5
    for mine, one in zip(found, wanted, strict=True):
        assert mine["collectives"] == one["collectives"] == 5 * 142
        assert mine["unmatched_ns"] == 0
        assert mine["arrived_last"] == pytest.approx(one["arrived_last"], abs=2)
        for key in ("wire_ns", "wait_ns", "late_ns"):
            assert mine[key] == pytest.approx(one[key], rel=0.002)


def test_the_order_of_the_traces_and_a_directory_change_nothing(ranks: list[Path]) -> None:
    wanted = run("report", *ranks).stdout
    assert run("report", *reversed(ranks)).stdout == wanted
    assert run("report", ranks[0].parent).stdout == wanted
    assert expand([ranks[0].parent]) == ranks
    assert "The others wait for rank 2 (rank2.sqlite)" in " ".join(wanted.split())
    assert max(map(len, wanted.splitlines())) <= 80
    assert "own, behind and clock in ms." in " ".join(wanted.split())


@pytest.mark.parametrize("format_", ["markdown", "csv"])
def test_each_format_names_every_rank(ranks: list[Path], format_: str) -> None:
    text = run("report", *ranks, "--format", format_).stdout
    assert all(path.name in text for path in ranks)


def test_a_trace_that_cannot_be_read_is_named_and_the_others_count(
    ranks: list[Path], runs: Any, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.sqlite"
    broken.write_bytes(ranks[0].read_bytes()[:9000])
    nowhere = "http://127.0.0.1:1/nowhere.sqlite"
    found = document(*ranks, broken, tmp_path / "missing.sqlite", nowhere)
    names = ["broken.sqlite", "missing.sqlite", "nowhere.sqlite"]
    assert [failed["file"] for failed in found["failed"]] == names
    assert "truncated" in found["failed"][0]["reason"]
    assert found["runs"] == runs


def test_without_any_readable_trace_it_is_an_error(tmp_path: Path) -> None:
    result = run("report", tmp_path / "a.sqlite", tmp_path / "b.sqlite")
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 1
    assert "a.sqlite: no such file" in result.stderr
    assert "b.sqlite: no such file" in result.stderr


def test_names_that_no_file_can_have_are_told_of_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    long = "a" * 300 + ".sqlite"
    alone, several = run("report", long), run("report", long, ".")
    assert (alone.exit_code, several.exit_code) == (2, 2)
    assert alone.stderr == f"error: {long}: cannot be read (File name too long)\n"
    assert several.stderr.startswith("error: .: a directory, but not an export")
    assert several.stderr.endswith(f"; {long}: cannot be read (File name too long)\n")


def test_a_copy_is_counted_once(ranks: list[Path], runs: Any, tmp_path: Path) -> None:
    copy = Path(shutil.copy(ranks[1], tmp_path / "rank1_again.sqlite"))
    found = document(*ranks, copy)
    assert found["runs"] == runs
    [warning] = [each for each in found["warnings"] if each["code"] == "trace-twice"]
    assert warning["text"] == "rank1_again.sqlite is a copy of rank1.sqlite and was left out."
    assert found["traces"] == 4
    assert run("report", ranks[0], ranks[0]).stdout.startswith("1 trace, 1 rank.")


def test_a_rank_that_no_trace_has_is_named(ranks: list[Path]) -> None:
    found = document(ranks[0], ranks[2], ranks[3])
    [warning] = [each for each in found["warnings"] if each["code"] == "rank-missing"]
    assert warning["text"] == "No trace that was read has TP1: the others may wait for it."
    assert found["runs"][0]["parallel"] == {"TP": 4}


@pytest.mark.parametrize(
    ("number", "named"),
    [(1, "TP0"), (9, "TP0, TP1, TP2, TP3, TP4, TP5, TP6, TP7, 1 more"), (0, "")],
)
def test_a_title_of_any_number_names_few_that_are_missing(number: int, named: str) -> None:
    part = trace("0", [0], [50])
    [rank] = part.ranks
    titled = replace(rank, process=f"sglang::scheduler_TP{number}")
    found = combine((replace(part, ranks=(titled,)),))
    wanted = f"No trace that was read has {named}: the others may wait for it." if named else ""
    assert "".join(notice.text for notice in found.warnings) == wanted


def test_two_runs_are_told_apart_by_their_time(ranks: list[Path], tmp_path: Path) -> None:
    other = Path(shutil.copy(ranks[3], tmp_path / "other.sqlite"))
    with closing(sqlite3.connect(other)) as database, database:
        database.execute("UPDATE TARGET_INFO_SESSION_START_TIME SET utcEpochNs = utcEpochNs * 2")
    found = document(*ranks, other)
    assert [len(each["ranks"]) for each in found["runs"]] == [4, 1]
    assert "runs-mixed" in {each["code"] for each in found["warnings"]}


@pytest.mark.parametrize(
    "flags", [["--model", "Qwen3.6-27B"], ["--format", "html", "-o", "x.html"]]
)
def test_what_is_known_of_one_trace_only_is_refused(ranks: list[Path], flags: list[str]) -> None:
    result = run("report", *ranks[:2], *flags)
    assert result.exit_code == 2
    assert "one trace, not several" in result.stderr


PLACE = RankPart("", 0, None, None, None, 100, 90, (("norm", 90),), RankRounds((), (), None))


def trace(file: str, starts: list[int], own: list[int], *, has_clock: bool = True) -> TracePart:
    rounds = RankRounds(tuple(starts), (100,) * len(starts), tuple(own))
    rank = replace(PLACE, file=file, rank=int(file), rounds=rounds)
    return TracePart(file, None, file, has_clock, starts[0], starts[-1] + 100, "decode", (rank,))


def test_a_straggler_is_the_slowest_in_most_rounds() -> None:
    starts = [0, 100, 200, 300]
    parts = (
        trace("0", starts, [50, 50, 50, 90]),
        trace("1", [start + 3 for start in starts], [80, 80, 80, 50]),
    )
    for order in permutations(parts):
        [found] = combine(order).runs
        assert found.straggler == 1
        assert [rank.slowest for rank in found.ranks] == [1, 3]
        assert [rank.clock_ns for rank in found.ranks] == [0, 3]
        assert found.worst[0].rank == 0
        assert found.worst[0].excess_ns == 0


UNEVEN_NS = np.cumsum([0, 100, 107, 95, 120, 99, 104, 93, 111, 100, 98, 109]) * 10 + 10**18


@pytest.mark.parametrize("skew_ns", [0, 300, -500, 1_000, -1_413, 3_000])
@pytest.mark.parametrize("part", [slice(0, 12), slice(2, 11)])
def test_rounds_of_uneven_length_tell_by_how_much_clocks_differ(skew_ns: int, part: slice) -> None:
    jitter = np.arange(12) % 3

    found = clock_offset(UNEVEN_NS, (UNEVEN_NS + skew_ns + jitter)[part], limit_ns=250)

    assert found == skew_ns + 1


@pytest.mark.parametrize(("skew_ns", "found"), [(0, 0), (-20, -20), (50, None), (110, 10)])
def test_of_rounds_of_one_length_only_clocks_that_differ_by_little_are_known(
    skew_ns: int, found: int | None
) -> None:
    even = np.arange(12) * 100 + 10**18

    assert clock_offset(even, even + skew_ns, limit_ns=25) == found


def test_ranks_without_titles_are_put_together_by_their_rounds() -> None:
    other_ns = np.cumsum([0, 104, 99, 118, 92, 101, 109, 97, 96, 113, 103, 100]) * 10 + 10**18
    parts = [
        trace(f"{at}", (begins_ns + at % 3).tolist(), [50 + at] * 12)
        for at, begins_ns in enumerate((UNEVEN_NS, other_ns, UNEVEN_NS, other_ns + 400))
    ]

    together = combine(tuple(parts))

    [found] = together.runs
    assert [(team.name, team.ranks) for team in found.teams] == [
        ("group 1", (0, 2)),
        ("group 2", (1, 3)),
    ]
    assert [team.matched for team in found.teams] == [12, 12]
    said = " ".join(render_fleet_terminal(together, width=80, color=False).split())
    assert "group 1: 0, 2. group 2: 1, 3." in said


def test_without_a_wall_clock_rounds_are_not_matched() -> None:
    parts = (trace("0", [0, 100], [50, 50]), trace("1", [0, 100], [60, 60], has_clock=False))
    together = combine(parts)
    [found] = together.runs
    assert found.teams[0].why_unmatched == "the wall clock of a trace is unknown"
    assert (found.straggler, found.matched, found.worst) == (None, 0, ())
    assert [notice.code for notice in together.warnings] == ["clock-unknown"]


def test_ranks_that_do_not_begin_together_are_not_matched() -> None:
    parts = (trace("0", [0, 100, 200], [1] * 3), trace("1", [45, 145, 245], [1] * 3))
    [found] = combine(parts).runs
    assert found.teams[0].why_unmatched == "the ranks do not begin their rounds together"


def test_who_is_slow_is_unknown_where_own_work_is_hidden() -> None:
    parts = [trace("0", [0, 100], [50, 50]), trace("1", [0, 100], [60, 60])]
    hidden = tuple(
        replace(
            one, ranks=tuple(replace(r, rounds=replace(r.rounds, own_ns=None)) for r in one.ranks)
        )
        for one in parts
    )
    together = combine(hidden)
    assert [rank.slowest for rank in together.runs[0].ranks] == [None, None]
    assert fleet_headline(together).endswith(
        "Which rank is slow is unknown: graphs are recorded as a whole."
    )


def test_a_window_outside_of_every_trace_is_said_of_each(ranks: list[Path]) -> None:
    result = run("report", *ranks[:2], "--window", "900:901")
    assert result.exit_code == 2
    for path in ranks[:2]:
        assert f"{path}: --window: nothing was recorded there" in result.stderr


def test_traces_of_nodes_are_found_below_a_directory_and_told_apart(
    ranks: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for node, path in enumerate(ranks[:2]):
        (tmp_path / f"node{node}").mkdir()
        shutil.copy(path, tmp_path / f"node{node}" / "trace.sqlite")
    monkeypatch.chdir(tmp_path)
    [found] = document(".")["runs"]
    assert [rank["file"] for rank in found["ranks"]] == [
        "node0/trace.sqlite",
        "node1/trace.sqlite",
    ]


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs Linux's /proc")
def test_ctrl_c_while_processes_start_is_one_word(ranks: list[Path]) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTIBLE, "report", *map(str, ranks), "--no-cache"],
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        started = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        while process.poll() is None and len(started.read_text().split()) < 2:
            time.sleep(0.01)
        time.sleep(0.1)  # in the midst of the imports of the first one
        os.killpg(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=30)
    assert (process.returncode, said) == (130, b"interrupted\n")


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory of tiny traces, one per rank of a server; CI makes as many as 32."""
    folder = tmp_path_factory.mktemp("many")
    for rank in range(int(os.environ.get("TRACEATTR_TEST_TRACES", "8"))):
        rounds = [
            [(ATTENTION, at, at + 50 + rank), (ALL_REDUCE, at + 60 + rank, at + 200)]
            for at in range(0, 4_000, 1_000)
        ]
        write_replays(folder / f"rank{rank:02}.sqlite", {f"s_TP{rank}": rounds})
    return folder


def test_ctrl_c_waits_until_processes_are_ready_whichever_thread_is_told() -> None:
    begun, done = Event(), []

    def be_told() -> None:
        begun.wait()
        signal.raise_signal(signal.SIGINT)

    def start(other: Thread) -> None:
        with fleet._sigint_held_back():
            begun.set()
            other.join()
            done.append("ready")

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    other = Thread(target=be_told)
    other.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            start(other)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert done == ["ready"]


def test_dask_gives_the_same_bytes_also_of_a_url_and_if_a_worker_is_killed_half_way(
    many: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    distributed: Any = pytest.importorskip("distributed")
    traces = sorted(path.name for path in many.iterdir())
    killed: list[int] = []
    masks: list[set[signal.Signals]] = []

    def kill_one(cluster: Any) -> None:
        """Kill a worker with something to do, and half of the results, when half are there."""
        tasks, workers = cluster.scheduler.tasks, cluster.scheduler.workers
        while sum(task.state == "memory" for task in [*tasks.values()]) < len(traces) // 2:
            time.sleep(0.001)
        while not (busy := next((one for one in [*workers.values()] if one.processing), None)):
            time.sleep(0.001)
        pid = next(nanny.pid for nanny in cluster.workers.values() if nanny.name == busy.name)
        os.kill(pid, signal.SIGKILL)
        killed.append(pid)

    def cluster_with_a_loss(*workers: int, **options: Any) -> Any:
        cluster = local_cluster(*workers, **options)
        with distributed.Client(cluster) as client:
            masks.extend(client.run(signal.pthread_sigmask, signal.SIG_BLOCK, ()).values())
        Thread(target=kill_one, args=(cluster,), daemon=True).start()
        return cluster

    local_cluster = distributed.LocalCluster
    monkeypatch.setattr(distributed, "LocalCluster", cluster_with_a_loss)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1}, raising=False)
    monkeypatch.setattr(fleet, "_BYTES_WORTH_A_PROCESS", 1)
    monkeypatch.chdir(many)
    how = ["--format", "json", "--no-cache"]
    wanted = run("report", *traces, "missing.sqlite", *how).stdout

    with serving(rank00=Path(traces[0]).read_bytes()) as server:
        named = [server.named(traces[0]), *traces[1:], "missing.sqlite"]
        found = run("report", *named, *how, "--dask", "local").stdout

    assert found == wanted
    assert len(json.loads(found)["runs"][0]["ranks"]) == len(traces)
    assert len(killed) == 1
    assert [signal.SIGINT in mask for mask in masks] == [True, True]  # Ctrl-C is not for them


def test_a_trace_of_which_every_worker_dies_is_named(
    ranks: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    distributed: Any = pytest.importorskip("distributed")

    class Lost:
        status = "error"

        def result(self) -> bytes:
            worker = SimpleNamespace(address="tcp://host:1")
            raise distributed.scheduler.KilledWorker("part", worker, 3)

    client = SimpleNamespace(map=lambda _, paths, **__: [Lost() for _ in paths])
    monkeypatch.setattr(distributed, "Client", lambda *_, **__: nullcontext(client))
    result = run("report", ranks[0], "--dask", "tcp://host:8786")
    assert result.exit_code == 2
    assert result.stderr.startswith(f"error: {ranks[0]}: each worker that was given this died")


def test_dask_that_is_missing_is_an_error(
    ranks: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    result = run("report", *ranks, "--dask", "local")
    assert result.exit_code == 2
    assert result.stderr == "error: --dask: needs Dask; install it: pip install 'traceattr[dask]'\n"
