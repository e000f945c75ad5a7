"""Atomic read-modify-write and compare-and-swap."""

from __future__ import annotations

from xdsl.irdl import IRDLOperation, operand_def, opt_operand_def, prop_def, result_def, traits_def

from tilewright.dialects.construction import Value, init_op, value_of
from tilewright.dialects.tt.constraints import CMP_POINTEE, MASK, POINTEE, POINTER, RESULT_POINTEE, MemberOf
from tilewright.dialects.tt.definition import i32_attr, op_definition
from tilewright.dialects.tt.enums import MemSemantic, MemSyncScope, RMWOp
from tilewright.dialects.tt.traits import ReadWriteEffect, SameOperandsAndResultEncoding, TensorSizeTrait
from tilewright.dialects.tt.types import pointee_like


@op_definition
class AtomicRMWOp(IRDLOperation):
    """Each value behind a pointer combined with an operand, as one indivisible step; gives the old values.
    Masked-off lanes touch no memory and their results are undefined.

    `%o = tt.atomic_rmw fadd, acq_rel, gpu, %p, %v, %m :
    (tensor<16x!tt.ptr<f32>>, tensor<16xf32>, tensor<16xi1>) -> tensor<16xf32>`
    """

    name = "tt.atomic_rmw"

    atomic_rmw_op = prop_def(MemberOf(RMWOp))
    ptr = operand_def(POINTER)
    val = operand_def(POINTEE)
    mask = opt_operand_def(MASK)
    sem = prop_def(MemberOf(MemSemantic))
    scope = prop_def(MemberOf(MemSyncScope))
    result = result_def(RESULT_POINTEE)

    assembly_format = (
        "custom<RMWOp>($atomic_rmw_op) `,` custom<MemSemantic>($sem) `,` custom<MemSyncScope>($scope) `,` "
        "$ptr `,` $val (`,` $mask^)? attr-dict `:` functional-type(operands, results)"
    )
    traits = traits_def(ReadWriteEffect(), TensorSizeTrait(), SameOperandsAndResultEncoding())

    def __init__(
        self,
        ptr: Value,
        val: Value,
        mask: Value | None = None,
        *,
        atomic_rmw_op: RMWOp | int | str,
        sem: MemSemantic | int | str = MemSemantic.ACQ_REL,
        scope: MemSyncScope | int | str = MemSyncScope.GPU,
    ):
        operands = [value_of(ptr), value_of(val)]
        if mask is not None:
            operands.append(value_of(mask))
        init_op(
            self,
            operands,
            (pointee_like(operands[0].type),),
            {
                "atomic_rmw_op": i32_attr(RMWOp.get(atomic_rmw_op)),
                "scope": i32_attr(MemSyncScope.get(scope)),
                "sem": i32_attr(MemSemantic.get(sem)),
            },
        )


@op_definition
class AtomicCASOp(IRDLOperation):
    """Each value behind a pointer replaced by `val` where it equals `cmp`, as one indivisible step; gives the
    old values.

    `%o = tt.atomic_cas acquire, sys, %p, %cmp, %val : (!tt.ptr<i32>, i32, i32) -> i32`
    """

    name = "tt.atomic_cas"

    ptr = operand_def(POINTER)
    cmp = operand_def(CMP_POINTEE)
    val = operand_def(POINTEE)
    sem = prop_def(MemberOf(MemSemantic))
    scope = prop_def(MemberOf(MemSyncScope))
    result = result_def(RESULT_POINTEE)

    assembly_format = (
        "custom<MemSemantic>($sem) `,` custom<MemSyncScope>($scope) `,` $ptr `,` $cmp `,` $val "
        "attr-dict `:` functional-type(operands, results)"
    )
    traits = traits_def(ReadWriteEffect(), TensorSizeTrait(), SameOperandsAndResultEncoding())

    def __init__(
        self,
        ptr: Value,
        cmp: Value,
        val: Value,
        *,
        sem: MemSemantic | int | str = MemSemantic.ACQ_REL,
        scope: MemSyncScope | int | str = MemSyncScope.GPU,
    ):
        pointer = value_of(ptr)
        init_op(
            self,
            (pointer, value_of(cmp), value_of(val)),
            (pointee_like(pointer.type),),
            {"scope": i32_attr(MemSyncScope.get(scope)), "sem": i32_attr(MemSemantic.get(sem))},
        )
