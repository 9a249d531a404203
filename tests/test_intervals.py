import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from traceattr.attribution.intervals import Cover, Times, first_wins, union


def times(*values: int) -> Times:
    return np.array(values, np.int64)


def intervals() -> st.SearchStrategy[list[tuple[int, int]]]:
    pair = st.tuples(st.integers(-20, 40), st.integers(0, 15))
    return st.lists(pair.map(lambda p: (p[0], p[0] + p[1])), max_size=12).map(sorted)


def arrays(pairs: list[tuple[int, int]]) -> tuple[Times, Times]:
    return times(*(start for start, _ in pairs)), times(*(end for _, end in pairs))


def instants(pairs: list[tuple[int, int]]) -> set[int]:
    return {t for start, end in pairs for t in range(start, end)}


def test_touching_intervals_become_one() -> None:
    cover = union(times(0, 5, 8), times(5, 7, 9))

    assert cover.start_ns.tolist() == [0, 8]
    assert cover.end_ns.tolist() == [7, 9]


def test_a_nested_interval_changes_nothing() -> None:
    assert union(times(0, 2), times(10, 3)).total_ns == 10


def test_an_interval_of_length_zero_covers_nothing() -> None:
    assert union(times(4), times(4)).total_ns == 0


def test_gaps_reach_to_both_ends_of_the_window() -> None:
    gaps = union(times(2, 6), times(4, 7)).gaps(0, 10)

    assert list(zip(gaps.start_ns.tolist(), gaps.end_ns.tolist(), strict=True)) == [
        (0, 2),
        (4, 6),
        (7, 10),
    ]


def test_a_window_without_work_is_one_gap() -> None:
    nothing = Cover(times(), times())

    assert nothing.gaps(3, 8).total_ns == 5
    assert nothing.covered_before(times(5)).tolist() == [0]


def test_the_first_to_start_keeps_what_it_covers() -> None:
    start, end = times(0, 2, 3), times(10, 20, 12)

    assert first_wins(start, end).tolist() == [0, 10, 12]


@given(intervals())
def test_union_covers_exactly_the_instants_of_its_intervals(pairs: list[tuple[int, int]]) -> None:
    cover = union(*arrays(pairs))
    covered = list(zip(cover.start_ns.tolist(), cover.end_ns.tolist(), strict=True))

    assert instants(covered) == instants(pairs)
    assert cover.total_ns <= sum(end - start for start, end in pairs)


@given(intervals(), st.integers(-25, 60))
def test_covered_before_counts_the_instants_before(
    pairs: list[tuple[int, int]], moment: int
) -> None:
    cover = union(*arrays(pairs))

    before = cover.covered_before(times(moment))

    assert before.tolist() == [sum(t < moment for t in instants(pairs))]


@given(intervals())
def test_union_and_gaps_tile_the_window(pairs: list[tuple[int, int]]) -> None:
    cover = union(*arrays(pairs))

    assert cover.total_ns + cover.gaps(-20, 60).total_ns == 80
