"""What graphs run, in order."""

from collections.abc import Sequence
from pathlib import Path

from tests.decoding import ATTENTION, GEMM, RECURRENCE, Kernel, Server, opened, served, shifted
from tests.recordings import recorded
from traceattr.attribution.analysis import Window
from traceattr.attribution.sequence_figures import GraphSequence, GraphSequences, NamedKernel
from traceattr.attribution.sequences import graph_sequences
from traces.description import Simulation
from traces.export_writer import ExportWriter
from traces.workload_file import WORKLOADS, load_workload

REPLAY: list[Kernel] = [(GEMM, 0, 20), (ATTENTION, 20, 30), (GEMM, 30, 60)]


def sequences_of(server: Server, window: Window | None = None) -> GraphSequences:
    return graph_sequences(server.accounts, server.names, window or server.window)


def found(path: Path, replays: Sequence[Sequence[Kernel]]) -> GraphSequences:
    return sequences_of(served(path / "trace.sqlite", {"python3": replays}))


def lasting(length: int, begin: int) -> list[Kernel]:
    """Return a replay whose last kernel takes so long."""
    return shifted([*REPLAY[:2], (GEMM, 30, 30 + length)], begin)


def test_each_position_has_the_median_of_its_durations(tmp_path: Path) -> None:
    replays = [lasting(30, 0), lasting(34, 1000), lasting(31, 2000)]

    assert found(tmp_path, replays) == GraphSequences(
        kernels=(NamedKernel(GEMM, "weight_gemm"), NamedKernel(ATTENTION, "attention")),
        graphs=(GraphSequence(0, "decode", 3, 3, (0, 1, 0), (20, 10, 31)),),
    )


def test_the_most_frequent_of_several_sequences_stands_for_its_kind(tmp_path: Path) -> None:
    other = [(GEMM, 0, 20), (ATTENTION, 20, 30), (RECURRENCE, 30, 60)]
    shorter = REPLAY[:2]
    replays = [other, *(shifted(REPLAY, at * 1000) for at in (1, 2)), shifted(shorter, 3000)]

    [graph] = found(tmp_path, replays).graphs

    assert (graph.replays, graph.of_replays) == (2, 4)
    assert graph.median_ns == (20, 10, 30)


def test_replays_that_the_window_cuts_do_not_count(tmp_path: Path) -> None:
    replays = [shifted(REPLAY, at * 1000) for at in range(4)]
    server = served(tmp_path / "trace.sqlite", {"python3": replays})

    [graph] = sequences_of(server, Window(1000, 3030, "test")).graphs

    assert (graph.replays, graph.of_replays) == (2, 2)


def test_simulated_graphs_run_what_the_simulator_says_on_every_gpu() -> None:
    workload = load_workload(WORKLOADS["llama31_8b_h100_tp2"])
    path, _ = recorded(Simulation(rounds=3, workload=workload))

    sequences = sequences_of(opened(path))

    assert [(graph.gpu, graph.kind) for graph in sequences.graphs] == [
        (gpu, kind) for gpu in range(2) for kind in ("verify", "draft", "draft_extend")
    ]
    for graph in sequences.graphs:
        nodes = workload.graphs[graph.kind].nodes
        assert sorted(sequences.kernels[at].name for at in graph.kernels) == sorted(
            node.kernel.name for node in nodes
        )
        assert (graph.replays, graph.of_replays) == (3, 3)


def test_graphs_recorded_as_a_whole_have_no_sequence() -> None:
    workload = load_workload(WORKLOADS["llama31_8b_h100_tp2"])
    path, _ = recorded(Simulation(rounds=2, mode="graph", workload=workload))

    assert sequences_of(opened(path)) == GraphSequences()


def test_work_beside_the_main_stream_comes_last_wherever_it_begins(tmp_path: Path) -> None:
    beside = [(RECURRENCE, 5, 9), (RECURRENCE, 25, 29)]
    with ExportWriter(tmp_path / "trace.sqlite") as export:
        export.process(101, "python3")
        for replay, alone in enumerate(beside):
            on_streams = [*((7, kernel) for kernel in REPLAY), (9, alone)]
            for node, (stream, (name, start, end)) in enumerate(on_streams, start=1):
                begin = 1000 * replay
                export.kernel(
                    name,
                    begin + start,
                    begin + end,
                    pid=101,
                    stream=stream,
                    correlation=replay + 1,
                    graph=17,
                    node=node,
                )

    sequences = sequences_of(opened(tmp_path / "trace.sqlite"))

    [graph] = sequences.graphs
    assert [sequences.kernels[at].name for at in graph.kernels] == [
        GEMM,
        ATTENTION,
        GEMM,
        RECURRENCE,
    ]
    assert (graph.replays, graph.of_replays) == (2, 2)
