from pathlib import Path

from traceattr.rules.check import check_rules
from traceattr.rules.rule_set import SHIPPED, decode, shipped_rules


def entry(name: str, pattern: str, *examples: str) -> str:
    """Return a rule of six lines."""
    matches = ", ".join(f"'{example}'" for example in examples)
    return (
        f"[[rule]]\nname = '{name}'\ncategory = 'norm'\npattern = '{pattern}'\n"
        f"matches = [{matches}]\n\n"
    )


def problems(*entries: str) -> list[str]:
    return [str(problem) for problem in check_rules("".join(entries), "r.toml")[1]]


def test_the_shipped_rules_have_no_problem() -> None:
    rules, found = check_rules(decode(shipped_rules(), SHIPPED), SHIPPED)

    assert found == ()
    assert len(rules) > 100


def test_the_documented_example_has_no_problem() -> None:
    page = (Path(__file__).parents[1] / "docs" / "rules.md").read_text(encoding="utf-8")
    example = page.partition("```toml\n")[2].partition("```")[0]

    rules, found = check_rules(example, "rules.md")

    assert (len(rules), found) == (1, ())


def test_a_good_file_has_no_problem() -> None:
    assert problems(entry("a", "^a", "a1"), entry("b", "^b", "b1")) == []


def test_an_empty_file_has_no_problem() -> None:
    assert problems() == []


def test_broken_toml_is_one_problem() -> None:
    assert problems(entry("a", "^a", "a1"), "oops") == [
        "r.toml:7: not TOML: Expected '=' after a key in a key/value pair "
        "(expected [[rule]] entries)"
    ]


def test_every_malformed_rule_is_told() -> None:
    bad = entry("a", "^a", "a1").replace("norm", "nrm") + "colour = 1\n"

    found = problems(bad, bad.replace("'a'", "'b'"))

    assert [line.partition(" (")[0] for line in found] == [
        "r.toml:3: rule 'a': unknown category 'nrm'",
        "r.toml:7: rule 'a': unknown key 'colour'",
        "r.toml:10: rule 'b': unknown category 'nrm'",
        "r.toml:14: rule 'b': unknown key 'colour'",
    ]


def test_a_pattern_that_does_not_compile_is_told() -> None:
    assert problems(entry("a", "(", "a1")) == [
        "r.toml:1: rule 'a': bad pattern: missing ), unterminated subpattern at position 0 "
        "(expected a regular expression)"
    ]


def test_a_pattern_beyond_re2_is_told() -> None:
    assert problems(entry("a", "a(?=b)", "ab")) == [
        "r.toml:1: rule 'a': pattern is beyond RE2: invalid perl operator: (?= "
        "(expected no look-around)"
    ]


def test_a_repeated_repetition_is_told() -> None:
    assert problems(entry("a", "(?:a+)+b", "ab")) == [
        "r.toml:1: rule 'a': pattern repeats a repetition (expected one level of * or +)"
    ]


def test_a_name_that_is_taken_is_told() -> None:
    assert problems(entry("a", "^a", "a1"), entry("a", "^b", "b1")) == [
        "r.toml:7: rule 'a': name is taken by line 1 (expected a unique name)"
    ]


def test_a_rule_without_examples_is_told() -> None:
    assert problems(entry("a", "^a")) == [
        "r.toml:1: rule 'a': has no example (expected a real kernel name in 'matches')"
    ]


def test_an_example_that_its_pattern_misses_is_told() -> None:
    assert problems(entry("a", "^a", "a1", "b1")) == [
        "r.toml:1: rule 'a': pattern does not match the example 'b1'"
    ]


def test_an_example_given_twice_is_told() -> None:
    assert problems(entry("a", "^a", "a1", "a1")) == [
        "r.toml:1: rule 'a': example 'a1' is already one of 'a' (line 1) (expected it once)"
    ]


def test_an_example_that_an_earlier_rule_wins_is_told() -> None:
    assert problems(entry("a", "^a1", "a1"), entry("b", "^a", "a12", "a2")) == [
        "r.toml:7: rule 'b': example 'a12' is won by 'a' (line 1) (expected it before that rule)"
    ]


def test_a_rule_that_wins_none_of_its_examples_is_shadowed() -> None:
    assert problems(entry("a", "^a", "a1"), entry("b", "^ab", "ab1", "ab2")) == [
        "r.toml:7: rule 'b': shadowed by 'a' (line 1): no example is left (expected it before them)"
    ]


def test_a_repeated_pattern_is_shadowed() -> None:
    assert problems(entry("a", "^a", "a1"), entry("b", "^a", "a2")) == [
        "r.toml:7: rule 'b': shadowed by 'a' (line 1): the pattern is the same (expected one rule)"
    ]
