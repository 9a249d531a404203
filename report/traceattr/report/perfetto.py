"""The timeline of a trace for Perfetto: what ran, what it was part of, and what the host did.

It reads the documented tables, the ones of the analysis included (`docs/tables.md`).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import Any, BinaryIO

import duckdb

from traceattr.ingest.database import read_sql
from traceattr.ingest.identity import pid_of
from traceattr.report.perfetto_lanes import edges, lanes, nesting_lanes
from traceattr.report.perfetto_packets import (
    TraceWriter,
    Track,
    Value,
    flow_from,
    flow_to,
)

Row = dict[str, Any]

_ROUNDS, _TIME, _GAPS, _STREAMS = range(4)
_CAUSES = ("sync", "launch", "api", "os", "python", "dependency", "unknown")

Lanes = Callable[[Sequence[int], Sequence[int]], list[int]]
Flows = Mapping[int, tuple[int, int]]
"""From each operation to the process and the correlation of the call that launched it."""


@dataclass(slots=True)
class _Slices:
    """Slices of one track in order of time, column by column: there are millions of them."""

    start_ns: list[int] = field(default_factory=list)
    end_ns: list[int] = field(default_factory=list)
    event: list[bytes] = field(default_factory=list)

    def add(self, start_ns: int, end_ns: int, event: bytes) -> None:
        self.start_ns.append(start_ns)
        self.end_ns.append(end_ns)
        self.event.append(event)

    def of_lane(self, lane: int, of_slice: Sequence[int]) -> "_Slices":
        chosen = [at for at, other in enumerate(of_slice) if other == lane]
        return _Slices(
            [self.start_ns[at] for at in chosen],
            [self.end_ns[at] for at in chosen],
            [self.event[at] for at in chosen],
        )


def write_perfetto(connection: duckdb.DuckDBPyConnection, file: BinaryIO) -> None:
    """Write the timeline of the window that was analysed."""
    writer = TraceWriter(file, shift_ns=_shift_ns(connection))
    flows = _flows(connection)
    about = _about(connection, writer.shift_ns)
    gpus = list(_rows(connection, _sql("perfetto_gpus")))
    for rank, gpu in enumerate(gpus):
        root = writer.track(_gpu_title(gpu), rank=rank, description=about)
        _write_gpu(connection, writer, gpu["gpu_id"], root, flows)
    _write_host(connection, writer, len(gpus), flows)


def _about(connection: duckdb.DuckDBPyConnection, shift_ns: int) -> str:
    """Return what the timeline is of."""
    [row] = _rows(connection, _sql("perfetto_about"))
    parts = [
        row["file"],
        f"window {row['start_ns']}:{row['end_ns']} ns ({row['why']})",
        f"rules {row['rules']}",
        f"traceattr {row['traceattr_version']}",
        row["simulated"],
        f"times are shifted by {shift_ns} ns" if shift_ns else None,
    ]
    return "; ".join(part for part in parts if part)


def _shift_ns(connection: duckdb.DuckDBPyConnection) -> int:
    """Return what makes every time at least 0; 0 for nearly every trace."""
    [(first_ns,)] = connection.execute(_sql("perfetto_first")).fetchall()
    return max(0, -int(first_ns))


def _flows(connection: duckdb.DuckDBPyConnection) -> Flows:
    rows = connection.execute(_sql("perfetto_launches")).fetchall()
    return {operation: (global_pid, correlation) for operation, global_pid, correlation in rows}


def _write_gpu(
    connection: duckdb.DuckDBPyConnection,
    writer: TraceWriter,
    gpu_id: int,
    root: Track,
    flows: Flows,
) -> None:
    def rows(query: str) -> Iterator[Row]:
        return _rows(connection, _sql(query), {"gpu_id": gpu_id})

    rounds = _round_slices(writer, rows("perfetto_rounds"))
    _write(writer, "rounds", root, _ROUNDS, rounds, nesting_lanes)
    time = _time_slices(writer, rows("perfetto_time"))
    _write(writer, "time by category", root, _TIME, time, lanes)
    _write(writer, "idle", root, _GAPS, _gap_slices(writer, rows("perfetto_gaps")), lanes)
    several = len(list(rows("perfetto_contexts"))) > 1
    streams = groupby(rows("perfetto_operations"), itemgetter("context_id", "stream_id"))
    for at, ((context, stream), work) in enumerate(streams):
        title = f"stream {stream}" if stream is not None else "stream unknown"
        name = f"{title} of context {context}" if several else title
        slices = _work_slices(writer, work, flows)
        _write(writer, name, root, _STREAMS + at, slices, lanes)


def _gpu_title(gpu: Row) -> str:
    facts = (
        gpu["name"],
        None if gpu["rank"] is None else f"rank {gpu['rank']}",
        None if gpu["pid"] is None else f"pid {gpu['pid']}",
    )
    known = ", ".join(fact for fact in facts if fact)
    return f"GPU {gpu['gpu_id']}: {known}" if known else f"GPU {gpu['gpu_id']}"


def _round_slices(writer: TraceWriter, rows: Iterable[Row]) -> _Slices:
    """Return rounds and the passes in them."""
    slices = _Slices()
    for row in rows:
        name = f"{row['kind']} {row['number']}" if row["number"] is not None else row["kind"]
        notes = {key: row[key] for key in ("phase", "graph_id", "layers", "forward_passes")}
        notes |= {"number": row["number"], "last_operation_ends_ns": row["end_ns"]}
        event = writer.event(name, row["what"], row["kind"], _known(notes))
        slices.add(row["start_ns"], row["shown_end_ns"], event)
    return slices


def _time_slices(writer: TraceWriter, rows: Iterable[Row]) -> _Slices:
    """Return who owns the time; neighbours of one category and phase are one slice."""
    slices, events = _Slices(), {}
    for row in rows:
        key = (row["category"], row["subcategory"], row["phase"])
        if key not in events:
            group = row["report_group"]
            notes = {"phase": row["phase"], "group": group}
            events[key] = writer.event(_category(row), group, row["category"], notes)
        if (
            slices.event
            and slices.end_ns[-1] == row["start_ns"]
            and slices.event[-1] is events[key]
        ):
            slices.end_ns[-1] = row["end_ns"]
        else:
            slices.add(row["start_ns"], row["end_ns"], events[key])
    return slices


def _category(row: Row) -> str:
    return f"{row['category']}/{row['subcategory']}" if row["subcategory"] else row["category"]


def _gap_slices(writer: TraceWriter, rows: Iterable[Row]) -> _Slices:
    slices = _Slices()
    events: dict[tuple[str, str, str], bytes] = {}
    for row in rows:
        parts = {name: row[f"{name}_ns"] for name in _CAUSES if row[f"{name}_ns"]}
        cause = max(parts, key=lambda name: parts[name], default="unknown")
        key = (row["joins"], row["kind"], cause)
        if len(parts) > 1:
            notes = {"cause": cause, **{f"{name}_ns": ns for name, ns in parts.items()}}
            event = writer.event(row["joins"], row["kind"], row["kind"], notes)
        else:
            # The whole gap has one cause, so its length says how much.
            event = events.get(key) or writer.event(*key[:2], row["kind"], {"cause": cause})
            events[key] = event
        slices.add(row["start_ns"], row["end_ns"], event)
    return slices


def _work_slices(writer: TraceWriter, rows: Iterable[Row], flows: Flows) -> _Slices:
    slices = _Slices()
    events: dict[tuple[Value | None, ...], bytes] = {}
    for row in rows:
        owns_ns = row["exclusive_ns"] if row["exclusive_ns"] != row["inside_ns"] else None
        what = (row["name"], row["kind"], row["copy"], row["phase"])
        key = (*what, row["graph_id"], row["bytes"], owns_ns)
        event = events.get(key)
        if event is None:
            event = events[key] = _work_event(writer, row, owns_ns)
        if row["operation_id"] in flows:
            event += flow_to(row["operation_id"] + 1)
        slices.add(row["start_ns"], row["end_ns"], event)
    return slices


def _work_event(writer: TraceWriter, row: Row, owns_ns: int | None) -> bytes:
    notes = {
        "kernel": row["name"],
        "category": _category(row),
        "rule": row["rule"],
        "phase": row["phase"],
        "group": row["report_group"],
        "graph_id": row["graph_id"],
        "bytes": row["bytes"],
        "exclusive_ns": owns_ns,
    }
    title = row["short_name"] or row["name"] or row["copy"] or row["kind"]
    return writer.event(title, row["category"], row["category"], _known(notes))


def _write_host(
    connection: duckdb.DuckDBPyConnection, writer: TraceWriter, rank: int, flows: Flows
) -> None:
    """Write one group of tracks for each process, with the calls and ranges of its threads."""
    launched: dict[tuple[int, int], bytes] = {}
    for operation, call in flows.items():
        launched[call] = launched.get(call, b"") + flow_from(operation + 1)
    rows = _rows(connection, _sql("perfetto_host"))
    for at, (global_pid, of_process) in enumerate(groupby(rows, itemgetter("global_pid"))):
        root = writer.track(f"host: process {pid_of(global_pid)}", rank=rank + at)
        of_threads = groupby(of_process, itemgetter("tid", "what"))
        for place, ((tid, what), calls) in enumerate(of_threads):
            title = f"thread {'unknown' if tid is None else tid}: {what}"
            _write(writer, title, root, place, _calls(writer, calls, launched), nesting_lanes)


def _calls(
    writer: TraceWriter, rows: Iterable[Row], launched: Mapping[tuple[int, int], bytes]
) -> _Slices:
    slices = _Slices()
    events: dict[tuple[str | None, str | None], bytes] = {}
    for row in rows:
        key = (row["name"], row["domain"])
        event = events.get(key)
        if event is None:
            notes = _known({"domain": row["domain"]})
            name = row["name"] or "(no text)"
            event = events[key] = writer.event(name, row["what"], name, notes)
        if row["is_first"]:
            event += launched.get((row["global_pid"], row["correlation_id"]), b"")
        slices.add(row["start_ns"], row["end_ns"], event)
    return slices


def _write(
    writer: TraceWriter, name: str, parent: Track, rank: int, slices: _Slices, to_lanes: Lanes
) -> None:
    """Write slices on one track, and on further lanes of it what does not fit."""
    of_slice = to_lanes(slices.start_ns, slices.end_ns)
    for lane in range(max(of_slice, default=-1) + 1):
        track = writer.track(name, parent=parent, rank=rank)
        mine = slices.of_lane(lane, of_slice) if max(of_slice) else slices
        writer.slices(track, edges(mine.start_ns, mine.end_ns, mine.event))


def _known(notes: Mapping[str, Value | None]) -> dict[str, Value]:
    return {key: value for key, value in notes.items() if value is not None}


def _sql(name: str) -> str:
    return read_sql("traceattr.report", name)


def _rows(
    connection: duckdb.DuckDBPyConnection, query: str, bind: Mapping[str, int] | None = None
) -> Iterator[Row]:
    """Yield the rows of a query; no other may run before the last is taken."""
    found = connection.execute(query, bind)
    names = [column[0] for column in found.description or ()]
    for row in iter(found.fetchone, None):
        yield dict(zip(names, row, strict=True))
