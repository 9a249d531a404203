"""Markdown that is cut stays Markdown, and says that it is cut."""

import re

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from traceattr.report.markdown_cut import Size, bytes_of, cut_markdown

NOTE = "*Cut.*"


def parse(text: str) -> list[Token]:
    return MarkdownIt("commonmark").enable("table").parse(text)


def open_folds(tokens: list[Token]) -> int:
    """Return how many folded sections are open after some blocks, as a browser counts."""
    depth = 0
    for token in tokens:
        for piece in (token, *(token.children or ())):
            if piece.type in ("html_block", "html_inline"):
                for tag in re.findall(r"<!--.*?(?:-->|$)|</?details", piece.content, re.DOTALL):
                    depth = max(depth + {"<details": 1, "</details": -1}.get(tag, 0), 0)
    return depth


def test_what_fits_is_not_touched() -> None:
    assert cut_markdown("a\n\nb\n", 5, NOTE) == "a\n\nb\n"


def test_whole_paragraphs_are_kept() -> None:
    text = "one\n\ntwo\nlines\n\nthree\nfour\nfive\n"

    assert cut_markdown(text, 30, NOTE) == "one\n\ntwo\nlines\n\n*Cut.*\n"


def test_a_table_is_cut_after_a_row_and_keeps_at_least_one() -> None:
    table = "| a | b |\n| - | - |\n| 1 | 2 |\n| 3 | 4 |\n| 5 | 6 |\n"

    assert cut_markdown(f"x\n\n{table}", 52, NOTE) == f"x\n\n{table[:40].strip()}\n\n*Cut.*\n"
    assert cut_markdown(f"x\n\n{table}", 35, NOTE) == "x\n\n*Cut.*\n"


def test_a_list_is_cut_after_an_item() -> None:
    text = "- one\n  more\n- two\n\n  more\n- three and some more words\n"

    assert cut_markdown(text, 45, NOTE) == "- one\n  more\n- two\n\n  more\n\n*Cut.*\n"


def test_folded_sections_are_closed() -> None:
    text = (
        "<details><summary>A</summary>\n\na\n\n</details>\n\n"
        "<DETAILS open>\n\n<details><summary>B</summary>\n\nb\n\n" + "c" * 99 + "\n\n</details>\n"
        "</details>\n"
    )

    cut = cut_markdown(text, 140, NOTE)

    assert cut.endswith("b\n\n</details>\n\n</details>\n\n*Cut.*\n")


def test_tags_that_are_only_quoted_are_not_closed() -> None:
    text = "```\n<details>\n```\n\n`<details>` \\<details>\n\n<!-- <details> -->\n\n" + "c" * 99

    assert cut_markdown(text, 99, NOTE).endswith("<!-- <details> -->\n\n*Cut.*\n")


def test_code_is_cut_after_a_line_and_closed() -> None:
    text = "~~~~ text\n" + "".join(f"line {number}\n" for number in range(20)) + "~~~~\n"

    assert cut_markdown(text, 40, NOTE) == "~~~~ text\nline 0\nline 1\n~~~~\n\n*Cut.*\n"


def test_a_drawing_is_shown_whole_or_not_at_all() -> None:
    text = "a\n\n```mermaid\npie\n" + '"x" : 1\n' * 20 + "```\n"

    assert cut_markdown(text, 90, NOTE) == "a\n\n*Cut.*\n"


def test_a_hidden_comment_does_not_hide_the_note() -> None:
    text = "a\n\n<!-- b\n\n" + "c\n" * 99 + "-->\n"

    assert cut_markdown(text, 90, NOTE) == "a\n\n*Cut.*\n"


def test_one_endless_line_is_cut_after_the_note() -> None:
    assert cut_markdown("x" * 99, 20, NOTE) == "*Cut.*\n\n" + "x" * 11 + "\n"
    assert cut_markdown("\N{MICRO SIGN}" * 99, 20, NOTE, bytes_of) == (
        "*Cut.*\n\n" + "\N{MICRO SIGN}" * 5 + "\n"
    )


PIECES = st.sampled_from(
    [
        "word", "", "| a | b |", "| - | - |", "| 1 | 2 |", "- item", "  more", "1. one", "> quote",
        "```", "~~~~", "```mermaid", "<details>", "<details><summary>x</summary>", "</details>",
        "    code", "# Title", "<!-- a", "-->", "<sub>x</sub>", "\N{MICRO SIGN}" * 3, "***",
    ]
)  # fmt: skip


@given(
    st.lists(PIECES, min_size=1, max_size=40),
    st.integers(40, 200),
    st.sampled_from([len, bytes_of]),
)
def test_whatever_is_cut_fits_and_its_note_is_a_paragraph_outside_of_everything(
    pieces: list[str], most: int, size: Size
) -> None:
    text = "\n".join(pieces)

    cut = cut_markdown(text, most, NOTE, size)

    assert size(cut) <= most
    if size(text) <= most:
        assert cut == text
    elif cut.startswith(NOTE):
        assert parse(cut)[1].content == NOTE
    else:
        *shown, _, note, end = parse(cut)
        assert (note.content, end.type, end.level) == (NOTE, "paragraph_close", 0)
        assert open_folds(shown) == 0
