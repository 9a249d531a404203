"""What a trace shows of the deployment, and where that contradicts what was said about it."""

from collections.abc import Iterable, Iterator, Mapping
from statistics import median_low

from traceattr.attribution.analysis import Analysis, GraphFamily
from traceattr.errors import DeploymentError, HardwareError
from traceattr.report.grouped import hides_work
from traceattr.roofline.comm_work import ALL_REDUCE
from traceattr.roofline.deployment import KEYS, Deployment, merge
from traceattr.roofline.durations import moving_ns
from traceattr.roofline.hardware import GpuSpec, find_gpu
from traceattr.roofline.inputs import Input
from traceattr.roofline.notices import Notice
from traceattr.roofline.roofline import NEEDED, Roofline

TRACE = "trace"

_DRAFTS = ("draft", "draft_extend")


def deployment_from_trace(analysis: Analysis, gpus: Iterable[GpuSpec]) -> Deployment:
    """Return what the trace shows for sure: GPUs by their whole name, ranks and draft passes."""
    gpu, tp, steps = _gpu(analysis, tuple(gpus)), _ranks(analysis), _draft_steps(analysis)
    return Deployment(
        gpu=None if gpu is None else Input(gpu, TRACE),
        tp=None if tp is None else Input(tp, TRACE),
        draft_steps=None if steps is None else Input(steps, TRACE),
    )


def with_trace(said: Deployment, shown: Deployment, analysis: Analysis) -> Deployment:
    """Return what was said, completed by what the trace shows.

    Raises:
        DeploymentError: When a default would have to stand in for what the trace has but does not
            show for sure.
    """
    known = merge(said, shown)
    unsure = {
        "tp": known.tp is None,
        "draft_steps": known.draft_steps is None and analysis.rounds.kind == "speculative",
    }
    missing = [key for key, is_missing in unsure.items() if is_missing]
    missing += [key for key in NEEDED if getattr(known, key) is None]
    if missing:
        asked = [key for key in KEYS if key in missing]
        flags = ", ".join(f"--{key.replace('_', '-')}" for key in asked)
        raise DeploymentError(f"not known: {', '.join(asked)} (give {flags})")
    return known


def batch_from_trace(analysis: Analysis, known: Deployment) -> Deployment:
    """Return the padded batch that the rows of the passes make; unknown unless all of them agree.

    Args:
        analysis: What was measured.
        known: What is said and shown of drafts and data-parallel attention.
    """
    rounds = analysis.rounds
    if known.dp_attention is not None and known.dp_attention.value > 1:
        return Deployment()
    batch = rounds.target_rows
    if rounds.kind == "speculative" and batch is not None:
        batch = _speculative_batch({"verify": batch, **dict(rounds.draft_rows)}, known)
    return Deployment(batch=None if batch is None else Input(batch, TRACE))


def _speculative_batch(rows: Mapping[str, int], known: Deployment) -> int | None:
    """Return the batch for which each pass has the rows that it must have.

    Draft-extend has steps + 1 rows of each request, verify its draft tokens, draft its branches.
    """
    if known.draft_steps is None or "draft_extend" not in rows:
        return None
    steps = known.draft_steps.value
    batch = rows["draft_extend"] // (steps + 1)
    tokens = known.draft_tokens.value if known.draft_tokens else steps + 1
    topk = known.draft_topk.value if known.draft_topk else 1
    must = {"draft_extend": steps + 1, "verify": tokens, "draft": topk}
    agree = all(rows[kind] == batch * must[kind] for kind in must.keys() & rows.keys())
    return batch if agree and batch else None


def measured_latency(analysis: Analysis, roofline: Roofline) -> Deployment:
    """Return the latency of an all-reduce: what the trace measured, less the time of the message.

    Unknown where ranks could not be compared, or where a pass does not reduce over all of them.
    """
    measured = [group.usual_collective_ns for group in analysis.ranks]
    known = [ns for ns in measured if ns is not None]
    terms = [
        term
        for entry in roofline.prediction.categories
        for term in entry.terms
        if term.part == ALL_REDUCE and term.phase == "target"
    ]
    if not known or len(known) < len(measured) or not terms:
        return Deployment()
    alpha_ns = median_low(known) - moving_ns(terms[0], roofline.gpu) / terms[0].count
    return Deployment(alpha_us=Input(round(max(alpha_ns, 1)) / 1e3, TRACE))


def contradictions(
    said: Deployment, shown: Deployment, gpus: Iterable[GpuSpec]
) -> Iterator[Notice]:
    """Yield a notice for each input that the trace shows otherwise."""
    if said.gpu and shown.gpu:
        name = find_gpu(said.gpu.value, gpus).name
        if name != shown.gpu.value:
            yield _contradiction("gpu", Input(name, said.gpu.source), shown.gpu)
    if said.tp and shown.tp and said.tp.value != shown.tp.value:
        yield _contradiction("tp", said.tp, shown.tp)
    if said.batch and shown.batch and not _may_be_padded(said.batch.value, shown.batch.value):
        yield _contradiction("batch", said.batch, shown.batch)
    steps = said.draft_steps
    if steps and shown.draft_steps and steps.value != shown.draft_steps.value:
        yield _contradiction("draft_steps", steps, shown.draft_steps)


def _may_be_padded(batch: int, captured: int) -> bool:
    """Return whether a batch may run in the graph of a larger one, at most twice as large."""
    return batch <= captured <= 2 * batch


def _contradiction(
    name: str, said: Input[int] | Input[str], shown: Input[int] | Input[str]
) -> Notice:
    text = f"{name} is {said.value} ({said.source}), but the trace shows {shown.value}:"
    return Notice("input-contradicted", f"{text} the prediction takes {said.value}")


def _gpu(analysis: Analysis, gpus: tuple[GpuSpec, ...]) -> str | None:
    """Return our name of the one kind of GPU in the trace; None when nobody knows it."""
    names = {gpu.name for gpu in analysis.gpus}
    name = names.pop() if len(names) == 1 else None
    if name is None:
        return None
    try:
        return find_gpu(name, gpus).name
    except HardwareError:
        return None


def _ranks(analysis: Analysis) -> int | None:
    """Return the size of every tensor-parallel group; None when they differ or lack ranks."""
    sizes = {len(group.gpus) for group in analysis.ranks}
    if len(sizes) != 1 or any(notice.code == "missing-ranks" for notice in analysis.warnings):
        return None
    [size] = sizes
    talks = any(e.category == "comm" for time in analysis.per_gpu for e in time.categories)
    return None if size == 1 and (talks or any(map(hides_work, analysis.per_gpu))) else size


def _draft_steps(analysis: Analysis) -> int | None:
    """Return the draft passes of a round; None when graphs do not show all of them for sure."""
    if analysis.rounds.kind == "decode":
        return 0
    if analysis.rounds.kind == "none" or any(map(hides_work, analysis.per_gpu)):
        return None
    replays = dict(analysis.rounds.replays_per_round)
    passes = {kind: _passes(analysis.rounds.graphs, kind) for kind in _DRAFTS}
    steps = [replays.get(kind, 0) * (passes[kind] or 0) for kind in _DRAFTS]
    if not all(steps) or not all(step.is_integer() for step in steps):
        return None
    return int(sum(steps))


def _passes(graphs: Iterable[GraphFamily], kind: str) -> int | None:
    """Return the passes in a replay of a kind; None when graphs differ or are not sure."""
    families = [family for family in graphs if family.kind == kind]
    passes = {family.passes for family in families if family.confidence == "high"}
    sure = all(family.confidence == "high" for family in families)
    return passes.pop() if sure and len(passes) == 1 else None
