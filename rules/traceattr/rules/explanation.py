"""Why a kernel name has the category it has."""

import difflib
from collections.abc import Iterable
from dataclasses import dataclass

from traceattr.rules.kernel_name import normalise
from traceattr.rules.rule import Rule
from traceattr.rules.rule_set import RuleSet

_COMPARED = 120
"""Characters of a name that are compared with the examples: arguments would drown the function."""

_SIMILAR_RATIO = 0.5
"""Similarity below which an example is no help."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """How the rules see one kernel name.

    Attributes:
        name: The name as given.
        normalised: The name as patterns see it.
        winner: The first rule that matches, or None.
        others: Later rules that match too, in order.
        nearest: The most similar example and its rule; None when classified or nothing is near.
    """

    name: str
    normalised: str
    winner: Rule | None
    others: tuple[Rule, ...]
    nearest: tuple[str, Rule] | None


def explain(name: str, rules: RuleSet) -> Explanation:
    """Return why ``rules`` put ``name`` where they do."""
    matching = tuple(rules.matching(name))
    return Explanation(
        name=name,
        normalised=normalise(name),
        winner=matching[0] if matching else None,
        others=matching[1:],
        nearest=None if matching else _nearest(name, rules.rules),
    )


def _nearest(name: str, rules: Iterable[Rule]) -> tuple[str, Rule] | None:
    examples: dict[str, tuple[str, Rule]] = {}
    for rule in rules:
        for example in rule.matches:
            examples.setdefault(normalise(example)[:_COMPARED], (example, rule))
    wanted = normalise(name)[:_COMPARED]
    found = difflib.get_close_matches(wanted, examples, n=1, cutoff=_SIMILAR_RATIO)
    return examples[found[0]] if found else None
