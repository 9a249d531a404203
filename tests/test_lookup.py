"""Positions of integers among known ones, by table and by bisection."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from traceattr.ingest.gpu_work.columns import converted, integers, is_known, null_of
from traceattr.ingest.gpu_work.lookup import MISSING, Lookup
from traceattr.ingest.held import hold
from traceattr.ingest.names import NameKeys

INTEGERS = st.integers(-(2**63), 2**63 - 1) | st.integers(-9, 9)


@given(st.sets(INTEGERS), st.lists(INTEGERS))
def test_a_number_is_found_where_it_was_given(keys: set[int], others: list[int]) -> None:
    known = list(keys)
    numbers = [*others, *known]
    found = Lookup(np.array(known, np.int64)).of(np.array(numbers, np.int64))
    assert found.tolist() == [
        known.index(number) if number in keys else MISSING for number in numbers
    ]


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32])
def test_narrow_numbers_are_found_among_wide_keys(dtype: type[np.signedinteger]) -> None:
    found = Lookup(np.array([2**40, 7, -3])).of(
        np.array([7, -3, 1, null_of(np.dtype(dtype))], dtype)
    )
    assert found.tolist() == [1, 2, MISSING, MISSING]


@given(st.lists(st.none() | INTEGERS.filter(lambda number: number > -(2**63)), min_size=1))
def test_columns_keep_their_values_and_what_is_missing(values: list[int | None]) -> None:
    schema = pa.schema([("value", pa.int64())])
    held = hold(schema, [pa.RecordBatch.from_pydict({"value": values}, schema)])
    narrow = integers(held.batches[0], "value")
    wide = converted(narrow, np.dtype(np.int64))
    for numbers in (narrow, wide):
        assert [
            number if known else None
            for number, known in zip(numbers.tolist(), is_known(numbers).tolist(), strict=True)
        ] == values


def test_names_are_found_by_both_ids_of_which_either_may_be_missing() -> None:
    keys = NameKeys([(5, 6, 0), (5, None, 1), (None, 6, 2), (None, None, 3), (70_000, 6, 4)])
    missing = null_of(np.dtype(np.int32))
    demangled = np.array([5, 5, missing, missing, 70_000], np.int32)
    short = np.array([6, missing, 6, missing, 6], np.int32)
    assert keys.of(demangled, short).tolist() == [0, 1, 2, 3, 4]
