"""What a report says about the layers of the target."""

from collections.abc import Iterator, Sequence

from traceattr.attribution.analysis import Analysis
from traceattr.attribution.layer_figures import LayerKind, Layers, OutlierLayer
from traceattr.attribution.round_figures import Spread
from traceattr.report.breakdown import mean
from traceattr.report.figures import count, counted, duration, share

MOST_OUTLIERS = 3
"""Layers that cost more than their kind, of those a sentence names."""


def layers_sentences(analysis: Analysis) -> tuple[str, ...]:
    """Return how many layers there are and what one costs; once where the GPUs agree."""
    alike: dict[tuple[object, ...], list[Layers]] = {}
    for one in analysis.layers:
        alike.setdefault(_shape(one), []).append(one)
    word = _recurrent_word(analysis)
    texts = [" ".join(_about(layers, word)) for layers in alike.values()]
    if len(texts) < 2:
        return tuple(texts)
    numbers = [", ".join(str(one.gpu) for one in layers) for layers in alike.values()]
    return tuple(f"GPU {gpus}: {text}" for gpus, text in zip(numbers, texts, strict=True))


def _shape(one: Layers) -> tuple[object, ...]:
    """Return what GPUs must agree on to be described together."""
    return one.layers, one.attention_layers, one.period, one.reason


def _recurrent_word(analysis: Analysis) -> str:
    """Return what recurrent layers are called, as far as the categories tell."""
    found = {entry.category for time in analysis.per_gpu for entry in time.categories}
    return "GDN" if "gdn" in found and "linear_attn_other" not in found else "recurrent"


def _about(layers: Sequence[Layers], word: str) -> Iterator[str]:
    first = layers[0]
    if first.layers is None:
        yield _capitalised(first.reason or "no layers")
        return
    costs = list(_costs(layers, word))
    yield f"{'; '.join((_order(first, word), *costs))}."
    if first.reason is not None:
        yield _capitalised(first.reason)
    yield from _outliers(layers, word)
    yield from dict.fromkeys(one.notice for one in layers if one.notice)


def _capitalised(reason: str) -> str:
    return f"{reason[0].upper()}{reason[1:]}."


def _order(one: Layers, word: str) -> str:
    """Return how many layers there are, and in which order."""
    number = counted(one.layers or 0, "layer")
    kinds = {LayerKind.ATTENTION: one.attention_layers, LayerKind.RECURRENT: one.recurrent_layers}
    names = [(_kind(kind, word), layers) for kind, layers in kinds.items() if layers]
    if len(names) == 1:
        return f"{number}, all {names[0][0]}"
    if one.period is not None:
        return f"{number}: {one.period.text(word)}"
    return f"{number}: {', '.join(f'{layers} {name}' for name, layers in names)}"


def _kind(kind: LayerKind, word: str) -> str:
    return word if kind is LayerKind.RECURRENT else "attention"


def _costs(layers: Sequence[Layers], word: str) -> Iterator[str]:
    """Yield what a layer of each kind takes, as the mean of the GPUs."""
    recurrent = [(one.recurrent_layer_ns, one.kernels_per_recurrent_layer) for one in layers]
    attention = [(one.attention_layer_ns, one.kernels_per_attention_layer) for one in layers]
    texts = [
        f"{subject} {cost}"
        for subject, costs in ((f"a {word} layer", recurrent), ("an attention layer", attention))
        if (cost := _cost(costs)) is not None
    ]
    if texts:
        gpus = f", mean of {counted(len(layers), 'GPU')}" if len(layers) > 1 else ""
        yield f"{', '.join(texts)} (median of {counted(layers[0].replays, 'replay')}{gpus})"


def _cost(costs: Sequence[tuple[Spread | None, int | None]]) -> str | None:
    time_ns = mean(tuple(None if spread is None else spread.median for spread, _ in costs))
    kernels = mean(tuple(kernels for _, kernels in costs))
    if time_ns is None or kernels is None:
        return None
    return f"{duration(time_ns)} in {counted(kernels, 'kernel')}"


def _outliers(layers: Sequence[Layers], word: str) -> Iterator[str]:
    """Yield the layers that cost more than their kind on any GPU, those that exceed it most."""
    found = sorted(
        ((outlier, one.gpu) for one in layers for outlier in one.outliers),
        key=lambda pair: (-_excess_ns(pair[0]), pair[1]),
    )
    if not found:
        return
    texts = [_outlier(outlier, gpu, len(layers), word) for outlier, gpu in found[:MOST_OUTLIERS]]
    more = len(found) - len(texts)
    yield f"Slower than their kind: {', '.join(texts)}{f', {count(more)} more' if more else ''}."


def _excess_ns(outlier: OutlierLayer) -> int:
    return outlier.median_ns - outlier.usual_ns


def _outlier(outlier: OutlierLayer, gpu: int, gpus: int, word: str) -> str:
    where = f" on GPU {gpu}" if gpus > 1 else ""
    excess = share(_excess_ns(outlier), outlier.usual_ns)
    return f"layer {outlier.layer} ({_kind(outlier.kind, word)}){where} by {excess}"
