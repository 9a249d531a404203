"""Work of attention, its cache and its rotary positions, in layers that have a cache.

Grouped-query attention: arXiv 2305.13245; MLA, absorbed in decode: arXiv 2405.04434.  One read of
the cache serves all rows of a request in a verify pass (FlashInfer and FlashAttention pack them).
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from traceattr.roofline.architecture import Attention, Gdn, Layer, Mla
from traceattr.roofline.calibration import KernelKind
from traceattr.roofline.forwards import Forward
from traceattr.roofline.gemm_work import ACTIVATION_BYTES
from traceattr.roofline.setup import Setup
from traceattr.roofline.work import Term

_READ = (
    "requests x cached tokens x values per token x bytes per value + M x query and output values"
    " x 2 B; FLOP per pair of query and cached token x M x tokens"
)
_READ_SOURCE = "FlashAttention-2, FlashDecoding; arXiv 2305.13245; MLA: arXiv 2405.04434"
_SMALL_SOURCE = "activations read and written once"


@dataclass(frozen=True, slots=True)
class _Place:
    """What one attention layer of one GPU sees."""

    requests: int
    rows: int
    tp: int
    kv_bytes: int


def attention_terms(layers: Sequence[Layer], forward: Forward, setup: Setup) -> Iterator[Term]:
    """Yield attention, the cache write and the rotary positions of the layers with a cache."""
    requests = setup.parallel.local(forward.requests)
    place = _Place(
        requests, requests * forward.rows, setup.parallel.attention_tp, setup.kv_value_bytes
    )
    mixers = Counter(layer.mixer for layer in layers)
    for mixer, count in mixers.items():
        if not isinstance(mixer, Gdn):
            yield _read(mixer, count, forward, place, setup.kv_format)
            yield _write(mixer, count, place)
            yield _rope(mixer, count, place)


def _read(
    mixer: Attention | Mla, count: int, forward: Forward, place: _Place, kv_format: str
) -> Term:
    window = mixer.window if isinstance(mixer, Attention) else None
    tokens = forward.context + (forward.rows if forward.stage == "prefill" else 0)
    twice_attended = forward.attended
    if window is not None:
        tokens, twice_attended = min(tokens, window), min(twice_attended, 2 * window)
    values = mixer.kv_values_per_token(place.tp)
    width = _query_values(mixer, place.tp)
    pair = _flop_per_pair(mixer, forward, place.tp)
    return Term(
        category="attention",
        part=_part(mixer),
        kind=KernelKind.ATTENTION,
        count=count,
        bytes=place.requests * tokens * values * place.kv_bytes
        + place.rows * width * ACTIVATION_BYTES,
        flop=place.rows * pair * twice_attended // 2,
        number_format=kv_format,
        formula=_READ,
        numbers=f"{place.requests:,} x {tokens:,} x {values:,} x {place.kv_bytes}"
        f" + {place.rows:,} x {width:,} x 2 B; {pair:,} FLOP per pair",
        source=_READ_SOURCE,
    )


def _write(mixer: Attention | Mla, count: int, place: _Place) -> Term:
    values = mixer.kv_values_per_token(place.tp)
    return Term(
        category="kv_cache",
        part="cache write",
        kind=KernelKind.SMALL,
        count=count,
        bytes=place.rows * values * place.kv_bytes,
        formula="M x values per token x bytes per value",
        numbers=f"{place.rows:,} x {values:,} x {place.kv_bytes} B",
        source=_SMALL_SOURCE,
    )


def _rope(mixer: Attention | Mla, count: int, place: _Place) -> Term:
    if isinstance(mixer, Mla):
        width = (mixer.heads // place.tp + 1) * mixer.rope_dim
    else:
        heads = mixer.heads // place.tp + mixer.kv_heads_on_gpu(place.tp)
        width = heads * mixer.head_dim
    return Term(
        category="rope",
        part="rotary positions",
        kind=KernelKind.SMALL,
        count=count,
        bytes=2 * place.rows * width * ACTIVATION_BYTES,
        formula="M x query and key values, read and written, x 2 B",
        numbers=f"2 x {place.rows:,} x {width:,} x 2 B",
        source=_SMALL_SOURCE,
    )


def _query_values(mixer: Attention | Mla, tp: int) -> int:
    """Return the values of one row that attention reads as query and writes as output."""
    if isinstance(mixer, Mla):
        return mixer.heads // tp * (2 * mixer.kv_lora + mixer.rope_dim)
    return 2 * (mixer.heads // tp) * mixer.head_dim


def _flop_per_pair(mixer: Attention | Mla, forward: Forward, tp: int) -> int:
    """Return the operations of a row and a cached token; a prefill does not absorb MLA."""
    if isinstance(mixer, Mla) and forward.stage == "prefill":
        return 2 * (mixer.heads // tp) * (mixer.nope_dim + mixer.rope_dim + mixer.value_dim)
    return mixer.flop_per_pair(tp)


def _part(mixer: Attention | Mla) -> str:
    if isinstance(mixer, Mla):
        return "latent attention"
    return f"attention, window {mixer.window:,}" if mixer.window else "attention"
