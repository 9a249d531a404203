"""The deployment as plain values, once every input is known."""

from dataclasses import dataclass

from traceattr.roofline.number_format import VALUE_BYTES
from traceattr.roofline.parallel import Parallel


@dataclass(frozen=True, slots=True)
class Setup:
    """What a prediction needs beside the model and the GPU.

    Attributes:
        parallel: How the model is spread over GPUs.
        batch: Requests in flight in the whole deployment.
        context: Tokens of each request in the cache.
        draft_steps: Passes of the draft layer per round; 0 is no speculation.
        draft_tokens: Rows of each request in a verify pass, the bonus token included.
        accept_length: Tokens that a request gains per round; None when it is not known.
        kv_format: Number format of the cache.
        state_format: Number format of recurrent states.
        draft_vocab: Rows of the vocabulary that drafts choose from; None is all of them.
        alpha_ns: Latency of an empty collective; None is that of the calibration.
        draft_topk: Branches that a draft pass continues; above 1 drafts are a tree.
    """

    parallel: Parallel
    batch: int
    context: int
    draft_steps: int = 0
    draft_tokens: int = 1
    accept_length: float | None = None
    kv_format: str = "bf16"
    state_format: str = "fp32"
    draft_vocab: int | None = None
    alpha_ns: int | None = None
    draft_topk: int = 1

    @property
    def kv_value_bytes(self) -> int:
        """Bytes of one value of the cache."""
        return VALUE_BYTES[self.kv_format]

    @property
    def state_value_bytes(self) -> int:
        """Bytes of one value of a recurrent state."""
        return VALUE_BYTES[self.state_format]
