"""What the reader must know before trusting the numbers, in words."""

from collections.abc import Iterator
from dataclasses import dataclass

from traceattr.attribution.analysis import GpuTime, Notice, RoundsSummary, TraceFacts
from traceattr.attribution.layer_figures import Layers
from traceattr.attribution.rank_figures import RankGroup
from traceattr.ingest.capture import NEWEST_KNOWN_SCHEMA, OLDEST_KNOWN_SCHEMA, schema_of
from traceattr.ingest.database import read_sql
from traceattr.ingest.nearby import CONTEXT_NS
from traceattr.ingest.trace import ProcessWork, Trace
from traceattr.rules.categories import UNCLASSIFIED

UNCLASSIFIED_LIMIT = 0.02
"""Share of busy time without a category above which the categories are called incomplete; the
limit that a public SGLang decode accounting uses too."""


@dataclass(frozen=True, slots=True)
class Found:
    """What an analysis found; notices are about it.

    Attributes:
        facts: What the file says about itself.
        rounds: What the server repeats.
        per_gpu: Where the time went.
        ranks: Wait and wire of the collectives.
        layers: The layers of the target.
    """

    facts: TraceFacts
    rounds: RoundsSummary
    per_gpu: tuple[GpuTime, ...]
    ranks: tuple[RankGroup, ...]
    layers: tuple[Layers, ...]


def notices(trace: Trace, found: Found) -> tuple[Notice, ...]:
    """Return every notice about one analysis, the gravest first."""
    unowned = tuple(_about_owners(trace))
    return (
        *unowned,
        *_about_graphs(found.facts, knows_owners=not unowned),
        *_about_rounds(found.rounds),
        *_about_ranks(trace),
        *(() if unowned else _about_launches(trace.work)),
        *_about_categories(found.per_gpu),
        *_about_layers(found.layers),
        *_about_collectives(found.ranks),
        *_about_hardware(trace),
        *_about_rows(trace),
        *_about_export(trace),
    )


def _about_owners(trace: Trace) -> Iterator[Notice]:
    """Yield a notice where GPU work names no process and several processes launched work."""
    launching = sum(process.kernel_launches > 0 for process in trace.work)
    if launching > 1 and any(gpu.global_pid is None for gpu in trace.gpus):
        yield Notice(
            "owner-unknown",
            f"GPU work names no process, and {launching:,} processes launched some: figures of one"
            " GPU may add up several, and launches cannot be matched. Export the report again with"
            " a newer nsys.",
        )


def _about_graphs(facts: TraceFacts, *, knows_owners: bool) -> Iterator[Notice]:
    if facts.opaque_replays:
        yield Notice(
            "graph-mode",
            f"CUDA graph replays traced as one envelope: {facts.opaque_replays:,}. They count as"
            " busy, and the categories and gaps inside them are unknown. Record with"
            " --cuda-graph-trace=node to see them.",
        )
    if facts.unrecorded_graph_launches and knows_owners:
        yield Notice(
            "graph-work-missing",
            "CUDA graph launches that left no GPU work in the trace:"
            f" {facts.unrecorded_graph_launches:,}. Idle time is an upper limit. Record with"
            " --cuda-graph-trace=node, or for a shorter time if nsys dropped events.",
        )


def _about_rounds(rounds: RoundsSummary) -> Iterator[Notice]:
    if rounds.why:
        yield Notice(
            "no-rounds",
            f"No rounds: {rounds.why}. Figures per round and the draft model's passes are unknown.",
        )
    if len(rounds.target_graphs) > 1:
        ids = ", ".join(map(str, rounds.target_graphs))
        yield Notice(
            "batch-sizes-mixed",
            f"These rounds replay the target from several graphs ({ids}), as for several batch"
            " sizes: figures per round mix them, and a prediction is of one. --rounds or --window"
            " tells them apart.",
        )
    for family in rounds.graphs:
        if family.confidence == "low" and rounds.kind != "none":
            ids = ", ".join(map(str, family.graph_ids))
            yield Notice(
                "graph-kind-unknown",
                f"What graph {ids} of GPU {family.gpu} is for cannot be told ({family.evidence});"
                f" say it with --graph-kind {family.graph_ids[0]}=draft, or what it is.",
            )
    for cut in rounds.cut:
        yield Notice("window-cut", f"{cut}; --window or --rounds say otherwise.")


def _about_ranks(trace: Trace) -> Iterator[Notice]:
    if trace.silent_ranks:
        yield Notice(
            "missing-ranks",
            f"Ranks without any GPU work in the trace: {', '.join(trace.silent_ranks)}."
            " Record with --trace-fork-before-exec=true, and start the profiler on every rank.",
        )


def _about_launches(work: tuple[ProcessWork, ...]) -> Iterator[Notice]:
    kernels = sum(process.kernels for process in work)
    orphans = sum(process.kernels_without_launch for process in work)
    launches = sum(process.kernel_launches for process in work)
    in_vain = sum(process.kernel_launches_without_work for process in work)
    if kernels and not launches and orphans == kernels:
        yield Notice("no-launches", "The trace holds no CUDA API calls: launches are unknown.")
    elif orphans:
        yield Notice(
            "work-without-launch",
            f"{orphans:,} of {kernels:,} kernels have no launching call in the trace (begun before"
            " the capture, or dropped); their GPU time counts.",
        )
    if in_vain:
        yield Notice(
            "launches-without-work",
            f"{in_vain:,} of {launches:,} kernel launches have no GPU work in the trace (recorded"
            " into a graph, run after the capture, or dropped).",
        )


def _about_categories(per_gpu: tuple[GpuTime, ...]) -> Iterator[Notice]:
    busy_ns = sum(gpu.busy_ns for gpu in per_gpu)
    unknown_ns = sum(
        row.exclusive_ns
        for gpu in per_gpu
        for row in gpu.categories
        if row.category == UNCLASSIFIED
    )
    if unknown_ns > UNCLASSIFIED_LIMIT * busy_ns:
        yield Notice(
            "unclassified",
            f"{100 * unknown_ns / busy_ns:.1f} % of busy time has no category: every other category"
            " may be too small. Add rules with --rules.",
        )


def _about_layers(layers: tuple[Layers, ...]) -> Iterator[Notice]:
    for text in dict.fromkeys(found.notice for found in layers if found.notice):
        yield Notice("layers-differ", text)


def _about_collectives(ranks: tuple[RankGroup, ...]) -> Iterator[Notice]:
    for group in ranks:
        if group.reason and len(group.gpus) > 1:
            yield Notice(
                "wait-unknown",
                f"Waiting for other ranks cannot be told from transfer: {group.reason}.",
            )


def _about_hardware(trace: Trace) -> Iterator[Notice]:
    if any(gpu.name is None for gpu in trace.gpus):
        yield Notice(
            "gpu-unknown",
            "The trace does not say which GPU this is (usual for recordings in a container).",
        )
    assumed = [gpu.gpu_id for gpu in trace.gpus if gpu.name_from == "assumed"]
    if len(trace.gpus) > 1 and assumed:
        yield Notice(
            "gpu-assumed",
            "Which physical GPU each device ordinal means is assumed: exports before schema 3.24"
            " do not say.",
        )


def _about_rows(trace: Trace) -> Iterator[Notice]:
    odd = trace.oddities
    counted = (
        ("rows-without-times", odd.without_times, "have no begin or end and were left out"),
        ("rows-reversed", odd.ending_before_start, "end before they begin and count as zero long"),
        ("rows-without-owner", odd.without_owner, "name no process or device and were left out"),
        (
            "owner-inferred",
            odd.with_inferred_owner,
            "name no process or device, which was inferred from the context or the only process",
        ),
    )
    for code, count, text in counted:
        if count:
            yield Notice(code, f"{count:,} of {odd.operations:,} GPU operations {text}.")
    if odd.unreadable:
        yield Notice(
            "values-unreadable",
            f"Values that are no numbers and so are unknown: {odd.unreadable:,}.",
        )
    for table in odd.damaged:
        yield Notice(
            "table-damaged", f"{table} is damaged and was left out; export the report again."
        )
    for reason in odd.declined:
        yield Notice("slow-reader", reason)


def _about_export(trace: Trace) -> Iterator[Notice]:
    capture = trace.capture
    if trace.near is not None:
        yield Notice(
            "window-only",
            f"Of this large trace only the window and {CONTEXT_NS / 1e9:g} s on both sides of it"
            " were read: what graphs are for, and whether work is missing, is judged by that.",
        )
    if capture.simulated:
        yield Notice("simulated", f"Not a recording: {capture.simulated}.")
    version = schema_of(capture.schema_version)
    if version and version > NEWEST_KNOWN_SCHEMA:
        yield Notice(
            "schema-newer",
            f"Export schema {capture.schema_version} is newer than the newest known one"
            f" ({NEWEST_KNOWN_SCHEMA[0]}.{NEWEST_KNOWN_SCHEMA[1]}); it was read by column.",
        )
    if version and version < OLDEST_KNOWN_SCHEMA:
        yield Notice(
            "schema-older",
            f"Export schema {capture.schema_version} is older than 2.7 and writes 0 for what is"
            " missing.",
        )
    if capture.is_partial:
        yield Notice("partial-export", "The export left out tables or times (--tables, --times).")
    yield from _about_helpers(trace)


def _about_helpers(trace: Trace) -> Iterator[Notice]:
    row = trace.connection.execute(
        read_sql("traceattr.attribution", "processes_without_cuda")
    ).fetchone()
    if row and row[0]:
        yield Notice(
            "processes-without-cuda",
            f"Processes that used no CUDA: {row[0]:,}. That is right for helpers, not for a rank.",
        )
