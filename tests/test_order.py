"""Order of rows by time."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from traceattr.ingest.gpu_work.order import in_order

FEW = st.integers(-2, 2)


@given(rows=st.lists(st.tuples(FEW, FEW, FEW), max_size=30))
def test_rows_that_start_together_are_ordered_by_the_other_keys_in_turn(
    rows: list[tuple[int, int, int]],
) -> None:
    columns = np.array(rows, np.int64).reshape(-1, 3).T

    order, starts = in_order(*columns)

    assert [rows[at] for at in order.tolist()] == sorted(rows)
    assert starts.tolist() == sorted(row[0] for row in rows)
