"""One rule, what it says about a kernel, and what can be wrong with it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rule:
    """One pattern and the category it decides.

    Attributes:
        name: Short identifier, unique in its file; reports name the winning rule by it.
        category: One of `traceattr.rules.categories.RULE_CATEGORIES`.
        subcategory: A finer word, or None.
        pattern: Regular expression of the RE2 subset, searched in the normalised name.
        matches: Kernel names, copied from traces or sources, that this rule must win.
        why: What is not obvious about the rule, or an empty string.
        file: The file that holds the rule.
        line: Line of the rule's ``[[rule]]`` header in that file, from 1.
    """

    name: str
    category: str
    subcategory: str | None
    pattern: str
    matches: tuple[str, ...]
    why: str
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Classification:
    """What the rules say about one kernel name.

    Attributes:
        category: Category of the winning rule, or ``unclassified``.
        subcategory: Subcategory of the winning rule, or None.
        rule: Name of the winning rule, or None when no rule matched.
    """

    category: str
    subcategory: str | None
    rule: str | None


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One thing wrong in a rule file; its text is the line a person reads."""

    file: str
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.what}"
