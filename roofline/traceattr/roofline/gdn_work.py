"""Work of gated delta networks (arXiv 2412.06464): a state that does not grow with the context.

A state of one layer and request has S = value heads x key width x value width values.  A decode
step reads and writes it.  A verify pass over q rows reads it once and writes a snapshot per row;
after acceptance the right snapshot is copied back: q + 3 copies move in all (SGLang 0.5.23,
``fused_recurrent`` with cached intermediate states and the state scatter that follows).  In a tree
of drafts each row reads the snapshot of its parent too: 2 q + 3.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from traceattr.roofline.architecture import Gdn, Layer, LayerKind, Weight
from traceattr.roofline.calibration import KernelKind
from traceattr.roofline.forwards import Forward
from traceattr.roofline.gemm_work import ACTIVATION_BYTES
from traceattr.roofline.setup import Setup
from traceattr.roofline.work import Term

CHUNK = 64
"""Tokens that one step of the chunked kernels covers."""

_PREFILL_KERNELS = 6
"""Gating, l2 norm, cumulative sum, triangular solve, states, outputs (SGLang 0.5.10)."""

_SOURCE = "SGLang 0.5.23 configs/mamba_utils.py; arXiv 2412.06464"
CONV_VALUE_BYTES = 2


@dataclass(frozen=True, slots=True)
class _Place:
    """What one GDN layer of one GPU sees."""

    gdn: Gdn
    layers: int
    requests: int
    rows: int
    tp: int
    state_bytes: int
    is_tree: bool

    @property
    def state(self) -> int:
        """Bytes of one request's state."""
        return self.gdn.state_values(self.tp) * self.state_bytes

    @property
    def channels(self) -> int:
        """Channels of the convolution on this GPU."""
        return self.gdn.conv_channels // self.tp

    @property
    def values(self) -> int:
        """Values of one row's output on this GPU."""
        return self.gdn.value_heads * self.gdn.value_dim // self.tp


def gdn_terms(layers: Sequence[Layer], forward: Forward, setup: Setup) -> Iterator[Term]:
    """Yield recurrence, convolution, gated norm and, after verify, the commit of the states."""
    requests = setup.parallel.local(forward.requests)
    kinds = Counter(
        (layer.mixer, layer.weight("conv1d")) for layer in layers if layer.kind is LayerKind.GDN
    )
    for (gdn, weight), count in kinds.items():
        assert isinstance(gdn, Gdn)
        tp = setup.parallel.attention_tp
        rows = requests * forward.rows
        place = _Place(
            gdn, count, requests, rows, tp, setup.state_value_bytes, setup.draft_topk > 1
        )
        yield _recurrence(place, forward)
        yield _convolution(place, forward, weight)
        yield _gated_norm(place)
        if forward.stage == "verify":
            yield _commit(place)


def _recurrence(place: _Place, forward: Forward) -> Term:
    gdn, is_prefill = place.gdn, forward.stage == "prefill"
    copies = 2
    if forward.stage == "verify":
        copies = forward.rows * (2 if place.is_tree else 1) + 1
    chunks = -(-forward.rows // CHUNK) if is_prefill else 0
    chunk_bytes = 2 * chunks * gdn.state_values(place.tp) * ACTIVATION_BYTES
    width = place.channels + place.values
    return Term(
        category="gdn",
        part="recurrence",
        kind=KernelKind.GDN,
        count=place.layers,
        bytes=place.requests * (copies * place.state + chunk_bytes)
        + place.rows * width * ACTIVATION_BYTES,
        flop=place.rows * _flop_per_row(gdn, place.tp, is_prefill=is_prefill),
        number_format="bf16",
        launches=_PREFILL_KERNELS if is_prefill else 1,
        formula="requests x copies of the state (decode 2: read and write; verify q + 1: read and"
        " a snapshot per row, in a tree 2 q + 1: the parent's too; prefill 2 and 16-bit states per"
        " chunk of 64) + M x (q, k, v and output values) x 2 B; 7 x value heads x key width x value"
        " width FLOP per row",
        numbers=f"{place.requests:,} x ({copies} x {place.state:,} + {chunk_bytes:,})"
        f" + {place.rows:,} x {width:,} x 2 B",
        source=_SOURCE,
    )


def _flop_per_row(gdn: Gdn, tp: int, *, is_prefill: bool) -> int:
    """Return the operations per token: decay, two products and an update, or the chunked form.

    Chunked: the products K K^T and Q K^T, the triangular solve and three products with the state.
    """
    heads, key, value = gdn.value_heads // tp, gdn.key_dim, gdn.value_dim
    if is_prefill:
        return 2 * heads * (3 * CHUNK * key + 2 * CHUNK * value + 3 * key * value)
    return 7 * heads * key * value


def _convolution(place: _Place, forward: Forward, weight: Weight) -> Term:
    taps = place.gdn.conv_width - 1
    written = taps + forward.rows - 1 if forward.stage == "verify" else taps
    window = place.requests * (taps + written) * place.channels * CONV_VALUE_BYTES
    stored = weight.bytes_on_gpu(place.tp)
    moved = 2 * place.rows * place.channels * ACTIVATION_BYTES
    return Term(
        category="gdn",
        part="convolution",
        kind=KernelKind.CONVOLUTION,
        count=place.layers,
        bytes=window + stored + moved,
        formula="requests x columns of the window (read taps - 1, written taps - 1, in verify"
        " q - 1 more) x channels x 2 B + weight + M x channels, in and out, x 2 B",
        numbers=f"{place.requests:,} x {taps + written} x {place.channels:,} x 2 + {stored:,}"
        f" + 2 x {place.rows:,} x {place.channels:,} x 2 B",
        source=_SOURCE,
    )


def _gated_norm(place: _Place) -> Term:
    return Term(
        category="gdn",
        part="gated norm",
        kind=KernelKind.SMALL,
        count=place.layers,
        bytes=3 * place.rows * place.values * ACTIVATION_BYTES,
        formula="M x values x 2 B: output and gate read, result written",
        numbers=f"3 x {place.rows:,} x {place.values:,} x 2 B",
        source="activations read and written once",
    )


def _commit(place: _Place) -> Term:
    """Return the copy of the accepted snapshots, of all layers in one kernel for each kind."""
    window = 2 * place.gdn.conv_values(place.tp) * CONV_VALUE_BYTES
    return Term(
        category="gdn",
        part="commit of accepted states",
        kind=KernelKind.GDN,
        count=1,
        bytes=place.layers * place.requests * (2 * place.state + window),
        launches=2,
        formula="layers x requests x (2 x state + 2 x window of the convolution)",
        numbers=f"{place.layers} x {place.requests:,} x (2 x {place.state:,} + {window:,}) B",
        source=_SOURCE,
    )
