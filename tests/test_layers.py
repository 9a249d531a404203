from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.decoding import ATTENTION, GEMM, RECURRENCE, Kernel, Server, opened, served
from tests.recordings import recorded
from traceattr.attribution.analysis import Window
from traceattr.attribution.layer_figures import LayerKind, Layers, OutlierLayer, Period
from traceattr.attribution.layers import find_layers
from traceattr.attribution.round_figures import Spread
from traces.cases import CASES
from traces.description import Simulation
from traces.export_writer import ExportWriter
from traces.simulate import run

A, G = LayerKind.ATTENTION, LayerKind.RECURRENT
STAGE_1, STAGE_2 = "_fwd_kernel_stage1", "_fwd_kernel_stage2"
"""Two kernels of one layer's attention."""


def replay_of(
    layers: str, begin: int = 0, late: dict[int, int] | None = None, cores: Sequence[str] = ()
) -> list[Kernel]:
    """Return a replay of layers given as letters: A attends, G has a recurrence.

    A layer of attention is a GEMM of 20 ns, the attention of 10 and a GEMM of 30, without gaps; one
    with a recurrence has one kernel more, of 40 ns.  `late` makes the last GEMM of a layer longer.
    """
    at = begin
    kernels: list[Kernel] = []
    for number, letter in enumerate(layers):
        before = [(GEMM, 20)]
        core = (
            [(name, 10) for name in cores or [ATTENTION]] if letter == "A" else [(RECURRENCE, 10)]
        )
        after = [(GEMM, 30 + (late or {}).get(number, 0))]
        if letter == "G":
            before.append((GEMM, 40))
        for name, length in (*before, *core, *after):
            kernels.append((name, at, at + length))
            at += length
    return kernels


def replays_of(
    layers: str, count: int = 3, late: dict[int, int] | None = None
) -> list[list[Kernel]]:
    return [replay_of(layers, at * 100_000, late) for at in range(count)]


def found(path: Path, replays: Sequence[Sequence[Kernel]]) -> Layers:
    return layers_of(served(path / "trace.sqlite", {"python3": replays}))


def layers_of(server: Server) -> Layers:
    return find_layers(server.accounts[0], server.names, server.window)


def constant(value: int) -> Spread:
    return Spread(value, value, value, value, value)


def test_a_hybrid_model_has_a_period_and_a_cost_for_each_kind_of_layer(tmp_path: Path) -> None:
    assert found(tmp_path, replays_of("GGGA" * 4)) == Layers(
        gpu=0,
        replays=3,
        layers=16,
        attention_layers=4,
        recurrent_layers=12,
        period=Period((G, G, G, A), 4, 0),
        kernels_per_attention_layer=3,
        kernels_per_recurrent_layer=4,
        attention_layer_ns=constant(60),
        recurrent_layer_ns=constant(100),
    )


def test_a_model_of_attention_alone(tmp_path: Path) -> None:
    layers = found(tmp_path, replays_of("A" * 6))

    assert layers.period == Period((A,), 6, 0)
    assert layers.attention_layer_ns == constant(60)
    assert layers.kernels_per_attention_layer == 3
    assert layers.recurrent_layers == 0
    assert layers.recurrent_layer_ns is None
    assert layers.reason is None


def test_attention_in_two_kernels_is_one_layer(tmp_path: Path) -> None:
    layers = found(tmp_path, [replay_of("A" * 6, cores=(STAGE_1, STAGE_2))])

    assert (layers.layers, layers.kernels_per_attention_layer) == (6, 4)
    assert layers.attention_layer_ns == constant(70)


def test_the_same_kernel_twice_in_each_layer_is_one_layer(tmp_path: Path) -> None:
    """As attention over a tree of drafts does."""
    layers = found(tmp_path, [replay_of("A" * 6, cores=(ATTENTION, "reshape", ATTENTION))])

    assert (layers.layers, layers.kernels_per_attention_layer) == (6, 5)
    assert layers.attention_layer_ns == constant(80)


def test_layers_without_a_known_gemm_are_told_apart_too(tmp_path: Path) -> None:
    unknown = [
        ("mystery" if name == GEMM else name, start, end)
        for name, start, end in replay_of("GGGA" * 4)
    ]

    layers = found(tmp_path, [unknown])

    assert layers.layers == 16
    assert layers.recurrent_layer_ns == constant(100)


def test_the_text_of_a_period() -> None:
    assert Period((G, G, G, A), 16, 0).text("GDN") == "(3 GDN + 1 attention) x 16"
    assert Period((A,), 32, 0).text() == "(1 attention) x 32"
    assert Period((G, A), 4, 1).text() == "(1 recurrent + 1 attention) x 4, 1 more"


def test_a_sequence_may_end_within_a_period(tmp_path: Path) -> None:
    layers = found(tmp_path, replays_of("GGGAGGGAGG"))

    assert layers.period == Period((G, G, G, A), 2, 2)
    assert layers.attention_layer_ns == constant(60)


def test_without_a_period_only_counts_are_told(tmp_path: Path) -> None:
    layers = found(tmp_path, replays_of("GAGGAAGAG"))

    assert (layers.layers, layers.attention_layers, layers.recurrent_layers) == (9, 4, 5)
    assert layers.period is None
    assert layers.attention_layer_ns is None
    assert layers.reason == "no cost per layer: the order of the layers has no regular period"


def test_layers_that_alternate_cannot_be_told_apart(tmp_path: Path) -> None:
    layers = found(tmp_path, replays_of("GA" * 4))

    assert layers.period == Period((G, A), 4, 0)
    assert layers.attention_layer_ns is None
    assert layers.recurrent_layer_ns is None
    assert layers.reason == "no cost per layer: no two layers of one kind follow each other"


def test_the_spread_is_over_the_replays(tmp_path: Path) -> None:
    slower = replay_of("A" * 5, 100_000, dict.fromkeys(range(5), 8))

    layers = found(tmp_path, [replay_of("A" * 5), slower])

    assert layers.attention_layer_ns == Spread(median=60, p99=68, mean=64, min=60, max=68)


def test_a_layer_that_costs_more_than_its_kind_is_an_outlier(tmp_path: Path) -> None:
    layers = found(tmp_path, replays_of("GGGA" * 4, late={5: 30, 11: 25}))

    assert layers.outliers == (OutlierLayer(5, G, 130, 100), OutlierLayer(11, A, 85, 60))


def test_an_excess_in_one_replay_of_several_makes_no_outlier(tmp_path: Path) -> None:
    replays = [*replays_of("A" * 6, 4), replay_of("A" * 6, 900_000, {3: 500})]

    assert found(tmp_path, replays).outliers == ()


def test_an_excess_in_two_replays_may_be_an_accident(tmp_path: Path) -> None:
    assert found(tmp_path, replays_of("A" * 6, 2, late={3: 50})).outliers == ()


def test_an_excess_of_less_than_two_percent_makes_no_outlier(tmp_path: Path) -> None:
    folder = tmp_path / "more"
    folder.mkdir()

    assert found(tmp_path, replays_of("A" * 6, late={3: 1})).outliers == ()
    assert len(found(folder, replays_of("A" * 6, late={3: 2})).outliers) == 1


def test_replays_that_differ_are_counted_and_told(tmp_path: Path) -> None:
    lacking = [kernel for kernel in replay_of("GGGA" * 4, 900_000) if kernel[1] != 900_060]

    layers = found(tmp_path, [*replays_of("GGGA" * 4), lacking])

    assert (layers.replays, layers.unusual, layers.layers) == (4, 1, 16)
    assert layers.recurrent_layer_ns == constant(100)
    assert layers.notice == (
        "1 of 4 replays of the target do not show the usual 16 layers; others show 15: a rule"
        " misses a kernel, or the trace lost some."
    )


def test_replays_outside_the_window_do_not_count(tmp_path: Path) -> None:
    server = served(tmp_path / "trace.sqlite", {"python3": replays_of("A" * 4, 5)})

    layers = find_layers(server.accounts[0], server.names, Window(50_000, 350_000, "test"))

    assert layers.replays == 3


def test_envelopes_hide_the_layers(tmp_path: Path) -> None:
    path = tmp_path / "trace.sqlite"
    with ExportWriter(path) as export:
        export.process(101)
        export.graph_trace(100, 200, pid=101, graph=9, correlation=1)

    assert layers_of(opened(path)) == Layers(0, reason="no layers: graphs were not traced per node")


def test_without_graphs_there_is_no_target_to_look_at(tmp_path: Path) -> None:
    path = tmp_path / "trace.sqlite"
    with ExportWriter(path) as export:
        export.process(101)
        for name, start, end in replay_of("A" * 4):
            export.kernel(name, start, end, pid=101)

    assert layers_of(opened(path)) == Layers(0, reason="no layers: no replay of a target model")


def test_a_target_without_attention_shows_no_layers(tmp_path: Path) -> None:
    layers = found(tmp_path, [[(GEMM, at, at + 50)] for at in range(0, 500, 100)])

    assert layers.layers is None
    assert layers.reason is not None


@settings(max_examples=10)
@given(
    st.tuples(*[st.integers(1, 500)] * 4),
    st.integers(0, 10**15),
    st.sampled_from(["A" * 5, "GGGA" * 3, "GGA" * 4, "AAG" * 3]),
)
def test_costs_are_the_same_wherever_the_core_lies_in_its_layer(
    lengths: tuple[int, int, int, int], shift: int, letters: str
) -> None:
    before_g, after_g, before_a, after_a = lengths
    kernels: list[Kernel] = []
    at = shift
    for letter in letters:
        around = (
            (before_g, RECURRENCE, after_g) if letter == "G" else (before_a, ATTENTION, after_a)
        )
        for name, length in ((GEMM, around[0]), (around[1], 10), (GEMM, around[2])):
            kernels.append((name, at, at + length))
            at += length

    with TemporaryDirectory() as folder:
        layers = found(Path(folder), [kernels])

    assert layers.attention_layer_ns == constant(before_a + 10 + after_a)
    if "G" in letters:
        assert layers.recurrent_layer_ns == constant(before_g + 10 + after_g)


def true_layer_ns(simulation: Simulation, rank: int, kernels: dict[str, int]) -> dict[str, float]:
    """Return the mean cost of each kind of layer of Qwen3.6-27B, begin to begin.

    Four kernels look up embeddings before the layers.
    """
    starts: dict[int, list[int]] = defaultdict(list)
    for operation in run(simulation).operations:
        if operation.rank == rank and operation.graph and operation.graph.kind == "verify":
            starts[operation.node].append(operation.start_ns)
    costs: dict[str, list[int]] = defaultdict(list)
    node = 5
    for letter in "GGGA" * 16:
        begins, ends = starts[node], starts[node + kernels[letter]]
        costs[letter] += [end - begin for begin, end in zip(begins, ends, strict=True)]
        node += kernels[letter]
    return {letter: mean(values) for letter, values in costs.items()}


def test_the_layers_of_a_simulated_server_are_all_found() -> None:
    simulation = Simulation(rounds=4)

    server = opened(recorded(simulation)[0])

    true = true_layer_ns(simulation, 0, {"G": 17, "A": 20})
    layers = layers_of(server)
    assert (layers.replays, layers.unusual) == (4, 0)
    assert (layers.recurrent_layers, layers.attention_layers) == (48, 16)
    assert layers.period == Period((G, G, G, A), 16, 0)
    assert (layers.kernels_per_recurrent_layer, layers.kernels_per_attention_layer) == (17, 20)
    assert layers.recurrent_layer_ns is not None
    assert layers.attention_layer_ns is not None
    assert layers.recurrent_layer_ns.mean == pytest.approx(true["G"], rel=0.01)
    assert layers.attention_layer_ns.mean == pytest.approx(true["A"], rel=0.01)
    assert layers.outliers == ()
    assert (layers.reason, layers.notice) == (None, None)


@pytest.mark.parametrize(
    "simulation",
    [
        pytest.param(Simulation(rounds=2, era="2.7"), id="2.7"),
        pytest.param(Simulation(rounds=2, correlation_zero=True), id="correlation 0"),
        pytest.param(Simulation(rounds=2, before=("prefill",)), id="prefill"),
    ],
)
def test_layers_are_counted_in_every_kind_of_trace(simulation: Simulation) -> None:
    layers = layers_of(opened(recorded(simulation)[0]))

    assert (layers.replays, layers.unusual) == (2, 0)
    assert (layers.recurrent_layers, layers.attention_layers) == (48, 16)


@pytest.mark.parametrize("case", ["eagle3-tree", "standalone-draft", "one-pass-draft"])
def test_the_layers_of_a_simulated_llama_are_its_32(case: str) -> None:
    layers = layers_of(opened(recorded(replace(CASES[case], rounds=2))[0]))

    assert (layers.layers, layers.attention_layers, layers.unusual) == (32, 32, 0)
    assert layers.outliers == ()


def test_graph_mode_says_nothing_about_the_layers_of_a_simulated_server() -> None:
    layers = layers_of(opened(recorded(Simulation(rounds=2, mode="graph"))[0]))

    assert layers.layers is None
    assert layers.reason == "no layers: graphs were not traced per node"
