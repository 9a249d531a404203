"""Into which rows of a table a GPU's time falls."""

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
from traceattr.attribution.analysis import GpuTime
from traceattr.report.breakdown import group_lines, mean, total_lines
from traceattr.report.grouped import groups_of, owned_ns
from traceattr.rules.categories import CATEGORIES, GROUPS, SUBCATEGORIES

TIMES = st.integers(min_value=0, max_value=10**12)
GAPS = st.builds(idle, in_graph=TIMES | st.none(), between=TIMES, outside=TIMES, edge=TIMES)


@st.composite
def gpu_times(draw: st.DrawFn) -> GpuTime:
    names = draw(st.lists(st.sampled_from(CATEGORIES), unique=True))
    entries = [
        category(name, draw(TIMES), draw(st.integers(1, 99)), sub)
        for name in names
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


def test_eight_gpus_have_eight_values_each() -> None:
    assert {len(line.exclusive_ns) for line in group_lines(eight_gpus())} == {8}
