"""How MLIR types look in LLVM: one register type per scalar or vector, one memory type per element.

| MLIR | register | memory |
|---|---|---|
| index, i64 | i64 | i64 |
| i1 | i1 | i8 |
| f32 | float | float |
| f16 | half, or i16 where the CPU cannot convert it | the same |
| bf16, f8... | i16, i8 (see `codegen.float_formats`) | the same |
| vector<16xf32> | <16 x float> | |
"""

from __future__ import annotations

from dataclasses import field
from typing import cast

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IndexType,
    IntegerType,
    MemRefType,
    ReducedPrecisionFloatType,
    UnrankedMemRefType,
    VectorType,
)
from xdsl.ir import Attribute

from tilewright.codegen.float_formats import BF16, F16, FORMATS, FloatFormat, has_native_half, on_cpu
from tilewright.lowering.unsupported import UnsupportedError
from tilewright.support.facts import TargetFacts
from tilewright.support.records import dataclass


@dataclass(frozen=True)
class ScalarType:
    """One element: its LLVM type in a register and in memory."""

    text: str
    bits: int
    is_float: bool = False
    format: FloatFormat | None = None
    """Set when the register holds the bits of a float that must be widened before arithmetic."""
    is_index: bool = False

    @property
    def memory(self) -> str:
        """The LLVM type of an element in memory."""
        return "i8" if self.text == "i1" else self.text

    @property
    def bytes(self) -> int:
        """Bytes of an element in memory."""
        return max(1, (self.bits + 7) // 8)

    @property
    def is_soft_float(self) -> bool:
        return self.format is not None


@dataclass(frozen=True)
class ValueType:
    """The LLVM form of a scalar (0 lanes) or one-dimensional vector."""

    scalar: ScalarType
    lanes: int = 0
    text: str = field(default="")

    def __post_init__(self) -> None:
        if not self.text:
            object.__setattr__(self, "text", self.of(self.scalar.text))

    def of(self, scalar_text: str) -> str:
        """The type with the same lanes of another scalar."""
        return f"<{self.lanes} x {scalar_text}>" if self.lanes else scalar_text


INDEX = ScalarType("i64", 64, is_index=True)
I1 = ScalarType("i1", 1)
F32 = ScalarType("float", 32, is_float=True)
F64 = ScalarType("double", 64, is_float=True)


class TypeTable:
    """Maps MLIR types to LLVM types for one target; remembers answers."""

    def __init__(self, facts: TargetFacts) -> None:
        self.has_half = has_native_half(facts)
        self._bf16 = _soft(on_cpu(BF16, facts))
        self._values: dict[Attribute, ValueType] = {}
        self._scalars: dict[Attribute, ScalarType] = {}

    def value(self, type: Attribute) -> ValueType:
        """The register type of a scalar or vector type. Raises UnsupportedError."""
        found = self._values.get(type)
        if found is None:
            found = self._values[type] = self._value(type)
        return found

    def scalar(self, type: Attribute) -> ScalarType:
        """The element type of a scalar type. Raises UnsupportedError."""
        found = self._scalars.get(type)
        if found is None:
            found = self._scalars[type] = self._scalar(type)
        return found

    def _value(self, type: Attribute) -> ValueType:
        if not isinstance(type, VectorType):
            return ValueType(self.scalar(type))
        vector = cast("VectorType[Attribute]", type)
        long_extents = [extent for extent in vector.get_shape() if extent != 1]
        if len(long_extents) > 1:
            raise UnsupportedError(f"{type} is not one-dimensional")
        return ValueType(self.scalar(vector.element_type), long_extents[0] if long_extents else 1)

    def _scalar(self, type: Attribute) -> ScalarType:
        match type:
            case IntegerType():
                return ScalarType(f"i{type.width.data}", type.width.data)
            case IndexType():
                return INDEX
            case Float32Type():
                return F32
            case Float64Type():
                return F64
            case Float16Type():
                return ScalarType("half", 16, is_float=True) if self.has_half else _soft(F16)
            case BFloat16Type():
                return self._bf16
            case ReducedPrecisionFloatType() if type.name in FORMATS:
                return _soft(FORMATS[type.name])
            case _:
                raise UnsupportedError(f"no LLVM form of {type}")


def _soft(format: FloatFormat) -> ScalarType:
    return ScalarType(format.storage, format.bits, is_float=True, format=format)


def is_memref(type: Attribute) -> bool:
    """Return whether values of the type are memory references, which are kept as several registers."""
    return isinstance(type, MemRefType | UnrankedMemRefType)
