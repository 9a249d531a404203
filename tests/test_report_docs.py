"""That docs/report.md explains what a report shows."""

from pathlib import Path

import pytest

from tests.analyses import two_gpus
from traceattr.attribution.groups import GAP_GROUPS
from traceattr.report.breakdown import IDLE, NO_KERNEL, WINDOW
from traceattr.report.grouped import BETWEEN_GRAPHS, OUTSIDE_GRAPHS
from traceattr.report.json_document import document
from traceattr.rules.categories import GROUPS, SUBCATEGORIES

DOCS = (Path(__file__).parents[1] / "docs" / "report.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [*GROUPS, *GAP_GROUPS, WINDOW, IDLE, NO_KERNEL])
def test_every_group_and_total_has_a_row_that_defines_it(name: str) -> None:
    assert f"\n| {name} | " in DOCS


@pytest.mark.parametrize("name", [BETWEEN_GRAPHS, OUTSIDE_GRAPHS, *SUBCATEGORIES["comm"]])
def test_every_part_that_is_no_category_is_named(name: str) -> None:
    assert f"`{name}`" in DOCS


def test_every_key_of_the_document_is_explained() -> None:
    made = document(two_gpus())
    keys = {*made, *made["per_gpu"][0]["groups"][0], *made["per_gpu"][0]["idle"]} - {"share"}

    assert {key for key in keys if f"{key}`" not in DOCS and f"`{key}" not in DOCS} <= {
        "group",
        "per_gpu",
    }
