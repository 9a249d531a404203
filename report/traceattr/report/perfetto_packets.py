"""How a Perfetto trace is written: the few messages of its protobuf schema that a timeline needs.

Field numbers are those of ``protos/perfetto/trace`` in https://github.com/google/perfetto; the
tests read the result back with Google's own bindings.  Times are ns, as integers: nothing is
rounded, unlike in the JSON that Chrome reads.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import BinaryIO, NewType

Track = NewType("Track", int)
"""The number of a track."""

Value = str | int

_VARINT, _FIXED64, _LENGTH = 0, 1, 2
_SEQUENCE = 1
_SEQUENCE_BEGINS, _NEEDS_STATE = 1, 2
_SLICE_BEGIN, _SLICE_END = 1, 2
_EXPLICIT_ORDER = 3
_STRINGS = {"category": 1, "name": 2, "annotation": 3, "value": 29, "color": 43}
"""Fields of InternedData by what they hold."""


_TWO_GROUPS: list[bytes] = []
"""The lower fourteen bits of a number that goes on, by their value; filled when first needed."""

_FOUR_GROUPS = 1 << 28


def varint(number: int) -> bytes:
    """Return a number below 2**64 in groups of seven bits, negative ones as two's complement."""
    number &= 0xFFFF_FFFF_FFFF_FFFF
    groups = bytearray()
    while number > 0x7F:
        groups.append(number & 0x7F | 0x80)
        number >>= 7
    groups.append(number)
    return bytes(groups)


@lru_cache(maxsize=1 << 16)
def _number(at: int, value: int) -> bytes:
    return varint(at << 3 | _VARINT) + varint(value)


def _fixed(at: int, value: int) -> bytes:
    return varint(at << 3 | _FIXED64) + value.to_bytes(8, "little")


def _bytes(at: int, value: bytes) -> bytes:
    return _head(at, len(value)) + value


@lru_cache(maxsize=1 << 16)
def _head(at: int, length: int) -> bytes:
    return varint(at << 3 | _LENGTH) + varint(length)


def _text(at: int, value: str) -> bytes:
    return _bytes(at, value.encode("utf-8", "replace"))


def time_varint(time_ns: int) -> bytes:
    """Return the same as `varint`, faster for the times of a trace: their upper bits are alike."""
    if time_ns < _FOUR_GROUPS:
        return varint(time_ns)
    return (
        _TWO_GROUPS[time_ns & 0x3FFF]
        + _TWO_GROUPS[time_ns >> 14 & 0x3FFF]
        + _upper_groups(time_ns >> 28)
    )


_upper_groups = lru_cache(maxsize=1 << 10)(varint)

# What every packet with an event begins with: its sequence, that it names strings of it, a time.
_EVENT_HEAD = _number(10, _SEQUENCE) + _number(13, _NEEDS_STATE) + varint(8 << 3 | _VARINT)


@lru_cache(maxsize=1 << 10)
def _event_head(length: int) -> bytes:
    """Return what comes before the time and the event, which together have a length."""
    return _head(1, len(_EVENT_HEAD) + length) + _EVENT_HEAD


@dataclass(slots=True)
class TraceWriter:
    """A trace that is being written; strings are written once and then named by number.

    Attributes:
        file: Where it goes.
        shift_ns: Added to every time, as Perfetto has none below 0.
    """

    file: BinaryIO
    shift_ns: int = 0
    _numbers: dict[tuple[str, str], int] = field(default_factory=dict)
    _tracks: int = 0
    _packets: int = 0
    _fresh: list[bytes] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not _TWO_GROUPS:
            low = [bytes((at | 0x80,)) for at in range(0x80)]
            _TWO_GROUPS.extend(low[at & 0x7F] + low[at >> 7] for at in range(1 << 14))

    def track(
        self, name: str, *, parent: Track | None = None, rank: int = 0, description: str = ""
    ) -> Track:
        """Add a track and return it; tracks of one name below one parent are shown as one.

        Args:
            name: What it shows.
            parent: The track it lies below.
            rank: Place among the tracks below that parent.
            description: What a reader should know of it.
        """
        self._tracks += 1
        parts = [_number(1, self._tracks), _text(2, name), _number(11, _EXPLICIT_ORDER)]
        if parent is not None:
            parts.append(_number(5, parent))
        parts.append(_number(12, rank))
        if description:
            parts.append(_text(14, description))
        self._packet(_bytes(60, b"".join(parts)))
        return Track(self._tracks)

    def event(self, name: str, category: str, color: str, notes: Mapping[str, Value]) -> bytes:
        """Return what begins of slices have in common, to be given to `slices`.

        Args:
            name: Text of the slice.
            category: What it is filtered by.
            color: Slices of one colour word get one colour.
            notes: Shown when the slice is selected.
        """
        parts = [
            _number(9, _SLICE_BEGIN),
            _number(10, self._number_of("name", name)),
            _number(3, self._number_of("category", category)),
            _number(54, self._number_of("color", color)),
            *(_bytes(4, self._note(key, value)) for key, value in notes.items()),
        ]
        return b"".join(parts)

    def _note(self, key: str, value: Value) -> bytes:
        name = _number(1, self._number_of("annotation", key))
        if isinstance(value, int):
            return name + _number(4, value)
        return name + _number(17, self._number_of("value", value))

    def slices(self, track: Track, edges: Iterable[tuple[int, bytes | None]]) -> None:
        """Write begins and ends of slices on a track, which must nest, in order of time.

        Args:
            track: The track.
            edges: Times, with what `event` returned for a begin and None for an end, which is that
                of the slice that began last.
        """
        self._write_fresh()
        on_track = _number(11, track)
        known: dict[bytes | None, bytes] = {None: _bytes(11, on_track + _number(9, _SLICE_END))}
        write, shift_ns = self.file.write, self.shift_ns
        for time_ns, event in edges:
            rest = known.get(event)
            if rest is None and event is not None:
                rest = known[event] = _bytes(11, on_track + event)
            assert rest is not None
            body = time_varint(time_ns + shift_ns) + rest
            write(_event_head(len(body)) + body)

    def _number_of(self, kind: str, text: str) -> int:
        known = self._numbers.get((kind, text))
        if known is None:
            known = self._numbers[kind, text] = len(self._numbers) + 1
            self._fresh.append(_bytes(_STRINGS[kind], _number(1, known) + _text(2, text)))
        return known

    def _write_fresh(self) -> None:
        """Write the strings that were named since this was done last."""
        if self._fresh:
            strings = b"".join(self._fresh)
            self._fresh.clear()
            self._packet(_bytes(12, strings))

    def _packet(self, content: bytes) -> None:
        flags = _NEEDS_STATE if self._packets else _NEEDS_STATE | _SEQUENCE_BEGINS
        self._packets += 1
        self.file.write(_bytes(1, _number(10, _SEQUENCE) + _number(13, flags) + content))


def flow_from(number: int) -> bytes:
    """Return that a flow goes out from a slice, as a part of its event."""
    return _fixed(47, number)


def flow_to(number: int) -> bytes:
    """Return that a flow ends in a slice, as a part of its event."""
    return _fixed(48, number)
