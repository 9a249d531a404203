import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from traceattr.attribution.partition import (
    Operations,
    Partition,
    Precedence,
    inside,
    partition,
    segments,
)

COMPUTE, ENVELOPE, COMMUNICATION, COPY = Precedence

Row = tuple[int, int, Precedence]
"""Begin, end and precedence of one operation."""

ROWS = st.lists(
    st.tuples(st.integers(0, 40), st.integers(0, 20), st.sampled_from(Precedence)).map(
        lambda row: (row[0], min(row[0] + row[1], 50), row[2])
    ),
    max_size=12,
    unique_by=lambda row: (row[0], row[2]),
)
"""Operations inside the window [0, 50); equal starts in one class would leave a tie."""


def operations(rows: list[Row]) -> Operations:
    ordered = sorted(rows)
    return Operations(
        np.array([row[0] for row in ordered], np.int64),
        np.array([row[1] for row in ordered], np.int64),
        np.array([row[2] for row in ordered], np.int8),
    )


def parts(rows: list[Row], start_ns: int = 0, end_ns: int = 50) -> Partition:
    return partition(operations(rows), start_ns, end_ns)


def owned(rows: list[Row], start_ns: int = 0, end_ns: int = 50) -> dict[Row, int]:
    exclusive = parts(rows, start_ns, end_ns).exclusive_ns.tolist()
    return dict(zip(sorted(rows), exclusive, strict=True))


def owned_by_definition(rows: list[Row]) -> dict[Row, int]:
    """Ask at each instant who owns it, as the design words it."""
    result = dict.fromkeys(rows, 0)
    for t in range(50):
        running = [row for row in rows if row[0] <= t < row[1]]
        if running:
            result[min(running, key=lambda row: (row[2], row[0]))] += 1
    return result


def test_compute_beats_communication_beats_copies() -> None:
    assert owned([(0, 30, COPY), (5, 20, COMMUNICATION), (10, 15, COMPUTE)]) == {
        (0, 30, COPY): 15,
        (5, 20, COMMUNICATION): 10,
        (10, 15, COMPUTE): 5,
    }


def test_a_graph_envelope_yields_to_known_compute_only() -> None:
    assert owned([(0, 20, ENVELOPE), (5, 8, COMPUTE), (6, 25, COMMUNICATION), (0, 30, COPY)]) == {
        (0, 20, ENVELOPE): 17,
        (5, 8, COMPUTE): 3,
        (6, 25, COMMUNICATION): 5,
        (0, 30, COPY): 5,
    }


def test_within_a_class_the_first_to_start_owns_the_overlap() -> None:
    assert owned([(0, 10, COMPUTE), (5, 20, COMPUTE)]) == {
        (0, 10, COMPUTE): 10,
        (5, 20, COMPUTE): 10,
    }


def test_an_operation_covered_by_others_owns_nothing() -> None:
    assert owned([(0, 10, COMPUTE), (2, 5, COMPUTE)])[2, 5, COMPUTE] == 0


def test_an_empty_window_is_all_idle() -> None:
    result = parts([], 100, 250)

    assert result.busy.total_ns == 0
    assert result.idle.total_ns == 150
    assert result.kernel_ns == 0


def test_copies_keep_a_gpu_busy_but_are_no_kernel() -> None:
    result = parts([(0, 10, COPY), (5, 8, COMPUTE), (20, 24, COMMUNICATION)])

    assert result.busy.total_ns == 14
    assert result.kernel_ns == 7


@given(ROWS)
def test_each_instant_is_owned_as_the_policy_says(rows: list[Row]) -> None:
    assert owned(rows) == owned_by_definition(rows)


@given(ROWS)
def test_exclusive_and_idle_sum_to_the_window(rows: list[Row]) -> None:
    result = parts(rows)

    assert int(result.exclusive_ns.sum()) == result.busy.total_ns
    assert result.busy.total_ns + result.idle.total_ns == 50
    assert result.busy.total_ns <= sum(end - start for start, end, _ in rows)


@given(ROWS, st.integers(-(10**18), 2 * 10**18))
def test_shifting_time_changes_nothing(rows: list[Row], shift: int) -> None:
    moved = [(start + shift, end + shift, precedence) for start, end, precedence in rows]

    shifted = parts(moved, shift, 50 + shift)

    assert shifted.exclusive_ns.tolist() == parts(rows).exclusive_ns.tolist()
    assert shifted.idle.total_ns == parts(rows).idle.total_ns


@given(ROWS, st.data())
def test_splitting_an_operation_keeps_the_total_of_its_class(
    rows: list[Row], data: st.DataObject
) -> None:
    whole = owned(rows)
    split = set(rows)
    for row in rows:
        cut = data.draw(st.integers(row[0], row[1]))
        pieces = {(row[0], cut, row[2]), (cut, row[1], row[2])}
        if not any(other[0] == cut and other[2] == row[2] for other in split):
            split = split - {row} | pieces

    pieces_owned = owned(list(split))

    for precedence in Precedence:
        assert sum(ns for row, ns in pieces_owned.items() if row[2] == precedence) == sum(
            ns for row, ns in whole.items() if row[2] == precedence
        )


@given(ROWS, st.integers(1, 49))
def test_two_windows_that_meet_sum_to_the_whole(rows: list[Row], cut: int) -> None:
    left, right = owned(rows, 0, cut), owned(rows, cut, 50)

    assert {row: left[row] + right[row] for row in rows} == owned(rows)


@given(ROWS)
def test_time_inside_the_window_is_the_duration_cut_to_it(rows: list[Row]) -> None:
    found = inside(operations(rows), 10, 30).tolist()

    assert found == [len(range(max(s, 10), min(e, 30))) for s, e, _ in sorted(rows)]


def test_segments_say_who_owns_what_from_when_to_when() -> None:
    found = segments(operations([(5, 30, COPY), (10, 15, COMPUTE)]), 0, 40)

    assert found.start_ns.tolist() == [0, 5, 10, 15, 30]
    assert found.end_ns.tolist() == [5, 10, 15, 30, 40]
    assert found.operation.tolist() == [-1, 0, 1, 0, -1]


@given(ROWS, st.integers(0, 25), st.integers(26, 50))
def test_segments_tile_the_window_and_sum_to_what_each_operation_owns(
    rows: list[Row], start_ns: int, end_ns: int
) -> None:
    found = segments(operations(rows), start_ns, end_ns)

    assert found.start_ns.tolist() == [start_ns, *found.end_ns[:-1].tolist()]
    assert found.end_ns[-1] == end_ns
    assert (found.end_ns > found.start_ns).all()
    assert (found.operation[1:] != found.operation[:-1]).all()
    length = found.end_ns - found.start_ns
    sums = np.bincount(found.operation + 1, weights=length, minlength=len(rows) + 1)
    assert sums[1:].tolist() == parts(rows, start_ns, end_ns).exclusive_ns.tolist()
