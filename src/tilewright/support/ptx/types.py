"""The scalar types of PTX instructions."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from tilewright.support.ptx.syntax import Immediate
from tilewright.support.records import dataclass


@dataclass(frozen=True)
class Type:
    """`kind` is b, u, s, f, bf, e4m3, e5m2, e2m1, ue8m0, tf, or p for a predicate; `lanes` counts packed elements."""

    kind: str
    bits: int
    dtype: np.dtype[Any]
    lanes: int = 1

    @property
    def is_float(self) -> bool:
        """True for a floating-point type."""
        return self.kind in ("f", "bf", "e4m3", "e5m2")

    @property
    def is_signed(self) -> bool:
        """True for a signed integer."""
        return self.kind == "s"

    @property
    def total_bits(self) -> int:
        """The bits of all packed elements."""
        return self.bits * self.lanes


@cache
def parse_type(name: str) -> Type | None:
    """`s32`, `f16x2`, `e4m3x2`, `pred`; None for anything that is not a type."""
    import ml_dtypes

    if name == "pred":
        return Type("p", 1, np.dtype(np.bool_))
    base, _, lanes = name.partition("x")
    count = int(lanes) if lanes.isdigit() else 1
    floats: dict[str, tuple[str, int, Any]] = {
        "f16": ("f", 16, np.float16),
        "f32": ("f", 32, np.float32),
        "f64": ("f", 64, np.float64),
        "bf16": ("bf", 16, ml_dtypes.bfloat16),
        "e4m3": ("e4m3", 8, ml_dtypes.float8_e4m3fn),
        "e5m2": ("e5m2", 8, ml_dtypes.float8_e5m2),
        "e2m1": ("e2m1", 4, np.uint8),
        "ue8m0": ("ue8m0", 8, np.uint8),
        "tf32": ("tf", 32, np.float32),
    }
    if base in floats:
        kind, bits, dtype = floats[base]
        return Type(kind, bits, np.dtype(dtype), count)
    if base[:1] in ("b", "u", "s") and base[1:].isdigit() and int(base[1:]) in (8, 16, 32, 64):
        bits = int(base[1:])
        return Type(base[0], bits, np.dtype(f"{'i' if base[0] == 's' else 'u'}{bits // 8}"), count)
    return None


@cache
def types_in(modifiers: tuple[str, ...]) -> tuple[Type, ...]:
    """The types among the parts of an opcode, in order."""
    return tuple(type_ for type_ in map(parse_type, modifiers) if type_ is not None)


def immediate_bits(operand: Immediate, bits: int) -> int:
    """A constant as the bits of a register; floats are converted to the width if it is another."""
    if operand.width in (0, bits):
        return operand.value
    if operand.width == 32 and bits == 64:
        return int(np.float64(np.uint32(operand.value).view(np.float32)).view(np.uint64))
    if operand.width == 64 and bits == 32:
        return int(np.float32(np.uint64(operand.value).view(np.float64)).view(np.uint32))
    return operand.value
