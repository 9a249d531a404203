"""The servers of `traces.cases`: what each looks like on the GPU, and what the truth says."""

from collections import Counter
from dataclasses import astuple, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Literal

import pytest

from traces.answer import truth_of
from traces.cases import CASES, LLAMA_H100, QWEN_H100
from traces.command_line import main
from traces.description import Simulation
from traces.eras import ERAS
from traces.kernel_table import Sequences
from traces.simulate import run, simulate
from traces.timeline import NO_ROUND, Timeline
from traces.truth import CauseTruth, GpuTruth, Truth
from traces.workload import Copy, Graph, Kernel, Launch
from traces.workload_file import load_workload

QWEN = load_workload()
SHORT = {
    name: replace(case, rounds=4, every=2 if case.every else None) for name, case in CASES.items()
}
PHASES = {"target", "draft", "draft_extend", "prefill", "draft_prefill", "other"}


@cache
def simulated(case: str, mode: Literal["node", "graph"] = "node") -> tuple[Timeline, Truth]:
    timeline = ran(case)
    return timeline, truth_of(timeline, replace(SHORT[case], mode=mode))


@cache
def ran(case: str) -> Timeline:
    """Return what a server does, however it is traced."""
    return run(SHORT[case])


def told(simulation: Simulation) -> tuple[Timeline, Truth]:
    timeline = run(simulation)
    return timeline, truth_of(timeline, simulation)


def kinds(gpu: GpuTruth) -> list[str]:
    return [each.kind for each in gpu.rounds]


def cause_of(gpu: GpuTruth, seam: str) -> CauseTruth:
    total = CauseTruth()
    for each in gpu.seams[seam]:
        total += each.cause
    return total


def idle_ns(gpu: GpuTruth, seam: str) -> int:
    return sum(each.idle_ns for each in gpu.seams[seam])


@pytest.mark.parametrize("mode", ["node", "graph"])
@pytest.mark.parametrize("case", CASES)
def test_stages_seams_and_pauses_account_for_all_time(
    case: str, mode: Literal["node", "graph"]
) -> None:
    _, truth = simulated(case, mode)

    for gpu in truth.gpus:
        exclusive = [amount for phase in gpu.phases.values() for amount in phase.values()]
        assert gpu.phases.keys() <= PHASES
        assert sum(amount.exclusive_ns for amount in exclusive) == gpu.busy_ns
        assert gpu.busy_ns + gpu.idle_ns == gpu.wall_ns == truth.end_ns - truth.start_ns
        in_stages = sum(stage.idle_ns or 0 for stage in gpu.stages)
        in_seams = sum(idle_ns(gpu, seam) for seam in gpu.seams)
        no_work = sum(pause.end_ns - pause.start_ns for pause in gpu.pauses)
        rest = gpu.idle_ns - in_stages - in_seams - no_work
        assert gpu.idle.no_work_ns == no_work
        if "load" in SHORT[case].before:
            assert rest > 100_000_000  # while files are read and graphs captured
        else:
            assert 0 <= rest < 3_000_000  # before the first stage


@pytest.mark.parametrize("mode", ["node", "graph"])
@pytest.mark.parametrize("case", CASES)
def test_the_causes_of_a_gap_sum_to_it(case: str, mode: Literal["node", "graph"]) -> None:
    _, truth = simulated(case, mode)

    for gpu in truth.gpus:
        for seam in (seam for seams in gpu.seams.values() for seam in seams):
            assert [gap.end_ns - gap.start_ns for gap in seam.gaps] == list(seam.gaps_ns)
            assert sum(astuple(seam.cause)) == seam.idle_ns == sum(seam.gaps_ns)
            assert seam.start_ns <= seam.end_ns
            for gap in seam.gaps:
                assert min(astuple(gap.cause)) >= 0
                assert sum(astuple(gap.cause)) == gap.end_ns - gap.start_ns
        for stage in gpu.stages:
            if stage.cause is not None and not gpu.pauses:
                assert sum(astuple(stage.cause)) == stage.idle_ns


@pytest.mark.parametrize("case", CASES)
def test_all_ranks_have_the_same_rounds_one_after_the_other(case: str) -> None:
    _, truth = simulated(case)

    for gpu in truth.gpus:
        assert [each.index for each in gpu.rounds] == list(range(len(gpu.rounds)))
        assert kinds(gpu) == kinds(truth.gpus[0])
        for left, right in pairwise(gpu.rounds):
            assert left.start_ns < left.end_ns
            assert right.start_ns > left.end_ns - 10_000  # results are copied beside the next one
        assert gpu.steady is not None
        decoding = [each.index for each in gpu.rounds if each.kind != "prefill"]
        assert (gpu.steady.first_round, gpu.steady.last_round) == (decoding[0], decoding[-1])


def composition(graph: Graph) -> tuple[int, int, int, int, int]:
    """Count attention, recurrences, collectives, GEMMs and all kernels."""
    kernels = [node.kernel for node in graph.nodes]
    categories = Counter(kernel.category for kernel in kernels)
    attention = sum(
        "BatchPrefillWith" in kernel.name or "FlashAttnFwdSm90" in kernel.name for kernel in kernels
    )
    recurrences = sum(
        "gated_delta" in kernel.name or "_delta_rule_" in kernel.name for kernel in kernels
    )
    return attention, recurrences, categories["comm"], categories["weight_gemm"], len(kernels)


@pytest.mark.parametrize(
    ("graph", "expected"),
    [
        (QWEN.graphs["verify"], (16, 48, 130, 305, 1143)),
        (QWEN.graphs["draft"], (2, 0, 8, 12, 73)),
        (QWEN.graphs["draft_extend"], (1, 0, 4, 6, 32)),
        (QWEN.graphs["draft_extend_v2"], (1, 0, 4, 6, 30)),
        (QWEN.graphs["decode"], (16, 48, 130, 305, 1047)),
        (QWEN_H100.graphs["verify"], (16, 48, 130, 305, 1032)),
        (LLAMA_H100.graphs["verify"], (64, 0, 66, 129, 517)),
        (LLAMA_H100.graphs["draft"], (6, 0, 9, 15, 97)),
        (LLAMA_H100.graphs["draft_extend"], (1, 0, 3, 6, 23)),
        (LLAMA_H100.graphs["draft_standalone"], (16, 0, 34, 66, 229)),
        (LLAMA_H100.graphs["extend_standalone"], (8, 0, 17, 33, 110)),
        (LLAMA_H100.graphs["draft_block"], (5, 0, 12, 22, 83)),
    ],
)
def test_graphs_are_composed_as_the_model_and_its_draft_demand(
    graph: Graph, expected: tuple[int, int, int, int, int]
) -> None:
    assert composition(graph) == expected


def test_an_eager_draft_extend_stands_in_the_place_of_the_graph() -> None:
    timeline, truth = simulated("spec-v2")

    extend = [
        op
        for op in timeline.operations
        if op.phase == "draft_extend" and (op.rank, op.round) == (0, 2)
    ]
    assert all(op.graph is None and op.lane == "main" for op in extend)
    assert len(extend) == 32
    for gpu in truth.gpus:
        assert Counter(replay.kind for replay in gpu.replays) == {"draft": 4, "verify": 4}
        assert {name: len(seams) for name, seams in gpu.seams.items()} == {
            "prefill->draft": 1,
            "draft->verify": 4,
            "verify->draft_extend": 4,
            "draft_extend->draft": 3,
        }
        eager = [stage for stage in gpu.stages if stage.kind == "draft_extend"]
        assert [stage.is_replay for stage in eager] == [False] * 4
        assert all(2_000_000 < stage.end_ns - stage.start_ns < 3_000_000 for stage in eager)


def test_results_are_copied_on_a_stream_of_their_own_and_end_the_round() -> None:
    timeline, truth = simulated("spec-v2")

    for each in truth.gpus[0].rounds[1:]:
        copied = [
            op
            for op in timeline.operations
            if (op.rank, op.round) == (0, each.index)
            and isinstance(op.what, Copy)
            and op.what.kind == "d2h"
            and op.lane == "copy"
        ]
        assert len(copied) == 2
        assert max(op.end_ns for op in copied) == each.end_ns


def test_an_overlapping_scheduler_waits_for_events_and_leaves_no_gap_unless_it_is_slow() -> None:
    timeline, quick = simulated("spec-v2")
    _, slow = simulated("spec-v2-slow-host")

    waits = [call for call in timeline.calls if call.name.startswith("cudaEventSynchronize")]
    assert len(waits) == 2 * (4 - 1)  # per rank, for the round before
    for gpu in quick.gpus:
        assert idle_ns(gpu, "draft_extend->draft") < 3 * 40_000
        assert cause_of(gpu, "draft_extend->draft").python_ns == 0
    for gpu in slow.gpus:
        assert idle_ns(gpu, "draft->verify") < 4 * 20_000
        cause = cause_of(gpu, "draft_extend->draft")
        assert cause.python_ns > 0.5 * idle_ns(gpu, "draft_extend->draft") > 50_000


def test_the_scheduler_works_on_its_own_stream_beside_the_round_before() -> None:
    timeline, truth = simulated("decode")

    second = truth.gpus[0].rounds[2]
    own = [
        op
        for op in timeline.operations
        if (op.rank, op.round, op.lane) == (0, second.index, "schedule")
    ]
    assert len(own) == 2
    assert all(op.end_ns < second.start_ns for op in own)
    assert kinds(truth.gpus[0]) == ["prefill", *["decode"] * 4]


def test_a_step_without_overlap_has_every_cause_between_two_graphs() -> None:
    _, truth = simulated("decode-blocking")

    for gpu in truth.gpus:
        assert min(astuple(cause_of(gpu, "decode->decode"))) > 10_000


def test_prefill_interrupts_and_takes_a_number() -> None:
    _, truth = simulated("prefill-between")

    for gpu in truth.gpus:
        assert kinds(gpu) == ["speculative"] * 2 + ["prefill"] + ["speculative"] * 2
        assert {"draft_extend->prefill", "prefill->draft"} < gpu.seams.keys()
        [stage] = [stage for stage in gpu.stages if stage.kind == "prefill"]
        assert not stage.is_replay
        assert {"prefill", "draft_prefill"} < gpu.phases.keys()


def test_a_prefill_of_pieces_is_one_stage_of_65_short_replays() -> None:
    _, truth = simulated("prefill-pieces")

    for gpu in truth.gpus:
        pieces = [replay for replay in gpu.replays if replay.kind == "prefill_piece"]
        assert len(pieces) == 2 * 65
        assert len({piece.graph_id for piece in pieces}) == 65
        assert [stage.kind for stage in gpu.stages] == [
            *["prefill", "decode", "decode"],
            *["prefill", "decode", "decode"],
        ]
        assert gpu.seams.keys() == {"prefill->decode", "decode->decode", "decode->prefill"}


def test_another_batch_size_has_graphs_of_its_own() -> None:
    timeline, truth = simulated("two-batch-sizes")

    ids: dict[str, set[int]] = {}
    for replay in truth.gpus[0].replays:
        ids.setdefault(replay.kind, set()).add(replay.graph_id)
    assert ids == {"draft": {61, 62}, "verify": {17, 18}, "draft_extend": {104, 105}}
    assert [each.batch_size for each in truth.gpus[0].rounds] == [*[1] * 7, 2, 2, 1, 2, 2]
    one, two = (QWEN.graphs[name].nodes for name in ("verify", "verify@bs2"))
    assert all(b.kernel.grid[0] == 2 * a.kernel.grid[0] for a, b in zip(one, two, strict=True))
    assert {a.kernel.name for a in one} != {b.kernel.name for b in two}
    lengths = [each.end_ns - each.start_ns for each in truth.gpus[0].rounds]
    assert 1.005 < lengths[-1] / lengths[1] < 1.05
    assert len({op.graph.graph_id for op in timeline.operations if op.graph}) == 6


def test_a_lone_gpu_has_no_collectives() -> None:
    timeline, truth = simulated("eagle3-tree")

    assert all(op.what.category != "comm" for op in timeline.operations)
    assert truth.straggler_rank is None
    assert truth.gpus[0].collectives.count == 0


def test_fused_all_reduces_take_the_place_of_norms_and_wait_for_the_straggler() -> None:
    _, truth = simulated("fused-all-reduce")

    names = [node.kernel.name for node in QWEN_H100.graphs["verify"].nodes]
    assert sum("allreduce_fusion_kernel_oneshot_lamport" in name for name in names) == 127
    assert sum("cross_device_reduce" in name for name in names) == 2
    assert sum("FusedAddRMSNorm" in name for name in names) == 1
    assert truth.straggler_rank == 2
    waits = [gpu.collectives.wait_ns for gpu in truth.gpus]
    wires = [gpu.collectives.wire_ns for gpu in truth.gpus]
    assert waits[2] * 5 < min(waits[0], waits[1], waits[3])
    assert max(wires) < min(wires) * 1.01


def test_a_draft_in_one_pass_has_no_extend() -> None:
    _, truth = simulated("one-pass-draft")

    [gpu] = truth.gpus
    assert gpu.seams.keys() == {"prefill->draft", "draft->verify", "verify->draft"}
    assert "draft_extend" not in gpu.phases


@pytest.mark.parametrize("case", ["whole-recording", "whole-recording-decode"])
def test_a_whole_recording_loads_captures_pauses_and_ends_idle(case: str) -> None:
    timeline, truth = simulated(case)

    for gpu in truth.gpus:
        loaded = [
            op.end_ns - op.start_ns
            for op in timeline.operations
            if isinstance(op.what, Copy) and op.what.size_bytes > 1e9 and op.rank == gpu.rank
        ]
        assert sum(loaded) > 2_000_000_000
        odd = [replay for replay in gpu.replays if replay.round == NO_ROUND]
        assert len(odd) in (2, 3)
        assert [pause.end_ns - pause.start_ns > 500_000_000 for pause in gpu.pauses] == [True] * 2
        between, tail = gpu.pauses
        assert gpu.steady is not None
        assert gpu.steady.start_ns > truth.start_ns + 2_500_000_000
        assert gpu.steady.start_ns < between.start_ns < gpu.steady.end_ns <= tail.start_ns
        assert max(seam.idle_ns for seams in gpu.seams.values() for seam in seams) < 2_000_000
        assert not [each for each in gpu.rounds if each.start_ns < odd[-1].end_ns]


@pytest.mark.parametrize(
    ("case", "seam"),
    [
        ("spec-v1", "verify->draft_extend"),
        ("spec-v1", "draft->verify"),
        ("spec-v1", "draft_extend->draft"),
        ("decode-blocking", "decode->decode"),
        ("prefill-between", "prefill->draft"),
        ("one-pass-draft", "verify->draft"),
    ],
)
def test_a_slow_seam_is_slow_and_no_other(case: str, seam: str) -> None:
    _, before = simulated(case)
    _, after = told(replace(SHORT[case], seam_delays_ns={seam: 60_000}))

    for base, head in zip(before.gpus, after.gpus, strict=True):
        assert base.seams.keys() == head.seams.keys()
        for name, seams in base.seams.items():
            more = (idle_ns(head, name) - idle_ns(base, name)) / len(seams)
            assert more == pytest.approx(60_000 if name == seam else 0, abs=6_000)
        delayed = len(base.seams[seam]) * 60_000
        assert head.wall_ns - base.wall_ns == pytest.approx(delayed, abs=20_000)
        for category, amount in base.categories.items():
            if category != "comm":
                assert head.categories[category].exclusive_ns == pytest.approx(
                    amount.exclusive_ns, rel=0.01
                )


@pytest.mark.parametrize(
    ("case", "era"),
    [
        *(("spec-v2", era) for era in ERAS),
        ("prefill-pieces", "3.28"),
        ("two-batch-sizes-decode", "3.16"),
        ("fused-all-reduce", "3.25"),
    ],
)
def test_cases_combine_with_eras_modes_and_odd_ids(case: str, era: str, tmp_path: Path) -> None:
    odd = replace(
        SHORT[case],
        rounds=1,
        every=1,
        era=era,
        same_device_id=True,
        correlation_zero=True,
        nvtx=True,
        other_threads=True,
    )

    node = simulate(odd, tmp_path / "node.sqlite")
    graph = simulate(replace(odd, mode="graph"), tmp_path / "graph.sqlite")

    plain = truth_of(run(replace(odd, correlation_zero=False)), odd)
    assert astuple(node) == astuple(plain)
    for known, seen in zip(node.gpus, graph.gpus, strict=True):
        assert seen.device_id == 0
        assert kinds(known) == kinds(seen) == kinds(node.gpus[0])
        if era in ("2.7", "3.0"):
            assert not seen.replays
            assert not seen.seams
        else:
            assert known.replays == seen.replays
            assert known.rounds == seen.rounds
            assert known.seams == seen.seams


def test_a_case_is_the_same_every_time(tmp_path: Path) -> None:
    first, second = tmp_path / "first.sqlite", tmp_path / "second.sqlite"
    case = replace(SHORT["spec-v2"], rounds=2, nvtx=True, other_threads=True)

    simulate(case, first)
    simulate(case, second)

    assert first.read_bytes() == second.read_bytes()


def test_the_command_line_starts_from_a_case(tmp_path: Path) -> None:
    arguments = ["--case", "decode", "--rounds", "2", "--seed", "5"]
    flags = ["--seam", "decode->decode=+60us", "--slowdowns", "1,1.01,1", "--other-threads"]

    main([*arguments, *flags, str(tmp_path / "by_flags.sqlite")])

    description = replace(
        CASES["decode"],
        rounds=2,
        seed=5,
        seam_delays_ns={"decode->decode": 60_000},
        slowdowns=(1.0, 1.01, 1.0),
        other_threads=True,
    )
    simulate(description, tmp_path / "by_hand.sqlite")
    for name in ("by_flags", "by_hand"):
        assert (tmp_path / f"{name}.truth.json").stat().st_size > 10_000
    by_flags, by_hand = ((tmp_path / f"{n}.sqlite").read_bytes() for n in ("by_flags", "by_hand"))
    assert by_flags == by_hand


def test_the_command_line_takes_any_server(tmp_path: Path) -> None:
    flags = ["--workload", "qwen36_27b_h100", "--round-program", "round_v2", "--host-slowdown", "2"]
    plan = ["--rounds", "1", "--before", "prefill", "--then", "round", "--after", "tail"]

    main([*flags, *plan, "--mode", "graph", str(tmp_path / "out.sqlite")])

    assert "H100" in (tmp_path / "out.truth.json").read_text()


@pytest.mark.parametrize("flags", [["--seam", "x"], ["--workload", "x"], ["--case", "x"]])
def test_the_command_line_says_what_is_wrong(
    flags: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main([*flags, str(tmp_path / "out.sqlite")])

    assert flags[0] in capsys.readouterr().err


def test_kernels_of_prefill_pieces_are_those_of_an_eager_prefill() -> None:
    def names(case: str) -> Counter[str]:
        timeline = run(replace(SHORT[case], rounds=1))
        return Counter(
            op.what.name
            for op in timeline.operations
            if op.phase == "prefill" and op.rank == 0 and isinstance(op.what, Kernel)
        )

    pieces, eager = names("prefill-pieces"), names("decode")

    assert sum(pieces.values()) == sum(eager.values())
    assert sum((pieces - eager).values()) <= 1  # the norm of the first layer


def test_a_name_means_a_kernel_or_a_sequence() -> None:
    step = QWEN.programs["round"].steps
    kernel = next(each for each in step if isinstance(each, Launch)).nodes[0].kernel

    with pytest.raises(ValueError, match="same name: twice"):
        Sequences({"twice": kernel}, {"twice": []})


def test_the_length_is_in_the_sentence() -> None:
    assert CASES["two-batch-sizes"].sentence.endswith("3-step MTP, 20 rounds, seed 7")
    assert "no speculation" in CASES["decode"].sentence
    assert "TP4 on NVIDIA H100 80GB HBM3" in CASES["fused-all-reduce"].sentence
    assert Simulation(rounds=1).sentence.endswith("1 round, seed 7")
