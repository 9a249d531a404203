"""What a server was doing while it was recorded, as its log or its metrics say."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from statistics import fmean, median, median_low
from typing import TypeVar

from traceattr.roofline.deployment import Deployment
from traceattr.roofline.inputs import Input
from traceattr.roofline.load_lines import Entry, LogText

T = TypeVar("T")

LOG = "server log"
METRICS = "metrics"

_RESOLUTION_S = 1.0
"""Of the times in a log."""

_SAMPLE = re.compile(
    r"^sglang[:_](?P<name>\w+)(?:\{(?P<labels>.*)\})?\s+(?P<value>[.\d][-+.\deE]*)(?:\s+\d+)?\s*$"
)
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


@dataclass(frozen=True, slots=True)
class ServerLoad:
    """The load of a server; None is what was not said.

    Attributes:
        source: ``server log`` or ``metrics``.
        about: Which part of it this is, in words.
        in_window: Whether it is about the time that the report is about.
        requests: Requests that ran, in all data-parallel groups together.
        context: Tokens of one request in the cache.
        accept_length: Tokens that a request gained per round, the bonus one too.
        tokens_per_s: Tokens generated per second, in all groups together.
        graph_share: Part of the steps that ran as CUDA graphs, from 0 to 1.
    """

    source: str
    about: str
    in_window: bool
    requests: int | None
    context: int | None
    accept_length: float | None
    tokens_per_s: float | None
    graph_share: float | None = None

    @property
    def deployment(self) -> Deployment:
        """Return what it says of a deployment."""
        return Deployment(
            batch=_input(self.requests, self.source),
            context=_input(self.context, self.source),
            accept_length=_input(self.accept_length, self.source),
        )


def load_of_log(log: LogText, between: tuple[float, float] | None) -> ServerLoad:
    """Return what a log says about some time, or as a whole where it has nothing on that.

    Args:
        log: What was found in it.
        between: Begin and end on the clock of the log; None where that is not known.
    """
    working = [entry for entry in log.entries if entry.requests]
    chosen = _in_window(working, between) if between else []
    sampled = len(log.entries) < log.seen
    if chosen:
        about = f"{len(chosen)} of {log.seen} intervals, those in the window"
    else:
        kept = f", a sample of {len(working)}" if sampled else ""
        about = f"all {len(working) if not sampled else log.seen} intervals{kept}"
    return _load(chosen or working, about, bool(chosen))


def _in_window(entries: Sequence[Entry], between: tuple[float, float]) -> list[Entry]:
    """Return the entries written in a time; where there is none, the one about it.

    An entry is about the time since the one before it.
    """
    begin_s, end_s = between
    timed = [entry for entry in entries if entry.time_s is not None]
    times = [entry.time_s or 0.0 for entry in timed]
    inside = [
        entry
        for entry, at in zip(timed, times, strict=True)
        if begin_s <= at + _RESOLUTION_S and at <= end_s
    ]
    if inside:
        return inside
    after = [entry for entry, at in zip(timed, times, strict=True) if at > end_s][:1]
    return after if any(at < begin_s for at in times) else []


def _load(entries: Sequence[Entry], about: str, in_window: bool) -> ServerLoad:
    groups = list(_groups(entries))
    contexts = [e.tokens // e.requests for e in entries if e.tokens is not None and e.requests]
    accepted = [e.accept_length for e in entries if e.accept_length]
    graphs = [e.is_graph for e in entries if e.is_graph is not None]
    rates = [_median([e.tokens_per_s for e in group]) for group in groups]
    requests = [median_low([e.requests for e in group if e.requests]) for group in groups]
    return ServerLoad(
        source=LOG,
        about=about,
        in_window=in_window,
        requests=sum(requests) if requests else None,
        context=median_low(contexts) if contexts else None,
        accept_length=max(1.0, fmean(accepted)) if accepted else None,
        tokens_per_s=sum(rate for rate in rates if rate) or None,
        graph_share=fmean(graphs) if graphs else None,
    )


def _groups(entries: Iterable[Entry]) -> Iterator[list[Entry]]:
    """Yield the entries of each data-parallel group, those of one of its ranks."""
    of_group: dict[int, list[Entry]] = {}
    for entry in entries:
        of_group.setdefault(entry.dp, []).append(entry)
    for group in of_group.values():
        first = min(entry.tp for entry in group)
        yield [entry for entry in group if entry.tp == first]


def _median(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value]
    return median(known) if known else None


def load_of_metrics(lines: Iterable[str]) -> ServerLoad:
    """Return what the metrics of a server say, in the text format of Prometheus."""
    found: dict[str, dict[str, float]] = {}
    for line in lines:
        sample = _SAMPLE.match(line)
        if sample is None:
            continue
        try:
            value = float(sample["value"])
        except ValueError:
            continue
        if not isfinite(value):
            continue
        group = dict(_LABEL.findall(sample["labels"] or "")).get("dp_rank", "")
        of_group = found.setdefault(sample["name"], {})
        of_group[group] = max(value, of_group.get(group, value))
    return _load_of_metrics(found)


def _load_of_metrics(found: Mapping[str, Mapping[str, float]]) -> ServerLoad:
    def total(name: str) -> float | None:
        return sum(found.get(name, {}).values()) or None

    accepted = [value for value in found.get("spec_accept_length", {}).values() if value]
    requests, tokens = total("num_running_reqs"), total("num_used_tokens")
    known = sorted(found.keys() & _METRICS)
    return ServerLoad(
        source=METRICS,
        about=", ".join(f"sglang:{name}" for name in known) or "nothing that is known",
        in_window=False,
        requests=round(requests) if requests else None,
        context=round(tokens / requests) if tokens and requests else None,
        accept_length=max(1.0, fmean(accepted)) if accepted else None,
        tokens_per_s=total("gen_throughput"),
    )


_METRICS = frozenset(
    {"spec_accept_length", "num_running_reqs", "num_used_tokens", "gen_throughput"}
)


def _input(value: T | None, source: str) -> Input[T] | None:
    return None if value is None else Input(value, source)
