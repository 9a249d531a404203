"""Edits of what a graph runs."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from tests.round_analyses import speculative
from traceattr.attribution.sequence_figures import GraphSequence, GraphSequences, NamedKernel
from traceattr.report.diff.graphs import Edit, EditKind, GraphChange, graph_changes
from traceattr.report.diff.tables import graph_summary

CATEGORIES = {"norm": "norm", "act": "activation", "gating": "gdn", "recurrence": "gdn"}
TILE_64 = "ampere_bf16_s16816gemm_bf16_64x64_sliced1x2_ldg8_f2f_stages_64x5_tn"
TILE_128 = "ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x4_tn"
FUSED = "fused_gating_recurrence"

Kernels = list[tuple[str, int]]


def category_of(name: str) -> str:
    if "gemm" in name:
        return "weight_gemm"
    return CATEGORIES.get(name, "gdn")


def edits(before: Kernels, after: Kernels) -> GraphChange:
    base, head = (
        replace(speculative(), sequences=sequences_of(kernels)) for kernels in (before, after)
    )
    [change] = graph_changes(base, head)
    return change


def sequences_of(kernels: Kernels) -> GraphSequences:
    names = sorted({name for name, _ in kernels})
    graph = GraphSequence(
        gpu=0,
        kind="verify",
        replays=5,
        of_replays=5,
        kernels=tuple(names.index(name) for name, _ in kernels),
        median_ns=tuple(ns for _, ns in kernels),
    )
    return GraphSequences(tuple(NamedKernel(name, category_of(name)) for name in names), (graph,))


LAYER: Kernels = [("norm", 2), (TILE_64, 100), ("gating", 3), ("recurrence", 20), ("act", 4)]


def test_the_same_kernels_have_no_edit_but_may_take_longer() -> None:
    change = edits(LAYER * 3, [(name, ns + 1) for name, ns in LAYER] * 3)

    assert change.edits == ()
    assert (change.kept, change.kept_before_ns, change.kept_after_ns) == (15, 387, 402)


def test_kernels_in_each_layer_that_one_replaces_are_fused_once_for_all_layers() -> None:
    after: Kernels = [("norm", 2), (TILE_64, 100), (FUSED, 18), ("act", 4)]

    change = edits(LAYER * 48, after * 48)

    assert change.edits == (
        Edit(EditKind.FUSED, ("gating", "recurrence"), (FUSED,), 48, 48 * 23, 48 * 18),
    )
    assert change.edits[0].difference_ns == -48 * 5


def test_the_way_back_is_a_split() -> None:
    after: Kernels = [("norm", 2), (TILE_64, 100), (FUSED, 18), ("act", 4)]

    [edit] = edits(after * 48, LAYER * 48).edits

    assert (edit.kind, edit.times, edit.difference_ns) == (EditKind.SPLIT, 48, 48 * 5)


def test_another_tile_of_the_same_gemm_is_a_swap() -> None:
    after = [(TILE_128, 90) if name == TILE_64 else (name, ns) for name, ns in LAYER]

    assert edits(LAYER * 4, after * 4).edits == (
        Edit(EditKind.SWAPPED, (TILE_64,), (TILE_128,), 4, 400, 360),
    )


def test_a_swap_beside_a_removal_is_no_fusion() -> None:
    other_tile = TILE_64.replace("64x64", "128x64")
    after = [(other_tile, 90), *LAYER[2:]]

    assert edits(LAYER * 4, after * 4).edits == (
        Edit(EditKind.SWAPPED, (TILE_64,), (other_tile,), 4, 400, 360),
        Edit(EditKind.REMOVED, ("norm",), (), 4, 8, 0),
    )


def test_what_is_removed_and_added_far_apart_is_both() -> None:
    after = [*LAYER * 2, ("norm", 2)]

    change = edits([("norm", 2), ("norm", 2), *LAYER[1:], *LAYER], after)

    assert {(edit.kind, edit.before, edit.after) for edit in change.edits} == {
        (EditKind.REMOVED, ("norm",), ()),
        (EditKind.ADDED, (), ("norm",)),
    }


def test_work_on_two_streams_that_begins_in_another_order_only_moved() -> None:
    swapped = [LAYER[0], ("gating", 5), LAYER[1], *LAYER[3:]]

    change = edits(LAYER * 3, swapped * 3)

    [edit] = change.edits
    assert (edit.kind, edit.before, edit.times) == (EditKind.MOVED, ("gating",), 3)
    assert edit.difference_ns == 3 * 2
    assert change.kept_after_ns + edit.after_ns == change.after_ns


def test_whole_layers_that_are_gone_are_not_called_fused() -> None:
    change = edits(LAYER * 10, LAYER * 6)

    assert {(edit.kind, edit.times) for edit in change.edits} == {(EditKind.REMOVED, 4)}
    assert sum(edit.difference_ns for edit in change.edits) == -4 * 129


def test_a_sequence_that_not_all_replays_run_says_of_how_many_it_is() -> None:
    shown = sequences_of(LAYER)
    half = replace(shown, graphs=tuple(replace(one, of_replays=10) for one in shown.graphs))
    before, after = (replace(speculative(), sequences=each) for each in (shown, half))

    [change] = graph_changes(before, after)

    assert (change.share_before, change.share_after) == (1, 0.5)
    assert graph_summary(change).endswith("; run by 50.0 % of replays after")


def test_a_graph_that_one_trace_does_not_show_has_a_reason() -> None:
    shown = replace(speculative(), sequences=sequences_of(LAYER))

    [change] = graph_changes(shown, replace(shown, sequences=GraphSequences()))

    assert (change.kernels_before, change.kernels_after) == (5, None)
    assert change.reason == "HEAD shows no such graph kernel by kernel"


kernels = st.lists(
    st.tuples(st.sampled_from([*(name for name, _ in LAYER), TILE_128, FUSED]), st.integers(1, 99)),
    min_size=1,
    max_size=14,
)


@given(kernels, kernels)
def test_edits_and_what_is_kept_account_for_every_kernel_and_nanosecond(
    before: Kernels, after: Kernels
) -> None:
    change = edits(before, after)

    for side, whole in (("before", before), ("after", after)):
        edited = sum(edit.times * len(getattr(edit, side)) for edit in change.edits)
        edited_ns = sum(getattr(edit, f"{side}_ns") for edit in change.edits)
        assert edited + change.kept == len(whole)
        assert edited_ns + getattr(change, f"kept_{side}_ns") == sum(ns for _, ns in whole)
