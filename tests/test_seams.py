"""What idle gaps join."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.recordings import recorded
from tests.synthetic import rounds_only
from traceattr.attribution.account import Account
from traceattr.attribution.analysis import Window
from traceattr.attribution.gap_analysis import GapChoice
from traceattr.attribution.gap_figures import GpuGaps
from traceattr.attribution.gap_report import GapReport, report_gaps
from traceattr.attribution.idle import split_idle
from traceattr.attribution.labels import LABELS, Label
from traceattr.attribution.piece_kinds import PieceKind
from traceattr.attribution.rounds import NO_ROUND, RoundKind
from traceattr.attribution.seams import Gaps, classify_gaps
from traceattr.ingest.host import load_host_ranges, load_os_calls
from traceattr.ingest.trace import open_trace
from traceattr.rules.rule_set import load_rules
from traces.description import Simulation
from traces.truth import GpuTruth, Truth

Span = tuple[int, int]
Piece = tuple[Span, PieceKind, str]
"""Place, kind, and whether it is a ``graph`` or ``eager``."""

NORM = LABELS.index(Label("norm", None))
GEMM = LABELS.index(Label("weight_gemm", None))
WALL = 100


def account(
    spans: Sequence[Span],
    pieces: Sequence[Piece] = (),
    rounds: Sequence[tuple[RoundKind, Sequence[int]]] = (),
    labels: Sequence[int] = (),
) -> Account:
    """Return one GPU with operations, pieces, and rounds made of pieces."""
    base = rounds_only(0, [])
    is_replay = np.array([how == "graph" for _, _, how in pieces], np.bool_)
    starts = np.array([span[0] for span, _, _ in pieces], np.int64)
    ends = np.array([span[1] for span, _, _ in pieces], np.int64)
    of_piece = np.full(len(pieces), NO_ROUND)
    for number, (_, members) in enumerate(rounds):
        of_piece[list(members)] = number
    replays = replace(
        base.timeline.replays,
        replay_id=np.arange(int(is_replay.sum())),
        is_envelope=np.zeros(int(is_replay.sum()), np.bool_),
        start_ns=starts[is_replay],
        end_ns=ends[is_replay],
    )
    timeline = replace(
        base.timeline,
        start_ns=np.array([start for start, _ in spans], np.int64),
        end_ns=np.array([end for _, end in spans], np.int64),
        label=np.array(labels or [0] * len(spans), np.int8),
        replay=np.full(len(spans), -1),
        replays=replays,
    )
    found = replace(
        base.pieces,
        start_ns=starts,
        end_ns=ends,
        replay=np.where(is_replay, np.cumsum(is_replay) - 1, -1),
    )
    kinds = replace(base.kinds, of_piece=tuple(kind for _, kind, _ in pieces))
    of_rounds = replace(base.rounds, kind=tuple(kind for kind, _ in rounds), of_piece=of_piece)
    return replace(base, timeline=timeline, pieces=found, kinds=kinds, rounds=of_rounds)


def gaps_of(one: Account, window: Span = (0, WALL), pause_ns: int | None = None) -> Gaps:
    parts = one.partition(Window(*window, "test"))
    idle = split_idle(
        one.timeline, parts.idle, pause_ns=pause_ns, hides_gaps=False, completeness="complete"
    )
    return classify_gaps(one, idle)


def named(gaps: Gaps) -> list[tuple[str, int, int]]:
    return [
        (gaps.name(at), int(gaps.start_ns[at]), int(gaps.end_ns[at]))
        for at in range(len(gaps.start_ns))
    ]


def test_a_seam_is_named_by_the_passes_on_both_sides_however_many_gaps_it_has() -> None:
    one = account(
        [(0, 10), (14, 16), (20, 30), (35, 40), (50, 100)],
        [
            ((0, 10), PieceKind.DRAFT, "graph"),
            ((20, 30), PieceKind.VERIFY, "graph"),
            ((35, 40), PieceKind.DRAFT_EXTEND, "eager"),
            ((50, 100), PieceKind.DRAFT, "graph"),
        ],
    )

    assert named(gaps_of(one)) == [
        ("draft->verify", 10, 14),
        ("draft->verify", 16, 20),
        ("verify->draft_extend", 30, 35),
        ("draft_extend->draft", 40, 50),
    ]


def test_a_gap_in_a_replay_is_named_by_the_categories_around_it() -> None:
    one = account(
        [(0, 40), (5, 20), (50, 100)],
        [((0, 100), PieceKind.VERIFY, "graph")],
        labels=[GEMM, NORM, NORM],
    )

    assert named(gaps_of(one)) == [("weight_gemm->norm", 40, 50)]


def test_a_gap_in_an_eager_pass_is_named_by_it_alone() -> None:
    one = account([(0, 40), (50, 100)], [((0, 100), PieceKind.DRAFT_EXTEND, "eager")])

    assert named(gaps_of(one)) == [("draft_extend", 40, 50)]


def test_the_pieces_of_one_prefill_are_one_pass_and_two_prefills_are_not() -> None:
    one = account(
        [(0, 20), (30, 40), (50, 100)],
        [
            ((0, 20), PieceKind.PREFILL_PIECE, "graph"),
            ((30, 40), PieceKind.PREFILL_PIECE, "graph"),
            ((50, 100), PieceKind.PREFILL_PIECE, "graph"),
        ],
        [(RoundKind.PREFILL, (0, 1)), (RoundKind.PREFILL, (2,))],
    )

    assert named(gaps_of(one)) == [("prefill", 20, 30), ("prefill->prefill", 40, 50)]


def test_the_draft_model_s_prefill_is_part_of_the_prefill() -> None:
    one = account(
        [(0, 20), (30, 40), (50, 100)],
        [
            ((0, 20), PieceKind.PREFILL, "eager"),
            ((30, 40), PieceKind.DRAFT_EXTEND, "eager"),
            ((50, 100), PieceKind.DRAFT, "graph"),
        ],
        [(RoundKind.PREFILL, (0, 1)), (RoundKind.SPECULATIVE, (2,))],
    )

    assert named(gaps_of(one)) == [("prefill", 20, 30), ("prefill->draft", 40, 50)]


def test_where_no_pass_is_known_a_side_is_called_eager() -> None:
    one = account(
        [(0, 20), (30, 40), (50, 80), (90, 100)],
        [((30, 40), PieceKind.OTHER, "eager"), ((50, 80), PieceKind.DECODE, "graph")],
    )

    assert named(gaps_of(one)) == [
        ("eager", 20, 30),
        ("eager->decode", 40, 50),
        ("decode->eager", 80, 90),
    ]


def test_edges_and_pauses_are_no_work() -> None:
    one = account([(10, 20), (29, 40), (50, 60)])

    assert named(gaps_of(one, pause_ns=9)) == [
        ("no work", 0, 10),
        ("eager", 20, 29),
        ("no work", 40, 50),
        ("no work", 60, 100),
    ]


def test_a_gap_that_the_window_cuts_remembers_when_the_gpu_ran_dry() -> None:
    gaps = gaps_of(account([(0, 10), (60, 100)]), window=(30, 50))

    assert named(gaps) == [("eager", 30, 50)]
    assert gaps.since_ns.tolist() == [10]
    assert gaps.next_operation.tolist() == [1]


def test_an_operation_of_length_zero_ends_no_gap() -> None:
    gaps = gaps_of(account([(0, 10), (30, 30), (60, 100)]))

    assert (gaps.since_ns.tolist(), gaps.next_operation.tolist()) == ([10], [2])


@given(
    st.lists(st.tuples(st.integers(0, 99), st.integers(0, 20)), min_size=1, max_size=12),
    st.lists(st.tuples(st.integers(0, 99), st.sampled_from(PieceKind), st.booleans()), max_size=6),
    st.none() | st.integers(0, 30),
)
def test_every_gap_of_the_window_is_named_exactly_once(
    work: list[Span], made: list[tuple[int, PieceKind, bool]], pause_ns: int | None
) -> None:
    pieces: list[Piece] = [
        ((start, start + 5), kind, "graph" if is_replay else "eager")
        for start, kind, is_replay in sorted(made)
    ]
    one = account(sorted((start, start + length) for start, length in work), pieces)

    gaps = gaps_of(one, pause_ns=pause_ns)

    idle_ns = one.partition(Window(0, WALL, "test")).idle.total_ns
    assert sum(end - start for _, start, end in named(gaps)) == idle_ns
    assert all(
        since <= start
        for since, start in zip(gaps.since_ns, gaps.start_ns[gaps.outside], strict=True)
    )


SERVERS = {
    "v1": Simulation(rounds=4),
    "v1, correlation 0, device 0 twice": Simulation(
        rounds=4, correlation_zero=True, same_device_id=True
    ),
    "v2": Simulation(rounds=4, round_program="round_v2"),
    "v2 with extension graph": Simulation(rounds=4, round_program="round_v2_graph"),
    "decode": Simulation(rounds=4, round_program="decode"),
    "decode, blocking": Simulation(rounds=4, round_program="decode_blocking"),
    "with prefills": Simulation(rounds=6, every=3, nvtx=True, other_threads=True),
    "a pause": Simulation(rounds=8, every=4, between=("pause", "prefill")),
    "4 ranks": Simulation(rounds=3, slowdowns=(1.0, 1.0, 1.05, 1.0)),
}
CASES = [
    pytest.param(replace(simulation, mode=mode), id=f"{name}, {mode}")
    for name, simulation in SERVERS.items()
    for mode in ("node", "graph")
]


def reported(path: Path, choice: GapChoice | None = None) -> GapReport:
    with open_trace(path) as trace:
        load_os_calls(trace)
        load_host_ranges(trace)
        return report_gaps(trace, load_rules(), gap_choice=choice or GapChoice())


def simulated(simulation: Simulation) -> tuple[GapReport, Truth]:
    path, truth = recorded(simulation)
    return reported(path), truth


def seams_by_truth(true: GpuTruth) -> dict[str, int]:
    total: defaultdict[str, int] = defaultdict(int)
    for name, found in true.seams.items():
        total[name] += sum(seam.idle_ns for seam in found)
    return total


def assert_parts_sum(gpu: GpuGaps) -> None:
    no_work_ns = 0 if gpu.no_work is None else gpu.no_work.total_ns
    assert gpu.seams_ns + (gpu.pairs_ns or 0) + no_work_ns + gpu.shorter_ns == gpu.idle_ns
    for seam in gpu.seams:
        assert seam.cause.total_ns == seam.total_ns
    for gap in gpu.longest:
        assert gap.cause.total_ns == gap.length_ns


@pytest.mark.parametrize("simulation", CASES)
def test_seams_and_their_causes_are_those_of_the_simulator(simulation: Simulation) -> None:
    report, truth = simulated(simulation)

    for gpu, true in zip(report.per_gpu, truth.gpus, strict=True):
        assert_parts_sum(gpu)
        found = {seam.seam: seam for seam in gpu.seams}
        for name, idle_ns in seams_by_truth(true).items():
            # What prepares a prefill belongs to it in the truth, to the seam before it here.
            tolerance_ns = 20_000 if name.endswith("->prefill") else 0
            assert found[name].total_ns == pytest.approx(idle_ns, rel=0.01, abs=tolerance_ns)
        told_ns, right_ns = right_causes(gpu, true)
        assert right_ns >= 0.9 * told_ns


def right_causes(gpu: GpuGaps, true: GpuTruth) -> tuple[int, int]:
    """Return the time in the seams of the truth, and that for which the cause is the same."""
    told_ns = right_ns = 0
    for seam in gpu.seams:
        causes = [found.cause for found in true.seams.get(seam.seam, ())]
        for part in ("sync", "launch", "api", "os", "python", "dependency"):
            true_ns = sum(getattr(cause, f"{part}_ns") for cause in causes)
            told_ns += true_ns
            right_ns += min(true_ns, getattr(seam.cause, f"{part}_ns"))
    return told_ns, right_ns


def test_envelopes_hide_pairs_and_not_seams() -> None:
    report, _ = simulated(Simulation(rounds=2, mode="graph"))

    assert [gpu.pairs for gpu in report.per_gpu] == [None, None]
    assert "graph-mode" in {notice.code for notice in report.warnings}


def test_a_slower_seam_shows_in_its_row_and_in_no_other() -> None:
    base, _ = simulated(Simulation(rounds=6))
    delays = {"verify->draft_extend": 60_000}
    head, _ = simulated(Simulation(rounds=6, seam_delays_ns=delays))

    change_us = {
        before.seam: ((after.per_round_ns or 0) - (before.per_round_ns or 0)) / 1000
        for before in base.per_gpu[0].seams
        for after in head.per_gpu[0].seams
        if before.seam == after.seam
    }
    assert change_us.pop("verify->draft_extend") == pytest.approx(60, abs=6)
    assert all(abs(change) < 6 for change in change_us.values())


def test_the_cut_begin_of_a_trace_neither_dilutes_a_seam_nor_is_one() -> None:
    report, truth = simulated(Simulation(rounds=6))

    for gpu, true in zip(report.per_gpu, truth.gpus, strict=True):
        seams = {seam.seam: seam for seam in gpu.seams}
        after = seams["draft_extend->draft"]
        whole = [found.idle_ns for found in true.seams["draft_extend->draft"]][:-1]
        assert gpu.rounds == 4
        assert after.rounds_with == 4
        assert after.per_round_count == seams["draft_extend->draft"].count / 5
        assert after.per_round_ns == pytest.approx(sum(whole) / len(whole), rel=0.2)
        assert (seams["eager->draft"].per_round_count, seams["eager->draft"].rounds_with) == (0, 0)


def test_a_seam_that_not_every_round_has_says_how_many_have_it() -> None:
    report, _ = simulated(Simulation(rounds=8, every=4))

    for gpu in report.per_gpu:
        rounds_with = {seam.seam: seam.rounds_with for seam in gpu.seams}
        assert rounds_with["draft->verify"] == gpu.rounds
        assert rounds_with["prefill->draft"] in (1, 2)


def test_gaps_below_a_length_are_left_out_and_counted() -> None:
    path, _ = recorded(Simulation(rounds=2))

    [gpu, _] = reported(path, GapChoice(top=3, min_ns=50_000)).per_gpu

    assert_parts_sum(gpu)
    assert gpu.pairs == ()
    assert len(gpu.longest) == 3
    assert min(gap.length_ns for gap in gpu.longest) >= 50_000
    assert gpu.shorter_count > 2000


REAL = Path(__file__).parent.parent.parent / "shared" / "traces"


@pytest.mark.skipif(not REAL.is_dir(), reason="the real exports are not part of the project")
@pytest.mark.parametrize(
    "name", ["h100_2gpu_1s", "mfu_2gpu_before", "mock", "saxpy-mpi-cuda_nsys_perlmutter0"]
)
def test_no_cause_in_a_real_export_is_longer_than_its_gap(name: str) -> None:
    report = reported(REAL / f"{name}.sqlite", GapChoice(top=10_000))

    assert report.round_kind is None
    for gpu in report.per_gpu:
        assert_parts_sum(gpu)
        assert {seam.seam for seam in gpu.seams} == {"eager"}
        assert len(gpu.longest) == sum(seam.count for seam in gpu.seams) + (
            gpu.no_work.count if gpu.no_work else 0
        )
