"""From a loaded trace to everything that a list of gaps shows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version

from traceattr.attribution.analysis import Notice, RulesId, Window
from traceattr.attribution.announced import compare_with_announced
from traceattr.attribution.choice import STEADY_ROUNDS, Choice
from traceattr.attribution.gap_analysis import EVERY_GAP, GapChoice, gap_analysis
from traceattr.attribution.gap_figures import GpuGaps
from traceattr.attribution.steady import Steady, leader_of, main_kind
from traceattr.attribution.survey import survey
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
    choice: Choice = STEADY_ROUNDS,
    gap_choice: GapChoice = EVERY_GAP,
) -> GapReport:
    """Return the gaps of a trace, by default in the steady part.

    OS calls and NVTX ranges are used when they were loaded (see `traceattr.ingest.host`).

    Raises:
        OptionError: The window or the rounds lie outside what was recorded.
    """
    found = survey(trace, rules, choice)
    per_gpu = gap_analysis(trace, found.owned, gap_choice)
    return GapReport(
        version=version("traceattr"),
        rules=RulesId(rules.name, rules.sha256),
        file=trace.capture.file,
        simulated=trace.capture.simulated,
        window=found.steady.window,
        round_kind=main_kind(leader_of(found.accounts)),
        choice=gap_choice,
        per_gpu=per_gpu,
        warnings=(
            *_notices(trace, per_gpu, found.steady),
            *compare_with_announced(trace, found.accounts, found.steady),
        ),
    )


def _notices(trace: Trace, per_gpu: Sequence[GpuGaps], steady: Steady) -> Iterator[Notice]:
    for text in steady.cut:
        yield Notice("window-cut", f"{text}.")
    if any(gpu.graph_launches_without_work for gpu in trace.work):
        yield Notice(
            "graph-work-missing",
            "CUDA graphs were launched whose work is not in this trace: what they ran counts as "
            "idle here, so gaps and their causes are upper limits; record with "
            "--cuda-graph-trace=node.",
        )
    elif any(gpu.pairs is None for gpu in per_gpu):
        yield Notice(
            "graph-mode",
            "Graphs were traced as a whole: gaps inside them are unknown, gaps between them are "
            "exact; record with --cuda-graph-trace=node to see both.",
        )
    if not any(gpu.rounds for gpu in per_gpu):
        why = "No decode round was found in the window"
        if any(gpu.graph_launches_without_work for gpu in trace.work):
            why = "Rounds are told by CUDA graphs, whose work is missing"
        yield Notice(
            "no-rounds",
            f"{why}, so nothing is given per round, and seams "
            "without a known forward pass are called eager: list single gaps with `--by gap`.",
        )
    if not any(gpu.knows_os_calls for gpu in per_gpu):
        yield Notice(
            "no-os-calls",
            "OS calls were not recorded, so what is called host code may be waiting in one: "
            "add osrt to --trace, as in --trace=cuda,nvtx,osrt, to tell them apart.",
        )
    unknown_ns = sum(gpu.cause.unknown_ns for gpu in per_gpu)
    if unknown_ns:
        yield Notice(
            "launch-unknown",
            "Some gaps were ended by work whose launching call is not in this trace: what the "
            "host was doing in them is unknown.",
        )
