"""Work of collectives.

A pass reduces the M x hidden activations after every mixer, after every MLP and after the
vocabulary-parallel embedding, 2 N + 1 times for N layers, and gathers the logits once (SGLang
0.5.23).  With data-parallel attention each MLP is instead wrapped in a gather and a scatter.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from traceattr.roofline.architecture import Layer, Model
from traceattr.roofline.calibration import KernelKind
from traceattr.roofline.forwards import Forward
from traceattr.roofline.gemm_work import ACTIVATION_BYTES
from traceattr.roofline.setup import Setup
from traceattr.roofline.work import Message, Term

ALL_REDUCE = "all-reduce"

_SOURCE = "Thakur et al. 2005; NCCL tests PERFORMANCE.md; counts: SGLang 0.5.23 models"


def collective_terms(
    layers: Sequence[Layer], model: Model, forward: Forward, setup: Setup
) -> Iterator[Term]:
    """Yield the collectives of a pass; none on one GPU."""
    if setup.parallel.tp == 1:
        return
    for term in _terms(layers, model, forward, setup):
        yield replace(term, floor_ns=setup.alpha_ns)


def _terms(layers: Sequence[Layer], model: Model, forward: Forward, setup: Setup) -> Iterator[Term]:
    parallel = setup.parallel
    rows = parallel.local(forward.requests) * forward.rows
    local = rows * model.hidden * ACTIVATION_BYTES
    if parallel.dp == 1:
        yield _all_reduce(ALL_REDUCE, 2 * len(layers) + 1, local, parallel.tp)
    else:
        if parallel.attention_tp > 1:
            count = len(layers)
            yield _all_reduce("attention all-reduce", count, local, parallel.attention_tp)
        total = forward.all_rows * model.hidden * ACTIVATION_BYTES
        yield _all_gather("gather before MLP", len(layers), total, parallel.tp)
        yield _reduce_scatter("scatter after MLP", len(layers), total, parallel.tp)
    logits = forward.requests * forward.logit_rows * model.lm_head.rows * ACTIVATION_BYTES
    yield _all_gather("logits gather", 1, logits, parallel.tp)


def _all_reduce(part: str, count: int, size: int, ranks: int) -> Term:
    """Return reductions of ``size`` bytes; with in-switch reduction a GPU receives that once."""
    return _collective(part, count, Message(size, size, ranks), f"{size:,} B on {ranks} GPUs")


def _all_gather(part: str, count: int, output: int, ranks: int) -> Term:
    """Return gathers of ``output`` bytes, half the work of an all-reduce of as many."""
    received = output * (ranks - 1) // ranks
    message = Message(received, output // 2, ranks)
    return _collective(part, count, message, f"{output:,} B from {ranks} GPUs")


def _reduce_scatter(part: str, count: int, size: int, ranks: int) -> Term:
    """Return scatters of ``size`` bytes, half the work of an all-reduce of as many."""
    message = Message(size // ranks, size // 2, ranks)
    return _collective(part, count, message, f"{size:,} B to {ranks} GPUs")


def _collective(part: str, count: int, message: Message, numbers: str) -> Term:
    return Term(
        category="comm",
        part=part,
        kind=KernelKind.COLLECTIVE,
        count=count,
        bytes=0,
        formula="bound: bytes that each GPU must receive / link; expected: alpha + size / beta",
        numbers=numbers,
        source=_SOURCE,
        message=message,
    )
