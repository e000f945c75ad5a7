"""Atomics on a base and element offsets: what `tt.atomic_rmw` and `tt.atomic_cas` become in triton-to-unstructured.

Every lane performs one atomic access, in no particular order between lanes.
"""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import Attribute
from xdsl.irdl import IRDLOperation, traits_def
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.construction import i32_attr
from tilewright.dialects.fields import (
    Operand,
    OptionalOperand,
    Result,
    inferred_result_def,
    operand_def,
    opt_operand_def,
    prop_def,
)
from tilewright.dialects.tt.constraints import MemberOf
from tilewright.dialects.tt.definition import TritonOp
from tilewright.dialects.tt.enums import MemSemantic, MemSyncScope, RMWOp
from tilewright.dialects.tt.traits import ReadWriteEffect
from tilewright.dialects.tt.types import PointerType, shape_of
from tilewright.dialects.types import bool_like, element_type


def _check_access(op: IRDLOperation, base: Attribute, offset: Attribute, value: Attribute) -> None:
    if not isinstance(base, PointerType) or base.pointee_type != element_type(value):
        raise VerifyException(f"{op.name}: base {base} does not point to elements of {value}")
    if shape_of(offset) != shape_of(value):
        raise VerifyException(f"{op.name}: offsets {offset} and values {value} differ in shape")


class AtomicRMWOp(TritonOp):
    """Read-modify-write of `base[offset]`, lane by lane; yields the old contents.

    ```mlir
    %old = "tts.atomic_rmw"(%base, %off, %v, %m) <{atomic_rmw_op = 5 : i32, sem = 4 : i32, scope = 1 : i32}>
           : (!tt.ptr<f32>, tensor<64xi32>, tensor<64xf32>, tensor<64xi1>) -> tensor<64xf32>
    ```
    `offset` counts elements from `base` (i32 or i64, sign-extended), one for each lane; scalars for a scalar access.
    The enumerations are those of `tt.atomic_rmw` (RMWOp, MemSemantic, MemSyncScope). A lane whose mask is false
    touches no memory and yields zero.
    """

    name = "tts.atomic_rmw"

    base: Operand = operand_def(PointerType)
    offset: Operand = operand_def()
    value: Operand = operand_def()
    mask: OptionalOperand = opt_operand_def(default=None)
    atomic_rmw_op: IntegerAttr = prop_def(MemberOf(RMWOp), converter=i32_attr, kw_only=True)
    sem: IntegerAttr = prop_def(MemberOf(MemSemantic), converter=i32_attr, default=MemSemantic.ACQ_REL, kw_only=True)
    scope: IntegerAttr = prop_def(MemberOf(MemSyncScope), converter=i32_attr, default=MemSyncScope.GPU, kw_only=True)
    result: Result = inferred_result_def(of="value")

    traits = traits_def(ReadWriteEffect())

    def verify_(self) -> None:
        _check_access(self, self.base.type, self.offset.type, self.value.type)
        if self.result.type != self.value.type:
            raise VerifyException(f"tts.atomic_rmw of {self.value.type} yields the same type, not {self.result.type}")
        if self.mask is not None and self.mask.type != bool_like(self.value.type):
            raise VerifyException(f"tts.atomic_rmw: mask is {self.mask.type}, expected {bool_like(self.value.type)}")


class AtomicCASOp(TritonOp):
    """Compare-and-swap of `base[offset]`, lane by lane: writes `value` where the contents equal `cmp` bit by bit;
    yields the old contents.

    ```mlir
    %old = "tts.atomic_cas"(%base, %off, %cmp, %v) <{sem = 4 : i32, scope = 1 : i32}>
           : (!tt.ptr<i32>, i32, i32, i32) -> i32
    ```
    """

    name = "tts.atomic_cas"

    base: Operand = operand_def(PointerType)
    offset: Operand = operand_def()
    cmp: Operand = operand_def()
    value: Operand = operand_def()
    sem: IntegerAttr = prop_def(MemberOf(MemSemantic), converter=i32_attr, default=MemSemantic.ACQ_REL, kw_only=True)
    scope: IntegerAttr = prop_def(MemberOf(MemSyncScope), converter=i32_attr, default=MemSyncScope.GPU, kw_only=True)
    result: Result = inferred_result_def(of="value")

    traits = traits_def(ReadWriteEffect())

    def verify_(self) -> None:
        _check_access(self, self.base.type, self.offset.type, self.value.type)
        if self.cmp.type != self.value.type or self.result.type != self.value.type:
            raise VerifyException(f"tts.atomic_cas: compared, stored and returned values are all {self.value.type}")


class NanosecondsOp(TritonOp):
    """Nanoseconds that a clock shows which never goes back: `%t = "tts.nanoseconds"() : () -> i64`. Its readings keep
    their order among accesses to memory."""

    name = "tts.nanoseconds"

    result: Result = inferred_result_def(i64)

    traits = traits_def(ReadWriteEffect())
