"""How numbers are written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from traceattr.report.figures import (
    MICROSECONDS,
    MILLISECONDS,
    SECONDS,
    count,
    counted,
    duration,
    rate,
    share,
    share_range,
    unit_for,
)


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [
        (0, 10, "0 %"),
        (10, 10, "100 %"),
        (1, 1_000_000, "<0.1 %"),
        (999_999, 1_000_000, ">99.9 %"),
        (774, 1000, "77.4 %"),
        (1, 1000, "0.1 %"),
        (999, 1000, "99.9 %"),
        (1, 2, "50.0 %"),
        (15, 10, "150.0 %"),
        (0, 0, "0 %"),
    ],
)
def test_a_share_is_a_percentage_with_one_decimal(part: int, whole: int, text: str) -> None:
    assert share(part, whole) == text


@given(st.integers(0, 10**15), st.integers(1, 10**15))
def test_nothing_and_all_are_only_written_when_exact(part: int, whole: int) -> None:
    text = share(part, whole)

    assert (text in {"0 %", "0.0 %"}) == (part == 0)
    assert (text in {"100 %", "100.0 %"}) <= (part >= whole)


def test_shares_that_read_the_same_are_one() -> None:
    assert share_range([(7740, 10_000), (7741, 10_000)]) == "77.4 %"
    assert share_range([(776, 1000), (772, 1000), (774, 1000)]) == "77.2-77.6 %"


@pytest.mark.parametrize(
    ("duration_ns", "text"),
    [
        (0, "0 ns"),
        (999, "999 ns"),
        (1_500, "1.50 us"),
        (812_000, "812.0 us"),
        (1_234_000, "1.23 ms"),
        (42_400_000, "42.4 ms"),
        (968_900_000, "0.969 s"),
        (1_250_000_000, "1.250 s"),
        (3_600_000_000_000, "3,600.000 s"),
    ],
)
def test_a_duration_is_written_in_the_unit_that_suits_it(duration_ns: int, text: str) -> None:
    assert duration(duration_ns) == text


def test_a_table_has_the_unit_of_its_largest_time() -> None:
    assert unit_for(0) == MICROSECONDS
    assert unit_for(999_999) == MICROSECONDS
    assert unit_for(1_000_000) == MILLISECONDS
    assert unit_for(100 * 10**9) == SECONDS


def test_times_in_a_table_have_three_decimals() -> None:
    assert MILLISECONDS.number(1_234_567_890) == "1,234.568"
    assert MILLISECONDS.text(499) == "0.000 ms"
    assert MICROSECONDS.number(1) == "0.001"


def test_counts_have_separators_and_nouns_a_plural() -> None:
    assert count(1_234_567) == "1,234,567"
    assert [counted(n, "GPU") for n in (0, 1, 2)] == ["0 GPUs", "1 GPU", "2 GPUs"]
    assert counted(2, "launch", "launches") == "2 launches"


@pytest.mark.parametrize(
    ("bytes_per_s", "text"),
    [
        (3_352_320_000_000, "3.35 TB/s"),
        (768_096_000_000, "768 GB/s"),
        (64_000_000, "64 MB/s"),
        (1_234, "1,234 B/s"),
    ],
)
def test_a_bandwidth_is_in_decimal_units(bytes_per_s: int, text: str) -> None:
    assert rate(bytes_per_s) == text
