"""What a deployment keeps in the memory of each GPU."""

from collections.abc import Iterable

from traceattr.roofline.architecture import Gdn, Layer, Model, Weight
from traceattr.roofline.gdn_work import CONV_VALUE_BYTES
from traceattr.roofline.gemm_work import is_per_mlp
from traceattr.roofline.setup import Setup
from traceattr.roofline.weight_override import with_vocabulary


def resident_bytes(model: Model, setup: Setup) -> int:
    """Return weights, cache and states on each GPU; buffers of the server are not known.

    Draft layers count only when they are used; vision towers are not known here.  A draft that
    chooses from fewer tokens has a copy of their rows of lm_head (SGLang ``eagle_worker_v2.py``).
    """
    layers = (*model.layers, *(model.draft_layers if setup.draft_steps else ()))
    tp = setup.parallel.tp
    weights = sum(_weight_bytes(w, setup) for layer in layers for w in layer.weights)
    if setup.draft_steps and model.draft is not None:
        weights += sum(weight.bytes_on_gpu(tp) for weight in model.draft.around_layers)
    weights += model.embedding.bytes_on_gpu(tp)
    weights += 0 if model.tied else model.lm_head.bytes_on_gpu(tp)
    if setup.draft_vocab is not None:
        weights += with_vocabulary(model, setup.draft_vocab).lm_head.bytes_on_gpu(tp)
    return weights + setup.parallel.local(setup.batch) * _request_bytes(layers, setup)


def _weight_bytes(weight: Weight, setup: Setup) -> int:
    parallel = setup.parallel
    if weight.shard == "expert":
        return weight.bytes_on_gpu(parallel.tp // parallel.ep) * weight.count // parallel.ep
    return weight.bytes_on_gpu(parallel.tp if is_per_mlp(weight) else parallel.attention_tp)


def _request_bytes(layers: Iterable[Layer], setup: Setup) -> int:
    """Return the cache and the states of one request on one GPU."""
    tp, total = setup.parallel.attention_tp, 0
    for layer in layers:
        mixer = layer.mixer
        if isinstance(mixer, Gdn):
            total += mixer.state_values(tp) * setup.state_value_bytes
            total += mixer.conv_values(tp) * CONV_VALUE_BYTES
        else:
            total += setup.context * mixer.kv_values_per_token(tp) * setup.kv_value_bytes
    return total
