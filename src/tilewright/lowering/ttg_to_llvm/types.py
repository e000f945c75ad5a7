"""How element types look in LLVM for NVPTX.

| MLIR | register | memory |
|---|---|---|
| i1 | i1 | i8 |
| i8, i16, i32, i64 | the same | the same |
| f16, bf16, f32, f64 | half, bfloat, float, double | the same |
| f8E5M2, f8E4M3FN, ... | i8 (the bits) | i8 |
| !tt.ptr<T, n> | ptr addrspace(n) | ptr addrspace(n) |
| index | i64 | i64 |
| !tt.tensordesc<...> | ptr | |
"""

from __future__ import annotations

from functools import lru_cache

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IndexType,
    IntegerType,
    ReducedPrecisionFloatType,
)
from xdsl.ir import Attribute

from tilewright.codegen.float_formats import FORMATS, FloatFormat
from tilewright.dialects import tt, ttng
from tilewright.lowering.unsupported import UnsupportedError
from tilewright.support.records import dataclass


@dataclass(frozen=True)
class ElementType:
    """One element: its LLVM type in a register, its width in memory."""

    text: str
    bits: int
    """Bits in memory: 8 for i1."""
    is_float: bool = False
    format: FloatFormat | None = None
    """Set for floats that the register holds as bits (8-bit floats): widen before arithmetic."""
    is_pointer: bool = False

    @property
    def memory(self) -> str:
        """The LLVM type of an element in memory."""
        return "i8" if self.text == "i1" else self.text

    @property
    def bytes(self) -> int:
        """Bytes of an element in memory."""
        return self.bits // 8

    @property
    def zero(self) -> str:
        """The literal zero."""
        if self.is_pointer:
            return "null"
        return "zeroinitializer" if self.text in FLOAT_TEXTS else "0"


FLOAT_TEXTS = frozenset({"half", "bfloat", "float", "double"})

I1 = ElementType("i1", 8)
I32 = ElementType("i32", 32)
I64 = ElementType("i64", 64)
F16 = ElementType("half", 16, is_float=True)
BF16 = ElementType("bfloat", 16, is_float=True)
F32 = ElementType("float", 32, is_float=True)
F64 = ElementType("double", 64, is_float=True)


@lru_cache(maxsize=256)
def element_of(type: Attribute) -> ElementType:
    """The LLVM form of a scalar type. Raises UnsupportedError."""
    match type:
        case IntegerType():
            width = type.width.data
            return I1 if width == 1 else ElementType(f"i{width}", max(8, width))
        case IndexType():
            return I64
        case Float32Type():
            return F32
        case Float16Type():
            return F16
        case BFloat16Type():
            return BF16
        case Float64Type():
            return F64
        case ReducedPrecisionFloatType() if type.name in FORMATS:
            return ElementType("i8", 8, is_float=True, format=FORMATS[type.name])
        case tt.PointerType():
            space = type.address_space.data
            return ElementType(f"ptr addrspace({space})" if space else "ptr", 64, is_pointer=True)
        case tt.TensorDescType() | ttng.TensorDescIm2ColType():
            return ElementType("ptr", 64, is_pointer=True)
        case _:
            raise UnsupportedError(f"no LLVM form of {type}")
