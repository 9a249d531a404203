"""The lines of a server's log that say what it was doing, whatever else is in the file."""

import calendar
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import BinaryIO

_CHUNK_BYTES = 2**20
_LONGEST_LINE_BYTES = 2**20
"""More than the arguments of a server take; of longer lines the end is read."""

_LONGEST_ENTRY_BYTES = 4096
_PREFIX_BYTES = 256
"""How far before its words the time of an entry can stand."""

MOST_KEPT = 10_000
"""Entries that are kept in memory; of more, every second one, every fourth, and so on."""

_DECODING = b"Decode batch"
_ARGUMENTS = b"ServerArgs("
_BREAK = re.compile(rb"[\r\n]")
_COLOUR = re.compile(rb"\x1b\[[0-9;]*[A-Za-z]")
_STAMP = re.compile(
    rb"\[(\d{4})-(\d\d)-(\d\d)[ T](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?([^\]\r\n]{0,80})\]"
)
_RANK = re.compile(rb"\b(DP|TP)(\d+)\b")
_FIELD = re.compile(
    rb"#running-req: (?P<requests>\d{1,9})\b"
    # Where caches are kept on the host, #gpu-token is the part of them that is on the GPU too.
    rb"|#(?:full |cpu-)?token: (?P<tokens>\d{1,12})\b"
    rb"|(?<!block )\baccept len: (?P<accept>\d{1,6}(?:\.\d{1,9})?)"
    rb"|\bgen throughput \(token/s\): (?P<rate>\d{1,9}(?:\.\d{1,9})?)"
    rb"|\b(?:cuda|cpu|npu) graph: (?P<graph>True|False)\b"
)


@dataclass(frozen=True, slots=True)
class Entry:
    """What one line on decoding says.

    Attributes:
        time_s: On the server's own clock, in seconds as if that were UTC; None without a time.
        dp: Data-parallel rank that wrote it; 0 where none is named.
        tp: Tensor-parallel rank that wrote it; 0 where none is named.
        requests: Requests that ran.
        tokens: Tokens in their caches.
        accept_length: Tokens that a request gained per round, the bonus one too.
        tokens_per_s: Tokens generated per second since the line before.
        is_graph: Whether the step ran as a CUDA graph.
    """

    time_s: float | None
    dp: int
    tp: int
    requests: int | None
    tokens: int | None
    accept_length: float | None
    tokens_per_s: float | None
    is_graph: bool | None


@dataclass(frozen=True, slots=True)
class LogText:
    """What was found in a log.

    Attributes:
        arguments: The last line with the arguments of a server, None without any.
        entries: The lines on decoding.
        seen: How many there were; more than `entries` where not all were kept.
    """

    arguments: str | None
    entries: tuple[Entry, ...]
    seen: int


def read_log(file: BinaryIO, between: tuple[float, float] | None = None) -> LogText:
    """Read a log of any size and content in bounded memory.

    Args:
        file: What is read, to its end.
        between: Times in which every entry is kept; of others, a sample.
    """
    arguments: str | None = None
    inside, others = _Sample(), _Sample()
    seen = 0
    for piece in _pieces(file):
        if (found := _arguments(piece)) is not None:
            arguments = found
        for begin, end in _spans(piece):
            seen += 1
            is_inside = between is not None and _is_between(piece, begin, between)
            sample = inside if is_inside else others
            if sample.wants_next():
                sample.entries.append(_entry(_prefix(piece, begin), piece[begin:end]))
    return LogText(arguments, tuple(_in_order([*inside.entries, *others.entries])), seen)


class _Sample:
    """Every entry of some, or every second, every fourth, ... where there are too many."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self._stride, self._offered = 1, 0

    def wants_next(self) -> bool:
        """Return whether the next entry belongs to the sample."""
        if len(self.entries) >= MOST_KEPT:
            self.entries = self.entries[::2]
            self._stride *= 2
        self._offered += 1
        return self._offered % self._stride == 0


def _is_between(piece: bytes, begin: int, between: tuple[float, float]) -> bool:
    time_s = _placed(_prefix(piece, begin)).time_s
    return time_s is not None and between[0] <= time_s <= between[1]


def _in_order(entries: list[Entry]) -> list[Entry]:
    return sorted(entries, key=lambda entry: -1.0 if entry.time_s is None else entry.time_s)


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    """Yield the file in pieces that end where lines do, as long as lines are of bearable length."""
    rest = b""
    while chunk := file.read(_CHUNK_BYTES):
        data = rest + chunk
        end = max(data.rfind(b"\n"), data.rfind(b"\r")) + 1
        yield data[:end]
        rest = data[end:][-_LONGEST_LINE_BYTES:]
    yield rest


def _arguments(piece: bytes) -> str | None:
    """Return the last arguments of a server in a piece, to the end of their line."""
    begin = piece.rfind(_ARGUMENTS)
    if begin < 0:
        return None
    return _BREAK.split(piece[begin:], maxsplit=1)[0].decode("utf-8", errors="replace")


def _spans(piece: bytes) -> Iterator[tuple[int, int]]:
    """Yield where each entry on decoding begins and may end; ranks can share a line."""
    begin = piece.find(_DECODING)
    while begin >= 0:
        following = piece.find(_DECODING, begin + len(_DECODING))
        limit = len(piece) if following < 0 else following
        yield begin, min(limit, begin + _LONGEST_ENTRY_BYTES)
        begin = following


def _prefix(piece: bytes, begin: int) -> bytes:
    """Return what stands before an entry on its line."""
    return _BREAK.split(piece[max(0, begin - _PREFIX_BYTES) : begin])[-1]


def _entry(prefix: bytes, said: bytes) -> Entry:
    said = _BREAK.split(said, maxsplit=1)[0]
    if b"\x1b" in prefix or b"\x1b" in said:
        prefix, said = _COLOUR.sub(b"", prefix), _COLOUR.sub(b"", said)
    said_of = dict[str, str]()
    for found in _FIELD.finditer(said):
        name = found.lastgroup or ""
        said_of.setdefault(name, found[name].decode())
    graph = said_of.get("graph")
    return replace(
        _placed(prefix),
        requests=int(said_of["requests"]) if "requests" in said_of else None,
        tokens=int(said_of["tokens"]) if "tokens" in said_of else None,
        accept_length=float(said_of["accept"]) if "accept" in said_of else None,
        tokens_per_s=float(said_of["rate"]) if "rate" in said_of else None,
        is_graph=None if graph is None else graph == "True",
    )


def _placed(prefix: bytes) -> Entry:
    """Return an entry of which only time and ranks are known."""
    stamps = list(_STAMP.finditer(prefix))
    if not stamps:
        return Entry(None, 0, 0, None, None, None, None, None)
    *calendar_parts, fraction, tag = stamps[-1].groups()
    year, month, day, hour, minute, second = map(int, calendar_parts)
    time_s: float | None = None
    if year and 1 <= month <= 12 and 1 <= day <= 31:
        whole_s = calendar.timegm((year, month, day, hour, minute, second))
        time_s = whole_s + (float(b"0." + fraction) if fraction else 0.0)
    ranks = {name: int(number) for name, number in _RANK.findall(tag)}
    return Entry(time_s, ranks.get(b"DP", 0), ranks.get(b"TP", 0), None, None, None, None, None)
