"""Into which rows of a table a GPU's time falls."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analyses import (
    analysis,
    category,
    decode_categories,
    eight_gpus,
    gpu_time,
    graph_mode,
    graph_work_missing,
    idle,
    one_gpu,
    two_gpus,
)
from tests.round_analyses import COUNT, ROUNDS, decode_rounds, opaque_rounds, speculative
from traceattr.attribution.analysis import GpuTime
from traceattr.attribution.round_figures import Phase
from traceattr.report.breakdown import group_lines, mean, total_lines, wholes
from traceattr.report.grouped import groups_of, owned_ns
from traceattr.report.render import ReportFormat, render
from traceattr.rules.categories import CATEGORIES, GROUPS, SUBCATEGORIES

TIMES = st.integers(min_value=0, max_value=10**12)
GAPS = st.builds(idle, in_graph=TIMES | st.none(), between=TIMES, outside=TIMES, edge=TIMES)


PHASES: tuple[Phase | None, ...] = (None, "target", "draft", "prefill", "other")
PAIRS = st.tuples(st.sampled_from(CATEGORIES), st.sampled_from(PHASES))


@st.composite
def gpu_times(draw: st.DrawFn) -> GpuTime:
    """Draw the time of a GPU; any category may be in any phase."""
    entries = [
        replace(category(name, draw(TIMES), draw(st.integers(1, 99)), sub), phase=phase)
        for name, phase in draw(st.lists(PAIRS, unique=True, max_size=12))
        for sub in SUBCATEGORIES.get(name, (None,))
    ]
    return gpu_time(0, entries, draw(GAPS))


@given(gpu_times())
def test_groups_add_up_to_the_wall_time_exactly(time: GpuTime) -> None:
    assert sum(map(owned_ns, groups_of(time))) == time.wall_ns


@given(gpu_times())
def test_parts_add_up_to_their_group_exactly(time: GpuTime) -> None:
    for group in groups_of(time):
        if group.rows:
            assert sum(row.exclusive_ns for row in group.rows) == group.exclusive_ns


@given(st.lists(gpu_times(), min_size=1, max_size=3))
def test_lines_of_several_gpus_add_up_for_each_of_them(times: list[GpuTime]) -> None:
    lines = group_lines(analysis(*times))

    for position, time in enumerate(times):
        groups = [line.exclusive_ns[position] or 0 for line in lines if not line.is_part]
        assert sum(groups) == time.wall_ns


def test_every_group_is_listed_in_table_order_even_without_time() -> None:
    names = [group.name for group in groups_of(gpu_time(0, [], idle(edge=5)))]

    assert names == [*GROUPS, "in-graph gaps", "host gaps", "no work"]


def test_idle_time_is_split_into_in_graph_host_and_no_work() -> None:
    groups = groups_of(gpu_time(0, [], idle(in_graph=1, between=20, outside=300, edge=4000)))

    assert {group.name: group.exclusive_ns for group in groups[-3:]} == {
        "in-graph gaps": 1,
        "host gaps": 320,
        "no work": 4000,
    }


def test_communication_is_split_by_subcategory_and_others_by_category() -> None:
    lines = group_lines(analysis(gpu_time(0, decode_categories(1000), idle())))

    parts = [line.name for line in lines if line.is_part]
    assert parts == [
        "attention",
        "kv_cache",
        "rope",
        "nccl",
        "custom",
        "norm",
        "elementwise",
        "sampling",
        "memory",
    ]


def test_the_draft_holds_all_of_its_passes_in_the_order_of_categories() -> None:
    lines = group_lines(speculative())
    at = next(n for n, line in enumerate(lines) if line.name == "draft")

    found = [(line.name, line.exclusive_ns[0]) for line in lines[at : at + 11]]
    assert found == [
        ("draft", 1_382_000 * COUNT),
        ("weight_gemm", 1_044_000 * COUNT),
        ("attention", 24_000 * COUNT),
        ("kv_cache", 2_000 * COUNT),
        ("rope", 3_000 * COUNT),
        ("comm/nccl", 77_000 * COUNT),
        ("comm/custom", 106_000 * COUNT),
        ("draft", 20_000 * COUNT),
        ("norm", 33_000 * COUNT),
        ("sampling", 73_000 * COUNT),
        ("other GPU work", 574_000 * COUNT + 2_000 * COUNT),
    ]


def test_a_category_that_only_repeats_its_group_is_no_line_of_its_own() -> None:
    entries = [category("weight_gemm", 10), category("gdn", 5), category("rope", 1)]

    lines = group_lines(analysis(gpu_time(0, entries, idle())))

    assert [line.name for line in lines if line.is_part] == ["rope"]


def test_a_category_of_only_one_gpu_is_zero_on_the_other() -> None:
    first = gpu_time(0, [category("attention", 8), category("rope", 2)], idle())
    second = gpu_time(1, [category("attention", 10)], idle())

    lines = {line.name: line for line in group_lines(analysis(first, second)) if line.is_part}

    assert lines["rope"].exclusive_ns == (2, 0)
    assert lines["attention"].exclusive_ns == (8, 10)


def test_what_opaque_graphs_may_hide_is_unknown_and_not_zero() -> None:
    lines = {line.name: line for line in group_lines(graph_mode())}

    assert lines["weight GEMM"].exclusive_ns == (None, None)
    assert lines["in-graph gaps"].exclusive_ns == (None, None)
    assert lines["other GPU work"].exclusive_ns == (5_000_000, 5_000_000)
    assert lines["host gaps"].exclusive_ns == (60_000_000, 59_999_999)
    assert lines["no work"].exclusive_ns == (0, 0)


def test_what_unrecorded_graphs_did_is_unknown_too() -> None:
    lines = {line.name: line for line in group_lines(graph_work_missing())}

    assert lines["weight GEMM"].exclusive_ns == (None,)
    assert "graph (not traced per node)" not in lines


def test_graphs_as_a_whole_are_a_line_only_where_there_are_any() -> None:
    assert "graph (not traced per node)" in {line.name for line in group_lines(graph_mode())}
    assert "graph (not traced per node)" not in {line.name for line in group_lines(one_gpu())}


def test_totals_are_the_window_and_two_parts_across_the_groups() -> None:
    lines = total_lines(two_gpus())

    assert [(line.name, line.exclusive_ns) for line in lines] == [
        ("window", (1_216_650_000, 1_216_650_000)),
        ("idle", (28_600_000, 24_100_000)),
        ("no kernel running", (28_800_000, 24_300_000)),
    ]


def test_a_mean_with_an_unknown_part_is_unknown() -> None:
    assert mean((1, 2)) == 2
    assert mean((1, None)) is None
    assert mean(()) is None


@pytest.mark.parametrize("name", ROUNDS)
def test_groups_of_rounds_add_up_to_the_wall_time_too(name: str) -> None:
    for time in ROUNDS[name].per_gpu:
        assert sum(map(owned_ns, groups_of(time))) == time.wall_ns


def test_a_group_has_the_time_of_a_round_and_the_last_lines_that_of_all() -> None:
    lines = {line.name: line for line in group_lines(speculative()) if not line.is_part}

    assert lines["GDN"].median_ns == (553_000,)
    assert lines["GDN"].p99_ns == (554_125,)
    assert lines["host gaps"].median_ns == (682_000,)
    assert total_lines(speculative())[0].median_ns == (11_113_000,)


@pytest.mark.parametrize("name", ROUNDS)
def test_with_rounds_shares_are_of_a_round_and_add_up(name: str) -> None:
    made = ROUNDS[name]
    whole, idle_time, no_kernel = total_lines(made)
    groups = [line.round_mean_ns for line in group_lines(made) if not line.is_part]

    assert whole.name == "round"
    assert whole.round_mean_ns == wholes(made)
    for position, whole_ns in enumerate(wholes(made)):
        assert sum((means or ())[position] or 0 for means in groups) == whole_ns
        idle_ns, no_kernel_ns = (
            (line.round_mean_ns or ())[position] for line in (idle_time, no_kernel)
        )
        assert (idle_ns or 0) < (no_kernel_ns or 0) < whole_ns


def test_prefill_is_no_part_of_the_share_of_a_round() -> None:
    text = render(decode_rounds(), ReportFormat.TERMINAL, width=80, color=False)

    assert "\nweight GEMM             5.445  5.454  60.5 %  " in text
    assert "\nround                   8.992  9.090   100 %\n" in text
    assert "\nwindow" not in text.split("Gaps")[0]
    assert "Prefill owns 7.7 % of the window." in text.replace("\n", " ")
    assert "These rounds fill 92.4 % of the window." in text.replace("\n", " ")


def test_a_part_in_two_phases_that_vary_has_no_percentile() -> None:
    lines = {line.name: line for line in group_lines(speculative()) if line.is_part}

    assert (lines["attention"].median_ns, lines["attention"].p99_ns) == ((24_000,), (24_675,))
    assert (lines["elementwise"].median_ns, lines["elementwise"].p99_ns) == ((485_000,), None)
    assert (lines["kv_cache"].median_ns, lines["kv_cache"].p99_ns) == ((2_000,), (2_225,))


def test_what_no_round_shows_is_unknown_where_graphs_hide_it() -> None:
    lines = {line.name: line for line in group_lines(opaque_rounds()) if not line.is_part}

    assert lines["weight GEMM"].median_ns == (None, None)
    assert lines["in-graph gaps"].median_ns == (None, None)
    assert lines["GDN"].median_ns == (90_000, 90_000)
    assert lines["no work"].median_ns == (0, 0)


def test_without_rounds_no_line_has_a_time_in_a_round() -> None:
    assert {line.median_ns for line in (*group_lines(one_gpu()), *total_lines(one_gpu()))} == {None}


def test_eight_gpus_have_eight_values_each() -> None:
    assert {len(line.exclusive_ns) for line in group_lines(eight_gpus())} == {8}
