"""How many bytes a weight has in a number format, scales included."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from traceattr.errors import ModelError

_INTEGER = re.compile(
    r"int(?P<bits>[2348])_(?P<kind>gptq|awq)(?:_g(?P<size>[1-9]\d*)|(?P<channel>_channel))?"
)
"""Weight-only integers: bits, without or with zero points, inputs that share a scale."""

_GROUP_SIZE = 128


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


def _integer(name: str) -> NumberFormat:
    """Return a weight-only integer format: a 16-bit scale per group, and a zero point with AWQ."""
    found = _INTEGER.fullmatch(name)
    assert found is not None
    bits = int(found["bits"])
    size = 0 if found["channel"] else int(found["size"] or _GROUP_SIZE)
    scale_bits = 16 + (bits if found["kind"] == "awq" else 0)
    return NumberFormat(name, bits, ("bf16", "fp16"), 1, size, scale_bits)


_FORMATS = (
    NumberFormat("fp32", 32, ("bf16", "fp16")),
    NumberFormat("bf16", 16, ("bf16", "fp16")),
    NumberFormat("fp16", 16, ("fp16",)),
    NumberFormat("fp8", 8, ("fp8", "bf16", "fp16"), tensor_bits=32),
    NumberFormat("fp8_channel", 8, ("fp8", "bf16", "fp16"), 1, 0, 16),
    NumberFormat("fp8_block", 8, ("fp8", "bf16", "fp16"), 128, 128, 32),
    NumberFormat("int8", 8, ("int8", "bf16", "fp16"), 1, 0, 16),
    NumberFormat("int8_w8a16", 8, ("bf16", "fp16"), 1, 0, 16),
    *(_integer(f"int{bits}_{kind}") for bits in (2, 3, 4, 8) for kind in ("awq", "gptq")),
    NumberFormat("mxfp4", 4, ("fp8", "bf16", "fp16"), 1, 32, 8),
    NumberFormat("nvfp4", 4, ("fp4", "bf16", "fp16"), 1, 16, 8, 32),
    NumberFormat("nvfp4_w4a16", 4, ("bf16", "fp16"), 1, 16, 8, 32),
)

FORMATS: Mapping[str, NumberFormat] = {entry.name: entry for entry in _FORMATS}
"""Every format by name.

Scales: bf16 per output channel (``fp8_channel``, ``int8``), fp32 per 128 x 128 block (DeepSeek-V3's
``weight_block_size``), 16 bits per 128 inputs (symmetric GPTQ) and a zero point of as many bits as
a weight beside it (AWQ), 8 bits per 32 inputs (OCP microscaling), 8 bits per 16 inputs and fp32 per
tensor (NVFP4). mxfp4 weights meet 8-bit activations on Blackwell and 16-bit ones before it. fp32
has no tensor rate with fp32 inputs: the 16-bit rate is above what it can reach, so a bound stays
one.
"""

VALUE_BYTES: Mapping[str, int] = {"fp32": 4, "bf16": 2, "fp16": 2, "fp8": 1}
"""Bytes of one value of the KV cache or of a recurrent state."""


def number_format(name: str) -> NumberFormat:
    """Return the format called ``name``.

    ``int4_awq_g64`` is AWQ with groups of 64, ``int4_gptq_channel`` has a scale per output.

    Raises:
        ModelError: When no format has that name.
    """
    if _INTEGER.fullmatch(name):
        return _integer(name)
    if name not in FORMATS:
        expected = ", ".join(FORMATS)
        raise ModelError(f"unknown number format {name!r} (expected one of {expected})")
    return FORMATS[name]


def _parts(length: int, part: int) -> int:
    return -(-length // part) if part else 1
