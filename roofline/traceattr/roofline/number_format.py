"""How many bytes a weight has in a number format, scales included."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from traceattr.errors import ModelError

_GROUP = re.compile(r"(?P<base>int4_awq|int4_gptq)_g(?P<size>[1-9]\d*)")


@dataclass(frozen=True, slots=True)
class NumberFormat:
    """How a weight is stored and multiplied.

    Attributes:
        name: What weights call it.
        bits: Bits of one value.
        computes_in: Keys of `GpuSpec.peak_flop_per_s`, fastest first; the first one that the GPU
            has is what the weight is multiplied in. Weight-only formats compute in 16 bits.
        scale_rows: Output rows that share a scale; 0 is all of them.
        scale_columns: Input columns that share a scale; 0 is all of them.
        scale_bits: Bits of one scale, with its zero point; 0 when there are no scales.
        tensor_bits: Bits of the scale of the whole tensor.
    """

    name: str
    bits: int
    computes_in: tuple[str, ...]
    scale_rows: int = 0
    scale_columns: int = 0
    scale_bits: int = 0
    tensor_bits: int = 0

    def bytes_of(self, rows: int, columns: int) -> int:
        """Return the bytes of a weight of ``rows`` x ``columns`` values and its scales."""
        blocks = _parts(rows, self.scale_rows) * _parts(columns, self.scale_columns)
        bits = rows * columns * self.bits + blocks * self.scale_bits + self.tensor_bits
        return -(-bits // 8)


_FORMATS = (
    NumberFormat("fp32", 32, ("bf16", "fp16")),
    NumberFormat("bf16", 16, ("bf16", "fp16")),
    NumberFormat("fp16", 16, ("fp16",)),
    NumberFormat("fp8", 8, ("fp8", "bf16", "fp16"), tensor_bits=32),
    NumberFormat("fp8_channel", 8, ("fp8", "bf16", "fp16"), 1, 0, 16),
    NumberFormat("fp8_block", 8, ("fp8", "bf16", "fp16"), 128, 128, 32),
    NumberFormat("int8", 8, ("int8", "bf16", "fp16"), 1, 0, 16),
    NumberFormat("int8_w8a16", 8, ("bf16", "fp16"), 1, 0, 16),
    NumberFormat("int4_awq", 4, ("bf16", "fp16"), 1, 128, 16 + 4),
    NumberFormat("int4_gptq", 4, ("bf16", "fp16"), 1, 128, 16),
    NumberFormat("mxfp4", 4, ("fp8", "bf16", "fp16"), 1, 32, 8),
    NumberFormat("nvfp4", 4, ("fp4", "bf16", "fp16"), 1, 16, 8, 32),
    NumberFormat("nvfp4_w4a16", 4, ("bf16", "fp16"), 1, 16, 8, 32),
)

FORMATS: Mapping[str, NumberFormat] = {entry.name: entry for entry in _FORMATS}
"""Every format by name.

Scales: bf16 per output channel (``fp8_channel``, ``int8``), fp32 per 128 x 128 block (DeepSeek-V3's
``weight_block_size``), 16 bits and a 4-bit zero point per 128 inputs (AWQ), 16 bits per 128 inputs
(symmetric GPTQ), 8 bits per 32 inputs (OCP microscaling), 8 bits per 16 inputs and fp32 per tensor
(NVFP4). mxfp4 weights meet 8-bit activations on Blackwell and 16-bit ones before it. fp32 has no
tensor rate with fp32 inputs: the 16-bit rate is above what it can reach, so a bound stays one.
"""

VALUE_BYTES: Mapping[str, int] = {"fp32": 4, "bf16": 2, "fp16": 2, "fp8": 1}
"""Bytes of one value of the KV cache or of a recurrent state."""


def number_format(name: str) -> NumberFormat:
    """Return the format called ``name``; ``int4_awq_g64`` is AWQ with groups of 64.

    Raises:
        ModelError: When no format has that name.
    """
    if group := _GROUP.fullmatch(name):
        return replace(FORMATS[group["base"]], name=name, scale_columns=int(group["size"]))
    if name not in FORMATS:
        expected = ", ".join(FORMATS)
        raise ModelError(f"unknown number format {name!r} (expected one of {expected})")
    return FORMATS[name]


def _parts(length: int, part: int) -> int:
    return -(-length // part) if part else 1
