import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from traceattr.errors import RuleError
from traceattr.rules.categories import (
    CATEGORIES,
    COMMUNICATION,
    RULE_CATEGORIES,
    SUBCATEGORIES,
    UNCLASSIFIED,
    group_of,
)
from traceattr.rules.check import check_rules, is_re2
from traceattr.rules.kernel_name import normalise
from traceattr.rules.pattern import has_nested_repetition, required_literals
from traceattr.rules.rule import Classification, Rule
from traceattr.rules.rule_file import compile_pattern, parse_rules
from traceattr.rules.rule_set import RuleSet, load_rules

SHIPPED = load_rules()
NAMES = Path(__file__).parents[2] / "shared" / "reference" / "sglang" / "kernel-names.tsv"


def rule_set(text: str) -> RuleSet:
    return RuleSet("mine", "", parse_rules(text, "mine.toml"))


def entry(name: str, category: str, pattern: str) -> str:
    return (
        f'[[rule]]\nname = "{name}"\ncategory = "{category}"\n'
        f"pattern = '{pattern}'\nmatches = [\"{pattern.removeprefix('^')}x\"]\n"
    )


@pytest.mark.parametrize("rule", SHIPPED.rules, ids=lambda rule: rule.name)
class TestEveryShippedRule:
    def test_wins_its_own_examples(self, rule: Rule) -> None:
        winners = {SHIPPED.classify(name).rule for name in rule.matches}

        assert winners == {rule.name}

    def test_matches_within_re2(self, rule: Rule) -> None:
        assert is_re2(rule.pattern)

    def test_repeats_no_repetition(self, rule: Rule) -> None:
        assert not has_nested_repetition(rule.pattern)

    def test_has_a_known_category(self, rule: Rule) -> None:
        assert rule.category in RULE_CATEGORIES
        assert rule.category != COMMUNICATION or rule.subcategory in SUBCATEGORIES[COMMUNICATION]

    def test_is_not_skipped_by_its_literals(self, rule: Rule) -> None:
        literals = required_literals(rule.pattern)

        assert literals, "every name would have to be searched"
        for name in rule.matches:
            assert any(literal in normalise(name) for literal in literals)


def test_the_first_rule_that_matches_decides() -> None:
    rules = rule_set(entry("first", "norm", "foo") + entry("second", "quant", "foobar"))

    assert rules.classify("foobar") == Classification("norm", None, "first")


def test_a_name_that_no_rule_matches_is_unclassified() -> None:
    assert SHIPPED.classify("brand_new_kernel") == Classification(UNCLASSIFIED, None, None)


def test_an_empty_name_is_unclassified() -> None:
    assert SHIPPED.classify("", "").category == UNCLASSIFIED


def test_the_short_name_is_tried_when_nothing_matches_the_full_one() -> None:
    rules = rule_set(entry("short", "norm", "^foo$"))

    assert rules.classify("bar<foo>", "foo").rule == "short"
    assert rules.classify("bar<foo>").category == UNCLASSIFIED


def test_the_full_name_beats_the_short_one() -> None:
    rules = rule_set(entry("short", "norm", "^kernel$") + entry("full", "quant", "^a::kernel"))

    assert rules.classify("a::kernel<int>", "kernel").rule == "full"


def test_many_names_keep_their_order() -> None:
    rules = rule_set(entry("a", "norm", "^a") + entry("b", "quant", "^b"))

    found = rules.classify_many([("b1", ""), ("c", ""), ("z", "a")])

    assert [each.rule for each in found] == ["b", None, "a"]


def test_every_matching_rule_is_told_in_order() -> None:
    rules = rule_set(entry("a", "norm", "x") + entry("b", "quant", "y") + entry("c", "moe", "xy"))

    assert [rule.name for rule in rules.matching("xy")] == ["a", "b", "c"]


def test_every_category_has_a_group() -> None:
    assert [group_of(category) for category in CATEGORIES].count("GDN") == 1


@pytest.mark.parametrize(
    ("spelling", "other"),
    [
        ("void f<(int)4>(T1)", "f<4>(T1)"),
        ("f<(bool)1, (bool)0>", "f<true, false>"),
        ("f<(unsigned long)4096>", "f<4096ul>"),
        ("f<(unsigned int)8, (int)-1>", "f<8u, -1>"),
        ("f<(a::b::Kind)2>", "f<(Kind)2>"),
        ("void <unnamed>::f(int)", "void (anonymous namespace)::f(int)"),
        ("void _GLOBAL__N__ef64_7_topk_cu_e84b::f(int)", "f(int)"),
        ("f<g<h<int> > >", "f<g<h<int>>>"),
        ("std::enable_if<!T7, void>::type a::f<int>", "a::f<int>"),
    ],
)
def test_two_spellings_of_a_name_are_one(spelling: str, other: str) -> None:
    assert normalise(spelling) == normalise(other)


def test_digits_in_an_identifier_are_no_literal() -> None:
    assert normalise("gemm_t128x8x512u2_s5") == "gemm_t128x8x512u2_s5"


def test_a_mangled_name_keeps_its_identifiers() -> None:
    mangled = "_ZN6sglang26cross_device_reduce_1stageI13__nv_bfloat16Li2EEEvPNS_8RankDataE"

    assert normalise(mangled) == "sglang::cross_device_reduce_1stage<__nv_bfloat16 RankData"


def test_a_mangled_unnamed_namespace_goes_away() -> None:
    assert normalise("_ZN12_GLOBAL__N_16kernelEv") == "kernel"


@given(st.text(max_size=200))
def test_any_text_can_be_classified(name: str) -> None:
    assert SHIPPED.classify(name, name).category in CATEGORIES
    assert SHIPPED.classify("_Z" + name).category in CATEGORIES


@given(st.sampled_from([name for rule in SHIPPED.rules for name in rule.matches]))
def test_casts_before_numbers_change_nothing(name: str) -> None:
    cast = re.sub(r"(?<=[<, ])(\d+)(?=[,>])", r"(int)\1", name)

    assert SHIPPED.classify(cast) == SHIPPED.classify(name)


@given(
    st.sampled_from([rule.pattern for rule in SHIPPED.rules]),
    st.sampled_from([name for rule in SHIPPED.rules for name in rule.matches]),
)
def test_literals_never_hide_a_match(pattern: str, name: str) -> None:
    spelling = normalise(name)
    literals = required_literals(pattern)

    if not any(literal in spelling for literal in literals):
        rule = Rule("r", "norm", None, pattern, (), "", "r.toml", 1)
        assert compile_pattern(rule).search(spelling) is None


@pytest.mark.parametrize(
    ("pattern", "literals"),
    [
        ("^nvjet_", ("nvjet_",)),
        ("foo|bar", ("foo", "bar")),
        ("foo|b?", ()),
        ("(?:left|right)x", ("left", "right")),
        ("abc?d+", ("ab",)),
        (r"\bfoo\.bar", ("foo.bar",)),
        ("[ab]c{2}", ("c",)),
        ("(?i)foo", ()),
        ("x{0,2}", ()),
        ("", ()),
    ],
)
def test_a_pattern_tells_the_literals_it_needs(pattern: str, literals: tuple[str, ...]) -> None:
    assert required_literals(pattern) == literals


@pytest.mark.parametrize(
    ("pattern", "nested"),
    [
        ("(?:a+)+", True),
        (r"(?:\w+::)*x", True),
        ("(a*b)c", False),
        ("(a+)?", False),
        ("a+b*", False),
    ],
)
def test_a_repeated_repetition_is_seen(pattern: str, nested: bool) -> None:
    assert has_nested_repetition(pattern) is nested


def test_a_name_of_five_thousand_characters_is_classified() -> None:
    assert SHIPPED.classify("void " + "a_" * 2500).category == UNCLASSIFIED


class TestUserFile:
    def test_is_tried_before_the_shipped_rules(self, tmp_path: Path) -> None:
        file = tmp_path / "mine.toml"
        file.write_text(entry("my-gemm", "lora", "^nvjet_"), encoding="utf-8")

        rules = load_rules(file)

        assert rules.classify("nvjet_tst_64x8").rule == "my-gemm"
        assert rules.name == "mine+sglang"
        assert rules.rules[1:] == SHIPPED.rules

    def test_changes_the_digest(self, tmp_path: Path) -> None:
        file = tmp_path / "mine.toml"
        file.write_text("", encoding="utf-8")
        empty = load_rules(file)
        file.write_text("# more\n", encoding="utf-8")

        assert empty.sha256 == SHIPPED.sha256
        assert load_rules(file).sha256 != SHIPPED.sha256

    def test_may_have_a_byte_order_mark_and_dos_line_ends(self, tmp_path: Path) -> None:
        file = tmp_path / "mine.toml"
        text = entry("a", "norm", "^a").replace("\n", "\r\n")
        file.write_bytes(b"\xef\xbb\xbf" + text.encode())

        assert load_rules(file).rules[0].name == "a"

    @pytest.mark.parametrize("pattern", ["^ax(?=b)", "^(?:a+)+x", "^b", "("])
    def test_is_refused_in_the_words_of_its_check(self, tmp_path: Path, pattern: str) -> None:
        file = tmp_path / "mine.toml"
        file.write_text(
            f'[[rule]]\nname = "a"\ncategory = "norm"\npattern = "{pattern}"\nmatches = ["axb"]\n',
            encoding="utf-8",
        )
        problems = check_rules(file.read_text(encoding="utf-8"), str(file))[1]

        with pytest.raises(RuleError) as error:
            load_rules(file)

        assert [str(problem) for problem in problems] == [str(error.value)]

    def test_with_many_problems_is_refused_for_the_first(self, tmp_path: Path) -> None:
        file = tmp_path / "mine.toml"
        file.write_text(entry("a", "nrm", "^a") * 3, encoding="utf-8")

        with pytest.raises(RuleError, match=r"unknown category 'nrm'.*; 2 more: traceattr rules"):
            load_rules(file)

    def test_that_is_missing_is_an_error(self, tmp_path: Path) -> None:
        file = tmp_path / "none.toml"

        with pytest.raises(RuleError) as error:
            load_rules(file)

        assert str(error.value) == (
            f"{file}:1: cannot be read: No such file or directory (expected a rule file)"
        )

    def test_that_is_no_text_is_an_error(self, tmp_path: Path) -> None:
        file = tmp_path / "mine.toml"
        file.write_bytes(b"# fine\n\xff\xfe")

        with pytest.raises(RuleError, match=r"mine\.toml:2: not UTF-8"):
            load_rules(file)

    def test_with_a_bad_pattern_is_an_error_at_once(self, tmp_path: Path) -> None:
        file = tmp_path / "mine.toml"
        file.write_text(entry("a", "norm", "("), encoding="utf-8")

        with pytest.raises(RuleError, match=r"mine\.toml:1: rule 'a': bad pattern: "):
            load_rules(file)


GOOD = entry("good", "norm", "^good")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            GOOD + '[[rule]]\nname = "b"\ncolour = "red"\n',
            "r.toml:8: rule 'b': unknown key 'colour' "
            "(expected one of name, category, pattern, matches, subcategory, why)",
        ),
        (
            GOOD + '[[rule]]\nname = "b"\ncategory = "norm"\nmatches = []\n',
            "r.toml:6: rule 'b': key 'pattern' is missing "
            "(expected all of name, category, pattern, matches)",
        ),
        (
            GOOD.replace('"norm"', '"comm"'),
            "r.toml:1: rule 'good': unknown subcategory None (expected comm has nccl or custom)",
        ),
        (
            GOOD.replace('"good"', '"Not Good"'),
            "r.toml:2: rule 'Not Good': bad name 'Not Good' "
            "(expected lower-case words joined by '-')",
        ),
        (
            GOOD.replace("'^good'", "7"),
            "r.toml:4: rule 'good': 'pattern' is not a text (expected pattern = \"...\")",
        ),
        (
            GOOD.replace('["goodx"]', '"goodx"'),
            "r.toml:5: rule 'good': 'matches' is not a list of names "
            '(expected matches = ["..."])',
        ),
        (
            "rule = [{name = 'a'}]",
            "r.toml:1: rules without a line of their own (expected [[rule]] before each)",
        ),
        ("rule = 3", "r.toml:1: 'rule' is not a list of tables (expected [[rule]] entries)"),
        ("rules = 3", "r.toml:1: unknown key 'rules' (expected [[rule]] entries alone)"),
        (
            GOOD + "[[rule]\n",
            "r.toml:6: not TOML: Expected ']]' at the end of an array declaration "
            "(expected [[rule]] entries)",
        ),
    ],
)
def test_a_malformed_file_says_where_and_what(text: str, message: str) -> None:
    with pytest.raises(RuleError) as error:
        parse_rules(text, "r.toml")

    assert str(error.value) == message


def test_an_unknown_category_names_those_there_are() -> None:
    with pytest.raises(
        RuleError, match=r"^r\.toml:3: rule 'a': unknown category 'gem' .*weight_gemm"
    ):
        parse_rules(entry("a", "gem", "x"), "r.toml")


@pytest.mark.skipif(
    not NAMES.exists(), reason="the labelled kernel names are not beside the checkout"
)
def test_labelled_names_get_their_category() -> None:
    lines = NAMES.read_text(encoding="utf-8").splitlines()[1:]
    rows = [line.split("\t") for line in lines]

    wrong = [row for row in rows if SHIPPED.classify(row[0]).category != row[1]]
    really_wrong = [row for row in wrong if SHIPPED.classify(row[0]).category not in _also(row[5])]

    assert len(wrong) <= 0.03 * len(rows)
    assert len(really_wrong) <= 0.01 * len(rows)


def _also(notes: str) -> list[str]:
    """Return the categories of the ``alt=a|b`` in ``notes``."""
    alternatives = [note.strip() for note in notes.split(";") if note.strip().startswith("alt=")]
    return alternatives[0].removeprefix("alt=").split("|") if alternatives else []
