"""Whether the rules know what ran, and whether what a model must run is there."""

import shlex
from collections.abc import Iterator

from traceattr.attribution.analysis import Analysis, KernelTime
from traceattr.attribution.fitness_facts import busy_ns, category_ns, percent
from traceattr.attribution.notices import UNCLASSIFIED_LIMIT
from traceattr.checks import Check, failed, passed, warned
from traceattr.ingest.export_format import shell_word
from traceattr.ingest.trace import Trace
from traceattr.rules.categories import COMMUNICATION, GRAPH, UNCLASSIFIED
from traceattr.rules.explanation import explain
from traceattr.rules.rule_set import RuleSet

UNCLASSIFIED_FAILS = 0.1
"""Share of busy time without a category from which on no category can be trusted."""

_ANY_MODEL = frozenset({"weight_gemm", "attention"})
_MOST_NAMES = 5
_MANY_GPUS = 2


def check_names(
    trace: Trace, analysis: Analysis, rules: RuleSet, expected: frozenset[str] | None
) -> Iterator[Check]:
    """Yield the checks about names and categories; see `fitness.check_trace`."""
    yield _unclassified(trace, analysis)
    yield _drift(analysis, rules)
    yield _expected(analysis, expected)


def _unclassified(trace: Trace, analysis: Analysis) -> Check:
    code, unknown_ns, whole_ns = (
        "unclassified",
        category_ns(analysis, {UNCLASSIFIED}),
        busy_ns(analysis),
    )
    if not unknown_ns:
        return passed(code, "Every kernel has a category.")
    text = f"{percent(unknown_ns, whole_ns)} of busy time has no category."
    if unknown_ns <= UNCLASSIFIED_LIMIT * whole_ns:
        return passed(code, text)
    remedy = f"traceattr kernels {shell_word(trace.export.path)} --unclassified"
    text = f"{text} Every other category may be too small."
    return (failed if unknown_ns > UNCLASSIFIED_FAILS * whole_ns else warned)(code, text, remedy)


def _drift(analysis: Analysis, rules: RuleSet) -> Check:
    """Say which names the rules have never seen, and which known ones they are like."""
    code = "rule-drift"
    unknown = [each for each in analysis.kernels if each.category == UNCLASSIFIED]
    if not unknown:
        return passed(code, "Every kernel name matched a rule.")
    whole_ns = busy_ns(analysis)
    details = tuple(_described(each, whole_ns, rules) for each in unknown[:_MOST_NAMES])
    more = len(unknown) - _MOST_NAMES
    return warned(
        code,
        f"Kernel names that match no rule, as they are new or renamed: {len(unknown):,}.",
        f"traceattr rules explain {shlex.quote(unknown[0].name)}",
        (*details, f"{more:,} more") if more > 0 else details,
    )


def _described(kernel: KernelTime, whole_ns: int, rules: RuleSet) -> str:
    nearest = explain(kernel.name, rules).nearest
    like = f"like {nearest[0]} ({nearest[1].category})" if nearest else "like no known name"
    return f"{percent(kernel.total_ns, whole_ns)} {kernel.name}: {like}"


def _expected(analysis: Analysis, expected: frozenset[str] | None) -> Check:
    """Say which categories take no time although a model must run them."""
    code = "expected-categories"
    wanted = set(_ANY_MODEL if expected is None else expected)
    if expected is not None and len(analysis.gpus) >= _MANY_GPUS:
        wanted.add(COMMUNICATION)
    absent = sorted(each for each in wanted if not category_ns(analysis, {each}))
    if not absent:
        hint = "" if expected else " (--model MODEL looks for those of a model)"
        return passed(code, f"Every category that must take time does{hint}.")
    names = ", ".join(absent)
    if category_ns(analysis, {GRAPH}):
        return warned(code, f"No time of {names} is seen: graphs that hide it may run it.")
    if expected is None:
        return warned(code, f"No time of {names}: is this a language model?")
    return failed(
        code,
        f"No time of {names}, which the model runs in every round: it is another model, or the"
        " rules give its kernels another category.",
        "traceattr rules list",
    )
