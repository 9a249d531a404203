"""What a rule file says, and where exactly it is wrong."""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from traceattr.errors import RuleError
from traceattr.rules.categories import RULE_CATEGORIES, SUBCATEGORIES
from traceattr.rules.rule import Problem, Rule

_REQUIRED = ("name", "category", "pattern", "matches")
_OPTIONAL = ("subcategory", "why")
_HEADER = re.compile(r"\s*\[\[\s*rule\s*\]\]")
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_TOML_LINE = re.compile(r" ?\(at line (\d+), column \d+\)")


def parse_rules(text: str, file: str) -> tuple[Rule, ...]:
    """Return the rules of the TOML document ``text``, in order.

    Args:
        text: The document.
        file: What errors and rules call the document.

    Raises:
        RuleError: With ``FILE:LINE: what is wrong`` for the first mistake.
    """
    rules, problems = read_rules(text, file)
    if problems:
        raise RuleError(str(problems[0]))
    return rules


def read_rules(text: str, file: str) -> tuple[tuple[Rule, ...], tuple[Problem, ...]]:
    """Return the well-formed rules of ``text`` and every problem of the others."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        return (), (_not_toml(error, text, file),)
    problems = list(_document_problems(document, text, file))
    if problems:
        return (), tuple(problems)
    entries = _entries(document, text, file)
    problems = [problem for entry in entries for problem in entry.problems()]
    return tuple(entry.rule() for entry in entries if not any(entry.problems())), tuple(problems)


def compile_pattern(rule: Rule) -> re.Pattern[str]:
    """Return the compiled pattern of ``rule``.

    Raises:
        RuleError: When the pattern is no regular expression.
    """
    try:
        return re.compile(rule.pattern)
    except re.error as error:
        what = f"rule {rule.name!r}: bad pattern: {error} (expected a regular expression)"
        raise RuleError(str(Problem(rule.file, rule.line, what))) from error


def _not_toml(error: tomllib.TOMLDecodeError, text: str, file: str) -> Problem:
    place = _TOML_LINE.search(str(error))
    line = int(place[1]) if place else text.count("\n") + 1
    reason = _TOML_LINE.sub("", str(error)).removesuffix(" (at end of document)")
    return Problem(file, line, f"not TOML: {reason} (expected [[rule]] entries)")


def _document_problems(document: dict[str, Any], text: str, file: str) -> Iterator[Problem]:
    for key in sorted(set(document) - {"rule"}):
        yield Problem(file, 1, f"unknown key {key!r} (expected [[rule]] entries alone)")
    entries = document.get("rule", [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        yield Problem(file, 1, "'rule' is not a list of tables (expected [[rule]] entries)")
    elif len(entries) != len(_headers(text)):
        yield Problem(file, 1, "rules without a line of their own (expected [[rule]] before each)")


def _entries(document: dict[str, Any], text: str, file: str) -> list["_Entry"]:
    lines = text.splitlines()
    tables = document.get("rule", [])
    return [
        _Entry(file, lines, line, table) for line, table in zip(_headers(text), tables, strict=True)
    ]


def _headers(text: str) -> list[int]:
    """Return the line numbers of the ``[[rule]]`` headers, which tomllib does not tell."""
    return [number for number, line in enumerate(text.splitlines(), 1) if _HEADER.match(line)]


@dataclass(frozen=True, slots=True)
class _Entry:
    """One ``[[rule]]`` table and the place it was read from."""

    file: str
    lines: list[str]
    header: int
    values: dict[str, Any]

    def rule(self) -> Rule:
        """Return the rule of an entry without problems."""
        return Rule(
            name=self.values["name"],
            category=self.values["category"],
            subcategory=self.values.get("subcategory"),
            pattern=self.values["pattern"],
            matches=tuple(self.values["matches"]),
            why=self.values.get("why", ""),
            file=self.file,
            line=self.header,
        )

    def problems(self) -> Iterator[Problem]:
        """Yield what is wrong with the entry by itself."""
        yield from self._key_problems()
        wrong_types = list(self._type_problems())
        yield from wrong_types or self._value_problems()

    def _key_problems(self) -> Iterator[Problem]:
        for key in self.values:
            if key not in _REQUIRED + _OPTIONAL:
                expected = "one of " + ", ".join(_REQUIRED + _OPTIONAL)
                yield self._problem(key, f"unknown key {key!r}", expected)
        for key in _REQUIRED:
            if key not in self.values:
                expected = "all of " + ", ".join(_REQUIRED)
                yield self._problem(key, f"key {key!r} is missing", expected)

    def _type_problems(self) -> Iterator[Problem]:
        for key in (*_REQUIRED, *_OPTIONAL):
            value = self.values.get(key, [] if key == "matches" else "absent")
            if key != "matches" and (not isinstance(value, str) or not value):
                yield self._problem(key, f"{key!r} is not a text", f'{key} = "..."')
            if key == "matches" and not _is_names(value):
                yield self._problem(key, "'matches' is not a list of names", 'matches = ["..."]')

    def _value_problems(self) -> Iterator[Problem]:
        name, category = self.values.get("name"), self.values.get("category")
        subcategory = self.values.get("subcategory")
        known = SUBCATEGORIES.get(str(category))
        if name is not None and not _NAME.fullmatch(name):
            yield self._problem("name", f"bad name {name!r}", "lower-case words joined by '-'")
        if category is not None and category not in RULE_CATEGORIES:
            expected = "one of " + ", ".join(RULE_CATEGORIES)
            yield self._problem("category", f"unknown category {category!r}", expected)
        if known and subcategory not in known:
            expected = f"{category} has " + " or ".join(known)
            yield self._problem("subcategory", f"unknown subcategory {subcategory!r}", expected)

    def _problem(self, key: str, what: str, expected: str) -> Problem:
        name = self.values.get("name")
        prefix = f"rule {name!r}: " if isinstance(name, str) else ""
        return Problem(self.file, self._line_of(key), f"{prefix}{what} (expected {expected})")

    def _line_of(self, key: str) -> int:
        """Return the line that sets ``key``, or the header's when none does."""
        sets_key = re.compile(rf'\s*"?{re.escape(key)}"?\s*=')
        for number, line in enumerate(self.lines[self.header :], self.header + 1):
            if _HEADER.match(line):
                break
            if sets_key.match(line):
                return number
        return self.header


def _is_names(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) and name for name in value)
