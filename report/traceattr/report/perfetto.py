"""The timeline of a trace for Perfetto: what ran, what it was part of, and what the host did.

It reads the documented tables, the ones of the analysis included (`docs/tables.md`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class _Slice:
    """One slice: what it is, when, and the flows that begin or end in it."""

    start_ns: int
    end_ns: int
    event: bytes
    flows: Sequence[bytes] = ()


def write_perfetto(connection: duckdb.DuckDBPyConnection, file: BinaryIO) -> None:
    """Write the timeline of the window that was analysed."""
    writer = TraceWriter(file, shift_ns=_shift_ns(connection))
    flows = _flows(connection)
    about = _about(connection, writer.shift_ns)
    gpus = _rows(connection, _sql("perfetto_gpus"))
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


def _flows(connection: duckdb.DuckDBPyConnection) -> Mapping[int, tuple[int, int]]:
    """Return flow from operation to the process and correlation of the call that launched it."""
    rows = connection.execute(_sql("perfetto_launches")).fetchall()
    return {operation: (global_pid, correlation) for operation, global_pid, correlation in rows}


def _write_gpu(
    connection: duckdb.DuckDBPyConnection,
    writer: TraceWriter,
    gpu_id: int,
    root: Track,
    flows: Mapping[int, tuple[int, int]],
) -> None:
    bind = {"gpu_id": gpu_id}
    nested = list(_nested(writer, _rows(connection, _sql("perfetto_rounds"), bind)))
    _write_nested(writer, "rounds", root, _ROUNDS, nested)
    time = _rows(connection, _sql("perfetto_time"), bind)
    _write_flat(writer, "time by category", root, _TIME, _time_slices(writer, time))
    gaps = _rows(connection, _sql("perfetto_gaps"), bind)
    _write_flat(writer, "idle", root, _GAPS, _gap_slices(writer, gaps))
    work = _rows(connection, _sql("perfetto_operations"), bind)
    several = len({row["context_id"] for row in work}) > 1
    streams = groupby(work, itemgetter("context_id", "stream_id"))
    for at, ((context, stream), rows) in enumerate(streams):
        title = f"stream {stream}" if stream is not None else "stream unknown"
        name = f"{title} of context {context}" if several else title
        slices = _work_slices(writer, list(rows), flows)
        _write_flat(writer, name, root, _STREAMS + at, slices)


def _gpu_title(gpu: Row) -> str:
    facts = (
        gpu["name"],
        None if gpu["rank"] is None else f"rank {gpu['rank']}",
        None if gpu["pid"] is None else f"pid {gpu['pid']}",
    )
    known = ", ".join(fact for fact in facts if fact)
    return f"GPU {gpu['gpu_id']}: {known}" if known else f"GPU {gpu['gpu_id']}"


def _nested(writer: TraceWriter, rows: list[Row]) -> Iterator[_Slice]:
    """Yield rounds and the passes in them; a pass of length zero begins after what is around it."""
    for row in rows:
        name = f"{row['kind']} {row['number']}" if row["number"] is not None else row["kind"]
        notes = {key: row[key] for key in ("phase", "graph_id", "layers", "forward_passes")}
        notes |= {"number": row["number"], "last_operation_ends_ns": row["end_ns"]}
        event = writer.event(name, row["what"], row["kind"], _known(notes))
        yield _Slice(row["start_ns"], row["shown_end_ns"], event)


def _time_slices(writer: TraceWriter, rows: list[Row]) -> list[_Slice]:
    return [
        _Slice(
            row["start_ns"],
            row["end_ns"],
            writer.event(
                _category(row),
                row["report_group"],
                row["category"],
                {"phase": row["phase"], "group": row["report_group"]},
            ),
        )
        for row in rows
    ]


def _category(row: Row) -> str:
    return f"{row['category']}/{row['subcategory']}" if row["subcategory"] else row["category"]


def _gap_slices(writer: TraceWriter, rows: list[Row]) -> list[_Slice]:
    return [
        _Slice(
            row["start_ns"],
            row["end_ns"],
            writer.event(row["joins"], row["kind"], row["kind"], _causes(row)),
        )
        for row in rows
    ]


def _causes(row: Row) -> dict[str, Value]:
    """Return what the host was doing, the largest part by name first."""
    parts = {f"{name}_ns": row[f"{name}_ns"] for name in _CAUSES if row[f"{name}_ns"]}
    largest = max(parts, key=lambda key: parts[key], default="unknown_ns")
    return {"cause": largest.removesuffix("_ns"), **parts}


def _work_slices(
    writer: TraceWriter, rows: list[Row], flows: Mapping[int, tuple[int, int]]
) -> list[_Slice]:
    events: dict[tuple[Value | None, ...], bytes] = {}
    slices = []
    for row in rows:
        key = (row["name"], row["phase"], row["graph_id"], row["kind"], row["copy"])
        if key not in events:
            events[key] = _work_event(writer, row)
        notes = {"bytes": row["bytes"], "exclusive_ns": row["exclusive_ns"]}
        arrives = [flow_to(row["operation_id"] + 1)] if row["operation_id"] in flows else []
        event = events[key] + writer.notes(_known(notes))
        slices.append(_Slice(row["start_ns"], row["end_ns"], event, arrives))
    return slices


def _work_event(writer: TraceWriter, row: Row) -> bytes:
    notes = {
        "kernel": row["name"],
        "category": _category(row),
        "rule": row["rule"],
        "phase": row["phase"],
        "group": row["report_group"],
        "graph_id": row["graph_id"],
    }
    title = row["short_name"] or row["name"] or row["copy"] or row["kind"]
    return writer.event(title, row["category"], row["category"], _known(notes))


def _write_host(
    connection: duckdb.DuckDBPyConnection,
    writer: TraceWriter,
    rank: int,
    flows: Mapping[int, tuple[int, int]],
) -> None:
    """Write one group of tracks for each process, with the calls and ranges of its threads."""
    launched: dict[tuple[int, int], list[bytes]] = {}
    for operation, call in flows.items():
        launched.setdefault(call, []).append(flow_from(operation + 1))
    rows = _rows(connection, _sql("perfetto_host"))
    for at, (global_pid, of_process) in enumerate(groupby(rows, itemgetter("global_pid"))):
        root = writer.track(f"host: process {pid_of(global_pid)}", rank=rank + at)
        for place, ((tid, what), calls) in enumerate(
            groupby(of_process, itemgetter("tid", "what"))
        ):
            title = f"thread {tid}: {what}"
            slices = [_call_slice(writer, call, launched) for call in calls]
            _write_nested(writer, title, root, place, slices)


def _call_slice(
    writer: TraceWriter, row: Row, launched: Mapping[tuple[int, int], list[bytes]]
) -> _Slice:
    key = (row["global_pid"], row["correlation_id"])
    flows = launched.get(key, ()) if row["is_first"] else ()
    notes = _known({"domain": row["domain"], "correlation_id": row["correlation_id"]})
    event = writer.event(row["name"] or "(no text)", row["what"], row["name"] or "", notes)
    return _Slice(row["start_ns"], row["end_ns"], event, flows)


def _write_flat(
    writer: TraceWriter, name: str, parent: Track, rank: int, slices: Sequence[_Slice]
) -> None:
    """Write slices that are never drawn inside each other, overlapping ones on lanes."""
    of_slice = lanes([each.start_ns for each in slices], [each.end_ns for each in slices])
    _write_lanes(writer, name, parent, rank, slices, of_slice)


def _write_nested(
    writer: TraceWriter, name: str, parent: Track, rank: int, slices: Sequence[_Slice]
) -> None:
    """Write slices that lie inside each other, and on lanes where they only overlap."""
    of_slice = nesting_lanes([each.start_ns for each in slices], [each.end_ns for each in slices])
    _write_lanes(writer, name, parent, rank, slices, of_slice)


def _write_lanes(
    writer: TraceWriter,
    name: str,
    parent: Track,
    rank: int,
    slices: Sequence[_Slice],
    of_slice: Sequence[int],
) -> None:
    for lane in range(max(of_slice, default=-1) + 1):
        track = writer.track(name, parent=parent, rank=rank)
        mine = [each for each, at in zip(slices, of_slice, strict=True) if at == lane]
        for at, is_begin in edges([s.start_ns for s in mine], [s.end_ns for s in mine]):
            if is_begin:
                writer.begin(track, mine[at].start_ns, mine[at].event, mine[at].flows)
            else:
                writer.end(track, mine[at].end_ns)


def _known(notes: Mapping[str, Value | None]) -> dict[str, Value]:
    return {key: value for key, value in notes.items() if value is not None}


def _sql(name: str) -> str:
    return read_sql("traceattr.report", name)


def _rows(
    connection: duckdb.DuckDBPyConnection, query: str, bind: Mapping[str, int] | None = None
) -> list[Row]:
    found = connection.execute(query, bind)
    names = [column[0] for column in found.description or ()]
    return [dict(zip(names, row, strict=True)) for row in found.fetchall()]
