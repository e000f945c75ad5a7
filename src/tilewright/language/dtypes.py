"""Element types, pointers and block types: what a value in a kernel is made of.

`dtype` carries the facts of one scalar type; `pointer_type` and `block_type` are built on it. All types are immutable,
compared by value and turn into their IR type with `to_ir()`, which is computed once per type.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from enum import IntEnum
from typing import TYPE_CHECKING, Any, ClassVar

from tilewright.language.ir_modules import builtin, tt
from tilewright.support.records import dataclass

if TYPE_CHECKING:
    from xdsl.ir import Attribute, SSAValue

    from tilewright.language.values import base_value

TRITON_MAX_TENSOR_NUMEL = 1048576


class base_type(ABC):
    """Type of a value that a kernel can hold. A value flattens to zero or more SSA values and back."""

    @abstractmethod
    def mangle(self) -> str:
        """Text that stands for the type in the symbol of a device function, for example `fp32S16S`."""

    @abstractmethod
    def flatten_ir_types(self) -> list[Attribute]:
        """IR types of the SSA values that a value of this type consists of."""

    @abstractmethod
    def unflatten_ir(self, handles: Sequence[SSAValue], cursor: int) -> tuple[base_value, int]:
        """Build a value from `handles[cursor:]`; returns it with the position after the handles used."""


class Kind(IntEnum):
    BOOLEAN = 0
    INTEGRAL = 1
    FLOATING = 2


class Signedness(IntEnum):
    SIGNED = 0
    UNSIGNED = 1


@dataclass(frozen=True)
class FloatFormat:
    """Layout of a binary floating point format: stored fraction bits and exponent bias."""

    mantissa: int
    bias: int


# Name in signatures -> (bit width, float format or None). The width of a void is zero.
_FLOATS: dict[str, tuple[int, FloatFormat]] = {
    "fp8e4b15": (8, FloatFormat(3, 15)),
    "fp8e4nv": (8, FloatFormat(3, 7)),
    "fp8e4b8": (8, FloatFormat(3, 8)),
    "fp8e5": (8, FloatFormat(2, 15)),
    "fp8e5b16": (8, FloatFormat(2, 16)),
    "fp16": (16, FloatFormat(10, 15)),
    "bf16": (16, FloatFormat(7, 127)),
    "fp32": (32, FloatFormat(23, 127)),
    "fp64": (64, FloatFormat(52, 1023)),
}
_IR_NAMES = {
    "fp8e4nv": "Float8E4M3FNType",
    "fp8e5": "Float8E5M2Type",
    "fp8e4b8": "Float8E4M3FNUZType",
    "fp8e5b16": "Float8E5M2FNUZType",
}
_LANGUAGE_NAMES = {"fp": "float", "bf": "bfloat"}


class dtype(base_type):
    """A scalar element type, for example `tl.float32`.

    Two dtypes are equal when their names are. `kind()` orders them for promotion: boolean < integer < floating point.
    """

    SINT_TYPES: ClassVar[list[str]] = ["int8", "int16", "int32", "int64"]
    UINT_TYPES: ClassVar[list[str]] = ["int1", "uint8", "uint16", "uint32", "uint64"]
    FP_TYPES: ClassVar[list[str]] = list(_FLOATS)
    STANDARD_FP_TYPES: ClassVar[list[str]] = ["fp16", "bf16", "fp32", "fp64"]
    OTHER_TYPES: ClassVar[list[str]] = ["void"]
    has_layout: ClassVar[bool] = False
    """Whether it says which thread holds which element, as types in Gluon do."""
    KIND = Kind
    SIGNEDNESS = Signedness

    def __init__(self, name: Any) -> None:
        name = getattr(name, "value", name)
        self.name: str = name
        self.int_signedness: Signedness | None = None
        self.int_bitwidth = self.primitive_bitwidth = 0
        self._ir: Attribute | None = None
        if name in _FLOATS:
            self.primitive_bitwidth, fmt = _FLOATS[name]
            self.fp_mantissa_width, self.exponent_bias = fmt.mantissa, fmt.bias
        elif name in self.SINT_TYPES or name in self.UINT_TYPES:
            self.int_signedness = Signedness.SIGNED if name in self.SINT_TYPES else Signedness.UNSIGNED
            self.int_bitwidth = self.primitive_bitwidth = int(name.partition("int")[2])
        elif name != "void" and type(self) is dtype:
            raise ValueError(f"unknown element type {name!r}; known: {', '.join(self.all_names())}")
        self.itemsize = self.primitive_bitwidth // 8

    @classmethod
    def all_names(cls) -> list[str]:
        return [*cls.SINT_TYPES, *cls.UINT_TYPES, *cls.FP_TYPES, *cls.OTHER_TYPES]

    # -- questions ----------------------------------------------------------------------------------------------------
    def is_fp8(self) -> bool:
        return self.name.startswith("fp8")

    def is_fp8e4nv(self) -> bool:
        return self.name == "fp8e4nv"

    def is_fp8e4b8(self) -> bool:
        return self.name == "fp8e4b8"

    def is_fp8e4b15(self) -> bool:
        return self.name == "fp8e4b15"

    def is_fp8e5(self) -> bool:
        return self.name == "fp8e5"

    def is_fp8e5b16(self) -> bool:
        return self.name == "fp8e5b16"

    def is_fp16(self) -> bool:
        return self.name == "fp16"

    def is_bf16(self) -> bool:
        return self.name == "bf16"

    def is_fp32(self) -> bool:
        return self.name == "fp32"

    def is_fp64(self) -> bool:
        return self.name == "fp64"

    def is_int1(self) -> bool:
        return self.name == "int1"

    def is_int8(self) -> bool:
        return self.name == "int8"

    def is_int16(self) -> bool:
        return self.name == "int16"

    def is_int32(self) -> bool:
        return self.name == "int32"

    def is_int64(self) -> bool:
        return self.name == "int64"

    def is_uint8(self) -> bool:
        return self.name == "uint8"

    def is_uint16(self) -> bool:
        return self.name == "uint16"

    def is_uint32(self) -> bool:
        return self.name == "uint32"

    def is_uint64(self) -> bool:
        return self.name == "uint64"

    def is_floating(self) -> bool:
        return self.name in _FLOATS

    def is_standard_floating(self) -> bool:
        return self.name in self.STANDARD_FP_TYPES

    def is_int(self) -> bool:
        return self.int_bitwidth > 0

    def is_int_signed(self) -> bool:
        return self.int_signedness is Signedness.SIGNED

    def is_int_unsigned(self) -> bool:
        return self.int_signedness is Signedness.UNSIGNED

    def is_bool(self) -> bool:
        return self.is_int1()

    def is_void(self) -> bool:
        return self.name == "void"

    def is_block(self) -> bool:
        return False

    def is_ptr(self) -> bool:
        return False

    def is_const(self) -> bool:
        return False

    @staticmethod
    def is_dtype(type_str: str) -> bool:
        """Is `type_str` the name of an element type?"""
        return type_str in dtype.all_names()

    @property
    def scalar(self) -> dtype:
        """The type of one element."""
        return self

    def kind(self) -> Kind:
        if self.is_bool():
            return Kind.BOOLEAN
        return Kind.INTEGRAL if self.is_int() else Kind.FLOATING

    def get_int_max_value(self) -> int:
        return 2 ** (self.int_bitwidth - 1) - 1 if self.is_int_signed() else 2**self.int_bitwidth - 1

    def get_int_min_value(self) -> int:
        return -(2 ** (self.int_bitwidth - 1)) if self.is_int_signed() else 0

    def with_element_ty(self, element_ty: dtype) -> dtype:
        """The same shape with another element type: for a scalar, that type itself."""
        return element_ty

    # -- conversions --------------------------------------------------------------------------------------------------
    def to_ir(self) -> Attribute:
        """IR type; integers are signless, fp8e4b15 is stored as i8."""
        if self._ir is None:
            self._ir = self._make_ir()
        return self._ir

    def _make_ir(self) -> Attribute:
        if self.is_int():
            return builtin.IntegerType(self.int_bitwidth)
        if self.is_fp8e4b15():
            return builtin.IntegerType(8)
        if self.is_fp8():
            return getattr(builtin, _IR_NAMES[self.name])()
        match self.name:
            case "fp16":
                return builtin.f16
            case "bf16":
                return builtin.bf16
            case "fp32":
                return builtin.f32
            case "fp64":
                return builtin.f64
            case _:
                raise ValueError(f"{self} has no IR type")

    def mangle(self) -> str:
        if self.is_int():
            return f"{'i' if self.is_int_signed() else 'u'}{self.int_bitwidth}"
        return "V" if self.is_void() else self.name

    def codegen_name(self) -> str:
        """Name under which the language exports the type: `float32`, `bfloat16`, `float8e4nv`, `int32`."""
        for short, long in _LANGUAGE_NAMES.items():
            if self.name.startswith(short):
                return long + self.name.removeprefix(short)
        return self.name

    def flatten_ir_types(self) -> list[Attribute]:
        return [self.to_ir()]

    def unflatten_ir(self, handles: Sequence[SSAValue], cursor: int) -> tuple[base_value, int]:
        from tilewright.language.values import tensor

        return tensor(handles[cursor], self), cursor + 1

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        other = getattr(other, "value", other)
        return isinstance(other, dtype) and type(other) is type(self) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"triton.language.{self.codegen_name()}"


class pointer_type(dtype):
    """Pointer to elements of `element_ty`. A `const` pointer may be read, not written."""

    def __init__(self, element_ty: Any, address_space: int = 1, const: bool = False) -> None:
        pointee = getattr(element_ty, "value", element_ty)
        if not isinstance(pointee, dtype):
            raise TypeError(f"a pointer points to a dtype; element_ty is a `{type(pointee).__name__}`")
        super().__init__(f"{'const_' if const else ''}pointer<{pointee}>")
        self.element_ty, self.address_space, self.const = pointee, address_space, const
        self.primitive_bitwidth, self.itemsize = 64, 8

    def _make_ir(self) -> Attribute:
        return tt.PointerType(self.element_ty.to_ir(), self.address_space)

    def is_ptr(self) -> bool:
        return True

    def is_const(self) -> bool:
        return self.const

    def kind(self) -> Kind:
        raise ValueError("a pointer type has no kind")

    def mangle(self) -> str:
        return f"P{self.element_ty.mangle()}"

    def codegen_name(self) -> str:
        more = ", const=True" if self.const else ""
        space = "" if self.address_space == 1 else f", {self.address_space}"
        return f"pointer_type({self.element_ty!r}{space}{more})"

    def __eq__(self, other: object) -> bool:
        other = getattr(other, "value", other)
        return self is other or (
            isinstance(other, pointer_type)
            and self.element_ty == other.element_ty
            and self.address_space == other.address_space
            and self.const == other.const
        )

    __hash__ = dtype.__hash__


class block_type(dtype):
    """A tensor type: `shape` (a list of powers of two) of elements of `element_ty`."""

    def __init__(self, element_ty: dtype, shape: Sequence[Any]) -> None:
        self.element_ty = element_ty
        self.shape: list[int] = [getattr(s, "value", s) for s in shape]
        if not self.shape:
            raise TypeError("0d block_type is forbidden")
        self.numel = validate_block_shape(self.shape)
        super().__init__(f"<{self.shape}, {element_ty}>")
        self.primitive_bitwidth, self.itemsize = element_ty.primitive_bitwidth, element_ty.itemsize

    def _make_ir(self) -> Attribute:
        return builtin.TensorType(self.element_ty.to_ir(), self.shape)

    def is_block(self) -> bool:
        return True

    def get_block_shapes(self) -> list[int]:
        return self.shape

    def with_element_ty(self, element_ty: dtype) -> block_type:
        return block_of(element_ty, tuple(self.shape))

    def with_shape(self, shape: Sequence[int]) -> block_type:
        """The same elements, and layout if there is one, in another shape."""
        return block_of(self.element_ty, tuple(shape))

    @property
    def scalar(self) -> dtype:
        return self.element_ty

    @property
    def nbytes(self) -> int:
        return self.numel * (self.element_ty.primitive_bitwidth // 8)

    def kind(self) -> Kind:
        raise ValueError("a block type has no kind")

    def mangle(self) -> str:
        return f"{self.element_ty.mangle()}S{'_'.join(map(str, self.shape))}S"

    def codegen_name(self) -> str:
        return f"block_type({self.element_ty!r}, {self.shape})"

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, block_type) and self.element_ty == other.element_ty and self.shape == other.shape

    __hash__ = dtype.__hash__


def validate_block_shape(shape: Sequence[int]) -> int:
    """Number of elements of a block of this shape; each extent must be a power of two, all together at most 2**20."""
    numel = 1
    for axis, extent in enumerate(shape):
        if type(extent) is not int:
            raise TypeError(f"Shape element {axis} must have type `constexpr[int]`, got `{type(extent).__name__}`")
        if extent <= 0 or extent & (extent - 1):
            raise ValueError(f"Shape element {axis} must be a power of 2, got {extent}")
        numel *= extent
    if numel > TRITON_MAX_TENSOR_NUMEL:
        raise ValueError(f"numel ({numel}) exceeds triton maximum tensor numel ({TRITON_MAX_TENSOR_NUMEL})")
    return numel


_blocks: dict[tuple[str, int, tuple[int, ...]], block_type] = {}


def block_of(element_ty: dtype, shape: tuple[int, ...]) -> block_type:
    """`block_type(element_ty, shape)`, shared between equal uses so that its IR type is made once."""
    address_space = element_ty.address_space if isinstance(element_ty, pointer_type) else 0
    key = (element_ty.name, address_space, shape)
    found = _blocks.get(key)
    if found is None:
        found = _blocks[key] = block_type(element_ty, shape)
    return found


void = dtype("void")
int1 = dtype("int1")
int8 = dtype("int8")
int16 = dtype("int16")
int32 = dtype("int32")
int64 = dtype("int64")
uint8 = dtype("uint8")
uint16 = dtype("uint16")
uint32 = dtype("uint32")
uint64 = dtype("uint64")
float8e5 = dtype("fp8e5")
float8e5b16 = dtype("fp8e5b16")
float8e4nv = dtype("fp8e4nv")
float8e4b8 = dtype("fp8e4b8")
float8e4b15 = dtype("fp8e4b15")
float16 = dtype("fp16")
bfloat16 = dtype("bf16")
float32 = dtype("fp32")
float64 = dtype("fp64")
pi32_t = pointer_type(int32)


def get_int_dtype(bitwidth: int, signed: bool) -> dtype:
    """Integer type of a width: `get_int_dtype(32, True)` is `int32`."""
    return dtype("int1" if bitwidth == 1 else f"{'' if signed else 'u'}int{bitwidth}")
