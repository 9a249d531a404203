"""What a row made of several parts takes in a round."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from tests.round_analyses import spread
from traceattr.attribution.round_figures import Spread
from traceattr.report.per_round import PerRound, of_parts, of_spread

ROUNDS = st.lists(st.integers(0, 10**9), min_size=1, max_size=200)


def spread_of(values: Sequence[int]) -> Spread:
    """Return the order statistics of the nearest rank."""
    ordered = sorted(values)
    median, p99 = (ordered[-(-len(ordered) * q // 100) - 1] for q in (50, 99))
    return Spread(median, p99, sum(ordered) // len(ordered), ordered[0], ordered[-1])


@given(ROUNDS, st.integers(0, 10**6))
def test_a_part_that_never_changes_moves_the_figures_exactly(values: list[int], more: int) -> None:
    constant = spread_of([more] * len(values))

    found = of_parts([spread_of(values), constant])

    assert found == of_spread(spread_of([value + more for value in values]))


def test_percentiles_of_parts_that_vary_are_not_added() -> None:
    assert of_parts([spread(100, 20), spread(10, 4)]) == PerRound(110, None, 111)


def test_without_rounds_or_with_an_unknown_part_there_is_no_figure() -> None:
    assert of_parts([]) is None
    assert of_parts([spread(5), None]) is None
    assert of_spread(None) is None
