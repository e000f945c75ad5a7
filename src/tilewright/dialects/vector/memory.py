"""Loads and stores of vectors: contiguous, masked, indexed, packed."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from xdsl.dialects.builtin import BoolAttr, MemRefType, VectorType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    VarConstraint,
    VarOperand,
    operand_def,
    opt_prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.construction import Value, init_op, int_attr, value_of, values_of
from tilewright.dialects.definition import op_definition
from tilewright.dialects.memref.access import NONTEMPORAL, NOT_NONTEMPORAL
from tilewright.dialects.types import (
    ANY_VECTOR,
    I64_ATTR,
    INDEX,
    as_memref,
    bool_like,
    element_type,
    is_integer_or_index,
    shape_of,
)


def _memory_properties(alignment: int | None, nontemporal: bool = False) -> dict[str, Attribute]:
    properties: dict[str, Attribute] = {}
    if alignment is not None:
        properties["alignment"] = int_attr(alignment)
    if nontemporal:
        properties["nontemporal"] = NONTEMPORAL
    return properties


class VectorMemoryOp(IRDLOperation, ABC):
    """An access to the elements of a buffer from a place given by one index per dimension."""

    alignment = opt_prop_def(I64_ATTR)

    irdl_options = (ParsePropInAttrDict(),)

    if TYPE_CHECKING:
        base: SSAValue
        indices: VarOperand[Attribute]

    def verify_access(self, vector: Attribute) -> None:
        """Check the element type, the number of indices and the alignment."""
        memref = as_memref(self.base.type)
        if element_type(vector) != memref.element_type:
            raise VerifyException(f"{vector} and {memref} differ in element type")
        if memref.get_num_dims() != len(self.indices):
            raise VerifyException(f"expected {memref.get_num_dims()} indices, but got {len(self.indices)}")
        alignment = self.alignment
        if alignment is not None and (alignment.value.data <= 0 or alignment.value.data & (alignment.value.data - 1)):
            raise VerifyException(f"alignment must be a power of two, got {alignment.value.data}")


def verify_mask(mask: Attribute, vector: Attribute) -> None:
    """Check that a mask has one bit per lane."""
    if mask != bool_like(vector):
        raise VerifyException(f"the mask must be a {bool_like(vector)}, got {mask}")


@op_definition
class LoadOp(VectorMemoryOp):
    """``%v = vector.load %m[%i] : memref<?xf32>, vector<8xf32>``: consecutive elements along the last dimension."""

    name = "vector.load"

    base = operand_def(MemRefType)
    indices = var_operand_def(INDEX)
    result = result_def(VectorType)
    nontemporal = opt_prop_def(BoolAttr, default_value=NOT_NONTEMPORAL)

    traits = traits_def(MemoryReadEffect())

    assembly_format = "$base `[` $indices `]` attr-dict `:` type($base) `,` type($result)"

    def __init__(
        self,
        base: Value,
        indices: Sequence[Value],
        result_type: Attribute,
        *,
        alignment: int | None = None,
        nontemporal: bool = False,
    ) -> None:
        operands = [value_of(base), *values_of(indices)]
        init_op(self, operands, (result_type,), _memory_properties(alignment, nontemporal))

    def verify_(self) -> None:
        self.verify_access(self.results[0].type)


@op_definition
class StoreOp(VectorMemoryOp):
    """``vector.store %v, %m[%i] : memref<?xf32>, vector<8xf32>``."""

    name = "vector.store"

    vector = operand_def(VectorType)
    base = operand_def(MemRefType)
    indices = var_operand_def(INDEX)
    nontemporal = opt_prop_def(BoolAttr, default_value=NOT_NONTEMPORAL)

    traits = traits_def(MemoryWriteEffect())

    assembly_format = "$vector `,` $base `[` $indices `]` attr-dict `:` type($base) `,` type($vector)"

    def __init__(
        self,
        vector: Value,
        base: Value,
        indices: Sequence[Value],
        *,
        alignment: int | None = None,
        nontemporal: bool = False,
    ) -> None:
        operands = [value_of(vector), value_of(base), *values_of(indices)]
        init_op(self, operands, (), _memory_properties(alignment, nontemporal))

    def verify_(self) -> None:
        self.verify_access(self.operands[0].type)


@op_definition
class MaskedLoadOp(VectorMemoryOp):
    """``%v = vector.maskedload %m[%i], %mask, %other : memref<?xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>``.

    Lanes whose bit is clear are not read and take the pass-through value.
    """

    name = "vector.maskedload"

    T: ClassVar = VarConstraint("T", ANY_VECTOR)

    base = operand_def(MemRefType)
    indices = var_operand_def(INDEX)
    mask = operand_def(VectorType)
    pass_thru = operand_def(T)
    result = result_def(T)

    traits = traits_def(MemoryReadEffect())

    assembly_format = (
        "$base `[` $indices `]` `,` $mask `,` $pass_thru attr-dict "
        "`:` type($base) `,` type($mask) `,` type($pass_thru) `into` type($result)"
    )

    def __init__(
        self, base: Value, indices: Sequence[Value], mask: Value, pass_thru: Value, *, alignment: int | None = None
    ) -> None:
        pass_thru = value_of(pass_thru)
        operands = [value_of(base), *values_of(indices), value_of(mask), pass_thru]
        init_op(self, operands, (pass_thru.type,), _memory_properties(alignment))

    def verify_(self) -> None:
        self.verify_access(self.results[0].type)
        verify_mask(self.mask.type, self.results[0].type)


@op_definition
class MaskedStoreOp(VectorMemoryOp):
    """``vector.maskedstore %m[%i], %mask, %v : memref<?xf32>, vector<8xi1>, vector<8xf32>``: lanes whose bit is clear
    are not written."""

    name = "vector.maskedstore"

    base = operand_def(MemRefType)
    indices = var_operand_def(INDEX)
    mask = operand_def(VectorType)
    value_to_store = operand_def(VectorType)

    traits = traits_def(MemoryWriteEffect())

    assembly_format = (
        "$base `[` $indices `]` `,` $mask `,` $value_to_store attr-dict "
        "`:` type($base) `,` type($mask) `,` type($value_to_store)"
    )

    def __init__(
        self, base: Value, indices: Sequence[Value], mask: Value, value: Value, *, alignment: int | None = None
    ) -> None:
        operands = [value_of(base), *values_of(indices), value_of(mask), value_of(value)]
        init_op(self, operands, (), _memory_properties(alignment))

    def verify_(self) -> None:
        self.verify_access(self.value_to_store.type)
        verify_mask(self.mask.type, self.value_to_store.type)


def verify_index_vector(index_vec: Attribute, vector: Attribute) -> None:
    """Check that there is one index per lane."""
    if not is_integer_or_index(element_type(index_vec)) or shape_of(index_vec) != shape_of(vector):
        raise VerifyException(f"{index_vec} does not hold one index per lane of {vector}")


@op_definition
class GatherOp(VectorMemoryOp):
    """``%v = vector.gather %m[%i] [%offsets], %mask, %other : memref<?xf32>, vector<8xi32>, vector<8xi1>,
    vector<8xf32> into vector<8xf32>``."""

    name = "vector.gather"

    T: ClassVar = VarConstraint("T", ANY_VECTOR)

    base = operand_def(MemRefType)
    indices = var_operand_def(INDEX)
    index_vec = operand_def(VectorType)
    mask = operand_def(VectorType)
    pass_thru = operand_def(T)
    result = result_def(T)

    traits = traits_def(MemoryReadEffect())

    assembly_format = (
        "$base `[` $indices `]` `[` $index_vec `]` `,` $mask `,` $pass_thru attr-dict `:` type($base) `,` "
        "type($index_vec) `,` type($mask) `,` type($pass_thru) `into` type($result)"
    )

    def __init__(
        self,
        base: Value,
        indices: Sequence[Value],
        index_vec: Value,
        mask: Value,
        pass_thru: Value,
        *,
        alignment: int | None = None,
    ) -> None:
        pass_thru = value_of(pass_thru)
        operands = [value_of(base), *values_of(indices), value_of(index_vec), value_of(mask), pass_thru]
        init_op(self, operands, (pass_thru.type,), _memory_properties(alignment))

    def verify_(self) -> None:
        self.verify_access(self.results[0].type)
        verify_mask(self.mask.type, self.results[0].type)
        verify_index_vector(self.index_vec.type, self.results[0].type)


@op_definition
class ScatterOp(VectorMemoryOp):
    """``vector.scatter %m[%i] [%offsets], %mask, %v : memref<?xf32>, vector<8xi32>, vector<8xi1>, vector<8xf32>``:
    later lanes win."""

    name = "vector.scatter"

    base = operand_def(MemRefType)
    indices = var_operand_def(INDEX)
    index_vec = operand_def(VectorType)
    mask = operand_def(VectorType)
    value_to_store = operand_def(VectorType)

    traits = traits_def(MemoryWriteEffect())

    assembly_format = (
        "$base `[` $indices `]` `[` $index_vec `]` `,` $mask `,` $value_to_store attr-dict `:` type($base) `,` "
        "type($index_vec) `,` type($mask) `,` type($value_to_store)"
    )

    def __init__(
        self,
        base: Value,
        indices: Sequence[Value],
        index_vec: Value,
        mask: Value,
        value: Value,
        *,
        alignment: int | None = None,
    ) -> None:
        operands = [value_of(base), *values_of(indices), value_of(index_vec), value_of(mask), value_of(value)]
        init_op(self, operands, (), _memory_properties(alignment))

    def verify_(self) -> None:
        self.verify_access(self.value_to_store.type)
        verify_mask(self.mask.type, self.value_to_store.type)
        verify_index_vector(self.index_vec.type, self.value_to_store.type)


@op_definition
class ExpandLoadOp(VectorMemoryOp):
    """``%v = vector.expandload %m[%i], %mask, %other : ...``: consecutive elements go to the lanes whose bit is set."""

    name = "vector.expandload"

    T: ClassVar = VarConstraint("T", ANY_VECTOR)

    base = operand_def(MemRefType)
    indices = var_operand_def(INDEX)
    mask = operand_def(VectorType)
    pass_thru = operand_def(T)
    result = result_def(T)

    traits = traits_def(MemoryReadEffect())

    assembly_format = (
        "$base `[` $indices `]` `,` $mask `,` $pass_thru attr-dict "
        "`:` type($base) `,` type($mask) `,` type($pass_thru) `into` type($result)"
    )

    def __init__(self, base: Value, indices: Sequence[Value], mask: Value, pass_thru: Value) -> None:
        pass_thru = value_of(pass_thru)
        operands = [value_of(base), *values_of(indices), value_of(mask), pass_thru]
        init_op(self, operands, (pass_thru.type,))

    def verify_(self) -> None:
        self.verify_access(self.results[0].type)
        verify_mask(self.mask.type, self.results[0].type)


@op_definition
class CompressStoreOp(VectorMemoryOp):
    """``vector.compressstore %m[%i], %mask, %v : ...``: the lanes whose bit is set go to consecutive elements."""

    name = "vector.compressstore"

    base = operand_def(MemRefType)
    indices = var_operand_def(INDEX)
    mask = operand_def(VectorType)
    value_to_store = operand_def(VectorType)

    traits = traits_def(MemoryWriteEffect())

    assembly_format = (
        "$base `[` $indices `]` `,` $mask `,` $value_to_store attr-dict "
        "`:` type($base) `,` type($mask) `,` type($value_to_store)"
    )

    def __init__(self, base: Value, indices: Sequence[Value], mask: Value, value: Value) -> None:
        init_op(self, [value_of(base), *values_of(indices), value_of(mask), value_of(value)])

    def verify_(self) -> None:
        self.verify_access(self.value_to_store.type)
        verify_mask(self.mask.type, self.value_to_store.type)
