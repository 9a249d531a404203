import json
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from traceattr.cli.rules import app
from traceattr.errors import OptionError, RuleError

RULES = """
[[rule]]
name = "my-attention"
category = "attention"
subcategory = "mine"
pattern = '^my_attn'
matches = ["my_attn_zig"]
why = "ours"

[[rule]]
name = "my-attention-again"
category = "norm"
pattern = '^my_'
matches = ["my_norm"]
"""


@pytest.fixture
def rules_file(tmp_path: Path) -> Path:
    file = tmp_path / "mine.toml"
    file.write_text(RULES, encoding="utf-8")
    return file


def run(*arguments: object, stdin: bytes | None = None, columns: int = 80) -> Any:
    return CliRunner().invoke(
        app, [str(a) for a in arguments], input=stdin, env={"COLUMNS": str(columns)}
    )


def classified(*arguments: object, stdin: bytes | None = None) -> Any:
    return json.loads(run("classify", "--format", "json", *arguments, stdin=stdin).stdout)


class TestList:
    def test_shows_the_rules_in_the_order_they_are_tried(self, rules_file: Path) -> None:
        lines = run("list", "--rules", rules_file).stdout.splitlines()

        assert lines[0].split() == ["#", "rule", "category", "subcategory", "names", "pattern"]
        assert lines[1].split()[:5] == ["1", "my-attention", "attention", "mine", "1"]
        assert lines[2].split()[:4] == ["2", "my-attention-again", "norm", "1"]

    def test_keeps_the_numbers_when_it_shows_one_category(self, rules_file: Path) -> None:
        lines = run("list", "--rules", rules_file, "--category", "norm").stdout.splitlines()

        assert lines[1].split()[:3] == ["2", "my-attention-again", "norm"]
        assert all(" norm " in line for line in lines[1:])

    def test_fits_the_terminal(self) -> None:
        wide = run("list", columns=120).stdout.splitlines()
        narrow = run("list", columns=80).stdout.splitlines()

        assert max(map(len, wide)) <= 120
        assert max(map(len, narrow)) <= 80

    def test_refuses_an_unknown_category(self) -> None:
        result = run("list", "--category", "gem")

        assert result.exit_code == 2
        assert "'gem' is no category" in result.stderr


class TestCheck:
    def test_of_the_shipped_rules_finds_nothing(self) -> None:
        result = run("check")

        assert result.exit_code == 0
        assert result.stdout.endswith("examples: no problem found\n")

    def test_counts_what_it_checked(self, rules_file: Path) -> None:
        result = run("check", rules_file)

        assert (result.exit_code, result.stdout) == (0, "2 rules, 2 examples: no problem found\n")

    def test_prints_one_line_for_each_problem_and_fails(self, rules_file: Path) -> None:
        rules_file.write_text(RULES.replace("my_norm", "norm\\u001b[31m"), encoding="utf-8")

        result = run("check", rules_file)

        assert result.exit_code == 1
        assert result.stdout == (
            f"{rules_file}:10: rule 'my-attention-again': "
            "pattern does not match the example 'norm\\x1b[31m'\n"
        )

    def test_of_a_missing_file_is_an_error(self, tmp_path: Path) -> None:
        result = run("check", tmp_path / "none.toml")

        assert isinstance(result.exception, RuleError)


class TestExplain:
    def test_names_the_winner_and_the_others(self, rules_file: Path) -> None:
        result = run("explain", "void my_attn_zig<(int)4>", "--rules", rules_file)

        assert result.stdout == (
            "seen as       my_attn_zig<4>\n"
            "category      attention (group attention), subcategory mine\n"
            f"rule          my-attention ({rules_file}:2)\n"
            "pattern       ^my_attn\n"
            "why           ours\n"
            f"also matches  my-attention-again ({rules_file}:10), category norm\n"
        )

    def test_offers_the_nearest_example_of_an_unknown_name(self, rules_file: Path) -> None:
        result = run("explain", "mi_attn_zig", "--rules", rules_file)

        assert result.stdout == (
            "seen as       mi_attn_zig\n"
            "category      unclassified: no rule matches\n"
            "nearest       my_attn_zig (rule my-attention, category attention)\n"
        )

    def test_offers_nothing_when_nothing_is_near(self) -> None:
        result = run("explain", "0123456789" * 9)

        assert result.exit_code == 0
        assert result.stdout.endswith("category      unclassified: no rule matches\n")

    def test_spells_control_characters_out(self) -> None:
        assert "\x1b" not in run("explain", "\x1b[31mred\x1b[0m").stdout


class TestClassify:
    def test_prints_tabs_between_name_category_subcategory_and_rule(self, rules_file: Path) -> None:
        result = run("classify", "my_attn_1", "unheard_of", "--rules", rules_file)

        assert result.stdout == (
            "my_attn_1\tattention\tmine\tmy-attention\nunheard_of\tunclassified\t\t\n"
        )

    def test_prints_json(self, rules_file: Path) -> None:
        found = classified("my_attn_1", "unheard_of", "--rules", rules_file)

        assert found == [
            {
                "name": "my_attn_1",
                "category": "attention",
                "subcategory": "mine",
                "rule": "my-attention",
            },
            {"name": "unheard_of", "category": "unclassified", "subcategory": None, "rule": None},
        ]

    def test_has_one_entry_for_each_line_of_a_file(self, tmp_path: Path) -> None:
        file = tmp_path / "names.txt"
        file.write_bytes(b"\xef\xbb\xbfnvjet_a\r\n\r\na\tb\n\x1b[1mc\xff\n")

        found = classified("--from-file", file)

        assert [entry["name"] for entry in found] == ["nvjet_a", "", "a\tb", "\x1b[1mc\ufffd"]
        assert [entry["category"] for entry in found] == ["weight_gemm"] + ["unclassified"] * 3

    def test_reads_standard_input(self) -> None:
        found = classified("--from-file", "-", stdin=b"nvjet_a\nnvjet_b")

        assert [entry["rule"] for entry in found] == ["gemm-nvjet"] * 2

    def test_of_an_empty_file_is_an_empty_list(self) -> None:
        assert classified("--from-file", "-", stdin=b"") == []

    def test_keeps_tabs_and_escapes_out_of_its_columns(self) -> None:
        result = run("classify", "--from-file", "-", stdin=b"a\tb\x1b[31m\n")

        assert result.stdout == "a\\tb\\x1b[31m\tunclassified\t\t\n"

    def test_without_names_is_a_usage_error(self) -> None:
        result = run("classify")

        assert result.exit_code == 2
        assert "nothing to classify" in result.stderr

    def test_of_a_missing_file_is_an_error(self, tmp_path: Path) -> None:
        result = run("classify", "--from-file", tmp_path / "none.txt")

        assert isinstance(result.exception, OptionError)
        assert str(result.exception).endswith(
            "none.txt: cannot be read: No such file or directory (expected a list of names)"
        )


def test_every_command_has_help() -> None:
    for command in typer.main.get_command(app).commands:  # type: ignore[attr-defined]
        result = run(command, "--help")

        assert result.exit_code == 0
