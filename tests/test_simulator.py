import ast
import json
import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

import traces
from traces.answer import segments, truth_of
from traces.command_line import main
from traces.description import Simulation, visible_operations
from traces.eras import ERAS
from traces.export_writer import global_pid
from traces.simulate import DEMO, run, simulate, truth_path
from traces.surroundings import FAKE_SECRETS
from traces.timeline import GpuOp
from traces.truth import Truth
from traces.workload import Copy, Kernel
from traces.workload_file import load_workload

TRACES = Path(traces.__file__).parent
SMALL = Simulation(rounds=2)
OPERATION_TABLES = (
    "CUPTI_ACTIVITY_KIND_KERNEL",
    "CUPTI_ACTIVITY_KIND_MEMCPY",
    "CUPTI_ACTIVITY_KIND_MEMSET",
)


def query(path: Path, sql: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(sql).fetchall()


def table_names(path: Path) -> set[object]:
    return {name for (name,) in query(path, "SELECT name FROM sqlite_master")}


def dump(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        return list(connection.iterdump())


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Truth]:
    path = tmp_path_factory.mktemp("small") / "small.sqlite"
    return path, simulate(SMALL, path)


@pytest.mark.parametrize(
    "simulation",
    [
        SMALL,
        replace(SMALL, mode="graph"),
        replace(SMALL, mode="graph", era="3.0"),
        replace(SMALL, before=("prefill",), slowdowns=(1.0, 1.03, 0.99)),
    ],
    ids=["node", "graph", "graph without envelopes", "prefill on three ranks"],
)
def test_the_truth_tiles_the_window_of_every_gpu(simulation: Simulation) -> None:
    truth = truth_of(run(simulation), simulation)

    assert len(truth.gpus) == len(simulation.slowdowns)
    for gpu in truth.gpus:
        exclusive = sum(amount.exclusive_ns for amount in gpu.categories.values())
        by_phase = [amount for phase in gpu.phases.values() for amount in phase.values()]
        idle = gpu.idle
        assert gpu.wall_ns == truth.end_ns - truth.start_ns
        assert exclusive == gpu.busy_ns
        assert gpu.busy_ns + gpu.idle_ns == gpu.wall_ns
        assert sum(amount.exclusive_ns for amount in by_phase) == gpu.busy_ns
        in_graph_ns = idle.in_graph_ns or 0
        assert in_graph_ns + idle.between_graph_ns + idle.other_ns == gpu.idle_ns


def test_compute_owns_an_instant_before_communication_before_copies() -> None:
    kernel = load_workload().graphs["verify"].nodes[4].kernel
    comm = next(
        node.kernel for node in load_workload().graphs["verify"].nodes if node.kernel.is_collective
    )
    copy = Copy("h2d", 8, 1, is_waited_for=False, lane="copy")

    def op(start: int, end: int, what: Kernel | Copy) -> GpuOp:
        return GpuOp(start, end, 0, "main", what, 1, "other", 0)

    operations = [op(0, 40, copy), op(10, 30, comm), op(20, 50, kernel), op(25, 60, kernel)]

    found = [
        (piece.start_ns, piece.end_ns, operations.index(piece.owner) if piece.owner else None)
        for piece in segments(operations, (0, 70))
    ]

    assert found == [
        (0, 10, 0),
        (10, 20, 1),
        (20, 25, 2),
        (25, 30, 2),
        (30, 40, 2),
        (40, 50, 2),
        (50, 60, 3),
        (60, 70, None),
    ]


def test_the_file_holds_what_the_truth_sums(small: tuple[Path, Truth]) -> None:
    path, truth = small

    for gpu in truth.gpus:
        rows = [
            query(
                path,
                f'SELECT count(*), sum("end" - start) FROM {table}'  # noqa: S608
                f" WHERE globalPid = {global_pid(gpu.pid)}",
            )[0]
            for table in OPERATION_TABLES
        ]
        amounts = gpu.categories.values()
        assert sum(int(str(count)) for count, _ in rows) == sum(a.operations for a in amounts)
        assert sum(int(str(busy)) for _, busy in rows) == sum(a.sum_ns for a in amounts)


def test_a_round_has_the_kernels_of_the_model() -> None:
    kernels = [
        op.what
        for op in run(SMALL).operations
        if op.rank == 0 and op.round == 1 and isinstance(op.what, Kernel)
    ]

    categories = Counter(kernel.category for kernel in kernels)
    assert categories["weight_gemm"] == 305 + 18
    assert categories["gdn"] == 48 * 3 + 2
    assert sum("cross_device_reduce" in kernel.name for kernel in kernels) == 129 + 9
    assert sum("AllGather" in kernel.name for kernel in kernels) == 4
    assert sum("BatchPrefill" in kernel.name for kernel in kernels) == 16 + 3
    assert sum("s161616gemm_bf16_16x16_128x1" in kernel.name for kernel in kernels) == 4
    assert SMALL.operations_per_round * 2 == len(run(SMALL).operations)


def test_rounds_and_replays_follow_each_other(small: tuple[Path, Truth]) -> None:
    _, truth = small

    for gpu in truth.gpus:
        assert [replay.kind for replay in gpu.replays] == ["draft", "verify", "draft_extend"] * 2
        assert {name: len(seams) for name, seams in gpu.seams.items()} == {
            "draft->verify": 2,
            "verify->draft_extend": 2,
            "draft_extend->draft": 1,
        }
        first, second = gpu.rounds
        assert first.end_ns < second.start_ns < second.end_ns
        for seams in gpu.seams.values():
            assert all(60_000 < seam.idle_ns < 400_000 for seam in seams)


def test_a_round_takes_about_what_the_bytes_say(small: tuple[Path, Truth]) -> None:
    _, truth = small
    weight_bytes = 25.624e9 + 3 * (0.477e9 + 1.271e9)  # target forward, three MTP forwards
    bound_ns = weight_bytes / 768.096e9 * 1e9

    for gpu in truth.gpus:
        gemm_ns = gpu.categories["weight_gemm"].exclusive_ns / SMALL.rounds
        assert bound_ns < gemm_ns < bound_ns * 1.1
        assert 45e6 < gpu.wall_ns / SMALL.rounds < 55e6


def test_operations_of_one_stream_run_one_after_the_other() -> None:
    free: Counter[tuple[int, str]] = Counter()

    for op in run(SMALL).operations:
        assert free[op.rank, op.lane] <= op.start_ns < op.end_ns
        free[op.rank, op.lane] = op.end_ns


def test_streams_overlap_inside_graphs_and_copies_overlap_compute(
    small: tuple[Path, Truth],
) -> None:
    _, truth = small

    for gpu in truth.gpus:
        for category in ("weight_gemm", "norm", "memory"):
            amount = gpu.categories[category]
            assert amount.exclusive_ns < amount.sum_ns


def test_a_slow_rank_makes_the_fast_one_wait_inside_collectives() -> None:
    simulation = Simulation(rounds=2, slowdowns=(1.0, 1.05))

    fast, slow = truth_of(run(simulation), simulation).gpus

    assert fast.collectives.wait_ns > 20 * slow.collectives.wait_ns
    assert fast.collectives.wire_ns == pytest.approx(slow.collectives.wire_ns, rel=0.01)
    comm = fast.categories["comm"]
    assert comm.sum_ns == fast.collectives.wire_ns + fast.collectives.wait_ns


def test_the_same_description_gives_the_same_file(
    small: tuple[Path, Truth], tmp_path: Path
) -> None:
    path, _ = small

    simulate(SMALL, tmp_path / "again.sqlite")
    simulate(replace(SMALL, seed=8), tmp_path / "other.sqlite")

    assert (tmp_path / "again.sqlite").read_bytes() == path.read_bytes()
    assert (tmp_path / "other.sqlite").read_bytes() != path.read_bytes()


def test_the_bundled_sample_is_what_the_simulator_makes(tmp_path: Path) -> None:
    path = tmp_path / "demo.sqlite"

    simulate(DEMO, path)

    bundled = TRACES / "demo.sqlite"
    assert dump(bundled) == dump(path)
    assert truth_path(bundled).read_text() == truth_path(path).read_text()
    assert bundled.stat().st_size < 1_000_000


@pytest.mark.parametrize("era", ERAS)
def test_every_era_shows_the_same_operations(
    small: tuple[Path, Truth], tmp_path: Path, era: str
) -> None:
    path = tmp_path / "era.sqlite"
    columns = 'start, "end", deviceId, streamId, correlationId, globalPid, graphNodeId'
    sql = f"SELECT {columns} FROM CUPTI_ACTIVITY_KIND_KERNEL"  # noqa: S608

    simulate(replace(SMALL, era=era), path)

    assert query(path, sql) == query(small[0], sql)
    assert ("DIAGNOSTIC_EVENT" in table_names(path)) == (era not in ("2.7", "3.0"))


@pytest.mark.parametrize("era", ERAS)
def test_graph_mode_leaves_envelopes_or_nothing(tmp_path: Path, era: str) -> None:
    path = tmp_path / "graph.sqlite"

    truth = simulate(replace(SMALL, era=era, mode="graph"), path)

    has_envelopes = era not in ("2.7", "3.0")
    inside = "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE graphNodeId IS NOT NULL"
    launches = (
        "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME, StringIds"
        " WHERE id = nameId AND value = 'cudaGraphLaunch_v10000'"
    )
    assert query(path, inside) == [(0,)]
    assert query(path, launches) == [(2 * 2 * 3,)]
    assert ("CUPTI_ACTIVITY_KIND_GRAPH_TRACE" in table_names(path)) == has_envelopes
    for gpu in truth.gpus:
        assert ("graph (not traced per node)" in gpu.categories) == has_envelopes
        assert gpu.idle.in_graph_ns is None
        assert "weight_gemm" not in gpu.categories
    if has_envelopes:
        assert query(path, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE") == [(12,)]
        captured = query(path, "SELECT value FROM META_DATA_CAPTURE WHERE name LIKE '%:MODE'")
        assert captured == [("Graph",)]


def test_the_busy_time_of_graph_mode_is_that_of_the_envelopes(small: tuple[Path, Truth]) -> None:
    simulation = replace(SMALL, mode="graph")

    truth = truth_of(run(simulation), simulation)

    for gpu, node_mode in zip(truth.gpus, small[1].gpus, strict=True):
        assert node_mode.idle.in_graph_ns is not None
        assert gpu.busy_ns == node_mode.busy_ns + node_mode.idle.in_graph_ns
        assert gpu.idle.between_graph_ns == node_mode.idle.between_graph_ns


def test_correlation_ids_are_counted_per_process_and_shared_by_a_replay(
    small: tuple[Path, Truth],
) -> None:
    path, truth = small
    calls = (
        "SELECT globalTid >> 24 << 24, min(correlationId), count(*), count(DISTINCT correlationId)"
        " FROM CUPTI_ACTIVITY_KIND_RUNTIME GROUP BY globalTid ORDER BY globalTid"
    )
    replays = (
        "SELECT globalPid, correlationId, count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL"
        " WHERE graphId IS NOT NULL AND graphNodeId >> 32 = graphId"
        " GROUP BY globalPid, correlationId ORDER BY globalPid, correlationId"
    )

    per_process = query(path, calls)
    sizes = [size for _, _, size in query(path, replays)]

    assert [row[:2] for row in per_process] == [(global_pid(gpu.pid), 1) for gpu in truth.gpus]
    assert all(row[2] == row[3] for row in per_process)
    assert sizes == [73, 1143, 32] * 4


def test_graphs_of_before_the_capture_and_equal_device_ids(tmp_path: Path) -> None:
    path = tmp_path / "odd.sqlite"

    truth = simulate(replace(SMALL, correlation_zero=True, same_device_id=True), path)

    graph_ids = (
        "SELECT DISTINCT correlationId FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE graphId NOT NULL"
    )
    devices = "SELECT gpuId, cudaId, uuid FROM TARGET_INFO_CUDA_DEVICE ORDER BY gpuId"
    assert query(path, graph_ids) == [(0,)]
    assert query(path, "SELECT DISTINCT deviceId FROM CUPTI_ACTIVITY_KIND_KERNEL") == [(0,)]
    (first, second) = query(path, devices)
    assert (first[:2], second[:2]) == ((0, 0), (1, 0))
    assert first[2] != second[2]
    assert [gpu.device_id for gpu in truth.gpus] == [0, 0]


@pytest.mark.parametrize("era", ERAS)
def test_the_file_says_that_it_is_simulated(tmp_path: Path, era: str) -> None:
    path = tmp_path / "export.sqlite"
    table = "EXPORT_META_DATA" if era in ("2.7", "3.0") else "META_DATA_EXPORT"

    truth = simulate(Simulation(rounds=1, era=era), path)

    stored = query(path, f"SELECT name, value FROM {table}")  # noqa: S608
    metadata = {row[0]: row[1] for row in stored}
    assert metadata["EXPORT_PRODUCT_NAME"] == "traceattr simulator"
    assert metadata["TRACEATTR_SIMULATED"] == truth.simulated
    assert truth.simulated == (
        "simulated by traceattr: Qwen3.6-27B, TP2 on NVIDIA RTX A6000, SGLang 0.5.10,"
        " 3-step MTP, 1 round, seed 7"
    )


def test_the_file_holds_fake_secrets_that_must_not_leak(small: tuple[Path, Truth]) -> None:
    content = small[0].read_bytes()

    assert all(secret.encode() in content for secret in FAKE_SECRETS)


def test_a_prefill_is_eager_and_uses_the_chunked_kernels() -> None:
    simulation = Simulation(rounds=1, before=("prefill",))

    operations = visible_operations(run(simulation), simulation)

    prefill = [op for op in operations if op.phase == "prefill"]
    assert all(op.graph is None and op.round == 0 for op in prefill)
    names = {op.what.name for op in prefill if isinstance(op.what, Kernel)}
    assert "chunk_gated_delta_rule_fwd_kernel_h_blockdim64" in names


def test_the_command_line_writes_the_trace_and_the_truth(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "out.sqlite"

    main(["--kernels", "8000", "--era", "3.16", "--nvtx", "--plain-titles", str(path)])

    assert capsys.readouterr().out == f"Wrote {path} and {tmp_path / 'out.truth.json'}\n"
    truth = json.loads((tmp_path / "out.truth.json").read_text())
    assert (truth["format"], truth["era"], truth["mode"]) == (2, "3.16", "node")
    assert len(truth["gpus"][0]["rounds"]) == 3
    assert query(path, "SELECT DISTINCT name FROM PROCESSES") == [("python3",)]
    ranges = {text for (text,) in query(path, "SELECT DISTINCT text FROM NVTX_EVENTS")}
    assert ranges == {
        "scheduler.recv_requests",
        "scheduler.get_next_batch_to_run",
        "scheduler.run_batch",
        "scheduler.process_batch_result",
    }


def test_the_simulator_shares_no_code_with_what_it_tests() -> None:
    imported = {
        name
        for file in TRACES.glob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        for name in (
            [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else []
        )
    }

    assert not [name for name in imported if name.split(".")[0] == "traceattr"]
