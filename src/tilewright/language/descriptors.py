"""Tensor descriptors: a tensor in memory that is read and written in blocks, with bounds handled by the access
itself."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tilewright.language import dtypes as dt
from tilewright.language.arithmetic import where
from tilewright.language.casts import bitcast_to, cast_to, not_equal_zero
from tilewright.language.context import emit, emit_void
from tilewright.language.creation import as_tensor
from tilewright.language.dtypes import base_type, block_of, block_type, dtype, pointer_type
from tilewright.language.ir_modules import builtin as builtin_dialect
from tilewright.language.ir_modules import tt
from tilewright.language.memory import EVICTION, LOAD_CACHE, integers, keyword_of
from tilewright.language.registry import builtin, unwrap_list, unwrap_shape
from tilewright.language.shape import broadcast_to_shape, reshape_to
from tilewright.language.values import base_value, constexpr, describe, tensor, tuple, tuple_type, unwrap

if TYPE_CHECKING:
    from xdsl.ir import Attribute, SSAValue

    from tilewright.dialects.tt import TensorDescType


_EXPONENT = 0x7F800000
_DROPPED_BITS = 13
"""Float32 has 23 bits of mantissa, tf32 has 10."""


def _counts_rows(kind: dtype) -> bool:
    """Return whether elements of a type can be the rows of a gather or scatter; int16 came with Triton 3.9."""
    return kind.is_int32() or kind.is_int16()


class tensor_descriptor_type(base_type):
    """Type of a descriptor: the block that one access moves, the types of shape and strides, and whether what is read
    is rounded to tf32."""

    def __init__(
        self, block: block_type, shape_type: tuple_type, strides_type: tuple_type, rounds_to_tf32: bool = False
    ) -> None:
        self.block_type, self.shape_type, self.strides_type = block, shape_type, strides_type
        self.rounds_to_tf32 = rounds_to_tf32

    @classmethod
    def of_block(
        cls, block: block_type, rank: int | None = None, *, rounds_to_tf32: bool = False
    ) -> tensor_descriptor_type:
        """The type of a descriptor that comes as a kernel argument: i32 shape, i64 strides. The tensor may be of
        another rank than its blocks (those of `tensordesc_im2col` are)."""
        rank = len(block.shape) if rank is None else rank
        return cls(block, tuple_type([dt.int32] * rank), tuple_type([dt.int64] * rank), rounds_to_tf32)

    def descriptor_ir(self) -> TensorDescType:
        """`!tt.tensordesc<32x64xf16>`; integer elements carry their signedness."""
        element = self.block_type.element_ty
        ir = element.to_ir()
        if element.is_int() and not element.is_bool():
            sign = builtin_dialect.Signedness.SIGNED if element.is_int_signed() else builtin_dialect.Signedness.UNSIGNED
            ir = builtin_dialect.IntegerType(element.int_bitwidth, sign)
        return tt.TensorDescType(builtin_dialect.TensorType(ir, self.block_type.shape))

    def argument_attributes(self) -> dict[str, Attribute]:
        """Attributes of a kernel's argument of this type, for who makes it at a launch."""
        return {}

    def mangle(self) -> str:
        return f"TD{'R' if self.rounds_to_tf32 else ''}{self.block_type.mangle()}"

    def flatten_ir_types(self) -> list[Attribute]:
        return [self.descriptor_ir(), *self.shape_type.flatten_ir_types(), *self.strides_type.flatten_ir_types()]

    def unflatten_ir(self, handles: Sequence[SSAValue], cursor: int) -> builtins.tuple[base_value, int]:
        handle = handles[cursor]
        shape, cursor = self.shape_type.unflatten_ir(handles, cursor + 1)
        strides, cursor = self.strides_type.unflatten_ir(handles, cursor)
        assert isinstance(shape, tuple) and isinstance(strides, tuple)
        return self.wrap(handle, shape, strides), cursor

    def wrap(self, handle: SSAValue, shape: tuple, strides: tuple) -> tensor_descriptor:
        """A value of this type."""
        return tensor_descriptor(handle, shape, strides, self)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, tensor_descriptor_type)
            and self.block_type == other.block_type
            and self.shape_type == other.shape_type
            and self.strides_type == other.strides_type
            and self.rounds_to_tf32 == other.rounds_to_tf32
        )

    def __hash__(self) -> int:
        return hash((tensor_descriptor_type, self.block_type))

    def __str__(self) -> str:
        return f"tensor_descriptor<{self.block_type}>"


class tensor_descriptor(base_value):
    """A tensor in memory, seen as blocks. `.shape` and `.strides` are run-time values, `.block_shape` and `.dtype`
    constants."""

    def __init__(self, handle: SSAValue, shape: tuple, strides: tuple, type: tensor_descriptor_type) -> None:
        self.handle, self.shape, self.strides, self.type = handle, shape, strides, type

    @property
    def block_type(self) -> block_type:
        return self.type.block_type

    @property
    def block_shape(self) -> tuple:
        return tuple([constexpr(extent) for extent in self.block_type.shape])

    @property
    def dtype(self) -> dtype:
        return self.block_type.element_ty

    def flatten_ir(self, handles: list[SSAValue]) -> None:
        handles.append(self.handle)
        self.shape.flatten_ir(handles)
        self.strides.flatten_ir(handles)

    def __str__(self) -> str:
        return str(self.type)

    def _indices(self, offsets: Any) -> list[SSAValue]:
        values = integers(offsets, 32, "offsets")
        if len(values) != len(self.block_type.shape):
            raise ValueError(f"expected {len(self.block_type.shape)} offsets, but got {len(values)}")
        return [v.handle for v in values]

    def _block(self, value: Any) -> tensor:
        """A value to store, with the block's shape and dtype."""
        block = as_tensor(value, "value")
        if block.extents != self.block_type.shape:
            block = (
                reshape_to(block, self.block_type.shape)
                if block.numel.value == self.block_type.numel
                else broadcast_to_shape(block, self.block_type.shape)
            )
        return cast_to(block, self.dtype)

    @builtin
    def load(self, offsets: Any, cache_modifier: Any = "", eviction_policy: Any = "") -> tensor:
        """The block that starts at `offsets`; elements outside of the tensor are filled as the descriptor's padding
        says."""
        op = tt.DescriptorLoadOp(
            self.handle,
            self._indices(offsets),
            self.block_type.to_ir(),
            cache=keyword_of(LOAD_CACHE, cache_modifier, "Cache modifier"),
            evict=keyword_of(EVICTION, eviction_policy, "Eviction policy"),
        )
        return self._read(tensor(emit(op), self.block_type))

    def _read(self, block: tensor) -> tensor:
        return round_to_tf32(block) if self.type.rounds_to_tf32 else block

    @builtin
    def store(self, offsets: Any, value: Any) -> None:
        """Write a block at `offsets`; elements outside of the tensor are dropped."""
        block = self._block(value)
        emit_void(tt.DescriptorStoreOp(self.handle, block.handle, self._indices(offsets)))

    @builtin
    def gather(self, x_offsets: Any, y_offset: Any) -> tensor:
        """Rows `x_offsets` (a block of at least 8 int32 or int16), each from column `y_offset` on. The block has one
        row."""
        rows = self._rows(x_offsets, "gather")
        column = integers([y_offset], 32, "y_offset")[0]
        ty = block_of(self.dtype, (rows.extents[0], self.block_type.shape[1]))
        return self._read(tensor(emit(tt.DescriptorGatherOp(self.handle, rows.handle, column.handle, ty.to_ir())), ty))

    @builtin
    def scatter(self, value: Any, x_offsets: Any, y_offset: Any) -> None:
        """Write the rows of `value` to rows `x_offsets`, each from column `y_offset` on."""
        rows = self._rows(x_offsets, "scatter")
        column = integers([y_offset], 32, "y_offset")[0]
        block = cast_to(as_tensor(value, "value"), self.dtype)
        emit_void(tt.DescriptorScatterOp(self.handle, rows.handle, column.handle, block.handle))

    def _rows(self, x_offsets: Any, what: str) -> tensor:
        """Check the rows of a gather or scatter, and return them as int32."""
        shape = self.block_type.shape
        if len(shape) != 2 or shape[0] != 1:
            raise ValueError(f"descriptor gather and scatter need a 2D block with one row, got {shape}")
        if not isinstance(x_offsets, tensor) or len(x_offsets.extents) != 1 or not _counts_rows(x_offsets.dtype):
            raise ValueError(f"x offsets must be a 1D block of int16 or int32, got {describe(x_offsets)}")
        if x_offsets.extents[0] < 8:
            raise ValueError(f"descriptor {what} must have at least 8 rows, but got {x_offsets.extents[0]}")
        minimum = 32 // self.dtype.primitive_bitwidth * 8
        if shape[1] < minimum:
            raise ValueError(
                f"descriptor {what} of {self.dtype} must have at least {minimum} columns, but got {shape[1]}"
            )
        return cast_to(x_offsets, dt.int32)

    def _reduce(self, kind: str, offsets: Any, value: Any, allowed: Sequence[str]) -> None:
        if self.dtype.name not in allowed:
            raise TypeError(
                f"atomic_{kind} on a descriptor does not support {self.dtype}; expected one of {', '.join(allowed)}"
            )
        block = self._block(value)
        emit_void(tt.DescriptorReduceOp(self.handle, block.handle, self._indices(offsets), kind=kind))

    @builtin
    def atomic_add(self, offsets: Any, value: Any) -> None:
        """Add a block atomically, element by element."""
        self._reduce("add", offsets, value, ("uint32", "int32", "uint64", "fp32", "fp16", "bf16"))

    @builtin
    def atomic_min(self, offsets: Any, value: Any) -> None:
        """Take the minimum with a block atomically, element by element."""
        self._reduce("min", offsets, value, ("uint32", "int32", "uint64", "int64", "fp16", "bf16"))

    @builtin
    def atomic_max(self, offsets: Any, value: Any) -> None:
        """Take the maximum with a block atomically, element by element."""
        self._reduce("max", offsets, value, ("uint32", "int32", "uint64", "int64", "fp16", "bf16"))

    @builtin
    def atomic_and(self, offsets: Any, value: Any) -> None:
        """Combine with a block by bitwise and, atomically."""
        self._reduce("and", offsets, value, ("uint32", "int32", "uint64", "int64"))

    @builtin
    def atomic_or(self, offsets: Any, value: Any) -> None:
        """Combine with a block by bitwise or, atomically."""
        self._reduce("or", offsets, value, ("uint32", "int32", "uint64", "int64"))

    @builtin
    def atomic_xor(self, offsets: Any, value: Any) -> None:
        """Combine with a block by bitwise exclusive or, atomically."""
        self._reduce("xor", offsets, value, ("uint32", "int32", "uint64", "int64"))


def round_to_tf32(block: tensor) -> tensor:
    """Float32 values with the 10 bits of mantissa that tf32 has: to nearest, ties to even; infinities and NaNs stay.

    Adding half a unit of the last bit that stays, less one where that bit is 0, carries into it where it has to.
    """
    bits = bitcast_to(block, dt.uint32)
    is_finite = not_equal_zero((bits & _EXPONENT) ^ _EXPONENT)
    rounded = (bits + ((bits >> _DROPPED_BITS) & 1) + ((1 << _DROPPED_BITS - 1) - 1)) >> _DROPPED_BITS << _DROPPED_BITS
    return bitcast_to(where(is_finite, rounded, bits), dt.float32)


@builtin
def make_tensor_descriptor(
    base: Any, shape: Any, strides: Any, block_shape: Any, padding_option: Any = "zero"
) -> tensor_descriptor:
    """Describe a tensor in memory by base pointer, shape and strides (in elements), for access in blocks of
    `block_shape`.

    1 to 5 dimensions; the last stride is the constant 1, the last dimension of the block spans at least 16 bytes.
    Elements outside of the tensor read as zero, or as NaN with `padding_option="nan"` (floating types).
    """
    return made_descriptor(base, shape, strides, block_shape, padding_option, tensor_descriptor_type.of_block)


def made_descriptor(
    base: Any,
    shape: Any,
    strides: Any,
    block_shape: Any,
    padding_option: Any,
    type_of: Callable[[block_type], tensor_descriptor_type],
) -> tensor_descriptor:
    """`make_tensor_descriptor`, of the type that `type_of(block)` says."""
    pointer = as_tensor(base, "base")
    if not isinstance(pointer.type, pointer_type):
        raise TypeError(f"`base` must be a scalar pointer, got {describe(base)}")
    padding = keyword_of({"": "zero", "zero": "zero", "nan": "nan"}, padding_option, "Padding option")
    element = pointer.type.element_ty
    extents, steps = unwrap_list(shape, "shape"), unwrap_list(strides, "strides")
    block = unwrap_shape(block_shape, "block_shape")
    if not 1 <= len(extents) <= 5:
        raise ValueError(f"Expected 1 <= ndim <= 5 but got {len(extents)} dimensions")
    if len(steps) != len(extents) or len(block) != len(extents):
        raise ValueError(f"Expected {len(extents)} strides and block extents but got {len(steps)} and {len(block)}")
    last = unwrap(steps[-1])
    if isinstance(last, tensor) or last != 1:
        raise ValueError(f"Tensor descriptor last dim must be 1 but got {describe(steps[-1])}")
    if block[-1] * element.itemsize < 16:
        raise ValueError(
            f"Descriptor block shape must have at least 16 bytes in the last dimension, but got {block[-1]} * "
            f"{element.itemsize} = {block[-1] * element.itemsize} bytes"
        )
    if padding == "nan" and element.is_int():
        raise ValueError("Padding option `nan` is not supported for integer blocks")
    sizes = [cast_to(v, dt.int32) for v in (as_tensor(e, "shape") for e in extents)]
    strides64 = integers(steps, 64, "strides")
    ty = type_of(block_of(element, builtins.tuple(block)))
    op = tt.MakeTensorDescOp(
        pointer.handle, [s.handle for s in sizes], [s.handle for s in strides64], ty.descriptor_ir(), padding=padding
    )
    return ty.wrap(emit(op), tuple(sizes), tuple(strides64))


@builtin
def load_tensor_descriptor(desc: tensor_descriptor, offsets: Any) -> tensor:
    """`desc.load(offsets)`."""
    return desc.load(offsets)


@builtin
def store_tensor_descriptor(desc: tensor_descriptor, offsets: Any, value: Any) -> None:
    """`desc.store(offsets, value)`."""
    desc.store(offsets, value)
