"""Barriers in shared memory (mbarrier), fences, and cluster synchronisation.

A barrier object is a buffer of one i64: `!ttg.memdesc<1xi64, #shared, #smem, mutable>`.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerAttr, UnitAttr, i1, i32, i64
from xdsl.ir import Attribute
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    ParsePropInAttrDict,
    operand_def,
    opt_attr_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    traits_def,
    var_operand_def,
)
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.construction import UNIT, Value, init_op, segment_sizes, value_of, values_of
from tilewright.dialects.tt.definition import bool_attr, i32_attr
from tilewright.dialects.ttg.constraints import MEMDESC, as_memdesc, op_definition
from tilewright.dialects.ttg.effects import READ, SHARED, WRITE, Touches

ORDERS_MEMORY = Touches(((READ, SHARED), (WRITE, SHARED)))


def check_barrier(type: Attribute) -> None:
    """VerifyException unless a type is that of a mutable barrier object."""
    barrier = as_memdesc(type)
    if barrier.element_type != i64 or barrier.num_elements != 1:
        raise VerifyException(f"a barrier must be a memdesc of one i64, got {barrier}")
    if not barrier.is_mutable:
        raise VerifyException("a barrier must be mutable")


@op_definition
class InitBarrierOp(IRDLOperation):
    """A barrier that completes a phase after `count` arrivals: `ttng.init_barrier %b, 1 : !ttg.memdesc<1xi64, ...>`."""

    name = "ttng.init_barrier"

    alloc = operand_def(MEMDESC)
    count = prop_def(IntegerAttr)

    assembly_format = "$alloc `,` custom<PlainInteger>($count) attr-dict `:` type($alloc)"
    traits = traits_def(Touches(((WRITE, SHARED),)))

    def __init__(self, alloc: Value, count: int):
        init_op(self, (value_of(alloc),), (), {"count": i32_attr(count)})

    def verify_(self) -> None:
        check_barrier(self.alloc.type)
        if self.count.value.data < 1:
            raise VerifyException("count must be greater than or equal to 1")


@op_definition
class InvalBarrierOp(IRDLOperation):
    """The end of a barrier, whose memory may then be used otherwise: `ttng.inval_barrier %b : !ttg.memdesc<1xi64,
    ...>`.
    """

    name = "ttng.inval_barrier"

    alloc = operand_def(MEMDESC)

    assembly_format = "$alloc attr-dict `:` type($alloc)"
    traits = traits_def(Touches(((WRITE, SHARED),)))

    def __init__(self, alloc: Value):
        init_op(self, (value_of(alloc),))

    def verify_(self) -> None:
        check_barrier(self.alloc.type)


@op_definition
class BarrierExpectOp(IRDLOperation):
    """An arrival that also expects `size` bytes of asynchronous copies: `ttng.barrier_expect %b, 8192, %pred : ...`."""

    name = "ttng.barrier_expect"

    alloc = operand_def(MEMDESC)
    size = prop_def(IntegerAttr)
    pred = operand_def(i1)

    assembly_format = "$alloc `,` custom<PlainInteger>($size) `,` $pred attr-dict `:` type($alloc)"
    traits = traits_def(Touches(((WRITE, SHARED),)))

    def __init__(self, alloc: Value, size: int, pred: Value):
        init_op(self, (value_of(alloc), value_of(pred)), (), {"size": i32_attr(size)})

    def verify_(self) -> None:
        check_barrier(self.alloc.type)
        if self.size.value.data < 0:
            raise VerifyException(f"size must not be negative, got {self.size.value.data}")


@op_definition
class WaitBarrierOp(IRDLOperation):
    """Waits until the phase of parity `phase` is complete; `deps` are the buffers whose contents that means.

    `ttng.wait_barrier %b, %phase, %pred deps %A : !ttg.memdesc<1xi64, ...>, !ttg.memdesc<64x64xf16, ...>`
    """

    name = "ttng.wait_barrier"

    alloc = operand_def(MEMDESC)
    phase = operand_def(i32)
    pred = opt_operand_def(i1)
    deps = var_operand_def(MEMDESC)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    assembly_format = "$alloc `,` $phase (`,` $pred^)? (`deps` $deps^)? attr-dict `:` type($alloc) (`,` type($deps)^)?"
    traits = traits_def(ORDERS_MEMORY)

    def __init__(self, alloc: Value, phase: Value, pred: Value | None = None, deps: Sequence[Value] = ()):
        operands = values_of([alloc, phase, *(() if pred is None else (pred,)), *deps])
        sizes = segment_sizes(1, 1, int(pred is not None), len(deps))
        init_op(self, operands, (), {"operandSegmentSizes": sizes})

    def verify_(self) -> None:
        check_barrier(self.alloc.type)


@op_definition
class ArriveBarrierOp(IRDLOperation):
    """Counts `count` arrivals, of the program once all its warps are there or, with `perWarp`, of each warp when it
    comes: `ttng.arrive_barrier %b, 1, %pred {perWarp} : !ttg.memdesc<1xi64, ...>`."""

    name = "ttng.arrive_barrier"

    alloc = operand_def(MEMDESC)
    count = prop_def(IntegerAttr)
    pred = opt_operand_def(i1)
    per_warp = opt_attr_def(UnitAttr, attr_name="perWarp")
    """Ours: an attribute, no property, so that official Triton reads the generic form and keeps it."""

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


@op_definition
class AsyncCopyMbarrierArriveOp(IRDLOperation):
    """Arrives once all `cp.async` copies of this thread so far are done: `ttng.async_copy_mbarrier_arrive %b : ...`."""

    name = "ttng.async_copy_mbarrier_arrive"

    barrier = operand_def(MEMDESC)
    no_increment = opt_prop_def(UnitAttr, prop_name="noIncrement")

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$barrier attr-dict `:` type($barrier)"
    traits = traits_def(ORDERS_MEMORY)

    def __init__(self, barrier: Value, *, no_increment: bool = False):
        init_op(self, (value_of(barrier),), (), {"noIncrement": UNIT} if no_increment else {})

    def verify_(self) -> None:
        check_barrier(self.barrier.type)


@op_definition
class FenceAsyncSharedOp(IRDLOperation):
    """Makes ordinary writes to shared memory visible to asynchronous units: `ttng.fence_async_shared {bCluster =
    false}`.
    """

    name = "ttng.fence_async_shared"

    b_cluster = prop_def(IntegerAttr, prop_name="bCluster")

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "attr-dict"
    traits = traits_def(ORDERS_MEMORY)

    def __init__(self, *, cluster: bool = False):
        init_op(self, (), (), {"bCluster": bool_attr(cluster)})


@op_definition
class ClusterArriveOp(IRDLOperation):
    """Arrives at the barrier of the cluster: `ttng.cluster_arrive {relaxed = false}`."""

    name = "ttng.cluster_arrive"

    relaxed = prop_def(IntegerAttr)

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "attr-dict"
    traits = traits_def(ORDERS_MEMORY)

    def __init__(self, *, relaxed: bool = False):
        init_op(self, (), (), {"relaxed": bool_attr(relaxed)})


@op_definition
class ClusterWaitOp(IRDLOperation):
    """Waits for all CTAs of the cluster: `ttng.cluster_wait`."""

    name = "ttng.cluster_wait"

    assembly_format = "attr-dict"
    traits = traits_def(ORDERS_MEMORY)

    def __init__(self) -> None:
        init_op(self)
