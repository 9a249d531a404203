"""How text from traces is made harmless."""

import html
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from traceattr.report.escape import (
    csv_text,
    markdown_code,
    markdown_code_cell,
    markdown_sentence,
    markdown_text,
    visible,
)
from traceattr.report.markdown import markdown_table

HOSTILE = [
    "a|b||c",
    "back`tick``s```",
    "`",
    "<script>alert(1)</script>",
    "@everyone and @sgl-project/team",
    "fixes #123, GH-1 and sgl-project/sglang#7",
    "https://example.com www.example.com",
    "line\nbreak\r\nand \u2028 separator",
    "\x1b[31mred\x1b]8;;http://x\x07",
    "**bold** _it_ ~~no~~ [a](b) ![c](d) $x$",
    "\\| \\",
    "&lt; &amp;",
    "\u202egnp.exe",
    "   ",
    "",
]
TEXT = (
    st.sampled_from(HOSTILE) | st.text(alphabet="a|`\\<>@#&*_[]()\n\x1b -", max_size=30) | st.text()
)


def rendered(markdown: str) -> list[Token]:
    return MarkdownIt("commonmark").enable("table").parse(markdown)


def inline_tokens(markdown: str) -> list[Token]:
    return [child for token in rendered(markdown) for child in token.children or []]


@given(TEXT)
def test_visible_text_is_one_line_that_no_terminal_obeys(text: str) -> None:
    shown = visible(text)

    assert not [c for c in shown if unicodedata.category(c) in {"Cc", "Cf", "Cs", "Zl", "Zp"}]


def test_what_is_invisible_is_written_out() -> None:
    assert visible("a\x1b[31m\n\u202eb") == "a\\x1b[31m\\n\\u202eb"
    assert visible("grün 中文") == "grün 中文"


@given(TEXT)
def test_a_code_span_shows_exactly_the_visible_text(text: str) -> None:
    (token,) = inline_tokens(markdown_code(text))

    assert token.type == "code_inline"
    assert token.content.strip() == (visible(text).strip() or "(no name)")


@given(TEXT)
def test_a_code_span_in_a_table_is_one_cell_with_the_visible_text(text: str) -> None:
    table = markdown_table(("n", "name"), "rl", [("1", markdown_code_cell(text))])

    cells = [token for token in rendered(table) if token.type == "td_open"]
    codes = [token for token in inline_tokens(table) if token.type == "code_inline"]

    assert len(cells) == 2
    assert len(table.splitlines()) == 3
    assert [code.content.strip() for code in codes] == [visible(text).strip() or "(no name)"]


@given(st.lists(TEXT, min_size=1, max_size=4))
def test_prose_in_a_table_is_one_cell_each(texts: list[str]) -> None:
    table = markdown_table(
        ("t",) * len(texts), "l" * len(texts), [tuple(map(markdown_text, texts))]
    )

    cells = [token for token in rendered(table) if token.type == "td_open"]

    assert len(cells) == len(texts)
    assert len(table.splitlines()) == 3


@given(TEXT)
def test_prose_is_neither_formatted_nor_linked_nor_html(text: str) -> None:
    prose = markdown_text(text)
    tokens = inline_tokens(f"x {prose}")

    comments = [token.content for token in tokens if token.type == "html_inline"]

    assert {token.type for token in tokens} <= {"text", "text_special", "html_inline"}
    assert set(comments) <= {"<!-- -->", "<span>", "</span>"}
    assert not re.search(r"@\w|#\w|://\w|www\.\w", prose)


@given(TEXT)
def test_prose_reads_as_the_visible_text(text: str) -> None:
    tokens = inline_tokens(f"x{markdown_text(text)}x")

    assert "".join(t.content for t in tokens if t.type != "html_inline") == f"x{visible(text)}x"


def test_pairs_of_backticks_in_a_sentence_are_code() -> None:
    assert markdown_sentence("run `a --b=*` now") == "run `a --b=*` now"
    assert markdown_sentence("a ` b *c*") == "a \\` b \\*c\\*"


@pytest.mark.parametrize("start", ["=", "+", "-", "@", " =", "\t=", "\r@"])
def test_no_csv_cell_is_a_formula(start: str) -> None:
    assert not csv_text(f"{start}1+1").startswith(("=", "+", "-", "@", "\t", "\r"))


@given(TEXT)
def test_html_entities_in_prose_are_not_decoded_twice(text: str) -> None:
    assert html.unescape(markdown_text(text)).count("<script>") == visible(text).count("<script>")


@pytest.mark.parametrize("text", ["- a", "+ a", "1. a", "23) a", "# a", "> a", "---", "===", "* a"])
def test_prose_in_a_list_begins_no_list_heading_quote_or_rule(text: str) -> None:
    tokens = {token.type for token in rendered(f"- {markdown_text(text)}")}

    assert tokens <= {
        "bullet_list_open",
        "list_item_open",
        "paragraph_open",
        "inline",
        "paragraph_close",
        "list_item_close",
        "bullet_list_close",
    }
    assert [t.type for t in rendered(f"- {markdown_text(text)}")].count("bullet_list_open") == 1
