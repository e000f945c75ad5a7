"""Barriers in shared memory (mbarrier), fences, and cluster synchronisation.

A barrier object is a buffer of one i64: `!ttg.memdesc<1xi64, #shared, #smem, mutable>`.
"""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, UnitAttr, i1, i32, i64
from xdsl.ir import Attribute
from xdsl.irdl import AttrSizedOperandSegments, ParsePropInAttrDict, opt_attr_def, traits_def
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.construction import UNIT, Value, bool_attr, i32_attr, init_op, unit_if, values_of
from tilewright.dialects.fields import (
    Operand,
    Operands,
    OptionalOperand,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    var_operand_def,
)
from tilewright.dialects.ttg.constraints import MEMDESC, TritonGPUOp, as_memdesc
from tilewright.dialects.ttg.effects import READ, SHARED, WRITE, Touches
from tilewright.dialects.ttg.shared_encodings import find_shared_layout
from tilewright.layouts.shared import SwizzledSharedLayout

ORDERS_MEMORY = Touches(((READ, SHARED), (WRITE, SHARED)))


def check_barrier(type: Attribute) -> None:
    """VerifyException unless a type is that of a barrier object: one i64 in each CTA that has it, or in pairs of CTAs
    that share it. Triton's texts need not say that it is mutable."""
    barrier = as_memdesc(type)
    layout = find_shared_layout(barrier.encoding)
    bases = layout.cga if isinstance(layout, SwizzledSharedLayout) else ()
    owners = 1 << sum(any(basis) for basis in bases)
    if barrier.element_type != i64 or barrier.num_elements != owners:
        raise VerifyException(f"a barrier must be a memdesc of one i64, got {barrier}")


class InitBarrierOp(TritonGPUOp):
    """A barrier that completes a phase after `count` arrivals: `ttng.init_barrier %b, 1 : !ttg.memdesc<1xi64, ...>`."""

    name = "ttng.init_barrier"

    alloc: Operand = operand_def(MEMDESC)
    count: IntegerAttr = prop_def(IntegerAttr, converter=i32_attr)

    assembly_format = "$alloc `,` custom<PlainInteger>($count) attr-dict `:` type($alloc)"
    traits = traits_def(Touches(((WRITE, SHARED),)))

    def verify_(self) -> None:
        check_barrier(self.alloc.type)
        if self.count.value.data < 1:
            raise VerifyException("count must be greater than or equal to 1")


class InvalBarrierOp(TritonGPUOp):
    """The end of a barrier, whose memory may then be used otherwise: `ttng.inval_barrier %b : !ttg.memdesc<1xi64,
    ...>`.
    """

    name = "ttng.inval_barrier"

    alloc: Operand = operand_def(MEMDESC)

    assembly_format = "$alloc attr-dict `:` type($alloc)"
    traits = traits_def(Touches(((WRITE, SHARED),)))

    def verify_(self) -> None:
        check_barrier(self.alloc.type)


class BarrierExpectOp(TritonGPUOp):
    """An arrival that also expects `size` bytes of asynchronous copies: `ttng.barrier_expect %b, 8192, %pred : ...`.
    `fromCTA` says which CTAs of a cluster arrive for others."""

    name = "ttng.barrier_expect"

    alloc: Operand = operand_def(MEMDESC)
    size: IntegerAttr = prop_def(IntegerAttr, converter=i32_attr)
    pred: Operand = operand_def(i1)
    from_cta: IntegerAttr | None = opt_prop_def(IntegerAttr, prop_name="fromCTA", default=None, kw_only=True)

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$alloc `,` custom<PlainInteger>($size) attr-dict `,` $pred `:` type($alloc)"
    traits = traits_def(Touches(((WRITE, SHARED),)))

    def verify_(self) -> None:
        check_barrier(self.alloc.type)
        if self.size.value.data < 0:
            raise VerifyException(f"size must not be negative, got {self.size.value.data}")


class WaitBarrierOp(TritonGPUOp):
    """Waits until the phase of parity `phase` is complete; `deps` are the buffers whose contents that means.

    `ttng.wait_barrier %b, %phase, %pred deps %A : !ttg.memdesc<1xi64, ...>, !ttg.memdesc<64x64xf16, ...>`
    """

    name = "ttng.wait_barrier"

    alloc: Operand = operand_def(MEMDESC)
    phase: Operand = operand_def(i32)
    pred: OptionalOperand = opt_operand_def(i1, default=None)
    deps: Operands = var_operand_def(MEMDESC, default=())

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    assembly_format = "$alloc `,` $phase (`,` $pred^)? (`deps` $deps^)? attr-dict `:` type($alloc) (`,` type($deps)^)?"
    traits = traits_def(ORDERS_MEMORY)

    def verify_(self) -> None:
        check_barrier(self.alloc.type)


class ArriveBarrierOp(TritonGPUOp):
    """Counts `count` arrivals, of the program once all its warps are there or, with `perWarp`, of each warp when it
    comes: `ttng.arrive_barrier %b, 1, %pred {perWarp} : !ttg.memdesc<1xi64, ...>`."""

    name = "ttng.arrive_barrier"

    alloc: Operand = operand_def(MEMDESC)
    count: IntegerAttr = prop_def(IntegerAttr)
    pred: OptionalOperand = opt_operand_def(i1)
    per_warp = opt_attr_def(UnitAttr, attr_name="perWarp")
    """Ours: an attribute, no property, so that official Triton reads the generic form and keeps it."""
    from_cta: IntegerAttr | None = opt_prop_def(IntegerAttr, prop_name="fromCTA", default=None)

    irdl_options = (ParsePropInAttrDict(),)

    assembly_format = "$alloc `,` custom<PlainInteger>($count) (`,` $pred^)? attr-dict `:` type($alloc)"
    traits = traits_def(ORDERS_MEMORY)

    def __init__(self, alloc: Value, count: int, pred: Value | None = None, *, per_warp: bool = False):
        operands = values_of([alloc, *(() if pred is None else (pred,))])
        init_op(self, operands, (), {"count": i32_attr(count)})
        if per_warp:
            self.attributes["perWarp"] = UNIT

    def verify_(self) -> None:
        check_barrier(self.alloc.type)
        if self.count.value.data < 1:
            raise VerifyException("count must be greater than or equal to 1")


class AsyncCopyMbarrierArriveOp(TritonGPUOp):
    """Arrives once all `cp.async` copies of this thread so far are done: `ttng.async_copy_mbarrier_arrive %b : ...`."""

    name = "ttng.async_copy_mbarrier_arrive"

    barrier: Operand = operand_def(MEMDESC)
    no_increment: UnitAttr | None = opt_prop_def(UnitAttr, prop_name="noIncrement", converter=unit_if, default=False)

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$barrier attr-dict `:` type($barrier)"
    traits = traits_def(ORDERS_MEMORY)

    def verify_(self) -> None:
        check_barrier(self.barrier.type)


class FenceAsyncSharedOp(TritonGPUOp):
    """Makes ordinary writes to shared memory visible to asynchronous units: `ttng.fence_async_shared {bCluster =
    false}`.
    """

    name = "ttng.fence_async_shared"

    b_cluster: IntegerAttr = prop_def(
        IntegerAttr, prop_name="bCluster", converter=bool_attr, default=False, kw_only=True
    )

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "attr-dict"
    traits = traits_def(ORDERS_MEMORY)


class ClusterArriveOp(TritonGPUOp):
    """Arrives at the barrier of the cluster: `ttng.cluster_arrive {relaxed = false}`."""

    name = "ttng.cluster_arrive"

    relaxed: IntegerAttr = prop_def(IntegerAttr, converter=bool_attr, default=False, kw_only=True)

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "attr-dict"
    traits = traits_def(ORDERS_MEMORY)


class ClusterWaitOp(TritonGPUOp):
    """Waits for all CTAs of the cluster: `ttng.cluster_wait`."""

    name = "ttng.cluster_wait"

    assembly_format = "attr-dict"
    traits = traits_def(ORDERS_MEMORY)


class AwaitTurnOp(TritonGPUOp):
    """Ours: of the two warp groups of a program, the one that comes here waits, once `values` are there, for the other
    to pass the turn on: `ttng.await_turn after %max : tensor<128xf32, ...>`.
    """

    name = "ttng.await_turn"

    values: Operands = var_operand_def(default=())

    assembly_format = "(`after` $values^ `:` type($values))? attr-dict"
    traits = traits_def(ORDERS_MEMORY)


class PassTurnOp(TritonGPUOp):
    """Ours: passes the turn on to the other warp group once `values` are there: the first group always, the second only
    where `more` holds, or with `opens`, which gives the first group its first turn, the second group alone.

    `ttng.pass_turn %more after %p : tensor<128x128xf16, ...>`
    """

    name = "ttng.pass_turn"

    more: Operand = operand_def(i1)
    values: Operands = var_operand_def(default=())
    opens: UnitAttr | None = opt_prop_def(UnitAttr, converter=unit_if, default=False, kw_only=True)

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$more (`after` $values^ `:` type($values))? attr-dict"
    traits = traits_def(ORDERS_MEMORY)
