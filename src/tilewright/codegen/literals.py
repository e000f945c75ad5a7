"""Constants as LLVM IR writes them."""

from __future__ import annotations

import struct
from collections.abc import Iterable


def float_constant(value: float) -> str:
    """A `float` or `double` literal: hexadecimal, so exact. For `float` the value must be a single-precision number."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


def f32_constant(value: float) -> str:
    """A `float` literal of the single-precision number nearest to `value` (overflow gives infinity)."""
    try:
        value = struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        value = float("inf") if value > 0 else float("-inf")
    return float_constant(value)


def half_constant(bits: int) -> str:
    """A `half` literal from its 16 bits."""
    return f"0xH{bits:04X}"


def splat_constant(scalar_type: str, literal: str) -> str:
    """The constant operand of a vector whose lanes are all `literal`."""
    return f"splat ({scalar_type} {literal})"


def vector_constant(scalar_type: str, literals: Iterable[str]) -> str:
    """The constant operand of a vector with the given lanes."""
    return "<" + ", ".join(f"{scalar_type} {literal}" for literal in literals) + ">"


def string_literal(data: bytes) -> str:
    """Bytes in LLVM's ``c"..."`` form."""
    text = "".join(chr(b) if 32 <= b < 127 and b not in (34, 92) else f"\\{b:02X}" for b in data)
    return f'c"{text}"'
