"""What the gaps of several GPUs are on average."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from tests.analyses import analysis, eight_gpus, graph_mode
from tests.round_analyses import speculative_two_gpus
from tests.round_parts import pair, seam
from traceattr.attribution.analysis import Analysis
from traceattr.attribution.gap_figures import Cause, GpuGaps
from traceattr.report.gap_means import launch_means, pair_means, seam_means, together

NAMES = ("verify->draft_extend", "draft->verify", "prefill", "decode->eager")
TIMES = st.integers(0, 10**12)
CAUSES = st.builds(Cause, *[TIMES] * 7)


def with_gaps(*gaps: GpuGaps) -> Analysis:
    return replace(analysis(), gaps=gaps)


@st.composite
def gpu_gaps(draw: st.DrawFn, number: int, rounds: int) -> GpuGaps:
    """Draw the gaps of a GPU; any of them may have any name."""
    causes = draw(st.dictionaries(st.sampled_from(NAMES), CAUSES))
    pairs = draw(st.dictionaries(st.sampled_from(("gdn->gdn", "norm->comm")), TIMES))
    return replace(
        speculative_two_gpus().gaps[0],
        gpu=number,
        rounds=rounds,
        seams=tuple(seam(name, one.total_ns, rounds, one) for name, one in causes.items()),
        pairs=tuple(pair(name, ns, rounds) for name, ns in pairs.items()),
        launches=(),
    )


@st.composite
def analyses(draw: st.DrawFn) -> Analysis:
    """Draw the gaps of one to three GPUs, with rounds on all, some or none of them."""
    rounds = draw(st.lists(st.sampled_from((0, 7)), min_size=1, max_size=3))
    return with_gaps(*(draw(gpu_gaps(number, count)) for number, count in enumerate(rounds)))


@given(analyses())
def test_means_add_up_to_the_mean_of_what_all_gpus_have(made: Analysis) -> None:
    means = seam_means(made)

    whole_ns = sum(gaps.seams_ns for gaps in made.gaps)
    assert abs(sum(one.total_ns for one in means) * len(made.gaps) - whole_ns) <= 2 * len(NAMES)
    assert sum(one.cause.total_ns for one in means) == whole_ns


@given(analyses())
def test_several_gaps_together_are_their_sum(made: Analysis) -> None:
    means = seam_means(made)

    one = together("all", means)

    assert one.total_ns == sum(mean.total_ns for mean in means)
    assert one.cause.total_ns == sum(gaps.cause.total_ns for gaps in made.gaps)
    assert one.median_ns is None


@given(analyses())
def test_there_are_figures_per_round_exactly_if_all_gpus_have_rounds(made: Analysis) -> None:
    expected = all(gaps.rounds for gaps in made.gaps)

    for one in (*seam_means(made), *(pair_means(made) or ())):
        assert (one.per_round_ns is not None) == expected
        assert (one.per_round_count is not None) == expected


def test_a_gpu_without_a_seam_counts_as_none_in_the_mean_but_not_in_the_median() -> None:
    first, second = speculative_two_gpus().gaps
    made = with_gaps(first, replace(second, seams=second.seams[1:]))

    one = next(mean for mean in seam_means(made) if mean.name == "verify->draft_extend")

    assert one.total_ns == (first.seams[0].total_ns + 1) // 2
    assert one.per_round_count == 8
    assert one.median_ns == first.seams[0].median_ns


def test_the_longest_in_a_round_comes_first() -> None:
    assert [one.name for one in seam_means(speculative_two_gpus())] == [
        "verify->draft_extend",
        "draft->verify",
        "draft_extend->draft",
        "prefill->draft",
    ]


def test_pairs_are_unknown_when_one_gpu_hides_them() -> None:
    made = eight_gpus()
    *others, last = made.gaps

    assert len(pair_means(made) or ()) == 5
    assert pair_means(replace(made, gaps=(*others, replace(last, pairs=None)))) is None
    assert pair_means(graph_mode()) is None


def test_what_is_unknown_of_launches_on_one_gpu_is_unknown() -> None:
    first, second = speculative_two_gpus().gaps
    (figures,) = second.launches
    made = with_gaps(first, replace(second, launches=(replace(figures, cpu_span_ns=None),)))

    (one,) = launch_means(made)

    assert one.kind == "speculative"
    assert one.figures["cpu_span_ns"] is None
    assert one.figures["eager_launches"] == 20.5
