"""The founding analysis, from its own assumptions and from the model's config."""

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.founding_analysis import (
    ARTICLE,
    PRINTED,
    accept_length_seen,
    claims,
    ours,
    row_entries,
    table,
)

ROOT = Path(__file__).parent.parent


def test_its_assumptions_give_what_it_prints() -> None:
    rounded = {row: f"{ms:.2f}" for row, ms in ARTICLE.terms_ms().items()}

    assert rounded == {
        "weights": "35.16",
        "draft": "5.56",
        "all-reduce": "1.02",
        "KV cache": "0.02",
        "GDN state": "0.10",
        "scheduler": "0.50",
    }
    assert f"{ARTICLE.round_ms:.1f}" == PRINTED["round"]
    assert f"{ARTICLE.tokens_per_s(ARTICLE.round_ms):.1f}" == PRINTED["tokens/s"]


@pytest.mark.parametrize("row", ["weights", "draft", "all-reduce", "KV cache", "scheduler"])
def test_what_it_prints_is_rounded(row: str) -> None:
    digits = len(PRINTED[row].partition(".")[2])

    assert f"{ARTICLE.terms_ms()[row]:.{digits}f}" == PRINTED[row]


def test_every_category_of_ours_is_in_one_row() -> None:
    roofline = ours()
    rows = [line.split(" | ")[0].removeprefix("| ") for line in table().splitlines()[2:-2]]

    shown = [entry for row in rows for entry in row_entries(roofline, row)]

    assert sorted(map(id, shown)) == sorted(map(id, roofline.prediction.categories))


def test_the_table_ends_with_the_round_and_its_tokens() -> None:
    assert table().splitlines()[-2:] == [
        "| **round** | 42.4 | 42.36 | 41.17 | 54.64 |",
        "| **tokens/s** | 70.8 | 70.8 | 72.9 | 54.9 |",
    ]


def test_claims_are_recomputed() -> None:
    assert claims().splitlines()[2:7] == [
        "| tokens/s on two H100 | 370 | 372 weights alone, 276 with the rest | 318 | 197 |",
        "| tokens/s at accept length 5 | 92 | 118 | 98.2 | 74.2 |",
        "| tokens/s with 2 ms of scheduler | 66 | 68.4 | - | 53.4 |",
        "| KV cache at 131,072 tokens, ms | 5.2 | 5.59 | 5.59 | 6.95 |",
        "| tokens/s lost at 131,072 tokens | 12 % | 11.6 %; 42.4 % with GDN scaled as it says"
        " | 13.8 % | 12.7 % |",
    ]


def test_its_observations_bound_the_accept_length() -> None:
    assert "an accept length between 2.26 and 3.06" in accept_length_seen()


def test_the_command_of_the_page_prints_it() -> None:
    result = subprocess.run(
        [sys.executable, "-m", "benchmarks.founding_analysis"],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )

    assert result.stdout.startswith(table())
