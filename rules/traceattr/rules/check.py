"""What is wrong with a rule file, beyond what keeps it from being loaded."""

import re
from collections.abc import Iterator

import duckdb

from traceattr.errors import RuleError
from traceattr.rules.kernel_name import normalise
from traceattr.rules.pattern import has_nested_repetition
from traceattr.rules.rule import Problem, Rule
from traceattr.rules.rule_file import compile_pattern, read_rules


def check_rules(text: str, file: str) -> tuple[tuple[Rule, ...], tuple[Problem, ...]]:
    """Return the well-formed rules of the document ``text`` and every problem, in line order."""
    rules, problems = read_rules(text, file)
    found = [
        *problems,
        *_duplicate_names(rules),
        *_duplicate_examples(rules),
        *_pattern_problems(rules),
        *_example_problems(rules),
    ]
    return rules, tuple(sorted(found))


def is_re2(pattern: str) -> bool:
    """Return whether RE2, as DuckDB has it, accepts ``pattern``."""
    with duckdb.connect() as re2:
        return _re2_error(pattern, re2) is None


def _re2_error(pattern: str, re2: duckdb.DuckDBPyConnection) -> str | None:
    """Return why RE2 rejects ``pattern``; None when it accepts it."""
    try:
        re2.execute("SELECT regexp_matches('', ?)", [pattern])
    except duckdb.Error as error:
        return str(error).partition(": ")[2].splitlines()[0]
    return None


def _duplicate_names(rules: tuple[Rule, ...]) -> Iterator[Problem]:
    first: dict[str, Rule] = {}
    for rule in rules:
        earlier = first.setdefault(rule.name, rule)
        if earlier is not rule:
            yield _problem(rule, f"name is taken by line {earlier.line} (expected a unique name)")


def _duplicate_examples(rules: tuple[Rule, ...]) -> Iterator[Problem]:
    first: dict[str, Rule] = {}
    for rule in rules:
        for name in rule.matches:
            if name in first:
                where = f"{first[name].name!r} (line {first[name].line})"
                what = f"example {_short(name)!r} is already one of {where} (expected it once)"
                yield _problem(rule, what)
            first.setdefault(name, rule)


def _pattern_problems(rules: tuple[Rule, ...]) -> Iterator[Problem]:
    with duckdb.connect() as re2:
        for rule in rules:
            reason = _re2_error(rule.pattern, re2)
            try:
                compile_pattern(rule)
            except RuleError as error:
                yield _problem(rule, str(error).partition(f"rule {rule.name!r}: ")[2])
                continue
            if reason is not None:
                yield _problem(rule, f"pattern is beyond RE2: {reason} (expected no look-around)")
            if has_nested_repetition(rule.pattern):
                yield _problem(rule, "pattern repeats a repetition (expected one level of * or +)")


def _example_problems(rules: tuple[Rule, ...]) -> Iterator[Problem]:
    """Yield rules that win nothing, and examples that their rule does not win."""
    patterns = [(rule, _compiled(rule)) for rule in rules]
    for rule, pattern in patterns:
        same = next((r for r in rules if r.pattern == rule.pattern), rule)
        if not rule.matches:
            yield _problem(rule, "has no example (expected a real kernel name in 'matches')")
        elif same is not rule:
            what = f"shadowed by {same.name!r} (line {same.line}): the pattern is the same"
            yield _problem(rule, f"{what} (expected one rule)")
        elif pattern is not None:
            yield from _lost_examples(rule, pattern, patterns)


def _lost_examples(
    rule: Rule, pattern: re.Pattern[str], patterns: list[tuple[Rule, re.Pattern[str] | None]]
) -> Iterator[Problem]:
    lost: list[tuple[str, Rule]] = []
    for name in rule.matches:
        spelling = normalise(name)
        if not pattern.search(spelling):
            yield _problem(rule, f"pattern does not match the example {_short(name)!r}")
            continue
        winner = next(r for r, p in patterns if p is not None and p.search(spelling))
        if winner is not rule:
            lost.append((name, winner))
    if len(lost) == len(rule.matches):
        winners = ", ".join(dict.fromkeys(f"{w.name!r} (line {w.line})" for _, w in lost))
        yield _problem(rule, f"shadowed by {winners}: no example is left (expected it before them)")
        return
    for name, winner in lost:
        what = f"example {_short(name)!r} is won by {winner.name!r} (line {winner.line})"
        yield _problem(rule, f"{what} (expected it before that rule)")


def _compiled(rule: Rule) -> re.Pattern[str] | None:
    try:
        return compile_pattern(rule)
    except RuleError:
        return None


def _problem(rule: Rule, what: str) -> Problem:
    return Problem(rule.file, rule.line, f"rule {rule.name!r}: {what}")


def _short(name: str) -> str:
    return name if len(name) <= 60 else f"{name[:57]}..."
