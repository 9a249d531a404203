"""Work of the dense matrix products and of the routed experts.

A linear layer of K inputs and N outputs over M rows moves ``K N w + 2 M (K + N)`` bytes (w bytes
per weight, scales included; activations in 16 bits) in ``2 M K N`` operations.  Weights are read
once per pass, however many rows: kipp.ly/transformer-inference-arithmetic, arXiv 2211.05102,
arXiv 2402.16363.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from traceattr.roofline.architecture import Layer, Model, Moe, Weight
from traceattr.roofline.calibration import KernelKind
from traceattr.roofline.forwards import Forward
from traceattr.roofline.setup import Setup
from traceattr.roofline.work import Term

ACTIVATION_BYTES = 2
"""Bytes of one activation; SGLang keeps them in 16 bits between kernels."""

_LINEAR = "weight once per pass + M x (inputs + outputs) x 2 B; 2 x M x inputs x outputs FLOP"
_EXPERTS = "E x (1 - (1 - k/E)^M) experts x weight + M x k x (inputs + outputs) x 2 B"
_LINEAR_SOURCE = "kipp.ly/transformer-inference-arithmetic; arXiv 2211.05102; arXiv 2402.16363"
_EXPERTS_SOURCE = "distinct experts that M rows hit under uniform routing"
_SHARDS_SOURCE = "shapes and shards: SGLang 0.5.23 layers/linear.py"

_PER_MLP = ("gate_up_proj", "down_proj", "router", "shared")
"""How names of weights begin that see the rows of all data-parallel groups."""

_CONVOLUTION = "conv1d"
"""The one weight that no matrix product reads; it belongs to GDN."""

_TWO_KERNELS = "kv_b_proj"
"""Absorbed into two batched products, one on each side of attention."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of a pass and the GPUs that share a weight."""

    rows: int
    tp: int


def linear_terms(
    layers: Sequence[Layer], model: Model, forward: Forward, setup: Setup
) -> Iterator[Term]:
    """Yield the dense products of some layers and of the output projection."""
    weights = Counter(weight for layer in layers for weight in layer.weights)
    for weight, count in weights.items():
        if weight.shard != "expert" and weight.name != _CONVOLUTION:
            yield _linear(weight, count, _rows_of(weight, forward, setup))
    head = Rows(forward.requests * forward.logit_rows, setup.parallel.tp)
    yield _linear(model.lm_head, 1, head)


def expert_terms(layers: Sequence[Layer], forward: Forward, setup: Setup) -> Iterator[Term]:
    """Yield the products of the routed experts."""
    weights = Counter(
        (weight, layer.mlp)
        for layer in layers
        for weight in layer.weights
        if weight.shard == "expert"
    )
    for (weight, moe), count in weights.items():
        assert isinstance(moe, Moe)
        yield _experts(weight, moe, count, forward, setup)


def distinct_experts(experts: int, per_token: int, rows: int) -> float:
    """Return how many experts ``rows`` tokens hit under uniform routing, on average."""
    return float(experts * (1 - (1 - per_token / experts) ** rows))


def is_per_mlp(weight: Weight) -> bool:
    """Return whether a weight sees the rows of all data-parallel groups of attention."""
    return weight.name.startswith(_PER_MLP)


def _rows_of(weight: Weight, forward: Forward, setup: Setup) -> Rows:
    """Return the rows that a weight sees; attention sees those of its data-parallel group only."""
    parallel = setup.parallel
    if is_per_mlp(weight):
        return Rows(forward.all_rows, parallel.tp)
    return Rows(parallel.local(forward.requests) * forward.rows, parallel.attention_tp)


def _linear(weight: Weight, count: int, rows: Rows) -> Term:
    inputs, outputs = _widths(weight, rows.tp)
    stored = weight.bytes_on_gpu(rows.tp)
    moved = rows.rows * (inputs + outputs) * ACTIVATION_BYTES
    return Term(
        category="weight_gemm",
        part=weight.name,
        kind=KernelKind.GEMM,
        count=count,
        bytes=stored + moved,
        flop=rows.rows * weight.flop_per_row(rows.tp),
        number_format=weight.number_format,
        launches=2 if weight.name == _TWO_KERNELS else 1,
        formula=_LINEAR,
        numbers=f"{stored:,} + {rows.rows:,} x ({inputs:,} + {outputs:,}) x 2 B"
        f" ({weight.number_format})",
        source=f"{_LINEAR_SOURCE}; {_SHARDS_SOURCE}",
    )


def _widths(weight: Weight, tp: int) -> tuple[int, int]:
    """Return the inputs and outputs of a weight on one GPU."""
    values = weight.flop_per_row(tp) // 2
    if weight.shard == "row":
        return values // weight.rows, weight.rows
    return weight.columns, values // weight.columns


def _experts(weight: Weight, moe: Moe, count: int, forward: Forward, setup: Setup) -> Term:
    """Return one product of all routed experts of a layer, on the average GPU of an EP group."""
    parallel, rows = setup.parallel, forward.all_rows
    inner = parallel.tp // parallel.ep
    hit = distinct_experts(moe.experts, moe.experts_per_token, rows) / parallel.ep
    slots = rows * moe.experts_per_token / parallel.ep
    width = (weight.rows + weight.columns) * ACTIVATION_BYTES
    stored = weight.bytes_on_gpu(inner)
    return Term(
        category="moe_gemm",
        part=weight.name,
        kind=KernelKind.EXPERTS,
        count=count,
        bytes=round(hit * stored + slots * width),
        flop=round(slots * weight.flop_per_row(inner)),
        number_format=weight.number_format,
        formula=_EXPERTS,
        numbers=f"{hit:,.2f} experts x {stored:,} + {slots:,.1f} x {width:,} B"
        f" ({weight.number_format})",
        source=f"{_EXPERTS_SOURCE}; {_SHARDS_SOURCE}",
    )
