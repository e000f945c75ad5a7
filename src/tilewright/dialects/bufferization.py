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
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    ParsePropInAttrDict,
    VarConstraint,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    opt_result_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import MemoryAllocEffect, MemoryFreeEffect, MemoryReadEffect, MemoryWriteEffect, NoMemoryEffect
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.construction import UNIT, Value, init_op, segment_sizes, value_of, values_of
from tilewright.dialects.definition import op_definition
from tilewright.dialects.types import ANY_MEMREF, ANY_TENSOR, INDEX, element_type, shape_of, shapes_agree


def tensor_type_of(memref_type: Attribute) -> Attribute:
    """The tensor type with the shape and the elements of a memref type."""
    match memref_type:
        case MemRefType():
            return TensorType(memref_type.element_type, memref_type.shape)
        case UnrankedMemRefType():
            return UnrankedTensorType(memref_type.element_type)
        case _:
            raise TypeError(f"{memref_type} is no memref type")


def _verify_same_shape(tensor: Attribute, memref: Attribute) -> None:
    if element_type(tensor) != element_type(memref):
        raise VerifyException(f"{tensor} and {memref} differ in element type")
    tensor_shape, memref_shape = shape_of(tensor), shape_of(memref)
    if (tensor_shape is None) != (memref_shape is None):
        raise VerifyException(f"one of {tensor} and {memref} is unranked")
    if tensor_shape is not None and memref_shape is not None and not shapes_agree(tensor_shape, memref_shape):
        raise VerifyException(f"{tensor} and {memref} differ in shape")


@op_definition
class ToTensorOp(IRDLOperation):
    """``%t = bufferization.to_tensor %m restrict writable : memref<4xf32> to tensor<4xf32>``: the contents of a buffer.

    `restrict` promises that no other to_tensor reads an aliasing buffer; `writable` allows the tensor's users to
    overwrite the buffer.
    """

    name = "bufferization.to_tensor"

    memref = operand_def(ANY_MEMREF)
    tensor = result_def(ANY_TENSOR)
    restrict = opt_prop_def(UnitAttr)
    writable = opt_prop_def(UnitAttr)

    traits = traits_def(MemoryReadEffect())

    assembly_format = (
        "$memref (`restrict` $restrict^)? (`writable` $writable^)? attr-dict `:` type($memref) `to` type($tensor)"
    )

    def __init__(
        self, memref: Value, result_type: Attribute | None = None, *, restrict: bool = False, writable: bool = False
    ) -> None:
        memref = value_of(memref)
        properties: dict[str, Attribute] = {}
        if restrict:
            properties["restrict"] = UNIT
        if writable:
            properties["writable"] = UNIT
        init_op(self, (memref,), (result_type or tensor_type_of(memref.type),), properties)

    def verify_(self) -> None:
        _verify_same_shape(self.results[0].type, self.operands[0].type)


@op_definition
class ToBufferOp(IRDLOperation):
    """``%m = bufferization.to_buffer %t read_only : tensor<4xf32> to memref<4xf32>``: a buffer that holds a tensor."""

    name = "bufferization.to_buffer"

    tensor = operand_def(ANY_TENSOR)
    buffer = result_def(ANY_MEMREF)
    read_only = opt_prop_def(UnitAttr)

    traits = traits_def(NoMemoryEffect())

    assembly_format = "$tensor (`read_only` $read_only^)? attr-dict `:` type($tensor) `to` type($buffer)"

    def __init__(self, tensor: Value, result_type: Attribute, *, read_only: bool = False) -> None:
        init_op(self, (value_of(tensor),), (result_type,), {"read_only": UNIT} if read_only else None)

    def verify_(self) -> None:
        _verify_same_shape(self.operands[0].type, self.results[0].type)


@op_definition
class MaterializeInDestinationOp(IRDLOperation):
    """``bufferization.materialize_in_destination %t in writable %m : (tensor<4xf32>, memref<4xf32, strided<[2]>>) ->
    ()``.

    Stores a tensor into a memref of any layout, or gives a tensor that has to live where `dest` does.
    """

    name = "bufferization.materialize_in_destination"

    source = operand_def(ANY_TENSOR)
    dest = operand_def()
    result = opt_result_def(ANY_TENSOR)
    restrict = opt_prop_def(UnitAttr)
    writable = opt_prop_def(UnitAttr)

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


@op_definition
class AllocTensorOp(IRDLOperation):
    """``%t = bufferization.alloc_tensor() copy(%x) : tensor<4xf32>``: a tensor in a buffer of its own."""

    name = "bufferization.alloc_tensor"

    T: ClassVar = VarConstraint("T", ANY_TENSOR)

    dynamic_sizes = var_operand_def(INDEX)
    copy = opt_operand_def(T)
    size_hint = opt_operand_def(INDEX)
    tensor = result_def(T)
    memory_space = opt_prop_def()

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


@op_definition
class DeallocTensorOp(IRDLOperation):
    """``bufferization.dealloc_tensor %t : tensor<4xf32>``."""

    name = "bufferization.dealloc_tensor"

    tensor = operand_def(ANY_TENSOR)

    traits = traits_def(MemoryFreeEffect())

    assembly_format = "$tensor attr-dict `:` type($tensor)"

    def __init__(self, tensor: Value) -> None:
        init_op(self, (value_of(tensor),))


@op_definition
class CloneOp(IRDLOperation):
    """``%c = bufferization.clone %m : memref<4xf32> to memref<4xf32>``: a copy that is not written through."""

    name = "bufferization.clone"

    input = operand_def(ANY_MEMREF)
    output = result_def(ANY_MEMREF)

    traits = traits_def(MemoryReadEffect(), MemoryAllocEffect(), MemoryWriteEffect())

    assembly_format = "$input attr-dict `:` type($input) `to` type($output)"

    def __init__(self, value: Value, result_type: Attribute | None = None) -> None:
        value = value_of(value)
        init_op(self, (value,), (result_type or value.type,))


OPERATIONS: list[type[Operation]] = [
    AllocTensorOp,
    CloneOp,
    DeallocTensorOp,
    MaterializeInDestinationOp,
    ToBufferOp,
    ToTensorOp,
]

Bufferization = Dialect("bufferization", OPERATIONS, [])
