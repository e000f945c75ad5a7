"""Reading and writing elements of buffers, one at a time, atomically, or all at once."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from xdsl.dialects.builtin import DYNAMIC_INDEX, BoolAttr, IntegerAttr, MemRefType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import AnyAttr, ParsePropInAttrDict, VarConstraint, traits_def
from xdsl.irdl.declarative_assembly_format import AttributeVariable, irdl_custom_directive
from xdsl.traits import (
    EffectInstance,
    IsTerminator,
    MemoryEffect,
    MemoryEffectKind,
    MemoryReadEffect,
    MemoryWriteEffect,
    Pure,
)
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.assembly import EnumKeyword
from tilewright.dialects.construction import int_attr
from tilewright.dialects.definition import Op
from tilewright.dialects.fields import (
    Body,
    Operand,
    Operands,
    Result,
    inferred_result_def,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    var_operand_def,
)
from tilewright.dialects.memref.allocation import AllocationOp
from tilewright.dialects.memref.atomic_kind import AtomicRMWKind
from tilewright.dialects.shaped import ExtentOp
from tilewright.dialects.slices import SlicingOp
from tilewright.dialects.types import (
    ANY_MEMREF,
    I64_ATTR,
    INDEX,
    as_memref,
    element_type,
    is_float,
    shape_of,
    shapes_agree,
)
from tilewright.support.records import dataclass

NOT_NONTEMPORAL = BoolAttr.from_bool(False)


_LOADED = "incorrect number of indices for load, expected {expected} but got {count}"
_STORED = "store index operand count not equal to memref rank"
_SUBSCRIPTS = "expects the number of subscripts to be equal to memref rank"


def _verify_index_count(type_: Attribute, count: int, reason: str) -> None:
    """`reason` may name the rank, as `{expected}`, and the number of indices, as `{count}`."""
    if (expected := as_memref(type_).get_num_dims()) != count:
        raise VerifyException(reason.format(expected=expected, count=count))


def _element_of(memref: SSAValue) -> Attribute:
    return as_memref(memref.type).element_type


VOLATILE = "tilewright.volatile"


@dataclass(frozen=True)
class LoadEffect(MemoryEffect):
    """Reads memory; a volatile access also counts as a write, so that it is never removed or merged."""

    @classmethod
    def get_effects(cls, op: Operation) -> set[EffectInstance]:
        return {_READ, _WRITE} if VOLATILE in op.attributes else {_READ}


_READ, _WRITE = EffectInstance(MemoryEffectKind.READ), EffectInstance(MemoryEffectKind.WRITE)


class LoadOp(Op):
    """``%x = memref.load %m[%i, %j] : memref<4x8xf32>``.

    With the unit attribute `tilewright.volatile` it is performed as often as it is written: others may be changing the
    element.
    """

    name = "memref.load"

    T: ClassVar = VarConstraint("T", AnyAttr())

    memref: Operand = operand_def(MemRefType.constr(T))
    indices: Operands = var_operand_def(INDEX, default=())
    result: Result = inferred_result_def(T, of="memref", by=element_type)
    nontemporal: BoolAttr = opt_prop_def(BoolAttr, NOT_NONTEMPORAL, default=False, converter=BoolAttr.from_bool)

    irdl_options = (ParsePropInAttrDict(),)

    traits = traits_def(LoadEffect())

    assembly_format = "$memref `[` $indices `]` attr-dict `:` type($memref)"

    def verify_(self) -> None:
        _verify_index_count(self.operands[0].type, len(self.operands) - 1, _LOADED)


class StoreOp(Op):
    """``memref.store %x, %m[%i, %j] : memref<4x8xf32>``."""

    name = "memref.store"

    T: ClassVar = VarConstraint("T", AnyAttr())

    value: Operand = operand_def(T)
    memref: Operand = operand_def(MemRefType.constr(T))
    indices: Operands = var_operand_def(INDEX, default=())
    nontemporal: BoolAttr = opt_prop_def(BoolAttr, NOT_NONTEMPORAL, default=False, converter=BoolAttr.from_bool)

    irdl_options = (ParsePropInAttrDict(),)

    traits = traits_def(MemoryWriteEffect())

    assembly_format = "$value `,` $memref `[` $indices `]` attr-dict `:` type($memref)"

    def verify_(self) -> None:
        _verify_index_count(self.operands[1].type, len(self.operands) - 2, _STORED)


class CopyOp(Op):
    """``memref.copy %a, %b : memref<4xf32, strided<[2]>> to memref<4xf32>``: all elements; undefined when the buffers
    overlap."""

    name = "memref.copy"

    source: Operand = operand_def(ANY_MEMREF)
    target: Operand = operand_def(ANY_MEMREF)

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    assembly_format = "$source `,` $target attr-dict `:` type($source) `to` type($target)"

    def verify_(self) -> None:
        source, target = self.operands[0].type, self.operands[1].type
        source_shape, target_shape = shape_of(source), shape_of(target)
        if element_type(source) != element_type(target):
            raise VerifyException("requires the same element type for all operands")
        if source_shape is not None and target_shape is not None and not shapes_agree(source_shape, target_shape):
            raise VerifyException("requires the same shape for all operands")


SOURCE = replace(ANY_MEMREF, kinds=())
"""A memref, of which upstream's parser does not know that it must be one."""


class DimOp(ExtentOp):
    """``%n = memref.dim %m, %c0 : memref<?xf32>``: an extent."""

    name = "memref.dim"

    source: Operand = operand_def(SOURCE)

    def find_extent(self, dim: int) -> int | SSAValue | None:
        """Return a size of the allocation, or of the view of full rank, that the buffer is."""
        source = self.operands[0]
        shape = shape_of(source.type) or ()
        match source.owner:
            case AllocationOp() as op:
                return op.dynamic_sizes[shape[:dim].count(DYNAMIC_INDEX)]
            case SlicingOp() as op if len(sizes := op.mixed_sizes) == len(shape):
                return sizes[dim]
            case _:
                return None


@irdl_custom_directive
class AtomicKindKeyword(EnumKeyword):
    """``addf`` for ``0 : i64``."""

    attribute: AttributeVariable
    keywords = tuple(kind.name.lower() for kind in AtomicRMWKind)


def atomic_kind_attr(kind: AtomicRMWKind | int | str) -> IntegerAttr:
    """The attribute of a kind, by member, integer or keyword."""
    return int_attr(int(AtomicRMWKind[kind.upper()] if isinstance(kind, str) else kind))


class AtomicRMWOp(Op):
    """``%old = memref.atomic_rmw addf %x, %m[%i] : (f32, memref<4xf32>) -> f32``: combine into an element as one
    indivisible step."""

    name = "memref.atomic_rmw"

    T: ClassVar = VarConstraint("T", AnyAttr())

    value: Operand = operand_def(T)
    memref: Operand = operand_def(MemRefType)
    indices: Operands = var_operand_def(INDEX)
    kind: IntegerAttr = prop_def(I64_ATTR, converter=atomic_kind_attr)
    result: Result = inferred_result_def(T)

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    custom_directives = (AtomicKindKeyword,)
    assembly_format = (
        "custom<AtomicKindKeyword>($kind) $value `,` $memref `[` $indices `]` attr-dict "
        "`:` `(` type($value) `,` type($memref) `)` `->` type($result)"
    )

    @property
    def combination(self) -> AtomicRMWKind:
        """The kind as an enum member."""
        return AtomicRMWKind(self.kind.value.data)

    def verify_(self) -> None:
        if self.value.type != _element_of(self.memref):
            raise VerifyException("failed to verify that value type matches element type of memref")
        _verify_index_count(self.operands[1].type, len(self.operands) - 2, _SUBSCRIPTS)
        if not 0 <= self.kind.value.data < len(AtomicRMWKind):
            raise VerifyException(f"unknown kind {self.kind.value.data}")
        kind = self.combination
        if kind is not AtomicRMWKind.ASSIGN and kind.is_float != is_float(self.value.type):
            number = "a floating-point" if kind.is_float else "an integer"
            raise VerifyException(f"with kind '{kind.name.lower()}' expects {number} type")


class AtomicYieldOp(Op):
    """``memref.atomic_yield %x : f32``: the new value of the element."""

    name = "memref.atomic_yield"

    result: Operand = operand_def()

    traits = traits_def(IsTerminator(), Pure())

    assembly_format = "$result attr-dict `:` type($result)"


class GenericAtomicRMWOp(Op):
    """``%old = memref.generic_atomic_rmw %m[%i] : memref<4xf32> { ^bb0(%current: f32): ... memref.atomic_yield %new :
    f32 }``."""

    name = "memref.generic_atomic_rmw"

    T: ClassVar = VarConstraint("T", AnyAttr())

    memref: Operand = operand_def(MemRefType.constr(T))
    indices: Operands = var_operand_def(INDEX)
    result: Result = inferred_result_def(T, of="memref", by=element_type)
    atomic_body: Body = region_def("single_block")

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    assembly_format = "$memref `[` $indices `]` `:` type($memref) $atomic_body attr-dict"

    def verify_(self) -> None:
        element = _element_of(self.operands[0])
        _verify_index_count(self.operands[0].type, len(self.operands) - 1, _SUBSCRIPTS)
        block = self.atomic_body.block
        if [argument.type for argument in block.args] != [element] or self.results[0].type != element:
            raise VerifyException("expected block argument of the same type result type")
        terminator = block.last_op
        if not isinstance(terminator, AtomicYieldOp) or terminator.operands[0].type != element:
            raise VerifyException(f"the body must end in 'memref.atomic_yield' of a {element}")
