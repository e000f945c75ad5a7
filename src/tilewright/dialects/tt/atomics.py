"""Atomic reads, writes, read-modify-write and compare-and-swap, and waiting for a value."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, IntegerType, i64
from xdsl.ir import Attribute
from xdsl.irdl import IRDLOperation, traits_def
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.fields import (
    Operand,
    OptionalOperand,
    Result,
    inferred_result_def,
    operand_def,
    opt_operand_def,
    prop_def,
)
from tilewright.dialects.tt.constraints import CMP_POINTEE, MASK, POINTEE, POINTER, RESULT_POINTEE, MemberOf
from tilewright.dialects.tt.definition import TritonOp
from tilewright.dialects.tt.enums import MemSemantic, MemSyncScope, RMWOp
from tilewright.dialects.tt.traits import ReadWriteEffect, SameOperandsAndResultEncoding, TensorSizeTrait, WriteEffect
from tilewright.dialects.types import element_type


class AtomicRMWOp(TritonOp):
    """Combine each value in memory with an operand, as one indivisible step; gives the old values.
    Masked-off lanes touch no memory and their results are undefined.

    `%o = tt.atomic_rmw fadd, acq_rel, gpu, %p, %v, %m :
    (tensor<16x!tt.ptr<f32>>, tensor<16xf32>, tensor<16xi1>) -> tensor<16xf32>`
    """

    name = "tt.atomic_rmw"

    atomic_rmw_op: IntegerAttr = prop_def(MemberOf(RMWOp), converter=RMWOp.attr, kw_only=True)
    ptr: Operand = operand_def(POINTER)
    val: Operand = operand_def(POINTEE)
    mask: OptionalOperand = opt_operand_def(MASK, default=None)
    sem: IntegerAttr = prop_def(
        MemberOf(MemSemantic), converter=MemSemantic.attr, default=MemSemantic.ACQ_REL, kw_only=True
    )
    scope: IntegerAttr = prop_def(
        MemberOf(MemSyncScope), converter=MemSyncScope.attr, default=MemSyncScope.GPU, kw_only=True
    )
    result: Result = inferred_result_def(RESULT_POINTEE)

    assembly_format = (
        "custom<RMWOp>($atomic_rmw_op) `,` custom<MemSemantic>($sem) `,` custom<MemSyncScope>($scope) `,` "
        "$ptr `,` $val (`,` $mask^)? attr-dict `:` functional-type(operands, results)"
    )
    traits = traits_def(ReadWriteEffect(), TensorSizeTrait(), SameOperandsAndResultEncoding())


class AtomicCASOp(TritonOp):
    """Replace each value in memory by `val` where it equals `cmp`, as one indivisible step; gives the
    old values.

    `%o = tt.atomic_cas acquire, sys, %p, %cmp, %val : (!tt.ptr<i32>, i32, i32) -> i32`
    """

    name = "tt.atomic_cas"

    ptr: Operand = operand_def(POINTER)
    cmp: Operand = operand_def(CMP_POINTEE)
    val: Operand = operand_def(POINTEE)
    sem: IntegerAttr = prop_def(
        MemberOf(MemSemantic), converter=MemSemantic.attr, default=MemSemantic.ACQ_REL, kw_only=True
    )
    scope: IntegerAttr = prop_def(
        MemberOf(MemSyncScope), converter=MemSyncScope.attr, default=MemSyncScope.GPU, kw_only=True
    )
    result: Result = inferred_result_def(RESULT_POINTEE)

    assembly_format = (
        "custom<MemSemantic>($sem) `,` custom<MemSyncScope>($scope) `,` $ptr `,` $cmp `,` $val "
        "attr-dict `:` functional-type(operands, results)"
    )
    traits = traits_def(ReadWriteEffect(), TensorSizeTrait(), SameOperandsAndResultEncoding())


class AtomicLoadOp(TritonOp):
    """Read each value in memory whose mask bit is set, as one indivisible step; other lanes are undefined.

    `%v = tt.atomic_load acquire, gpu, %p, %m : (tensor<16x!tt.ptr<i32>>, tensor<16xi1>) -> tensor<16xi32>`
    """

    name = "tt.atomic_load"

    ptr: Operand = operand_def(POINTER)
    mask: OptionalOperand = opt_operand_def(MASK, default=None)
    sem: IntegerAttr = prop_def(
        MemberOf(MemSemantic), converter=MemSemantic.attr, default=MemSemantic.ACQUIRE, kw_only=True
    )
    scope: IntegerAttr = prop_def(
        MemberOf(MemSyncScope), converter=MemSyncScope.attr, default=MemSyncScope.GPU, kw_only=True
    )
    result: Result = inferred_result_def(RESULT_POINTEE)

    assembly_format = (
        "custom<MemSemantic>($sem) `,` custom<MemSyncScope>($scope) `,` $ptr (`,` $mask^)? attr-dict "
        "`:` functional-type(operands, results)"
    )
    # What follows an acquiring read stays after it, as it would after a write.
    traits = traits_def(ReadWriteEffect(), TensorSizeTrait(), SameOperandsAndResultEncoding())

    def verify_(self) -> None:
        _verify_order(self, self.sem, MemSemantic.ACQUIRE)


class AtomicStoreOp(TritonOp):
    """Write each value whose mask bit is set to memory, as one indivisible step.

    `tt.atomic_store release, gpu, %p, %v, %m : tensor<16x!tt.ptr<i32>>`
    """

    name = "tt.atomic_store"

    ptr: Operand = operand_def(POINTER)
    value: Operand = operand_def(POINTEE)
    mask: OptionalOperand = opt_operand_def(MASK, default=None)
    sem: IntegerAttr = prop_def(
        MemberOf(MemSemantic), converter=MemSemantic.attr, default=MemSemantic.RELEASE, kw_only=True
    )
    scope: IntegerAttr = prop_def(
        MemberOf(MemSyncScope), converter=MemSyncScope.attr, default=MemSyncScope.GPU, kw_only=True
    )

    assembly_format = (
        "custom<MemSemantic>($sem) `,` custom<MemSyncScope>($scope) `,` $ptr `,` $value (`,` $mask^)? attr-dict "
        "`:` type($ptr)"
    )
    traits = traits_def(WriteEffect(), TensorSizeTrait(), SameOperandsAndResultEncoding())

    def verify_(self) -> None:
        _verify_order(self, self.sem, MemSemantic.RELEASE)


class AtomicPollOp(TritonOp):
    """Wait until each integer in memory equals what is expected there, at most `timeout` nanoseconds for all
    of them together; tells for each whether it does. Each is read once at least.

    `%ok = tt.atomic_poll acquire, gpu, %p, %e timeout %t : !tt.ptr<i32>, i32 -> i1`
    """

    name = "tt.atomic_poll"

    ptr: Operand = operand_def(POINTER)
    expected: Operand = operand_def(POINTEE)
    timeout: OptionalOperand = opt_operand_def(i64, default=None)
    sem: IntegerAttr = prop_def(
        MemberOf(MemSemantic), converter=MemSemantic.attr, default=MemSemantic.ACQUIRE, kw_only=True
    )
    scope: IntegerAttr = prop_def(
        MemberOf(MemSyncScope), converter=MemSyncScope.attr, default=MemSyncScope.GPU, kw_only=True
    )
    result: Result = inferred_result_def(MASK)

    assembly_format = (
        "custom<MemSemantic>($sem) `,` custom<MemSyncScope>($scope) `,` $ptr `,` $expected (`timeout` $timeout^)? "
        "attr-dict `:` type($ptr) `,` type($expected) `->` type($result)"
    )
    traits = traits_def(ReadWriteEffect(), TensorSizeTrait(), SameOperandsAndResultEncoding())

    def verify_(self) -> None:
        _verify_order(self, self.sem, MemSemantic.ACQUIRE)
        if not isinstance(element_type(self.expected.type), IntegerType):
            raise VerifyException(f"tt.atomic_poll waits for integers, not for {self.expected.type}")


def _verify_order(op: IRDLOperation, sem: Attribute, ordered: MemSemantic) -> None:
    if MemSemantic.of(sem) not in (MemSemantic.RELAXED, ordered):
        raise VerifyException(f"{op.name} only supports {ordered.keyword} and relaxed semantics")
