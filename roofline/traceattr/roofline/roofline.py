"""From a deployment to its roofline: every input found, defaulted or asked for by name."""

from collections.abc import Iterable
from dataclasses import dataclass

from traceattr.errors import DeploymentError
from traceattr.roofline.architecture import Gdn, Model
from traceattr.roofline.consistency import check_consistency
from traceattr.roofline.deployment import KEYS, Deployment, merge
from traceattr.roofline.draft_model import with_draft_model
from traceattr.roofline.hardware import GpuSpec, find_gpu
from traceattr.roofline.inputs import Input
from traceattr.roofline.model import load_model
from traceattr.roofline.notices import Notice, notices
from traceattr.roofline.number_format import VALUE_BYTES
from traceattr.roofline.parallel import Parallel
from traceattr.roofline.prediction import Prediction, predict_prefill, predict_round
from traceattr.roofline.setup import Setup
from traceattr.roofline.weight_override import with_weights

NEEDED = ("model", "gpu", "batch", "context")
"""Inputs without which there is no prediction; nothing stands in for them."""

STATE_FORMAT = "fp32"
"""Format of recurrent states that SGLang takes when nothing else is said."""


@dataclass(frozen=True, slots=True)
class Roofline:
    """A prediction with everything it came from.

    Attributes:
        model: The model, with the weights as deployed.
        gpu: Each of the GPUs.
        inputs: Every input in the order of `KEYS`; None is unknown.
        setup: The same as plain values.
        prefill_tokens: Tokens of each prompt in a prefill pass; None for a decode round.
        prediction: What it must cost and is expected to cost.
        notices: What the reader must know.
        version: Version of traceattr that made it.
    """

    model: Model
    gpu: GpuSpec
    inputs: tuple[tuple[str, Input[int | float | str] | None], ...]
    setup: Setup
    prefill_tokens: int | None
    prediction: Prediction
    notices: tuple[Notice, ...]
    version: str


def build_roofline(
    deployment: Deployment,
    gpus: Iterable[GpuSpec],
    *,
    version: str,
    prefill_tokens: int | None = None,
) -> Roofline:
    """Return the roofline of a decode round, or of a prefill pass over ``prefill_tokens``.

    Raises:
        DeploymentError: When an input that matters is unknown, or two contradict each other.
        HardwareError: When nobody knows the GPU.
        ModelError: When nobody knows the model, or it does not split over so many GPUs.
    """
    _ask_for_missing(deployment)
    assert deployment.model is not None
    assert deployment.gpu is not None
    model = load_model(deployment.model.value)
    gpu = find_gpu(deployment.gpu.value, gpus)
    if deployment.weights is not None:
        model = with_weights(model, deployment.weights.value)
    if deployment.draft_model is not None:
        model = with_draft_model(model, deployment.draft_model.value)
    known = merge(deployment, _defaults(deployment, model))
    _check_draft(known, model)
    _check_vocab(known, model)
    check_consistency(model, known)
    setup = _setup(known)
    if prefill_tokens is None:
        prediction = predict_round(model, gpu, setup)
    else:
        prediction = predict_prefill(model, gpu, setup, prefill_tokens)
    return Roofline(
        model=model,
        gpu=gpu,
        inputs=tuple((key, getattr(known, key)) for key in KEYS),
        setup=setup,
        prefill_tokens=prefill_tokens,
        prediction=prediction,
        notices=tuple(notices(model, gpu, setup)),
        version=version,
    )


def _ask_for_missing(deployment: Deployment) -> None:
    missing = [key for key in NEEDED if getattr(deployment, key) is None]
    draft = deployment.draft_tokens or deployment.accept_length
    if draft is not None and draft.value > 1 and deployment.draft_steps is None:
        missing.append("draft_steps")
    if missing:
        flags = ", ".join(f"--{key.replace('_', '-')}" for key in missing)
        raise DeploymentError(f"not known: {', '.join(missing)} (give {flags})")


def _defaults(deployment: Deployment, model: Model) -> Deployment:
    """Return what SGLang does unless told otherwise, and what the model's config asks for."""
    steps = deployment.draft_steps.value if deployment.draft_steps else 0
    has_states = any(isinstance(layer.mixer, Gdn) for layer in model.layers)
    accept = None if steps else Input(1.0, "default")
    return Deployment(
        tp=Input(1, "default"),
        ep=Input(1, "default"),
        dp_attention=Input(1, "default"),
        draft_steps=Input(0, "default"),
        draft_tokens=Input(steps + 1, "default"),
        draft_topk=Input(1, "default"),
        accept_length=accept,
        kv_format=_format(model.kv_format, model.dtype),
        state_format=_format(model.state_format, STATE_FORMAT) if has_states else None,
    )


def _format(asked: str | None, default: str) -> Input[str]:
    if asked is not None:
        return Input(asked, "config")
    return Input(default if default in VALUE_BYTES else "bf16", "default")


def _check_draft(known: Deployment, model: Model) -> None:
    """Raise when a draft is asked for that cannot be priced."""
    assert known.draft_steps is not None
    assert known.draft_tokens is not None
    steps, tokens = known.draft_steps, known.draft_tokens
    if steps.value and not model.draft_layers:
        what = f"draft_steps {steps.value} ({steps.source}), but {model.name} has no draft layer"
        raise DeploymentError(f"{what} (expected 0, or the --draft-model of an EAGLE3 head)")
    if steps.value == 0 and model.draft is not None:
        what = f"draft_model {model.draft.name} without draft_steps"
        raise DeploymentError(f"{what} (expected --draft-steps)")
    _check_tree(known)
    if steps.value == 0 and tokens.value != 1:
        what = f"draft_tokens {tokens.value} ({tokens.source}) without draft_steps"
        raise DeploymentError(f"{what} (expected 1, or --draft-steps)")


def _check_tree(known: Deployment) -> None:
    """Raise when a tree of drafts has no such nodes."""
    assert known.draft_steps is not None
    assert known.draft_tokens is not None
    assert known.draft_topk is not None
    steps, topk, tokens = known.draft_steps.value, known.draft_topk.value, known.draft_tokens.value
    if topk == 1:
        return
    if steps == 0:
        what = f"draft_topk {topk} ({known.draft_topk.source}) without draft_steps"
        raise DeploymentError(f"{what} (expected --draft-steps)")
    most = 1 + topk + (steps - 1) * topk**2
    if known.draft_tokens.source == "default":
        what = f"not known: draft_tokens, the nodes of a tree with draft_topk {topk}"
        raise DeploymentError(f"{what} (give --draft-tokens, up to {most})")
    if tokens > most:
        what = f"draft_tokens {tokens} ({known.draft_tokens.source}) of a tree of {most} nodes"
        raise DeploymentError(f"{what} (expected up to {most})")


def _check_vocab(known: Deployment, model: Model) -> None:
    """Raise when no draft can choose from so many tokens."""
    vocab, steps = known.draft_vocab, known.draft_steps
    if vocab is None:
        return
    said = f"draft_vocab {vocab.value} ({vocab.source})"
    if steps is None or steps.value == 0:
        raise DeploymentError(f"{said} without draft_steps (expected --draft-steps)")
    if model.draft is not None:
        what = f"{said}, but {model.draft.name} has an output projection of its own"
        raise DeploymentError(f"{what} (leave one of them out)")
    if vocab.value > model.lm_head.rows:
        what = f"{said} of a vocabulary of {model.lm_head.rows}"
        raise DeploymentError(f"{what} (expected 1 to {model.lm_head.rows})")


def _setup(known: Deployment) -> Setup:
    """Return plain values; all but accept length and state format are known by now."""
    values = {key: found.value for key in KEYS if (found := getattr(known, key)) is not None}
    return Setup(
        parallel=Parallel(values["tp"], values["ep"], values["dp_attention"]),
        batch=values["batch"],
        context=values["context"],
        draft_steps=values["draft_steps"],
        draft_tokens=values["draft_tokens"],
        draft_topk=values["draft_topk"],
        accept_length=values.get("accept_length"),
        kv_format=values["kv_format"],
        state_format=values.get("state_format", STATE_FORMAT),
        draft_vocab=values.get("draft_vocab"),
        alpha_ns=round(values["alpha_us"] * 1e3) if "alpha_us" in values else None,
    )
