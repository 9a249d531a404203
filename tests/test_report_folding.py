"""Which lines a narrow table leaves out."""

from hypothesis import given
from hypothesis import strategies as st

from tests.analyses import analysis, category, gpu_time, idle, one_gpu
from tests.round_analyses import opaque_rounds, speculative, unclassified_rounds
from tests.test_report_grouped import gpu_times
from traceattr.attribution.analysis import Analysis, GpuTime
from traceattr.report.breakdown import Line, group_lines
from traceattr.report.folding import folded


def lines_of(made: Analysis) -> tuple[Line, ...]:
    return folded(made, group_lines(made))


def test_small_parts_of_a_group_become_one_line_at_its_end() -> None:
    entries = [
        category("norm", 999_000),
        category("elementwise", 500, 7),
        category("sampling", 500, 2),
        category("memory", 600),
    ]

    lines = lines_of(analysis(gpu_time(0, entries, idle(in_graph=400))))

    assert [(line.name, line.exclusive_ns, line.operations) for line in lines if line.is_part] == [
        ("norm", (999_000,), (1,)),
        ("memory", (600,), (1,)),
        ("2 more", (1_000,), (9,)),
    ]


def test_a_single_small_part_stays() -> None:
    entries = [category("norm", 999_500), category("sampling", 500)]

    lines = lines_of(analysis(gpu_time(0, entries, idle())))

    assert [line.name for line in lines if line.is_part] == ["norm", "sampling"]


def test_a_part_that_is_not_small_on_every_gpu_stays() -> None:
    few, many = [category("rope", 1), category("kv_cache", 1)], [category("rope", 9_999)]
    first = gpu_time(0, [category("attention", 99_998), *few], idle())
    second = gpu_time(1, [category("attention", 90_000), *many, category("kv_cache", 1)], idle())

    lines = lines_of(analysis(first, second))

    assert [line.name for line in lines if line.is_part] == ["attention", "kv_cache", "rope"]


def test_what_is_not_understood_is_never_folded() -> None:
    unclassified = [line.name for line in lines_of(unclassified_rounds()) if line.is_part]
    opaque = [line.name for line in lines_of(opaque_rounds()) if line.is_part]

    assert "unclassified" in unclassified
    assert "graph (not traced per node)" in opaque


def test_kinds_of_host_gap_are_left_out_with_rounds_only() -> None:
    assert "between graphs" in {line.name for line in lines_of(one_gpu())}
    assert "between graphs" not in {line.name for line in lines_of(speculative())}


@given(st.lists(gpu_times(), min_size=1, max_size=3))
def test_parts_still_add_up_to_their_group(times: list[GpuTime]) -> None:
    sums: list[tuple[Line, list[Line]]] = []
    for line in lines_of(analysis(*times)):
        if line.is_part:
            sums[-1][1].append(line)
        else:
            sums.append((line, []))

    for group, parts in sums:
        for position in range(len(times)):
            values = [part.exclusive_ns[position] or 0 for part in parts]
            assert not parts or sum(values) == (group.exclusive_ns[position] or 0)
