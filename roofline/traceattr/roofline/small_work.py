"""Work of norms, activations, element-wise kernels, embedding and sampling.

Bytes are the activations read and written once.  How many kernels there are is a model of an
implementation, six small ones per layer, and enters *expected* only: fused servers have fewer,
eager ones more.  Measured: fused add + RMSNorm 2.4 us, SiLU 1.3 us, rotary 2.4 us
(sgl-project/sglang-omni#379).
"""

from collections.abc import Iterator, Sequence

from traceattr.roofline.architecture import Layer, LayerKind, Mlp, Model, Moe
from traceattr.roofline.calibration import KernelKind
from traceattr.roofline.forwards import Forward
from traceattr.roofline.gemm_work import ACTIVATION_BYTES
from traceattr.roofline.setup import Setup
from traceattr.roofline.work import Term

LOGIT_BYTES = 4
"""Logits are sampled in fp32."""

GREEDY_PASSES = 2
"""Reads of the logits when the largest is taken; softmax with top-k and top-p takes up to six."""

_SOURCE = "activations read and written once; number of kernels: model of an implementation"


def small_terms(
    layers: Sequence[Layer], model: Model, forward: Forward, setup: Setup
) -> Iterator[Term]:
    """Yield what a pass does beside products, attention, GDN and collectives."""
    rows = setup.parallel.local(forward.requests) * forward.rows
    yield _embedding(model, rows)
    yield _norms(layers, model, forward, rows)
    yield from _activations(layers, forward, setup.parallel.tp)
    yield _mixing(layers, model, forward, rows)
    yield _sampling(model, forward)


def _embedding(model: Model, rows: int) -> Term:
    moved = rows * model.hidden * ACTIVATION_BYTES
    return _small("embedding", "lookup", 1, moved, f"{rows:,} x {model.hidden:,} x 2 B")


def _norms(layers: Sequence[Layer], model: Model, forward: Forward, rows: int) -> Term:
    """Return two norms per layer, the last one, and two before the projection of a draft."""
    count = 2 * len(layers) + 1 + (2 if forward.phase == "draft" else 0)
    moved = 2 * rows * model.hidden * ACTIVATION_BYTES
    return _small("norm", "RMSNorm", count, moved, f"2 x {rows:,} x {model.hidden:,} x 2 B")


def _activations(layers: Sequence[Layer], forward: Forward, tp: int) -> Iterator[Term]:
    """Yield the gated activation of every perceptron and expert, and the choice of experts."""
    for layer in dict.fromkeys(layers):
        count = sum(other == layer for other in layers)
        for part, slots, width in _perceptrons(layer):
            rows, own = forward.all_rows * slots, width // tp
            moved = 3 * rows * own * ACTIVATION_BYTES
            yield _small("activation", part, count, moved, f"3 x {rows:,} x {own:,} x 2 B")
        if isinstance(layer.mlp, Moe):
            moved = forward.all_rows * layer.mlp.experts * LOGIT_BYTES
            numbers = f"{forward.all_rows:,} x {layer.mlp.experts} x 4 B"
            yield _small("moe", "choice of experts", count, moved, numbers)


def _perceptrons(layer: Layer) -> Iterator[tuple[str, int, int]]:
    """Yield name, rows per token and inner width."""
    match layer.mlp:
        case Mlp(intermediate=width):
            yield "MLP activation", 1, width
        case Moe() as moe:
            yield "expert activation", moe.experts_per_token, moe.intermediate
            if moe.shared_intermediate:
                yield "shared expert activation", 1, moe.shared_intermediate


def _mixing(layers: Sequence[Layer], model: Model, forward: Forward, rows: int) -> Term:
    """Return copies and gates around the mixers: two in a GDN layer, one elsewhere."""
    gdn = sum(layer.kind is LayerKind.GDN for layer in layers)
    count = len(layers) + gdn + (1 if forward.phase == "draft" else 0)
    moved = 2 * rows * model.hidden * ACTIVATION_BYTES
    numbers = f"2 x {rows:,} x {model.hidden:,} x 2 B"
    return _small("elementwise", "copies and gates", count, moved, numbers)


def _sampling(model: Model, forward: Forward) -> Term:
    rows = forward.requests * forward.logit_rows
    return Term(
        category="sampling",
        part="largest logit",
        kind=KernelKind.SAMPLING,
        count=1,
        bytes=GREEDY_PASSES * rows * model.lm_head.rows * LOGIT_BYTES,
        launches=GREEDY_PASSES,
        formula="passes over the logits x rows x vocabulary x 4 B",
        numbers=f"{GREEDY_PASSES} x {rows:,} x {model.lm_head.rows:,} x 4 B",
        source="greedy decoding; sampling with softmax and renormalisation reads up to six times",
    )


def _small(category: str, part: str, count: int, moved: int, numbers: str) -> Term:
    return Term(
        category=category,
        part=part,
        kind=KernelKind.SMALL,
        count=count,
        bytes=moved,
        formula="activations read and written once, 2 B each",
        numbers=numbers,
        source=_SOURCE,
    )
