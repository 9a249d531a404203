"""Of a large trace only what lies around a window is read; its figures are the same."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.recordings import recorded
from traceattr.attribution.analysis import Analysis
from traceattr.attribution.analyze import analyze
from traceattr.attribution.choice import Choice
from traceattr.ingest import nearby, trace
from traceattr.ingest.export import open_export
from traceattr.ingest.nearby import Near, leaves_near
from traceattr.ingest.sources import API, GPU_WORK, Source
from traceattr.ingest.stage import read
from traceattr.ingest.trace import open_trace
from traceattr.rules.rule_set import load_rules
from traces.description import Simulation

KERNELS = GPU_WORK[0]
CONTEXT_NS = 150_000_000
BEGIN_NS = 1_200_000_000
ROUNDS = 16
END_NS = BEGIN_NS + ROUNDS * 50_000_000


@pytest.fixture(scope="module")
def path() -> Path:
    return recorded(Simulation(rounds=ROUNDS))[0]


@pytest.fixture(scope="module", autouse=True)
def small_is_large() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nearby, "CONTEXT_NS", CONTEXT_NS)
        patch.setattr(trace, "CONTEXT_NS", CONTEXT_NS)
        patch.setattr(nearby, "LARGE_LEAVES", 8)
        patch.setattr(nearby, "_WORTH_IT", 0.1)
        yield


@pytest.fixture(scope="module")
def wholes(path: Path) -> list[tuple[Source, pa.Table]]:
    with open_export(path) as export:
        return [(source, read(export, source)[0].table) for source in (KERNELS, API)]


TIMES = st.integers(BEGIN_NS - 10**8, END_NS + 10**8)


@settings(max_examples=25)
@given(TIMES, TIMES)
def test_what_is_read_around_a_window_is_all_that_lies_there(
    path: Path, wholes: list[tuple[Source, pa.Table]], one: int, other: int
) -> None:
    near = Near(min(one, other), max(one, other))
    with open_export(path) as export:
        for source, whole in wholes:
            part = read(export, source, near=near)[0].table
            inside = pa.Table.from_batches(map(near.of, whole.to_batches()), whole.schema)
            assert part.cast(whole.schema) == inside


def test_most_pages_of_a_large_table_are_left_alone(path: Path) -> None:
    with open_export(path) as export:
        assert leaves_near(export, KERNELS.table, Near(0, END_NS)) is None
        found = leaves_near(export, KERNELS.table, Near(BEGIN_NS, BEGIN_NS + 10**8))
        assert found is not None
        assert len(found) < 150


def analysed(path: Path, window: tuple[int, int], *, whole: bool) -> Analysis:
    with open_trace(path, window=None if whole else window) as loaded:
        assert (loaded.near is None) == whole
        return analyze(loaded, load_rules(), Choice(window=window))


@pytest.mark.parametrize("begin_ns", [BEGIN_NS + 300_000_000, BEGIN_NS + 417_000_123])
def test_the_figures_of_a_window_are_those_of_the_whole_trace(path: Path, begin_ns: int) -> None:
    window = (begin_ns, begin_ns + 120_000_000)
    part, whole = analysed(path, window, whole=False), analysed(path, window, whole=True)
    [only, *others] = [notice for notice in part.warnings if notice not in whole.warnings]
    assert (only.code, others) == ("window-only", [])
    kinds = {(one.gpu, one.graph_ids, one.kind) for one in whole.rounds.graphs}
    assert {(one.gpu, one.graph_ids, one.kind) for one in part.rounds.graphs} == kinds
    alike = replace(whole.rounds, graphs=part.rounds.graphs)
    assert part == replace(whole, rounds=alike, warnings=part.warnings)


@pytest.mark.parametrize(
    "window", [(BEGIN_NS - 10, BEGIN_NS + 10**8), (END_NS - 10**8, END_NS + 10**9), (0, 10)]
)
def test_at_an_end_of_the_trace_all_of_it_is_read(path: Path, window: tuple[int, int]) -> None:
    with open_trace(path, window=window) as loaded:
        assert loaded.near is None
