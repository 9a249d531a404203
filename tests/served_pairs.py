"""Analyses of small simulated servers that differ in one thing."""

import shutil
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.recordings import recorded
from traceattr.attribution.analysis import Analysis
from traceattr.attribution.analyze import analyze
from traceattr.ingest.trace import open_trace
from traceattr.rules.rule_set import load_rules
from traces.cases import CASES
from traces.description import Simulation
from traces.workload import Workload
from traces.workload_file import WORKLOADS, load_workload

LLAMA = WORKLOADS["llama31_8b_h100"]
SERVER = replace(CASES["eagle3-tree"], before=(), rounds=30)
SMALLEST = replace(CASES["one-pass-draft"], before=(), rounds=14)

SLOWER_GEMMS = ("weight_read_efficiency = 0.865", "weight_read_efficiency = 0.8398")
"""GEMMs that take 3 % longer, as they read their weights with that much less bandwidth."""

FUSED = ('"fused_add_norm", "dense_gate_up", "act", "dense_down"', '"dense_gate_up", "act_down"')
ACT_DOWN = """
[kernel.act_down]
name = "void sglang::gated_down_gemm_kernel<__nv_bfloat16>(T1 *)"
category = "weight_gemm"
us = 45

[sequence]"""
"""A layer's norm gone, and its activation and last GEMM in one kernel."""


def analysed(simulation: Simulation) -> Analysis:
    """Return the analysis of what a server does."""
    path, _ = recorded(simulation)
    with open_trace(path) as trace:
        return analyze(trace, load_rules())


@cache
def before() -> Analysis:
    """Return the analysis of `SERVER`."""
    return analysed(SERVER)


def after(**changed: Any) -> Analysis:
    """Return the analysis of `SERVER` with another seed and something else changed."""
    return analysed(replace(SERVER, seed=8, **changed))


def rewritten(*changes: tuple[str, str]) -> Workload:
    """Return what `SERVER` runs with some text of its description replaced."""
    text = LLAMA.read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    with TemporaryDirectory() as folder:
        for path in WORKLOADS.values():
            shutil.copy(path, folder)
        path = Path(folder) / "rewritten.toml"
        path.write_text(text, encoding="utf-8")
        return load_workload(path)
