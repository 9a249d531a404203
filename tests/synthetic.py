"""Accounts made by hand, without a trace of their own, for many small examples."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from tests.decoding import ATTENTION, served
from traceattr.attribution.account import Account
from traceattr.attribution.labels import LABELS, Label
from traceattr.attribution.rounds import RoundKind
from traceattr.attribution.timeline import Ids

ALL_REDUCE = LABELS.index(Label("comm", "custom"))
GEMM = LABELS.index(Label("weight_gemm", None))

Operation = tuple[int, int, int, int]
"""Round, begin, end and label."""


def account_of(gpu: int, operations: Sequence[Operation]) -> Account:
    """Return one GPU that runs operations, given in order of start, in rounds of decoding."""
    of_operation, start_ns, end_ns, label = np.array(operations, np.int64).reshape(-1, 4).T
    account = _rounds_of(
        gpu,
        [
            (int(start_ns[of_operation == at].min()), int(end_ns[of_operation == at].max()))
            for at in np.unique(of_operation).tolist()
        ],
        of_operation,
    )
    timeline = replace(
        account.timeline,
        start_ns=start_ns,
        end_ns=end_ns,
        label=label.astype(np.int8),
        name_id=label.astype(np.int32),
    )
    return replace(account, timeline=timeline)


def rounds_only(gpu: int, spans: Sequence[tuple[int, int]]) -> Account:
    """Return one GPU of which only its rounds, given by begin and end, are known."""
    return _rounds_of(gpu, spans, np.empty(0, np.int64))


def _rounds_of(gpu: int, spans: Sequence[tuple[int, int]], of_operation: Ids) -> Account:
    account = _any_account()
    start_ns, end_ns = np.array(spans, np.int64).reshape(-1, 2).T
    rounds = replace(
        account.rounds,
        kind=(RoundKind.DECODE,) * len(spans),
        start_ns=start_ns,
        end_ns=end_ns,
        first=np.searchsorted(of_operation, np.arange(len(spans))),
        stop=np.searchsorted(of_operation, np.arange(len(spans)), side="right"),
    )
    return replace(account, timeline=replace(account.timeline, gpu_id=gpu), rounds=rounds)


@cache
def _any_account() -> Account:
    """Return the account of some GPU, to be given other operations and rounds."""
    with TemporaryDirectory() as folder:
        server = served(Path(folder) / "trace.sqlite", {"python3": [[(ATTENTION, 0, 1)]]})
    return server.accounts[0]
