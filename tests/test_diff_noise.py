"""How far the mean over rounds may be off."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from traceattr.report.diff.noise import (
    Values,
    block_length,
    estimate,
    half_width,
    typical_estimate,
)


def test_rounds_that_are_not_alike_have_the_textbook_error() -> None:
    values = np.array([3.0, 1.0, 4.0, 1.5, 5.0, 9.0, 2.0, 6.0, 5.5, 3.5])

    found = estimate(values)

    assert block_length(values) == 1
    assert found.mean == values.mean()
    assert found.variance == pytest.approx(values.var(ddof=1) / len(values))
    assert found.freedom == len(values) - 1
    assert found.count == len(values)


def drifting(seed: int, count: int) -> Values:
    """Return rounds each of which is much like the one before."""
    steps = np.random.default_rng(seed).normal(size=count)
    for at in range(1, count):
        steps[at] += 0.9 * steps[at - 1]
    return steps


def test_rounds_that_follow_each_other_and_are_alike_make_blocks_and_more_noise() -> None:
    values = drifting(seed=1, count=400)

    assert block_length(values) > 10
    assert estimate(values).variance > 5 * values.var(ddof=1) / len(values)


def test_drifts_alone_are_seldom_beyond_the_noise() -> None:
    estimates = [estimate(drifting(seed, 200)) for seed in range(40)]

    beyond = [
        abs(one.mean - other.mean) > half_width(one, other, 0.002)
        for one, other in zip(estimates[::2], estimates[1::2], strict=True)
    ]

    assert not any(beyond)


def test_few_rounds_that_missed_what_is_rare_are_no_surer_than_many() -> None:
    random = np.random.default_rng(3)
    few = random.normal(100, 3, 40)
    many = random.normal(100, 3, 200) + 50 * (np.arange(200) % 10 == 0)

    found, others = estimate(few), estimate(many)

    assert found.variance * len(few) < others.variance * len(many) / 5
    assert abs(found.mean - others.mean) < half_width(found, others, 0.001)


def test_few_rounds_that_are_alike_are_not_taken_for_independent() -> None:
    estimates = [estimate(drifting(seed, 18)) for seed in range(60)]

    beyond = [
        abs(one.mean - other.mean) > half_width(one, other, 0.002)
        for one, other in zip(estimates[::2], estimates[1::2], strict=True)
    ]

    assert sum(beyond) <= 1


def test_rounds_that_are_all_the_same_have_no_noise() -> None:
    constant = np.full(20, 7.0)

    assert block_length(constant) == 1
    assert half_width(estimate(constant), estimate(constant + 1), 0.01) == 0


@given(
    arrays(np.float64, st.integers(2, 60), elements=st.integers(0, 10**9).map(float)),
    st.integers(1, 10**9),
)
def test_noise_does_not_depend_on_where_zero_is(values: Values, shift: int) -> None:
    found, shifted = estimate(values), estimate(values + shift)

    assert found.variance >= 0
    assert shifted.mean == pytest.approx(found.mean + shift)
    assert 1 <= block_length(values) <= max(1, len(values) // 3)


def test_a_few_long_rounds_do_not_blur_typical_ones() -> None:
    values = np.random.default_rng(5).normal(1000, 10, 60)
    disturbed = values.copy()
    disturbed[::15] += 5000

    found, typical = estimate(disturbed), typical_estimate(disturbed)

    assert typical.mean == pytest.approx(1000, abs=5)
    assert typical.variance < found.variance / 1000
    assert typical.variance == pytest.approx(typical_estimate(values).variance, rel=0.5)


def test_of_rounds_without_long_ones_the_typical_ones_say_as_much() -> None:
    found = typical_estimate(np.arange(10.0))

    assert found.mean == 4.5
    assert found.count == 10
