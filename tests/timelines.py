"""Reading a Perfetto trace back with Google's own schema."""

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent


@dataclass(frozen=True, slots=True)
class Slice:
    """One slice as Perfetto shows it."""

    path: tuple[str, ...]
    start_ns: int
    end_ns: int
    name: str
    category: str
    color: str
    depth: int
    notes: dict[str, str | int]
    flows_out: tuple[int, ...]
    flows_in: tuple[int, ...]


def read_timeline(path: Path) -> list[Slice]:
    """Return every slice; fails where begins and ends of a track do not nest."""
    trace = Trace()
    trace.ParseFromString(path.read_bytes())
    text: dict[tuple[str, int], str] = {}
    tracks: dict[int, tuple[str, ...]] = {}
    open_slices: defaultdict[int, list[tuple[int, Any]]] = defaultdict(list)
    latest: defaultdict[int, int] = defaultdict(int)
    slices: list[Slice] = []
    for packet in trace.packet:
        assert packet.trusted_packet_sequence_id == 1
        for field, entries in packet.interned_data.ListFields():
            for entry in entries:
                value = entry.str if field.name in _BYTES else entry.name
                text[field.name, entry.iid] = value.decode() if isinstance(value, bytes) else value
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            tracks[track.uuid] = (*tracks.get(track.parent_uuid, ()), track.name)
        if not packet.HasField("track_event"):
            continue
        event, uuid = packet.track_event, packet.track_event.track_uuid
        assert packet.timestamp >= latest[uuid], "a track goes back in time"
        latest[uuid] = packet.timestamp
        if event.type == TrackEvent.TYPE_SLICE_BEGIN:
            open_slices[uuid].append((packet.timestamp, event))
        else:
            begin_ns, begin = open_slices[uuid].pop()
            slices.append(
                Slice(
                    path=tracks[uuid],
                    start_ns=begin_ns,
                    end_ns=packet.timestamp,
                    name=text["event_names", begin.name_iid],
                    category=text["event_categories", begin.category_iids[0]],
                    color=text["correlation_id_str", begin.correlation_id_str_iid],
                    depth=len(open_slices[uuid]),
                    notes={
                        text["debug_annotation_names", note.name_iid]: note.int_value
                        if note.HasField("int_value")
                        else text["debug_annotation_string_values", note.string_value_iid]
                        for note in begin.debug_annotations
                    },
                    flows_out=tuple(begin.flow_ids),
                    flows_in=tuple(begin.terminating_flow_ids),
                )
            )
    assert not any(open_slices.values()), "a slice has no end"
    return sorted(slices, key=lambda each: (each.path, each.start_ns, each.depth))


_BYTES = ("debug_annotation_string_values", "correlation_id_str")
