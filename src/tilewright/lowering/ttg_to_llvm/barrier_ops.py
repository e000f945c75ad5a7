"""Barriers in shared memory (`mbarrier`), the fence between ordinary and asynchronous accesses, cluster barriers.

A barrier is worked on by one thread of the CTA; all threads wait on it.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from tilewright.dialects import ttng
from tilewright.lowering.ttg_to_llvm.function_lowering import FunctionLowering, lowers


def _in_one_thread(fn: FunctionLowering, predicate: SSAValue | None) -> str | None:
    """An i1 that holds in one thread, and there only if the op's predicate does."""
    return fn.both(fn.first_thread(), None if predicate is None else fn.scalar(predicate))


@lowers(ttng.InitBarrierOp)
def lower_init_barrier(op: ttng.InitBarrierOp, fn: FunctionLowering) -> None:
    fn.leaf.init_barrier(fn.text, fn.shared(op.alloc).base, op.count.value.data, _in_one_thread(fn, None))


@lowers(ttng.InvalBarrierOp)
def lower_inval_barrier(op: ttng.InvalBarrierOp, fn: FunctionLowering) -> None:
    fn.leaf.invalidate_barrier(fn.text, fn.shared(op.alloc).base, _in_one_thread(fn, None))


@lowers(ttng.BarrierExpectOp)
def lower_barrier_expect(op: ttng.BarrierExpectOp, fn: FunctionLowering) -> None:
    fn.leaf.expect_bytes(fn.text, fn.shared(op.alloc).base, op.size.value.data, _in_one_thread(fn, op.pred))


@lowers(ttng.ArriveBarrierOp)
def lower_arrive_barrier(op: ttng.ArriveBarrierOp, fn: FunctionLowering) -> None:
    if op.per_warp is None:
        thread = _in_one_thread(fn, op.pred)
    else:
        fn.leaf.warp_barrier(fn.text)
        thread = fn.both(fn.first_lane(), None if op.pred is None else fn.scalar(op.pred))
    fn.leaf.arrive(fn.text, fn.shared(op.alloc).base, op.count.value.data, thread)


@lowers(ttng.WaitBarrierOp)
def lower_wait_barrier(op: ttng.WaitBarrierOp, fn: FunctionLowering) -> None:
    predicate = fn.both(None if op.pred is None else fn.scalar(op.pred))
    fn.leaf.wait_barrier(fn.text, fn.shared(op.alloc).base, fn.scalar(op.phase), predicate)


@lowers(ttng.AsyncCopyMbarrierArriveOp)
def lower_async_copy_arrive(op: ttng.AsyncCopyMbarrierArriveOp, fn: FunctionLowering) -> None:
    counted = op.no_increment is not None
    fn.leaf.arrive_after_copies(fn.text, fn.shared(op.barrier).base, counted=counted)


@lowers(ttng.FenceAsyncSharedOp)
def lower_fence_async_shared(op: ttng.FenceAsyncSharedOp, fn: FunctionLowering) -> None:
    fn.leaf.fence_async_shared(fn.text, cluster=bool(op.b_cluster.value.data))


@lowers(ttng.ClusterArriveOp)
def lower_cluster_arrive(op: ttng.ClusterArriveOp, fn: FunctionLowering) -> None:
    fn.leaf.cluster_arrive(fn.text, relaxed=bool(op.relaxed.value.data))


@lowers(ttng.ClusterWaitOp)
def lower_cluster_wait(op: ttng.ClusterWaitOp, fn: FunctionLowering) -> None:
    fn.leaf.cluster_wait(fn.text)
