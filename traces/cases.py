"""Servers worth testing against, by name: `CASES["spec-v2"]`, or `--case spec-v2`."""

from collections.abc import Mapping

from traces.description import Simulation
from traces.workload_file import WORKLOADS, load_workload

QWEN_H100 = load_workload(WORKLOADS["qwen36_27b_h100"])
LLAMA_H100 = load_workload(WORKLOADS["llama31_8b_h100"])
LLAMA_H100_TP2 = load_workload(WORKLOADS["llama31_8b_h100_tp2"])

CASES: Mapping[str, Simulation] = {
    "spec-v1": Simulation(before=("prefill",)),
    "spec-v2": Simulation(before=("prefill",), round_program="round_v2"),
    "spec-v2-slow-host": Simulation(
        before=("prefill",), round_program="round_v2", host_slowdown=20
    ),
    "spec-v2-graph": Simulation(before=("prefill",), round_program="round_v2_graph"),
    "decode": Simulation(before=("prefill_target_only",), round_program="decode"),
    "decode-blocking": Simulation(before=("prefill_target_only",), round_program="decode_blocking"),
    "prefill-between": Simulation(every=5),
    "prefill-between-v2": Simulation(round_program="round_v2", every=5),
    "prefill-pieces": Simulation(
        before=("prefill_pieces",), round_program="decode", every=10, between=("prefill_pieces",)
    ),
    "two-batch-sizes": Simulation(rounds=10, before=("prefill",), then=("round_bs2",), every=10),
    "two-batch-sizes-decode": Simulation(
        rounds=10,
        before=("prefill_target_only",),
        round_program="decode",
        then=("decode_bs2",),
        every=10,
        between=("prefill_target_only",),
    ),
    "eagle3-tree": Simulation(before=("prefill",), slowdowns=(1.0,), workload=LLAMA_H100),
    "eagle3-tree-tp2": Simulation(before=("prefill",), workload=LLAMA_H100_TP2),
    "fused-all-reduce": Simulation(
        before=("prefill",), slowdowns=(1.0, 1.0, 1.05, 1.0), workload=QWEN_H100
    ),
    "standalone-draft": Simulation(
        before=("prefill_target_only",),
        round_program="round_standalone",
        slowdowns=(1.0,),
        workload=LLAMA_H100,
    ),
    "one-pass-draft": Simulation(
        before=("prefill_target_only",),
        round_program="round_one_pass",
        slowdowns=(1.0,),
        workload=LLAMA_H100,
    ),
    "whole-recording": Simulation(
        rounds=30,
        before=("load", "capture", "prefill"),
        every=15,
        between=("pause", "prefill"),
        after=("tail",),
    ),
    "whole-recording-decode": Simulation(
        rounds=30,
        before=("load", "capture_decode", "prefill_target_only"),
        round_program="decode",
        every=15,
        between=("pause", "prefill_target_only"),
        after=("tail",),
    ),
    "slow-seam": Simulation(seam_delays_ns={"verify->draft_extend": 60_000}),
}
