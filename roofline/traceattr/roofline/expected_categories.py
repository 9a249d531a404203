"""Which categories of kernels a model must run in every round."""

from traceattr.roofline.architecture import Gdn, Model, Moe


def expected_categories(model: Model) -> frozenset[str]:
    """Return categories that cannot take no time when the model decodes."""
    found = {"weight_gemm"}
    for layer in model.layers:
        found.add("gdn" if isinstance(layer.mixer, Gdn) else "attention")
        if isinstance(layer.mlp, Moe):
            found.add("moe_gemm")
    return frozenset(found)
