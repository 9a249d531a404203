"""From a loaded trace to everything that a list of gaps shows."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from types import MappingProxyType

from traceattr.attribution.account import Account, open_account
from traceattr.attribution.analysis import Diagnostic, Notice, RulesId, Window
from traceattr.attribution.completeness import completeness_by_process
from traceattr.attribution.gap_analysis import EVERY_GAP, GapChoice, gap_analysis
from traceattr.attribution.gap_figures import GpuGaps
from traceattr.attribution.gpu_time import OwnedTime, own_time
from traceattr.attribution.kinds import PieceKind
from traceattr.attribution.labels import classify_kernels
from traceattr.attribution.per_round import sample_rounds
from traceattr.attribution.steady import (
    Steady,
    find_steady,
    leader_of,
    main_kind,
    pause_length,
    window_of_rounds,
)
from traceattr.attribution.window import RoundsOption, WindowOption, choose_window
from traceattr.ingest.trace import Trace
from traceattr.rules.rule_set import RuleSet


@dataclass(frozen=True, slots=True)
class GapReport:
    """Everything that a list of gaps shows.

    Attributes:
        version: Version of traceattr.
        rules: Which rules decided the categories.
        file: Name of the trace, without its directories.
        simulated: What the simulator says when the trace is not a recording.
        window: What the figures are about.
        round_kind: What the server repeats, None when no round was found.
        choice: Which gaps were wanted.
        per_gpu: The gaps of each GPU.
        warnings: What to know before trusting the figures.
    """

    version: str
    rules: RulesId
    file: str
    simulated: str | None
    window: Window
    round_kind: str | None
    choice: GapChoice
    per_gpu: tuple[GpuGaps, ...]
    warnings: tuple[Notice, ...]


def report_gaps(
    trace: Trace,
    rules: RuleSet,
    *,
    window: WindowOption = (None, None),
    rounds: RoundsOption | None = None,
    graph_kinds: Mapping[int, PieceKind] = MappingProxyType({}),
    choice: GapChoice = EVERY_GAP,
) -> GapReport:
    """Return the gaps of a trace.

    OS calls and NVTX ranges are used when they were loaded (see `traceattr.ingest.host`).

    Args:
        trace: The loaded trace.
        rules: What decides categories.
        window: The part to look at, the steady part when both ends are None.
        rounds: The rounds to look at, instead of a window.
        graph_kinds: What graphs are for, by id, where the user knows better.
        choice: Which gaps are wanted.

    Raises:
        OptionError: The window or the rounds lie outside what was recorded.
    """
    names = classify_kernels(trace.connection, rules)
    accounts = [
        open_account(trace.connection, gpu.gpu_id, names, graph_kinds) for gpu in trace.gpus
    ]
    steady = _steady(trace, accounts, window, rounds)
    per_gpu = gap_analysis(trace, _owned(trace, accounts, steady), choice)
    return GapReport(
        version=version("traceattr"),
        rules=RulesId(rules.name, rules.sha256),
        file=trace.capture.file,
        simulated=trace.capture.simulated,
        window=steady.window,
        round_kind=main_kind(leader_of(accounts)),
        choice=choice,
        per_gpu=per_gpu,
        warnings=tuple(_notices(trace, per_gpu, steady)),
    )


def _steady(
    trace: Trace, accounts: Sequence[Account], window: WindowOption, rounds: RoundsOption | None
) -> Steady:
    if rounds is not None:
        return window_of_rounds(accounts, rounds)
    chosen = choose_window(trace.connection, window)
    if window == (None, None):
        return find_steady(accounts, chosen)
    return Steady(chosen, pause_length(leader_of(accounts)), ())


def _owned(trace: Trace, accounts: Sequence[Account], steady: Steady) -> list[OwnedTime]:
    losing = {work.global_pid for work in trace.work if work.graph_launches_without_work}
    completeness = completeness_by_process(trace.work, _diagnostics(trace))
    return [
        own_time(
            account,
            steady.window,
            sample_rounds(account, steady.window, main_kind(account), steady.pause_ns),
            pause_ns=steady.pause_ns,
            hides_gaps=gpu.global_pid in losing or bool(account.timeline.replays.is_envelope.any()),
            completeness=completeness.get(gpu.global_pid, "unknown"),
        )
        for gpu, account in zip(trace.gpus, accounts, strict=True)
    ]


def _diagnostics(trace: Trace) -> list[Diagnostic]:
    """Return the texts of warnings and errors of nsys."""
    rows = trace.connection.execute(
        "SELECT DISTINCT severity, text FROM diagnostic WHERE severity IN (2, 3)"
        " ORDER BY severity, text"
    ).fetchall()
    return [Diagnostic(severity, text, 1, None) for severity, text in rows]


def _notices(trace: Trace, per_gpu: Sequence[GpuGaps], steady: Steady) -> Iterator[Notice]:
    for text in steady.cut:
        yield Notice("window-cut", f"{text}.")
    if any(gpu.graph_launches_without_work for gpu in trace.work):
        yield Notice(
            "graph-work-missing",
            "CUDA graphs were launched whose work is not in this trace: what they ran counts as "
            "idle here, so gaps are upper limits; record with --cuda-graph-trace=node.",
        )
    elif any(gpu.pairs is None for gpu in per_gpu):
        yield Notice(
            "graph-mode",
            "Graphs were traced as a whole: gaps inside them are unknown, gaps between them are "
            "exact; record with --cuda-graph-trace=node to see both.",
        )
    if not any(gpu.rounds for gpu in per_gpu):
        yield Notice(
            "no-rounds",
            "No decode round was found in the window, so nothing is given per round, and seams "
            "without a known forward pass are called eager: list single gaps with `--by gap`.",
        )
    if not any(gpu.knows_os_calls for gpu in per_gpu):
        yield Notice(
            "no-os-calls",
            "No operating-system calls were recorded: what would be theirs counts as python; "
            "record with --trace=osrt to tell them apart.",
        )
    unknown_ns = sum(gpu.cause.unknown_ns for gpu in per_gpu)
    if unknown_ns:
        yield Notice(
            "launch-unknown",
            "Some gaps were ended by work whose launching call is not in this trace: what the "
            "host was doing in them is unknown.",
        )
