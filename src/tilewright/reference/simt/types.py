"""The scalar types of PTX instructions, and how registers, which hold bits, are seen as them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, cast

import numpy as np

Values = Any
"""An array with one element per thread, or one scalar for all threads."""

UNSIGNED: dict[int, np.dtype[Any]] = {
    1: np.dtype(np.bool_),
    8: np.dtype(np.uint8),
    16: np.dtype(np.uint16),
    32: np.dtype(np.uint32),
    64: np.dtype(np.uint64),
}
"""What registers of each width are stored as; those of 8 bits are stored in 16."""


@dataclass(frozen=True)
class Type:
    """`kind` is b, u, s, f, bf, e4m3, e5m2, tf, or p for a predicate; `lanes` counts packed elements."""

    kind: str
    bits: int
    dtype: np.dtype[Any]
    lanes: int = 1

    @property
    def is_float(self) -> bool:
        """Whether it is a floating-point type."""
        return self.kind in ("f", "bf", "e4m3", "e5m2")

    @property
    def is_signed(self) -> bool:
        """Whether it is a signed integer."""
        return self.kind == "s"

    @property
    def total_bits(self) -> int:
        """The bits of all packed elements."""
        return self.bits * self.lanes


@cache
def parse_type(name: str) -> Type | None:
    """`s32`, `f16x2`, `e4m3x2`, `pred`; None for what is no type."""
    import ml_dtypes

    if name == "pred":
        return Type("p", 1, UNSIGNED[1])
    base, _, lanes = name.partition("x")
    count = int(lanes) if lanes.isdigit() else 1
    floats: dict[str, tuple[str, int, Any]] = {
        "f16": ("f", 16, np.float16),
        "f32": ("f", 32, np.float32),
        "f64": ("f", 64, np.float64),
        "bf16": ("bf", 16, ml_dtypes.bfloat16),
        "e4m3": ("e4m3", 8, ml_dtypes.float8_e4m3fn),
        "e5m2": ("e5m2", 8, ml_dtypes.float8_e5m2),
        "tf32": ("tf", 32, np.float32),
    }
    if base in floats:
        kind, bits, dtype = floats[base]
        return Type(kind, bits, np.dtype(dtype), count)
    if base[:1] in ("b", "u", "s") and base[1:].isdigit() and int(base[1:]) in (8, 16, 32, 64):
        bits = int(base[1:])
        return Type(base[0], bits, np.dtype(f"{'i' if base[0] == 's' else 'u'}{bits // 8}"), count)
    return None


def types_in(modifiers: tuple[str, ...]) -> list[Type]:
    """The types among the parts of an opcode, in order."""
    return [type_ for type_ in map(parse_type, modifiers) if type_ is not None]


def storage_of(bits: int) -> np.dtype[Any]:
    """What a register of so many bits is stored as."""
    return UNSIGNED[16 if bits == 8 else bits]


def choose(condition: Any, yes: Any, no: Any) -> Values:
    """The first value where a condition holds, else the second."""
    return cast(Values, np.where(condition, yes, no))


def resized(values: Values, type_: Type, bits: int) -> Values:
    """Integers of a type as a register of `bits`: cut, or extended with their sign if they have one."""
    if type_.is_signed:
        return values.astype(f"i{max(bits, 16) // 8}").view(storage_of(bits))
    return values.astype(storage_of(bits))
