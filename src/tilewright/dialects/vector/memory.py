"""Loads and stores of vectors: contiguous, masked, indexed, packed."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import BoolAttr, IntegerAttr, MemRefType, VectorType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import ParsePropInAttrDict, VarConstraint, traits_def
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.construction import int_attr, optional
from tilewright.dialects.definition import Op
from tilewright.dialects.fields import (
    Operand,
    Operands,
    Result,
    inferred_result_def,
    operand_def,
    opt_prop_def,
    result_def,
    var_operand_def,
)
from tilewright.dialects.memref.access import NOT_NONTEMPORAL
from tilewright.dialects.memref.allocation import verify_alignment
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


class VectorMemoryOp(Op, ABC):
    """An access to the elements of a buffer from the one that has these indices, one per dimension, on."""

    alignment: IntegerAttr | None = opt_prop_def(I64_ATTR, default=None, converter=optional(int_attr))

    irdl_options = (ParsePropInAttrDict(),)

    def verify_access(self, base: SSAValue, indices: Sequence[SSAValue], vector: Attribute, value: str) -> None:
        """Check that operands fit the vector that is read or written, which messages call `value`."""
        memref = as_memref(base.type)
        if element_type(vector) != memref.element_type:
            plural = "s" * isinstance(self, LoadOp)
            raise VerifyException(f"base and {value} element type{plural} should match")
        if memref.get_num_dims() != len(indices):
            raise VerifyException(f"requires {memref.get_num_dims()} indices")
        verify_alignment(self.alignment)

    def verify_lanes(self, vector: Attribute, mask: SSAValue, value: str, index_vec: SSAValue | None = None) -> None:
        """Check that there is a bit of the mask for each lane, and an index where lanes have one each."""
        extent = "shape" if index_vec is None else "dim"
        if index_vec is not None:
            if not is_integer_or_index(element_type(index_vec.type)):
                raise VerifyException(f"{index_vec.type} has no indices")
            if shape_of(index_vec.type) != shape_of(vector):
                raise VerifyException(f"expected {value} dim to match indices dim")
        if shape_of(mask.type) != shape_of(vector):
            raise VerifyException(f"expected {value} {extent} to match mask {extent}")
        if mask.type != bool_like(vector):
            raise VerifyException(f"the mask must be a {bool_like(vector)}, got {mask.type}")


class LoadOp(VectorMemoryOp):
    """``%v = vector.load %m[%i] : memref<?xf32>, vector<8xf32>``: consecutive elements along the last dimension."""

    name = "vector.load"

    base: Operand = operand_def(MemRefType)
    indices: Operands = var_operand_def(INDEX)
    result: Result = result_def(VectorType)
    nontemporal: BoolAttr = opt_prop_def(
        BoolAttr, default_value=NOT_NONTEMPORAL, default=False, converter=BoolAttr.from_bool
    )

    traits = traits_def(MemoryReadEffect())

    assembly_format = "$base `[` $indices `]` attr-dict `:` type($base) `,` type($result)"

    def verify_(self) -> None:
        self.verify_access(self.base, self.indices, self.results[0].type, "result")


class StoreOp(VectorMemoryOp):
    """``vector.store %v, %m[%i] : memref<?xf32>, vector<8xf32>``."""

    name = "vector.store"

    vector: Operand = operand_def(VectorType)
    base: Operand = operand_def(MemRefType)
    indices: Operands = var_operand_def(INDEX)
    nontemporal: BoolAttr = opt_prop_def(
        BoolAttr, default_value=NOT_NONTEMPORAL, default=False, converter=BoolAttr.from_bool
    )

    traits = traits_def(MemoryWriteEffect())

    assembly_format = "$vector `,` $base `[` $indices `]` attr-dict `:` type($base) `,` type($vector)"

    def verify_(self) -> None:
        self.verify_access(self.base, self.indices, self.operands[0].type, "valueToStore")


class MaskedReadOp(VectorMemoryOp, ABC):
    """Lanes whose bit is clear are not read and take the pass-through value."""

    T: ClassVar = VarConstraint("T", ANY_VECTOR)

    base: Operand = operand_def(MemRefType)
    indices: Operands = var_operand_def(INDEX)
    mask: Operand = operand_def(VectorType)
    pass_thru: Operand = operand_def(T)
    result: Result = inferred_result_def(T)

    traits = traits_def(MemoryReadEffect())

    assembly_format = (
        "$base `[` $indices `]` `,` $mask `,` $pass_thru attr-dict "
        "`:` type($base) `,` type($mask) `,` type($pass_thru) `into` type($result)"
    )

    def verify_(self) -> None:
        self.verify_access(self.base, self.indices, self.results[0].type, "result")
        self.verify_lanes(self.results[0].type, self.mask, "result")


class MaskedWriteOp(VectorMemoryOp, ABC):
    """Lanes whose bit is clear are not written."""

    base: Operand = operand_def(MemRefType)
    indices: Operands = var_operand_def(INDEX)
    mask: Operand = operand_def(VectorType)
    value_to_store: Operand = operand_def(VectorType)

    traits = traits_def(MemoryWriteEffect())

    assembly_format = (
        "$base `[` $indices `]` `,` $mask `,` $value_to_store attr-dict "
        "`:` type($base) `,` type($mask) `,` type($value_to_store)"
    )

    def verify_(self) -> None:
        self.verify_access(self.base, self.indices, self.value_to_store.type, "valueToStore")
        self.verify_lanes(self.value_to_store.type, self.mask, "valueToStore")


class MaskedLoadOp(MaskedReadOp):
    """``%v = vector.maskedload %m[%i], %mask, %other : memref<?xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>``:
    consecutive elements."""

    name = "vector.maskedload"


class MaskedStoreOp(MaskedWriteOp):
    """``vector.maskedstore %m[%i], %mask, %v : memref<?xf32>, vector<8xi1>, vector<8xf32>``: consecutive elements."""

    name = "vector.maskedstore"


class ExpandLoadOp(MaskedReadOp):
    """``%v = vector.expandload %m[%i], %mask, %other : ...``: consecutive elements go to the lanes whose bit is set."""

    name = "vector.expandload"


class CompressStoreOp(MaskedWriteOp):
    """``vector.compressstore %m[%i], %mask, %v : ...``: the lanes whose bit is set go to consecutive elements."""

    name = "vector.compressstore"


class GatherOp(VectorMemoryOp):
    """``%v = vector.gather %m[%i] [%offsets], %mask, %other : memref<?xf32>, vector<8xi32>, vector<8xi1>,
    vector<8xf32> into vector<8xf32>``."""

    name = "vector.gather"

    T: ClassVar = VarConstraint("T", ANY_VECTOR)

    base: Operand = operand_def(MemRefType)
    indices: Operands = var_operand_def(INDEX)
    index_vec: Operand = operand_def(VectorType)
    mask: Operand = operand_def(VectorType)
    pass_thru: Operand = operand_def(T)
    result: Result = inferred_result_def(T)

    traits = traits_def(MemoryReadEffect())

    assembly_format = (
        "$base `[` $indices `]` `[` $index_vec `]` `,` $mask `,` $pass_thru attr-dict `:` type($base) `,` "
        "type($index_vec) `,` type($mask) `,` type($pass_thru) `into` type($result)"
    )

    def verify_(self) -> None:
        self.verify_access(self.base, self.indices, self.results[0].type, "result")
        self.verify_lanes(self.results[0].type, self.mask, "result", self.index_vec)


class ScatterOp(VectorMemoryOp):
    """``vector.scatter %m[%i] [%offsets], %mask, %v : memref<?xf32>, vector<8xi32>, vector<8xi1>, vector<8xf32>``:
    later lanes win."""

    name = "vector.scatter"

    base: Operand = operand_def(MemRefType)
    indices: Operands = var_operand_def(INDEX)
    index_vec: Operand = operand_def(VectorType)
    mask: Operand = operand_def(VectorType)
    value_to_store: Operand = operand_def(VectorType)

    traits = traits_def(MemoryWriteEffect())

    assembly_format = (
        "$base `[` $indices `]` `[` $index_vec `]` `,` $mask `,` $value_to_store attr-dict `:` type($base) `,` "
        "type($index_vec) `,` type($mask) `,` type($value_to_store)"
    )

    def verify_(self) -> None:
        self.verify_access(self.base, self.indices, self.value_to_store.type, "valueToStore")
        self.verify_lanes(self.value_to_store.type, self.mask, "valueToStore", self.index_vec)
