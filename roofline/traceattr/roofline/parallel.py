"""How a model is spread over GPUs."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Parallel:
    """Sizes of the parallel groups.

    Attributes:
        tp: GPUs of the tensor-parallel group, all of the deployment.
        ep: Groups over which experts are spread; each group splits its experts over tp / ep GPUs.
        dp: Data-parallel attention groups; each holds the requests / dp on tp / dp GPUs.
    """

    tp: int
    ep: int = 1
    dp: int = 1

    @property
    def attention_tp(self) -> int:
        """GPUs over which one attention layer is split."""
        return self.tp // self.dp

    def local(self, requests: int) -> int:
        """Return the requests of the fullest data-parallel group."""
        return -(-requests // self.dp)
