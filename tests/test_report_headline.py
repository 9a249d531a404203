"""What the first lines of a report say."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given

from tests.analyses import (
    analysis,
    category,
    eight_gpus,
    empty_window,
    gpu_time,
    graph_mode,
    graph_work_missing,
    idle,
    mostly_copies,
    mostly_idle,
    mostly_unclassified,
    one_gpu,
    two_gpus,
)
from tests.round_analyses import (
    ROUNDS,
    decode_rounds,
    opaque_rounds,
    speculative,
    speculative_two_gpus,
)
from tests.test_report_grouped import gpu_times
from traceattr.attribution.analysis import Analysis, GpuTime, Notice
from traceattr.report.headline import (
    graph_sentence,
    headline,
    notices_below,
    simulated_sentence,
)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (one_gpu, "Weight GEMM owns 80.0 % of 1.250 s on 1 GPU; 2.2 % is idle."),
        (
            two_gpus,
            "Weight GEMM owns 79.5 % of 1.217 s on 2 GPUs (79.3-79.7 %); 2.2 % is idle.",
        ),
        (eight_gpus, "Weight GEMM owns 78.5 % of 1.147 s on 8 GPUs; 2.1 % is idle."),
        (
            graph_mode,
            "CUDA graphs traced as a whole cover 93.1 % of 0.945 s on 2 GPUs; "
            "6.3 % is idle outside graphs.",
        ),
        (
            mostly_unclassified,
            "Kernels that no rule matches own 78.6 % of 0.800 s on 1 GPU; 8.9 % is idle.",
        ),
        (
            mostly_copies,
            "For 97.7 % of 0.969 s on 2 GPUs no kernel runs: copies cover 97.0 %, idle 0.7 %.",
        ),
        (
            mostly_idle,
            "Nothing runs for 96.9 % of 0.969 s on 1 GPU: 92.9 % host gaps, 4.0 % no work; "
            "weight GEMM owns 3.1 %.",
        ),
        (
            graph_work_missing,
            "No recorded work for 99.4 % of 0.805 s on 1 GPU, all of it host gaps; "
            "other GPU work owns 0.6 %.",
        ),
        (
            speculative,
            "A speculative round takes 11.1 ms on 1 GPU (p99 11.2 ms): weight GEMM 5.45 ms, "
            "draft 1.38 ms, communication 1.27 ms; idle 0.94 ms in graphs and 0.68 ms outside.",
        ),
        (
            speculative_two_gpus,
            "A speculative round takes 11.1 ms on 2 GPUs (p99 11.2 ms): weight GEMM 5.47 ms, "
            "draft 1.38 ms, communication 1.25 ms; idle 0.94 ms in graphs and 0.68 ms outside.",
        ),
        (
            decode_rounds,
            "A decode round takes 8.99 ms on 1 GPU (p99 9.09 ms): weight GEMM 5.45 ms, "
            "communication 1.27 ms, other GPU work 0.58 ms; idle 0.86 ms in graphs and 0.02 ms "
            "outside. Prefill owns 7.7 % of the window.",
        ),
        (
            opaque_rounds,
            "A speculative round takes 11.3 ms on 2 GPUs (p99 11.4 ms): verify graphs 8.97 ms, "
            "draft 1.47 ms; idle 0.68 ms outside graphs, unknown inside.",
        ),
        (empty_window, "No GPU operation in the 0.250 s of the window."),
        (analysis, "No GPU operation in the 0 ns of the window."),
    ],
)
def test_the_first_line_says_what_matters_most(make: Callable[[], Analysis], sentence: str) -> None:
    assert headline(make()) == sentence


def test_idle_time_is_an_upper_limit_where_graph_work_is_missing() -> None:
    made = analysis(gpu_time(0, [category("gdn", 90)], idle(in_graph=None, outside=10)))
    made = replace(made, trace=replace(made.trace, unrecorded_graph_launches=3))

    assert headline(made) == "GDN owns 90.0 % of 100 ns on 1 GPU; at most 10.0 % is idle."


def test_idle_time_of_a_round_is_an_upper_limit_where_work_is_missing() -> None:
    made = speculative()
    (time,) = made.per_gpu
    time = replace(time, idle=replace(time.idle, completeness="incomplete"))

    assert "; idle at most 0.94 ms in graphs" in headline(replace(made, per_gpu=(time,)))


def test_a_percentile_of_fewer_than_ten_rounds_is_not_in_the_headline() -> None:
    made = speculative()
    few = replace(made, rounds=replace(made.rounds, count=10, sampled=9))

    assert headline(few).startswith("A speculative round takes 11.1 ms on 1 GPU: ")


def test_opaque_graphs_of_more_than_the_target_are_only_called_graphs() -> None:
    made = opaque_rounds()
    pieces = replace(made.per_gpu[0].categories[4], phase="prefill")
    first = replace(made.per_gpu[0], categories=(*made.per_gpu[0].categories, pieces))

    assert ": CUDA graphs 8.97 ms," in headline(replace(made, per_gpu=(first, made.per_gpu[1])))


def test_time_without_work_beside_the_rounds_is_named() -> None:
    made = speculative()
    (time,) = made.per_gpu
    pause_ns = time.wall_ns
    gaps = replace(time.idle, total_ns=time.idle.total_ns + pause_ns, no_work_ns=pause_ns)
    time = replace(time, wall_ns=2 * pause_ns, idle=gaps)

    assert headline(replace(made, per_gpu=(time,))).endswith(
        " There is no work for 50.0 % of the window."
    )


@pytest.mark.parametrize("name", ROUNDS)
def test_any_rounds_have_a_headline_of_one_line(name: str) -> None:
    sentence = headline(ROUNDS[name])

    assert sentence.endswith(".")
    assert sentence.isprintable()


@given(gpu_times())
def test_any_time_has_a_headline_of_one_line(time: GpuTime) -> None:
    sentence = headline(analysis(time))

    assert sentence.endswith(".")
    assert sentence.isprintable()


def test_the_second_line_says_how_graphs_were_traced_and_what_that_hides() -> None:
    assert graph_sentence(one_gpu()).startswith("CUDA graphs are traced per node:")
    assert graph_sentence(mostly_copies()).startswith("No CUDA graph in this trace:")
    assert graph_sentence(graph_mode()) == (
        "CUDA graphs are traced as a whole (150 replays): categories and gaps inside them are "
        "unknown, and rows count what ran outside; re-profile with "
        "`nsys profile --cuda-graph-trace=node`."
    )


def test_the_second_line_says_when_launched_graphs_left_nothing() -> None:
    missing = "225 CUDA graph launches left no GPU work in this trace"

    assert graph_sentence(graph_work_missing()).startswith(missing)

    mixed = graph_work_missing()
    mixed = replace(mixed, trace=replace(mixed.trace, graph_trace="mixed", opaque_replays=1_000))
    assert graph_sentence(mixed).startswith("Some CUDA graphs are traced per node and some as a")
    assert "(1,000 replays)" in graph_sentence(mixed)
    assert missing in graph_sentence(mixed)


def test_a_simulated_trace_is_called_so() -> None:
    by_us = two_gpus()
    by_us = replace(by_us, trace=replace(by_us.trace, simulated="simulated by traceattr, seed 7."))

    assert simulated_sentence(one_gpu()) is None
    assert simulated_sentence(two_gpus()) == (
        "SIMULATED: Qwen3.6-27B, TP2, 3-step MTP on A6000, seed 7; this is not a measurement."
    )
    assert simulated_sentence(by_us) == (
        "SIMULATED by traceattr, seed 7; this is not a measurement."
    )


_SAID = ("graph-mode", "graph-work-missing", "simulated", "no-rounds", "window-cut")


def test_what_the_first_lines_and_the_rounds_say_is_not_repeated_among_the_warnings() -> None:
    said = [Notice(code, "") for code in _SAID]
    other = Notice("rows-reversed", "3 of 10 GPU operations end before they begin.")

    assert notices_below(analysis(warnings=(*said, other))) == (other,)
