"""Every GPU of a trace, read and partitioned; reports of all kinds begin here."""

from collections.abc import Sequence
from dataclasses import dataclass

from traceattr.attribution.account import Account, open_account
from traceattr.attribution.analysis import TraceFacts
from traceattr.attribution.choice import Choice
from traceattr.attribution.completeness import completeness_by_process
from traceattr.attribution.facts import trace_facts
from traceattr.attribution.gpu_time import OwnedTime, own_time
from traceattr.attribution.labels import KernelNames, classify_kernels
from traceattr.attribution.per_round import sample_rounds
from traceattr.attribution.steady import (
    Steady,
    find_steady,
    leader_of,
    main_kind,
    pause_length,
    window_of_rounds,
)
from traceattr.attribution.window import choose_window
from traceattr.errors import OptionError
from traceattr.ingest.for_each import for_each
from traceattr.ingest.gpu_work.operations import Operations
from traceattr.ingest.identity import ProcessGpu
from traceattr.ingest.trace import Trace
from traceattr.rules.rule_set import RuleSet


@dataclass(frozen=True, slots=True)
class Survey:
    """The GPUs of a trace.

    Attributes:
        facts: What the file says about itself.
        names: The kernel names, classified.
        steady: What part is looked at, and why.
        owned: Who owns that part on each GPU, in the order of the trace.
    """

    facts: TraceFacts
    names: KernelNames
    steady: Steady
    owned: tuple[OwnedTime, ...]

    @property
    def accounts(self) -> tuple[Account, ...]:
        """Return what was found on each GPU."""
        return tuple(one.account for one in self.owned)


def survey(trace: Trace, rules: RuleSet, choice: Choice) -> Survey:
    """Read every GPU and partition what the user wants to see.

    Raises:
        OptionError: The window or the rounds lie outside what was recorded, or a kind was given
            for a graph that was not.
    """
    names = classify_kernels(trace.connection, rules)

    def read(operations: Operations) -> Account:
        with trace.cursor() as cursor:
            return open_account(cursor, operations, names, choice.graph_kinds)

    accounts = for_each(read, trace.gpu_work.gpus)
    _check_graph_kinds(choice, accounts)
    steady = _steady(trace, accounts, choice)
    facts = trace_facts(trace)
    return Survey(facts, names, steady, _own(trace, accounts, steady, facts))


def _check_graph_kinds(choice: Choice, accounts: Sequence[Account]) -> None:
    known = {
        int(graph_id)
        for account in accounts
        for graph_id in account.timeline.replays.graph_id
        if graph_id >= 0
    }
    for graph_id in choice.graph_kinds:
        if graph_id not in known:
            ids = ", ".join(map(str, sorted(known))) or "none"
            raise OptionError(
                f"--graph-kind {graph_id}: no graph {graph_id} in this trace (its graphs: {ids})"
            )


def _steady(trace: Trace, accounts: Sequence[Account], choice: Choice) -> Steady:
    if choice.rounds is not None:
        return window_of_rounds(accounts, choice.rounds)
    if choice.window is None:
        return find_steady(accounts, choose_window(trace.gpu_work.recorded_ns, (None, None)))
    chosen = choose_window(trace.gpu_work.recorded_ns, choice.window)
    return Steady(chosen, pause_length(leader_of(accounts)), ())


def _own(
    trace: Trace, accounts: Sequence[Account], steady: Steady, facts: TraceFacts
) -> tuple[OwnedTime, ...]:
    losing = {work.global_pid for work in trace.work if work.graph_launches_without_work}
    completeness = completeness_by_process(trace.work, facts.diagnostics)

    def own(pair: tuple[Account, ProcessGpu]) -> OwnedTime:
        account, gpu = pair
        return own_time(
            account,
            steady.window,
            sample_rounds(account, steady.window, main_kind(account), steady.pause_ns),
            pause_ns=steady.pause_ns,
            hides_gaps=gpu.global_pid in losing or bool(account.timeline.replays.is_envelope.any()),
            completeness=completeness.get(gpu.global_pid, "unknown"),
        )

    return for_each(own, zip(accounts, trace.gpus, strict=True))
