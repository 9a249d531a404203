"""Every operation, pass and gap of the rounds that a page shows."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.decoding import ALL_REDUCE, ATTENTION, GEMM, Kernel, write_replays
from tests.loading import PID
from tests.recordings import recorded
from traceattr.attribution import closeup
from traceattr.attribution.choice import STEADY_ROUNDS, Choice
from traceattr.attribution.closeup import Closeups, ForwardPass, OperationName, closeups
from traceattr.attribution.gap_figures import Cause
from traceattr.attribution.survey import survey
from traceattr.ingest.trace import open_trace
from traceattr.rules.rule_set import load_rules
from traces.description import Simulation
from traces.export_writer import ExportWriter

ROUNDS = (0, 1_000, 2_100, 3_400, 4_500)
"""Begins; the third round, of 1,300 ns, is the slowest, and 1,100 ns is the median."""


def looked_at(path: Path, choice: Choice = STEADY_ROUNDS) -> Closeups:
    with open_trace(path) as trace:
        return closeups(trace, survey(trace, load_rules(), choice))


def replay(begin: int) -> list[Kernel]:
    """Return the kernels of a replay with a gap of 50 ns between the first and the second."""
    return [
        (GEMM, begin, begin + 400),
        (ATTENTION, begin + 450, begin + 600),
        (ALL_REDUCE, begin + 600, begin + 700),
    ]


@pytest.fixture
def decode(tmp_path: Path) -> Closeups:
    path = tmp_path / "trace.sqlite"
    write_replays(path, {"sglang::scheduler_TP0": [replay(begin) for begin in ROUNDS]})
    return looked_at(path)


def test_the_median_and_the_slowest_round_are_shown(decode: Closeups) -> None:
    shown = [(part.title, part.round, part.start_ns, part.end_ns) for part in decode.parts]

    assert shown == [("median round", 1, 1_000, 2_100), ("slowest round", 2, 2_100, 3_400)]
    assert [part.whole_ns for part in decode.parts] == [1_100, 1_300]


def test_operations_come_with_their_kernels(decode: Closeups) -> None:
    [gpu] = decode.parts[0].per_gpu
    operations = gpu.operations

    assert operations.start_ns.tolist() == [1_000, 1_450, 1_600]
    assert operations.end_ns.tolist() == [1_400, 1_600, 1_700]
    assert [decode.names[at].name for at in operations.name] == [GEMM, ATTENTION, ALL_REDUCE]
    assert [decode.names[at].category for at in operations.name] == [
        "weight_gemm",
        "attention",
        "comm",
    ]
    assert operations.stream_id.tolist() == [7, 7, 7]


def test_each_kernel_is_named_once(decode: Closeups) -> None:
    assert OperationName(GEMM, "weight_gemm", "gemm-cublas") in decode.names
    assert len(decode.names) == len({kernel.name for kernel in decode.names}) == 3


def test_passes_and_gaps_are_those_of_the_round(decode: Closeups) -> None:
    [gpu] = decode.parts[0].per_gpu

    assert gpu.passes == (ForwardPass("decode", 1_000, 1_700, 17, False),)
    assert [(gap.start_ns, gap.end_ns, gap.kind, gap.seam) for gap in gpu.gaps] == [
        (1_400, 1_450, "in-graph", "weight_gemm->attention"),
        (1_700, 2_100, "seam", "decode->decode"),
    ]
    assert gpu.gaps[0].cause == Cause(dependency_ns=50)


def test_what_ran_and_what_was_idle_fill_the_round() -> None:
    path, _ = recorded(Simulation(rounds=2))

    for part in looked_at(path).parts:
        for gpu in part.per_gpu:
            covered = np.zeros(part.end_ns - part.start_ns, np.bool_)
            ran = zip(gpu.operations.start_ns, gpu.operations.end_ns, strict=True)
            for start_ns, end_ns in ran:
                covered[max(start_ns - part.start_ns, 0) : max(end_ns - part.start_ns, 0)] = True
            idle_ns = sum(
                min(gap.end_ns, part.end_ns) - max(gap.start_ns, part.start_ns) for gap in gpu.gaps
            )
            assert int((~covered).sum()) == idle_ns


def test_graphs_as_a_whole_are_work_without_a_name() -> None:
    path, _ = recorded(Simulation(rounds=2, mode="graph"))

    found = looked_at(path)

    [gpu, _] = found.parts[0].per_gpu
    envelopes = [one for one in gpu.passes if one.is_envelope]
    categories = [found.names[at].category for at in gpu.operations.name]
    assert {one.kind for one in envelopes} == {"verify", "draft", "draft_extend"}
    assert categories.count("graph (not traced per node)") == len(envelopes)
    assert all(gap.kind == "seam" for gap in gpu.gaps)


def test_a_trace_without_rounds_is_shown_whole(tmp_path: Path) -> None:
    path = tmp_path / "trace.sqlite"
    with ExportWriter(path) as export:
        export.kernel(GEMM, 100, 200, pid=PID, stream=3)
        export.memcpy(250, 260, pid=PID, stream=4, kind=2)
        export.memcpy(260, 270, pid=PID, stream=4, kind=9)
        export.memset(270, 280, pid=PID, stream=4)

    found = looked_at(path)

    [part] = found.parts
    [gpu] = part.per_gpu
    assert (part.title, part.start_ns, part.end_ns) == ("whole window", 100, 280)
    assert gpu.operations.stream_id.tolist() == [3, 4, 4, 4]
    names = [found.names[at].name for at in gpu.operations.name]
    assert names == [GEMM, "copy to the host", "copy", "memory set"]
    assert gpu.passes == ()
    assert [(gap.start_ns, gap.end_ns) for gap in gpu.gaps] == [(200, 250)]


def test_too_many_operations_are_cut_and_that_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(closeup, "MOST_OPERATIONS", 2)
    path = tmp_path / "trace.sqlite"
    write_replays(path, {"sglang::scheduler_TP0": [replay(begin) for begin in ROUNDS]})

    part = looked_at(path).parts[0]

    assert (part.start_ns, part.end_ns, part.whole_ns) == (1_000, 1_600, 1_100)
    assert len(part.per_gpu[0].operations.start_ns) == 2


def test_the_middle_of_a_long_trace_without_rounds_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(closeup, "MOST_OPERATIONS", 3)
    path = tmp_path / "trace.sqlite"
    with ExportWriter(path) as export:
        for begin in range(0, 900, 100):
            export.kernel(GEMM, begin, begin + 50, pid=PID)

    [part] = looked_at(path).parts

    assert (part.title, part.start_ns, part.end_ns) == ("middle of the window", 300, 600)
    assert part.whole_ns == 850
    assert part.per_gpu[0].operations.start_ns.tolist() == [300, 400, 500]


def test_rounds_asked_for_are_those_that_are_shown(tmp_path: Path) -> None:
    path = tmp_path / "trace.sqlite"
    write_replays(path, {"sglang::scheduler_TP0": [replay(begin) for begin in ROUNDS]})

    shown = looked_at(path, replace(STEADY_ROUNDS, rounds=(0, 1))).parts

    assert [(part.title, part.start_ns, part.end_ns) for part in shown] == [("round", 0, 1_000)]
