"""The bufferization dialect: where tensors meet memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import (
    MemRefType,
    TensorType,
    UnitAttr,
    UnrankedMemRefType,
    UnrankedTensorType,
)
from xdsl.ir import Attribute, Dialect, Operation
from xdsl.irdl import AttrSizedOperandSegments, ParsePropInAttrDict, VarConstraint, traits_def
from xdsl.traits import MemoryAllocEffect, MemoryFreeEffect, MemoryReadEffect, MemoryWriteEffect, NoMemoryEffect
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.construction import UNIT, Value, init_op, segment_sizes, unit_if, value_of, values_of
from tilewright.dialects.definition import Op
from tilewright.dialects.fields import (
    InferableResult,
    Operand,
    Operands,
    OptionalOperand,
    OptionalResult,
    Result,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    opt_result_def,
    result_def,
    var_operand_def,
)
from tilewright.dialects.types import ANY_MEMREF, ANY_TENSOR, INDEX, element_type, shape_of, shapes_agree


def tensor_type_of(memref_type: Attribute) -> Attribute:
    """The tensor type with the shape and the elements of a memref type."""
    match memref_type:
        case MemRefType():
            return TensorType(memref_type.element_type, memref_type.shape)
        case UnrankedMemRefType():
            return UnrankedTensorType(memref_type.element_type)
        case _:
            raise TypeError(f"{memref_type} is not a memref type")


def _verify_same_shape(tensor: Attribute, memref: Attribute) -> None:
    if element_type(tensor) != element_type(memref):
        raise VerifyException(f"{tensor} and {memref} differ in element type")
    tensor_shape, memref_shape = shape_of(tensor), shape_of(memref)
    if (tensor_shape is None) != (memref_shape is None):
        raise VerifyException(f"one of {tensor} and {memref} is unranked")
    if tensor_shape is not None and memref_shape is not None and not shapes_agree(tensor_shape, memref_shape):
        raise VerifyException(f"{tensor} and {memref} differ in shape")


class ToTensorOp(Op):
    """``%t = bufferization.to_tensor %m restrict writable : memref<4xf32> to tensor<4xf32>``: the contents of a buffer.

    `restrict` promises that no other to_tensor reads an aliasing buffer; `writable` allows the tensor's users to
    overwrite the buffer.
    """

    name = "bufferization.to_tensor"

    memref: Operand = operand_def(ANY_MEMREF)
    tensor: InferableResult = result_def(ANY_TENSOR, default=None, of="memref", by=tensor_type_of)
    restrict: UnitAttr | None = opt_prop_def(UnitAttr, default=None, converter=unit_if)
    writable: UnitAttr | None = opt_prop_def(UnitAttr, default=None, converter=unit_if)

    traits = traits_def(MemoryReadEffect())

    assembly_format = (
        "$memref (`restrict` $restrict^)? (`writable` $writable^)? attr-dict `:` type($memref) `to` type($tensor)"
    )

    def verify_(self) -> None:
        _verify_same_shape(self.results[0].type, self.operands[0].type)


class ToBufferOp(Op):
    """``%m = bufferization.to_buffer %t read_only : tensor<4xf32> to memref<4xf32>``: a buffer that holds a tensor."""

    name = "bufferization.to_buffer"

    tensor: Operand = operand_def(ANY_TENSOR)
    buffer: Result = result_def(ANY_MEMREF)
    read_only: UnitAttr | None = opt_prop_def(UnitAttr, converter=unit_if, default=False)

    traits = traits_def(NoMemoryEffect())

    assembly_format = "$tensor (`read_only` $read_only^)? attr-dict `:` type($tensor) `to` type($buffer)"

    def verify_(self) -> None:
        _verify_same_shape(self.operands[0].type, self.results[0].type)


class MaterializeInDestinationOp(Op):
    """``bufferization.materialize_in_destination %t in writable %m : (tensor<4xf32>, memref<4xf32, strided<[2]>>) ->
    ()``.

    Stores a tensor into a memref of any layout, or gives a tensor that has to live where `dest` does.
    """

    name = "bufferization.materialize_in_destination"

    source: Operand = operand_def(ANY_TENSOR)
    dest: Operand = operand_def()
    result: OptionalResult = opt_result_def(ANY_TENSOR)
    restrict: UnitAttr | None = opt_prop_def(UnitAttr)
    writable: UnitAttr | None = opt_prop_def(UnitAttr)

    traits = traits_def(MemoryWriteEffect())

    assembly_format = (
        "$source `in` (`restrict` $restrict^)? (`writable` $writable^)? $dest attr-dict "
        "`:` functional-type(operands, results)"
    )

    def __init__(self, source: Value, dest: Value, *, restrict: bool = False, writable: bool | None = None) -> None:
        source, dest = value_of(source), value_of(dest)
        into_memref = isinstance(dest.type, (MemRefType, UnrankedMemRefType))
        properties: dict[str, Attribute] = {}
        if restrict:
            properties["restrict"] = UNIT
        if into_memref if writable is None else writable:
            properties["writable"] = UNIT
        init_op(self, (source, dest), () if into_memref else (dest.type,), properties)

    def verify_(self) -> None:
        dest_type = self.operands[1].type
        into_memref = isinstance(dest_type, (MemRefType, UnrankedMemRefType))
        if into_memref and self.results:
            raise VerifyException("a memref destination gives no result")
        if not into_memref and not self.results:
            raise VerifyException("a tensor destination gives a result")
        if into_memref and self.writable is None:
            raise VerifyException("'writable' must be specified if the destination is a memref")
        _verify_same_shape(self.operands[0].type, self.operands[1].type)


class AllocTensorOp(Op):
    """``%t = bufferization.alloc_tensor() copy(%x) : tensor<4xf32>``: a tensor in a buffer of its own."""

    name = "bufferization.alloc_tensor"

    T: ClassVar = VarConstraint("T", ANY_TENSOR)

    dynamic_sizes: Operands = var_operand_def(INDEX)
    copy: OptionalOperand = opt_operand_def(T)
    size_hint: OptionalOperand = opt_operand_def(INDEX)
    tensor: Result = result_def(T)
    memory_space: Attribute | None = opt_prop_def()

    irdl_options = (AttrSizedOperandSegments(as_property=True), ParsePropInAttrDict())

    traits = traits_def(MemoryAllocEffect())

    assembly_format = (
        "`(` $dynamic_sizes `)` (`copy` `(` $copy^ `)`)? (`size_hint` `=` $size_hint^)? attr-dict `:` type($tensor)"
    )

    def __init__(
        self,
        dynamic_sizes: Sequence[Value] = (),
        copy: Value | None = None,
        size_hint: Value | None = None,
        *,
        result_type: Attribute | None = None,
    ) -> None:
        sizes = values_of(dynamic_sizes)
        copies = [] if copy is None else [value_of(copy)]
        hints = [] if size_hint is None else [value_of(size_hint)]
        if result_type is None:
            if not copies:
                raise ValueError("alloc_tensor without a copy needs a result type")
            result_type = copies[0].type
        properties = {"operandSegmentSizes": segment_sizes(len(sizes), len(copies), len(hints))}
        init_op(self, [*sizes, *copies, *hints], (result_type,), properties)


class DeallocTensorOp(Op):
    """``bufferization.dealloc_tensor %t : tensor<4xf32>``."""

    name = "bufferization.dealloc_tensor"

    tensor: Operand = operand_def(ANY_TENSOR)

    traits = traits_def(MemoryFreeEffect())

    assembly_format = "$tensor attr-dict `:` type($tensor)"


class CloneOp(Op):
    """``%c = bufferization.clone %m : memref<4xf32> to memref<4xf32>``: a copy that is not written through."""

    name = "bufferization.clone"

    input: Operand = operand_def(ANY_MEMREF)
    output: InferableResult = result_def(ANY_MEMREF, default=None, of="input")

    traits = traits_def(MemoryReadEffect(), MemoryAllocEffect(), MemoryWriteEffect())

    assembly_format = "$input attr-dict `:` type($input) `to` type($output)"


OPERATIONS: list[type[Operation]] = [
    AllocTensorOp,
    CloneOp,
    DeallocTensorOp,
    MaterializeInDestinationOp,
    ToBufferOp,
    ToTensorOp,
]

Bufferization = Dialect("bufferization", OPERATIONS, [])
