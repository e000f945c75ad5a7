"""Atomic reads, writes, read-modify-write and compare-and-swap, and waiting for a value."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerType, i64
from xdsl.ir import Attribute
from xdsl.irdl import IRDLOperation, operand_def, opt_operand_def, prop_def, result_def, traits_def
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.construction import Value, init_op, value_of
from tilewright.dialects.tt.constraints import CMP_POINTEE, MASK, POINTEE, POINTER, RESULT_POINTEE, MemberOf
from tilewright.dialects.tt.definition import i32_attr, op_definition
from tilewright.dialects.tt.enums import MemSemantic, MemSyncScope, RMWOp
from tilewright.dialects.tt.traits import ReadWriteEffect, SameOperandsAndResultEncoding, TensorSizeTrait, WriteEffect
from tilewright.dialects.tt.types import mask_like, pointee_like
from tilewright.dialects.types import element_type


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


@op_definition
class AtomicLoadOp(IRDLOperation):
    """The value behind each pointer whose mask bit is set, read as one indivisible step; other lanes are undefined.

    `%v = tt.atomic_load acquire, gpu, %p, %m : (tensor<16x!tt.ptr<i32>>, tensor<16xi1>) -> tensor<16xi32>`
    """

    name = "tt.atomic_load"

    ptr = operand_def(POINTER)
    mask = opt_operand_def(MASK)
    sem = prop_def(MemberOf(MemSemantic))
    scope = prop_def(MemberOf(MemSyncScope))
    result = result_def(RESULT_POINTEE)

    assembly_format = (
        "custom<MemSemantic>($sem) `,` custom<MemSyncScope>($scope) `,` $ptr (`,` $mask^)? attr-dict "
        "`:` functional-type(operands, results)"
    )
    # What follows an acquiring read stays after it, as it would after a write.
    traits = traits_def(ReadWriteEffect(), TensorSizeTrait(), SameOperandsAndResultEncoding())

    def __init__(
        self,
        ptr: Value,
        mask: Value | None = None,
        *,
        sem: MemSemantic | int | str = MemSemantic.ACQUIRE,
        scope: MemSyncScope | int | str = MemSyncScope.GPU,
    ):
        operands = [value_of(value) for value in (ptr, mask) if value is not None]
        init_op(self, operands, (pointee_like(operands[0].type),), _order(sem, scope))

    def verify_(self) -> None:
        _verify_order(self, self.sem, MemSemantic.ACQUIRE)


@op_definition
class AtomicStoreOp(IRDLOperation):
    """A value written behind each pointer whose mask bit is set, as one indivisible step.

    `tt.atomic_store release, gpu, %p, %v, %m : tensor<16x!tt.ptr<i32>>`
    """

    name = "tt.atomic_store"

    ptr = operand_def(POINTER)
    value = operand_def(POINTEE)
    mask = opt_operand_def(MASK)
    sem = prop_def(MemberOf(MemSemantic))
    scope = prop_def(MemberOf(MemSyncScope))

    assembly_format = (
        "custom<MemSemantic>($sem) `,` custom<MemSyncScope>($scope) `,` $ptr `,` $value (`,` $mask^)? attr-dict "
        "`:` type($ptr)"
    )
    traits = traits_def(WriteEffect(), TensorSizeTrait(), SameOperandsAndResultEncoding())

    def __init__(
        self,
        ptr: Value,
        value: Value,
        mask: Value | None = None,
        *,
        sem: MemSemantic | int | str = MemSemantic.RELEASE,
        scope: MemSyncScope | int | str = MemSyncScope.GPU,
    ):
        operands = [value_of(value) for value in (ptr, value, mask) if value is not None]
        init_op(self, operands, (), _order(sem, scope))

    def verify_(self) -> None:
        _verify_order(self, self.sem, MemSemantic.RELEASE)


@op_definition
class AtomicPollOp(IRDLOperation):
    """Waits until the integer behind each pointer equals what is expected there, at most `timeout` nanoseconds for all
    of them together; tells for each whether it does. Each is read once at least.

    `%ok = tt.atomic_poll acquire, gpu, %p, %e timeout %t : !tt.ptr<i32>, i32 -> i1`
    """

    name = "tt.atomic_poll"

    ptr = operand_def(POINTER)
    expected = operand_def(POINTEE)
    timeout = opt_operand_def(i64)
    sem = prop_def(MemberOf(MemSemantic))
    scope = prop_def(MemberOf(MemSyncScope))
    result = result_def(MASK)

    assembly_format = (
        "custom<MemSemantic>($sem) `,` custom<MemSyncScope>($scope) `,` $ptr `,` $expected (`timeout` $timeout^)? "
        "attr-dict `:` type($ptr) `,` type($expected) `->` type($result)"
    )
    traits = traits_def(ReadWriteEffect(), TensorSizeTrait(), SameOperandsAndResultEncoding())

    def __init__(
        self,
        ptr: Value,
        expected: Value,
        timeout: Value | None = None,
        *,
        sem: MemSemantic | int | str = MemSemantic.ACQUIRE,
        scope: MemSyncScope | int | str = MemSyncScope.GPU,
    ):
        operands = [value_of(value) for value in (ptr, expected, timeout) if value is not None]
        init_op(self, operands, (mask_like(operands[0].type),), _order(sem, scope))

    def verify_(self) -> None:
        _verify_order(self, self.sem, MemSemantic.ACQUIRE)
        if not isinstance(element_type(self.expected.type), IntegerType):
            raise VerifyException(f"tt.atomic_poll waits for integers, not for {self.expected.type}")


def _order(sem: MemSemantic | int | str, scope: MemSyncScope | int | str) -> dict[str, Attribute]:
    return {"scope": i32_attr(MemSyncScope.get(scope)), "sem": i32_attr(MemSemantic.get(sem))}


def _verify_order(op: IRDLOperation, sem: Attribute, ordered: MemSemantic) -> None:
    if MemSemantic.of(sem) not in (MemSemantic.RELAXED, ordered):
        raise VerifyException(f"{op.name} only supports {ordered.keyword} and relaxed semantics")
