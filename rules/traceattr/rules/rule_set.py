"""Which category a kernel name belongs to: the first rule that matches decides."""

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path

from traceattr.errors import RuleError
from traceattr.rules.categories import UNCLASSIFIED
from traceattr.rules.kernel_name import normalise
from traceattr.rules.pattern import required_literals
from traceattr.rules.rule import Classification, Rule
from traceattr.rules.rule_file import compile_pattern, parse_rules

SHIPPED = "sglang.toml"
"""File name of the rules that traceattr ships."""

_NO_RULE = Classification(UNCLASSIFIED, None, None)


class _Matcher:
    """One rule, made ready: its literals are sought first, its pattern is compiled when needed."""

    __slots__ = ("_literals", "_pattern", "classification", "rule")

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.classification = Classification(rule.category, rule.subcategory, rule.name)
        self._literals = required_literals(rule.pattern)
        self._pattern: re.Pattern[str] | None = None

    def matches(self, name: str) -> bool:
        """Return whether the rule's pattern is found in the normalised ``name``."""
        for literal in self._literals:
            if literal in name:
                break
        else:
            if self._literals:
                return False
        if self._pattern is None:
            self._pattern = compile_pattern(self.rule)
        return self._pattern.search(name) is not None


@dataclass(frozen=True, slots=True)
class RuleSet:
    """Ordered rules, and where they came from.

    Attributes:
        name: Names of the rule files, joined by ``+``, in the order they are tried.
        sha256: Hex digest over the bytes of the files in that order.
        rules: The rules in the order they are tried.
    """

    name: str
    sha256: str
    rules: tuple[Rule, ...]
    _matchers: tuple[_Matcher, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_matchers", tuple(map(_Matcher, self.rules)))

    def classify(self, demangled: str, short: str = "") -> Classification:
        """Return what the first matching rule says.

        Args:
            demangled: The full name; tried first.
            short: The bare function name; tried when no rule matches the full one.
        """
        for name in (demangled, short) if short else (demangled,):
            spelling = normalise(name)
            for matcher in self._matchers:
                if matcher.matches(spelling):
                    return matcher.classification
        return _NO_RULE

    def classify_many(self, pairs: Iterable[tuple[str, str]]) -> list[Classification]:
        """Return the classification of each (demangled name, short name), in order."""
        return [self.classify(demangled, short) for demangled, short in pairs]

    def matching(self, name: str) -> Iterator[Rule]:
        """Yield every rule that matches ``name``; the first one is the winner."""
        spelling = normalise(name)
        return (matcher.rule for matcher in self._matchers if matcher.matches(spelling))


def load_rules(extra: Path | None = None) -> RuleSet:
    """Return the shipped rules, preceded by those of the file ``extra``.

    Raises:
        RuleError: When ``extra`` cannot be read or `check_rules` finds a problem in it.
    """
    shipped = _shipped()
    if extra is None:
        return shipped
    data = read_rule_file(extra)
    own = _checked(decode(data, str(extra)), str(extra))
    sources = ((str(extra), data), (SHIPPED, shipped_rules()))
    return _rule_set((*own, *shipped.rules), *sources)


@cache
def _shipped() -> RuleSet:
    data = shipped_rules()
    return _rule_set(parse_rules(decode(data, SHIPPED), SHIPPED), (SHIPPED, data))


def _rule_set(rules: tuple[Rule, ...], *sources: tuple[str, bytes]) -> RuleSet:
    return RuleSet(
        name="+".join(Path(file).stem for file, _ in sources),
        sha256=hashlib.sha256(b"".join(data for _, data in sources)).hexdigest(),
        rules=rules,
    )


def _checked(text: str, file: str) -> tuple[Rule, ...]:
    from traceattr.rules.check import check_rules  # DuckDB takes a while to import

    rules, problems = check_rules(text, file)
    if problems:
        more = f"; {len(problems) - 1} more: traceattr rules check {file}" * (len(problems) > 1)
        raise RuleError(f"{problems[0]}{more}")
    return rules


def shipped_rules() -> bytes:
    """Return the bytes of the rule file that traceattr ships."""
    return (files("traceattr.rules") / SHIPPED).read_bytes()


def read_rule_file(path: Path) -> bytes:
    """Return the bytes of the rule file ``path``."""
    try:
        return path.read_bytes()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise RuleError(f"{path}:1: cannot be read: {reason} (expected a rule file)") from error


def decode(data: bytes, file: str) -> str:
    """Return ``data`` as the text of the rule file called ``file``."""
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise RuleError(f"{file}:{line}: not UTF-8 (expected a TOML file)") from error
