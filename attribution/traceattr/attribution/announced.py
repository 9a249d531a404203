"""The scheduler's own NVTX ranges, as a second opinion on rounds."""

from collections.abc import Iterator, Sequence

import duckdb
import numpy as np

from traceattr.attribution.account import Account
from traceattr.attribution.analysis import Notice
from traceattr.attribution.host_story import has_view
from traceattr.attribution.intervals import Times
from traceattr.attribution.steady import Steady
from traceattr.ingest.database import read_sql
from traceattr.ingest.trace import Trace


def compare_with_announced(
    trace: Trace, accounts: Sequence[Account], steady: Steady
) -> Iterator[Notice]:
    """Yield what SGLang's scheduler ranges say of the rounds found, one notice per process.

    A round is confirmed when its first graph launch lies in a ``scheduler.run_batch`` in which no
    other round's does.  Nothing is said where no such ranges were recorded or loaded.
    """
    if not has_view(trace.connection, "host_range"):
        return
    for account, gpu in zip(accounts, trace.gpus, strict=True):
        found = trace.connection.execute(
            read_sql("traceattr.attribution", "run_batch"), {"global_pid": gpu.global_pid}
        ).fetchnumpy()
        launches = _launches_of_rounds(trace.connection, account, steady)
        if len(found["start_ns"]) and len(launches):
            confirmed = _confirmed(launches, found["start_ns"], found["end_ns"])
            yield _notice(gpu.gpu_id, confirmed, len(launches))


def _launches_of_rounds(
    connection: duckdb.DuckDBPyConnection, account: Account, steady: Steady
) -> Times:
    """Return when the first graph of each round in the window was launched, where known."""
    rows = connection.execute(
        "SELECT start_ns, launch_ns FROM replay WHERE gpu_id = ? AND launch_ns IS NOT NULL"
        " ORDER BY start_ns, replay_id",
        [account.timeline.gpu_id],
    ).fetchnumpy()
    rounds, window = account.rounds, steady.window
    inside = (rounds.start_ns >= window.start_ns) & (rounds.end_ns <= window.end_ns)
    starts, ends = rounds.start_ns[inside], rounds.end_ns[inside]
    at = np.searchsorted(rows["start_ns"], starts)
    known = np.append(rows["start_ns"], np.iinfo(np.int64).max)[at] < ends
    return np.append(rows["launch_ns"], 0)[at[known]]


def _confirmed(launches_ns: Times, start_ns: Times, end_ns: Times) -> int:
    """Return how many launches lie alone in a range."""
    at = np.searchsorted(start_ns, launches_ns, side="right") - 1
    inside = (at >= 0) & (launches_ns < np.append(end_ns, 0)[at])
    _, counts = np.unique(at[inside], return_counts=True)
    return int((counts == 1).sum())


def _notice(gpu: int, confirmed: int, rounds: int) -> Notice:
    text = (
        f"NVTX: {confirmed} of {rounds} rounds with graphs on GPU {gpu} are a batch of their own"
        " for SGLang's scheduler"
    )
    if confirmed == rounds:
        return Notice("rounds-confirmed", f"{text}.")
    return Notice("rounds-doubted", f"{text}; the others may be cut in the wrong place.")
