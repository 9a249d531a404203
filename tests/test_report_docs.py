"""That docs/report.md explains what a report shows."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.round_analyses import ROUNDS, unclassified_rounds
from tests.test_report_terminal import ALL
from traceattr.attribution.groups import GAP_GROUPS
from traceattr.report.breakdown import IDLE, NO_KERNEL, ROUND, WINDOW, group_lines
from traceattr.report.csv_table import COLUMNS
from traceattr.report.gaps_text import full_titles, gap_facts
from traceattr.report.grouped import BETWEEN_GRAPHS, OUTSIDE_GRAPHS
from traceattr.report.json_document import document
from traceattr.report.launch_text import LAUNCH_TITLES
from traceattr.report.layout import full_layout, layouts
from traceattr.report.ranks_text import RANK_TITLES
from traceattr.report.rounds_text import KINDS, rounds_facts
from traceattr.rules.categories import GROUPS, SUBCATEGORIES

DOCS = (Path(__file__).parents[1] / "docs" / "report.md").read_text(encoding="utf-8")


def keys_of(value: Any) -> Iterator[str]:
    """Yield every key of every object in a document."""
    if isinstance(value, dict):
        yield from value
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from keys_of(item)


@pytest.mark.parametrize("name", [*GROUPS, *GAP_GROUPS, ROUND, WINDOW, IDLE, NO_KERNEL])
def test_every_group_and_total_has_a_row_that_defines_it(name: str) -> None:
    assert f"\n| {name} | " in DOCS


@pytest.mark.parametrize("name", [BETWEEN_GRAPHS, OUTSIDE_GRAPHS, *SUBCATEGORIES["comm"], *KINDS])
def test_every_part_that_is_no_category_is_named(name: str) -> None:
    assert f"`{name}`" in DOCS


def test_every_part_of_the_draft_is_a_category_or_named() -> None:
    lines = [line.name for line in group_lines(unclassified_rounds()) if line.is_part]

    assert {"comm/nccl", "comm/custom"} <= set(lines)
    assert "`comm/nccl` and `comm/custom`" in DOCS


@pytest.mark.parametrize("name", ALL)
def test_every_column_has_a_row_that_defines_it(name: str) -> None:
    choices = (*layouts(ALL[name]), full_layout(ALL[name]))
    titles = {column.title.split(",")[0] for columns in choices for column in columns}
    defined = {title.strip() for line in DOCS.splitlines() for title in first_cell(line).split(",")}

    assert {title for title in titles if not title.startswith("GPU ")} <= defined


@pytest.mark.parametrize("name", ALL)
def test_every_column_and_line_of_gaps_has_a_row_that_defines_it(name: str) -> None:
    titles = {title.split(",")[0] for title in full_titles(ALL[name])}
    labels = {label for label, _ in gap_facts(ALL[name])}
    defined = {title.strip() for line in DOCS.splitlines() for title in first_cell(line).split(",")}

    assert titles - {"total"} | labels <= defined
    assert "`total`" in DOCS


@pytest.mark.parametrize("title", sorted({*LAUNCH_TITLES, *RANK_TITLES[1:]}))
def test_every_column_about_launching_and_ranks_is_defined(title: str) -> None:
    defined = {title.strip() for line in DOCS.splitlines() for title in first_cell(line).split(",")}

    assert title in defined


def first_cell(line: str) -> str:
    return line.split("|")[1] if line.startswith("|") else ""


@pytest.mark.parametrize("name", ROUNDS)
def test_every_line_about_rounds_has_a_row_that_defines_it(name: str) -> None:
    assert all(f"\n| {label} | " in DOCS for label, _ in rounds_facts(ROUNDS[name]))


@pytest.mark.parametrize("name", ALL)
def test_every_key_of_the_document_is_explained(name: str) -> None:
    assert {key for key in keys_of(document(ALL[name])) if f"`{key}`" not in DOCS} == set()


def test_columns_of_the_csv_that_are_no_keys_of_the_document_are_explained() -> None:
    assert {column for column in COLUMNS if f"`{column}`" not in DOCS} == set()
