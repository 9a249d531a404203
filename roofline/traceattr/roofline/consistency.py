"""Whether the parts of a deployment fit each other and the model."""

from traceattr.errors import DeploymentError
from traceattr.roofline.architecture import Model
from traceattr.roofline.deployment import Deployment
from traceattr.roofline.inputs import Input
from traceattr.roofline.sharding import check_sharding


def check_consistency(model: Model, deployment: Deployment) -> None:
    """Raise when two known inputs contradict each other or the model.

    Raises:
        DeploymentError: With both numbers of the first contradiction among the inputs.
        ModelError: When the model does not split over so many GPUs.
    """
    _check_groups("ep", deployment.ep, deployment.tp)
    _check_groups("dp_attention", deployment.dp_attention, deployment.tp)
    _check_accept_length(deployment)
    if deployment.tp is not None:
        tp, dp = deployment.tp.value, deployment.dp_attention
        attention_tp = tp // dp.value if dp else tp
        check_sharding(model, tp, attention_tp, deployment.ep.value if deployment.ep else 1)


def _check_groups(name: str, groups: Input[int] | None, tp: Input[int] | None) -> None:
    if groups and tp and tp.value % groups.value:
        what = f"{name} {groups.value} ({groups.source}) does not divide tp {tp.value}"
        raise DeploymentError(f"{what} ({tp.source}) (expected a divisor)")


def _check_accept_length(deployment: Deployment) -> None:
    """Raise when more tokens are accepted than a round proposes."""
    accept, tokens, steps = (
        deployment.accept_length,
        deployment.draft_tokens,
        deployment.draft_steps,
    )
    if accept is None or (tokens is None and steps is None):
        return
    most = tokens.value if tokens else (steps.value if steps else 0) + 1
    if steps:
        most = min(most, steps.value + 1)
    if accept.value > most:
        what = f"accept_length {accept.value:g} ({accept.source}) is above the {most} tokens"
        raise DeploymentError(f"{what} that a round proposes (expected 1 to {most})")
