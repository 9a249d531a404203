"""One nsys export as documented tables; every quirk of nsys ends here."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import astuple, dataclass

import duckdb
import pyarrow as pa

from traceattr.errors import ExportError
from traceattr.ingest.cache.kept import Kept
from traceattr.ingest.capture import Capture, read_capture, store_capture
from traceattr.ingest.database import open_database, read_sql, run_sql
from traceattr.ingest.diagnostics import load_diagnostics, no_gpu_work
from traceattr.ingest.evidence import read_evidence
from traceattr.ingest.export import Export, open_export
from traceattr.ingest.gpu_work.resolve import OPERATIONS, GpuWork, resolve
from traceattr.ingest.held import Held
from traceattr.ingest.identity import Identity, Owner, ProcessGpu, identify
from traceattr.ingest.interruption import end_on_ctrl_c
from traceattr.ingest.names import name_by_id, name_kernels
from traceattr.ingest.nearby import CONTEXT_NS, Near, around, is_worth_it, sampled_owners
from traceattr.ingest.remote.name import TracePath
from traceattr.ingest.sources import API, GPU_WORK, READ_ALWAYS
from traceattr.ingest.stage import Staged, read, run_over


@dataclass(frozen=True, slots=True)
class ProcessWork:
    """What one process launched against what was recorded of it; counts.

    Attributes:
        global_pid: The process.
        kernels: Kernels recorded, those in graphs included.
        kernels_without_launch: Those whose launching call is not in the trace.
        kernel_launches: Launch calls.
        kernel_launches_without_work: Those of which no GPU work was recorded.
        graph_launches: Graph launch calls.
        graph_launches_without_work: Those of which neither nodes nor an envelope were recorded.
    """

    global_pid: int | None
    kernels: int
    kernels_without_launch: int
    kernel_launches: int
    kernel_launches_without_work: int
    graph_launches: int
    graph_launches_without_work: int


@dataclass(frozen=True, slots=True)
class Oddities:
    """What could not be taken as it was; counts of rows unless said otherwise.

    Attributes:
        operations: Rows of GPU work in the export.
        envelopes: Those that stand for a whole CUDA graph replay.
        without_times: Left out: no begin or no end.
        ending_before_start: Taken as of length zero.
        without_owner: Left out: no process and device can be told.
        with_inferred_owner: Given to a process or device that the row does not name.
        unreadable: Values that meant nothing in their column and became NULL.
        declined: Why tables were read the slow way, one line per table.
        damaged: Tables that broke off and were left out.
    """

    operations: int
    envelopes: int
    without_times: int
    ending_before_start: int
    without_owner: int
    with_inferred_owner: int
    unreadable: int
    declined: tuple[str, ...]
    damaged: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Trace:
    """A loaded trace.

    Attributes:
        export: The open export; more of it can be loaded.
        connection: Holds the public tables, those of the host aside until they are loaded.
        capture: What the export says about the recording.
        gpus: The table ``gpu``, in order of rank.
        silent_ranks: Titles of processes that name a rank and own no GPU.
        work: Launched against recorded, per process.
        oddities: What could not be taken as it was.
        gpu_work: What each GPU ran, in the order of `gpus`; the rows of ``gpu_op``.
        near: Which part of it was read; None for all.
    """

    export: Export
    connection: duckdb.DuckDBPyConnection
    capture: Capture
    gpus: tuple[ProcessGpu, ...]
    silent_ranks: tuple[str, ...]
    work: tuple[ProcessWork, ...]
    oddities: Oddities
    gpu_work: GpuWork
    near: Near | None = None

    @contextmanager
    def cursor(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Give another connection to the same tables, for another thread."""
        with end_on_ctrl_c(self.connection.cursor()) as cursor:
            # What is registered belongs to one connection.
            cursor.register(OPERATIONS, self.gpu_work.table)
            yield cursor


@contextmanager
def open_trace(
    path: TracePath,
    *,
    progress: Callable[[str], None] = lambda _: None,
    window: tuple[int, int] | None = None,
    details: bool = True,
    kept: Kept | None = None,
) -> Iterator[Trace]:
    """Load an export and give it back as tables, until the block ends.

    The host's NVTX ranges and OS calls are not loaded; see `traceattr.ingest.host`.

    Args:
        path: The export.
        progress: Told in a few words what is done next.
        window: What will be looked at, in ns; of a large trace only this and its context are read.
        details: Whether the table ``gpu_op`` is wanted, of which analyses need but a part.
        kept: What was kept of the export, which is read instead, and where more may be kept.

    Raises:
        ExportError: The file is not an export that can be read, or has no GPU work.
    """
    with open_export(path, progress=progress, kept=kept) as export, ExitStack() as opened:
        trace = None
        if window is not None and is_worth_it(export, GPU_WORK[0].table, around(window)):
            connection = opened.enter_context(open_database())
            trace = _load_near(connection, export, progress, window, details=details)
        if trace is None:
            connection = opened.enter_context(open_database())
            trace = load_trace(connection, export, progress, details=details)
        yield trace


def _load_near(
    connection: duckdb.DuckDBPyConnection,
    export: Export,
    progress: Callable[[str], None],
    window: tuple[int, int],
    *,
    details: bool,
) -> Trace | None:
    """Load a part of a trace; None where only the whole shows what a GPU does.

    Each GPU must work before the window and after it, or the part might be an end of the trace.
    """
    try:
        trace = load_trace(connection, export, progress, around(window), details=details)
    except ExportError:
        return None
    found = {(gpu.global_pid, gpu.device_id) for gpu in trace.gpus}
    reaches_over = all(
        one.start_ns[0] <= window[0] and one.end_ns.max() >= window[1]
        for one in trace.gpu_work.gpus
    )
    is_whole = sampled_owners(export, GPU_WORK[0].table) <= found
    return trace if reaches_over and is_whole else None


def load_trace(
    connection: duckdb.DuckDBPyConnection,
    export: Export,
    progress: Callable[[str], None],
    near: Near | None = None,
    *,
    details: bool = True,
) -> Trace:
    """Fill the public tables from an open export.

    Args:
        connection: An empty database.
        export: The export.
        progress: Told in a few words what is done next.
        near: Which part of it; None for all.
        details: Whether the table ``gpu_op`` is wanted.

    Raises:
        ExportError: A table that is needed is damaged, or there is no GPU work.
    """
    export.fetch_soon(READ_ALWAYS)
    capture = read_capture(export)
    for table in ("_op_kind", "capture", "diagnostic", "gpu", "kernel_name"):
        run_sql(connection, table)
    store_capture(connection, capture)
    load_diagnostics(connection, export)
    _store_judged(connection, near)
    work, staged = _read_work(export, progress, near)
    for source, rows in zip(GPU_WORK, work, strict=True):
        connection.register(source.statement, rows.table)
    run_sql(connection, "_op")
    progress(f"reading {API.table}")
    api, damaged = _stage_api(connection, export, near)
    names = name_kernels(connection, export)
    name_by_id(connection, export, used_in="_api", statement="_api_name")
    run_sql(connection, "_launch")
    run_sql(connection, "api_call")
    progress("joining")
    owners = _owners(connection)
    identity = _identify(connection, export, owners)
    oddities = _oddities(owners, identity, [*staged, api], damaged)
    connection.execute("DROP VIEW _op")
    for source in GPU_WORK:
        connection.unregister(source.statement)
    if not identity.gpus:
        raise no_gpu_work(connection, export)
    gpu_work = resolve(connection, work, identity, names, details=details)
    run_sql(connection, "_process_work")
    return Trace(
        export,
        connection,
        capture,
        identity.gpus,
        identity.silent_ranks,
        _work(connection),
        oddities,
        gpu_work,
        near,
    )


def _store_judged(connection: duckdb.DuckDBPyConnection, near: Near | None) -> None:
    """Say in which part launches and their work are compared: at the edges one of them is cut."""
    run_sql(connection, "_judged")
    margin_ns = CONTEXT_NS // 2
    bounds = (-(2**63), 2**63 - 1)
    if near is not None:
        bounds = (near.start_ns + margin_ns, near.end_ns - margin_ns)
    connection.execute("INSERT INTO _judged VALUES (?, ?)", bounds)


def _read_work(
    export: Export, progress: Callable[[str], None], near: Near | None
) -> tuple[list[Held], list[Staged]]:
    """Read the GPU work, table by table."""
    work, staged = [], []
    for source in GPU_WORK:
        progress(f"reading {source.table}")
        rows, how = read(export, source, near)
        work.append(rows)
        staged.append(how)
    return work, staged


def _stage_api(
    connection: duckdb.DuckDBPyConnection, export: Export, near: Near | None
) -> tuple[Staged, tuple[str, ...]]:
    """Take in the API calls; without them GPU time is still exact, only launches are unknown."""
    try:
        rows, staged = read(export, API, near)
    except ExportError:
        run_over(connection, API.statement, pa.Table.from_batches([], API.schema))
        return Staged(), (API.table,)
    run_over(connection, API.statement, rows.drain())
    return staged, ()


@dataclass(frozen=True, slots=True)
class _OwnerRows:
    """How many rows of GPU work name one owner, and how many of them are odd; see `Oddities`."""

    owner: Owner
    operations: int
    envelopes: int
    without_times: int
    ending_before_start: int


def _owners(connection: duckdb.DuckDBPyConnection) -> tuple[_OwnerRows, ...]:
    rows = connection.execute(read_sql("traceattr.ingest", "_op_owners")).fetchall()
    return tuple(_OwnerRows(Owner(*row[:3]), *row[3:]) for row in rows)


def _identify(
    connection: duckdb.DuckDBPyConnection, export: Export, owners: Sequence[_OwnerRows]
) -> Identity:
    """Fill ``gpu`` and the internal key from owners to it."""
    launching = connection.execute("SELECT DISTINCT global_pid FROM _launch").fetchall()
    evidence = read_evidence(export, frozenset(pid for (pid,) in launching))
    timed = (each.owner for each in owners if each.operations > each.without_times)
    identity = identify(timed, evidence)
    run_sql(connection, "_owner")
    for gpu in identity.gpus:
        connection.execute(
            "INSERT INTO gpu VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", list(astuple(gpu))
        )
    for owner, gpu in identity.gpu_of.items():
        connection.execute("INSERT INTO _owner VALUES (?, ?, ?, ?)", [*astuple(owner), gpu.gpu_id])
    return identity


def _work(connection: duckdb.DuckDBPyConnection) -> tuple[ProcessWork, ...]:
    rows = connection.execute(
        "SELECT global_pid, kernels, kernels_without_launch, kernel_launches,"
        " kernel_launches_without_work, graph_launches, graph_launches_without_work"
        " FROM _process_work ORDER BY global_pid"
    ).fetchall()
    return tuple(ProcessWork(*row) for row in rows)


def _oddities(
    owners: Sequence[_OwnerRows],
    identity: Identity,
    staged: Sequence[Staged],
    damaged: tuple[str, ...],
) -> Oddities:
    return Oddities(
        operations=sum(each.operations for each in owners),
        envelopes=sum(each.envelopes for each in owners),
        without_times=sum(each.without_times for each in owners),
        ending_before_start=sum(each.ending_before_start for each in owners),
        without_owner=sum(
            each.operations - each.without_times
            for each in owners
            if each.owner not in identity.gpu_of
        ),
        with_inferred_owner=sum(
            each.operations for each in owners if each.owner in identity.inferred
        ),
        unreadable=sum(table.unreadable for table in staged),
        declined=tuple(table.declined for table in staged if table.declined),
        damaged=damaged,
    )
