"""Rows are held as narrow as they allow, and come back as they were."""

from collections.abc import Sequence

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from traceattr.ingest import held
from traceattr.ingest.held import hold

SCHEMA = pa.schema([("value", pa.int64())])
INTEGERS = st.none() | st.integers(-(2**63), 2**63 - 1) | st.integers(-5, 5)


def batches(columns: Sequence[Sequence[int | None]]) -> list[pa.RecordBatch]:
    return [pa.RecordBatch.from_pydict({"value": column}, SCHEMA) for column in columns]


@given(st.lists(st.lists(INTEGERS), max_size=4))
def test_held_rows_come_back_in_order(columns: list[list[int | None]]) -> None:
    found = hold(SCHEMA, batches(columns))
    values = [value for column in columns for value in column]
    assert found.rows == len(values)
    assert found.table["value"].to_pylist() == values
    assert found.drain().read_all()["value"].to_pylist() == values
    assert found.rows == 0


def test_a_column_is_as_wide_as_its_widest_value() -> None:
    narrow = hold(SCHEMA, batches([[1, None], [-(2**31) + 1, 2**31 - 1]]))
    wide = hold(SCHEMA, batches([[1] * 70_000, [-(2**31)]]))
    assert narrow.schema.field("value").type == pa.int32()
    assert wide.schema.field("value").type == pa.int64()
    assert len(wide.batches) == 2


def test_batches_of_a_large_table_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held, "_BATCH_ROWS", 1)
    monkeypatch.setattr(held, "_MOST_BATCHES", 2)
    found = hold(SCHEMA, batches([[1]] * 1000))
    assert found.rows == 1000
    assert len(found.batches) < 20
