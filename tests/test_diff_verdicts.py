"""What became of the parts of a round."""

from dataclasses import replace

import pytest

from tests.analyses import gpu
from tests.diffs import base, diff, head, with_rounds
from tests.round_analyses import decode_rounds, opaque_rounds, speculative
from traceattr.attribution.analysis import Analysis, RulesId
from traceattr.attribution.round_figures import RoundSeries
from traceattr.report.diff.diff import Diff, compare_analyses
from traceattr.report.diff.parts import ROUND, Part, PartKind
from traceattr.report.diff.sentences import caveats, changed_parts, verdict_sentence
from traceattr.report.diff.verdicts import FEWEST_ROUNDS, Change, Verdict
from traceattr.report.diff.words import verdict_text

GEMM = Part(PartKind.CATEGORY, "weight_gemm", "target")
NORM = Part(PartKind.CATEGORY, "norm", "target")
SEAM = Part(PartKind.SEAM, "verify->draft_extend")


def change(found: Diff, part: Part) -> Change:
    one = found.change(part)
    assert one is not None
    return one


def test_parts_of_a_phase_sum_to_it_and_everything_to_the_round() -> None:
    found = diff()

    categories = [one for one in found.of_kind(PartKind.CATEGORY) if one.part.phase == "draft"]
    groups = found.of_kind(PartKind.GROUP)
    for side in ("before_ns", "after_ns"):
        assert sum(getattr(one, side) for one in categories) == pytest.approx(
            getattr(change(found, Part(PartKind.PHASE, "draft")), side), abs=10
        )
        assert sum(getattr(one, side) for one in groups) == pytest.approx(
            getattr(change(found, ROUND), side), abs=10
        )


def test_times_are_means_of_the_gpus_and_never_added_up() -> None:
    found = change(diff(), GEMM)

    (before, after), (others_before, others_after) = found.per_gpu
    assert found.before_ns == pytest.approx((before + others_before) / 2, abs=1)
    assert found.after_ns == pytest.approx((after + others_after) / 2, abs=1)


def test_a_change_below_half_a_percent_is_the_same_however_small_noise_is() -> None:
    slightly = change(diff({"target/weight_gemm": 20_000}), GEMM)

    assert slightly.noise_ns is not None
    assert slightly.noise_ns < 20_000
    assert slightly.verdict is Verdict.SAME
    assert change(diff({"target/weight_gemm": 40_000}), GEMM).verdict is Verdict.SLOWER
    assert change(diff({"target/weight_gemm": -40_000}), GEMM).verdict is Verdict.FASTER


def test_a_change_that_is_nothing_of_the_round_is_the_same_however_large_a_part_it_is() -> None:
    tiny = change(diff({"target/norm": 1_000}), NORM)

    assert tiny.before_ns == pytest.approx(42_000, rel=0.01)
    assert tiny.verdict is Verdict.SAME
    assert change(diff({"target/norm": 3_000}), NORM).verdict is Verdict.SLOWER


def with_pauses(made: Analysis) -> Analysis:
    """Return an analysis two rounds of which wait for long in a seam."""
    return replace(made, series=tuple(map(_paused, made.series)))


def _paused(series: RoundSeries) -> RoundSeries:
    seams = tuple(
        replace(one, ns=(one.ns[0] + 9_000_000, *one.ns[1:-1], one.ns[-1] + 3_000_000))
        if one.name == SEAM.name and one.ns
        else one
        for one in series.seams
    )
    return replace(series, seams=seams)


def test_a_few_long_rounds_hide_nothing_of_typical_ones() -> None:
    longer = change(
        compare_analyses(with_pauses(base()), with_pauses(head({SEAM.label: 60_000}))), SEAM
    )
    alike = change(compare_analyses(base(), with_pauses(base())), SEAM)

    assert (longer.verdict, longer.rounds) == (Verdict.SLOWER, "typical")
    assert longer.difference_ns == pytest.approx(60_000, rel=0.05)
    assert verdict_text(longer) == "slower, typical"
    assert (alike.verdict, alike.rounds) == (Verdict.SAME, "typical")


def test_a_part_that_is_new_is_slower_from_nothing() -> None:
    before = base()
    without = tuple(
        replace(one, seams=tuple(seam for seam in one.seams if seam.name != SEAM.name))
        for one in before.series
    )

    found = change(compare_analyses(replace(before, series=without), head()), SEAM)

    assert (found.before_ns, found.verdict) == (0, Verdict.SLOWER)
    assert found.after_ns == found.difference_ns != 0


def test_one_rank_alone_that_became_slower_is_said() -> None:
    before, after = base(), head()
    slow = head({"target/weight_gemm": 900_000}).series[1]

    found = compare_analyses(before, replace(after, series=(after.series[0], slow)))

    text = "target/weight_gemm changed unevenly: GPU 0 0 ns, GPU 1 +900.1 us."
    assert text in list(caveats(found))


def test_too_few_rounds_tell_nothing_and_say_so() -> None:
    found = compare_analyses(base(), head({"target/weight_gemm": 900_000}, FEWEST_ROUNDS - 1))

    assert {one.verdict for one in found.changes} == {Verdict.CANNOT_TELL}
    assert change(found, GEMM).difference_ns == pytest.approx(900_000, rel=0.05)
    assert verdict_sentence(found).startswith(
        "Whether a speculative round changed cannot be told: fewer than 10 rounds "
        "(120 before, 9 after) do not show their own noise"
    )
    enough = compare_analyses(base(), head({"target/weight_gemm": 900_000}, FEWEST_ROUNDS))
    assert change(enough, GEMM).verdict is Verdict.SLOWER


def test_noise_in_which_a_change_could_hide_is_not_called_the_same() -> None:
    after = head()
    wild = tuple(
        replace(
            one,
            seams=tuple(
                replace(
                    seam, ns=tuple(900_000 * (at * at * 7 % 5) for at in range(len(one.wall_ns)))
                )
                if seam.name == SEAM.name
                else seam
                for seam in one.seams
            ),
        )
        for one in after.series
    )
    noisy = replace(after, series=wild)

    found = change(compare_analyses(noisy, noisy), SEAM)

    assert (found.difference_ns, found.verdict) == (0, Verdict.CANNOT_TELL)
    assert found.reason == "a change that matters could hide in its noise; record more rounds"


def with_gpus(made: Analysis, *names: str) -> Analysis:
    return replace(made, gpus=tuple(gpu(number, name) for number, name in enumerate(names)))


def with_rows(made: Analysis, rows: int | None, *graphs: int) -> Analysis:
    return replace(made, rounds=replace(made.rounds, target_rows=rows, target_graphs=graphs))


def test_another_batch_size_cannot_be_compared() -> None:
    found = compare_analyses(with_rows(base(), 4, 17), with_rows(head(), 8, 18))

    assert found.comparability.obstacles == (
        "other batch sizes: the target's passes go over 4 rows against 8",
    )


def test_where_the_batch_size_is_unknown_other_graphs_are_a_warning() -> None:
    found = compare_analyses(with_rows(base(), None, 17), with_rows(head(), 8, 18, 19))

    assert found.comparability.obstacles == ()
    several, unknown = list(caveats(found))
    assert several.startswith("The rounds of HEAD replay 2 graphs of the target")
    assert unknown.startswith("The target's graphs have other ids (17 against 18, 19)")


def test_gpus_without_a_name_may_be_the_same() -> None:
    nameless = replace(base(), gpus=(gpu(0, None), gpu(1, None)))

    found = compare_analyses(nameless, head())

    assert found.comparability.obstacles == ()
    assert "A trace does not name its GPUs: they may be of other models." in list(caveats(found))


def with_layers(made: Analysis, attention: int, recurrent: int) -> Analysis:
    return replace(
        made,
        layers=tuple(
            replace(one, attention_layers=attention, recurrent_layers=recurrent)
            for one in made.layers
        ),
    )


def test_layers_of_a_kind_that_one_trace_lacks_may_be_a_rule_that_misses_a_kernel() -> None:
    found = compare_analyses(base(), with_layers(head(), attention=16, recurrent=0))

    assert found.comparability.obstacles == ()
    [sentence] = list(caveats(found))
    assert sentence == (
        "BASE shows 16 attention and 48 recurrent layers, HEAD 16 attention and 0 recurrent layers:"
        " a rule may miss a kernel, or the models differ."
    )


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        (speculative(), "HEAD shows no rounds"),
        (with_rounds(decode_rounds()), "speculative rounds against decode rounds"),
        (with_gpus(base(), "NVIDIA H100", "NVIDIA H100"), "other GPUs: 2 x NVIDIA RTX A6000"),
        (with_rounds(speculative()), "other GPUs: 2 x NVIDIA RTX A6000"),
        (
            with_layers(base(), attention=32, recurrent=0),
            "other models: 16 attention and 48 recurrent layers against 32",
        ),
    ],
)
def test_what_cannot_be_compared_at_all_says_why(other: Analysis, reason: str) -> None:
    found = compare_analyses(base(), other)

    assert any(one.startswith(reason) for one in found.comparability.obstacles)
    assert verdict_sentence(found).startswith("Not comparable: ")
    assert {one.verdict for one in found.changes} <= {Verdict.CANNOT_TELL}
    assert changed_parts(found) == ()
    assert found.graphs == ()


def test_other_rules_leave_rounds_and_gaps_comparable() -> None:
    other = replace(head({"seam:verify->draft_extend": 60_000}), rules=RulesId("mine", "f" * 64))

    found = compare_analyses(base(), other)

    assert change(found, ROUND).verdict is Verdict.SLOWER
    assert change(found, SEAM).verdict is Verdict.SLOWER
    assert change(found, GEMM).verdict is Verdict.CANNOT_TELL
    assert "categories come from other rules" in (change(found, GEMM).reason or "")


def test_gaps_are_not_compared_where_work_is_missing() -> None:
    other = head()
    lossy = replace(other, trace=replace(other.trace, unrecorded_graph_launches=3))

    found = compare_analyses(base(), lossy)

    assert change(found, SEAM).reason == (
        "work is missing in HEAD, and what was not recorded looks idle"
    )
    assert change(found, GEMM).verdict is Verdict.SAME


def test_two_traces_of_whole_graphs_are_compared_graph_by_graph() -> None:
    made = with_rounds(opaque_rounds())

    found = compare_analyses(made, made)

    groups = {one.part.name: one.verdict for one in found.of_kind(PartKind.GROUP)}
    assert groups["graph (not traced per node)"] is Verdict.SAME
    assert groups["in-graph gaps"] is Verdict.CANNOT_TELL


def test_nothing_random_is_in_a_diff() -> None:
    assert diff({"target/norm": 3_000}) == diff({"target/norm": 3_000})


def with_slow_rounds(made: Analysis, number: int) -> Analysis:
    """Return an analysis in which every eleventh round takes twice as long, up to a number."""
    slow = set(range(5, 120, 11)[:number])
    series = tuple(
        replace(
            one, wall_ns=tuple(ns * (2 if at in slow else 1) for at, ns in enumerate(one.wall_ns))
        )
        for one in made.series
    )
    return replace(made, series=series)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (1, 2, "1 of 120 before, 2 of 120 after. They are in the means, and make noise."),
        (0, 11, "HEAD has more of them than chance makes."),
        (11, 0, "BASE has more of them than chance makes."),
        (9, 11, "9 of 120 before, 11 of 120 after. They are in the means, and make noise."),
    ],
)
def test_slow_rounds_are_counted_and_more_of_them_than_chance_makes_is_said(
    before: int, after: int, said: str
) -> None:
    found = compare_analyses(with_slow_rounds(base(), before), with_slow_rounds(head(), after))

    [sentence] = list(caveats(found))
    assert sentence.startswith("Rounds longer than 1.5 medians: ")
    assert sentence.endswith(said)


def test_without_slow_rounds_nothing_is_said_of_them() -> None:
    assert list(caveats(diff())) == []
