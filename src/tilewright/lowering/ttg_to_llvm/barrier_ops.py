"""Barriers in shared memory (`mbarrier`), the fence between ordinary and asynchronous accesses, cluster barriers.

A barrier is worked on by one thread of the CTA; all threads wait on it.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import SSAValue

from tilewright.dialects import ttng
from tilewright.dialects.ttg.verification import DEFAULT_THREADS_PER_WARP as THREADS_PER_WARP
from tilewright.dialects.types import element_type
from tilewright.ir.diagnostics import op_error
from tilewright.lowering.ttg_to_llvm.function_lowering import PASS_NAME, FunctionLowering, lowers
from tilewright.lowering.ttg_to_llvm.types import element_of
from tilewright.lowering.ttg_to_llvm.words import pack_words


def _in_one_thread(fn: FunctionLowering, predicate: SSAValue | None) -> str | None:
    """An i1 that holds in one thread, and there only if the op's predicate does."""
    return fn.both(fn.first_thread(), None if predicate is None else fn.scalar(predicate))


@lowers(ttng.InitBarrierOp)
def lower_init_barrier(op: ttng.InitBarrierOp, fn: FunctionLowering) -> None:
    fn.emitter.init_barrier(fn.text, fn.shared(op.alloc).base, op.count.value.data, _in_one_thread(fn, None))


@lowers(ttng.InvalBarrierOp)
def lower_inval_barrier(op: ttng.InvalBarrierOp, fn: FunctionLowering) -> None:
    fn.emitter.invalidate_barrier(fn.text, fn.shared(op.alloc).base, _in_one_thread(fn, None))


@lowers(ttng.BarrierExpectOp)
def lower_barrier_expect(op: ttng.BarrierExpectOp, fn: FunctionLowering) -> None:
    _check_own_cta(op, op.from_cta)
    fn.emitter.expect_bytes(fn.text, fn.shared(op.alloc).base, op.size.value.data, _in_one_thread(fn, op.pred))


def _check_own_cta(op: ttng.ArriveBarrierOp | ttng.BarrierExpectOp, *masks: IntegerAttr | None) -> None:
    """Raises PassError for arrivals at barriers of other CTAs."""
    if any(mask is not None and mask.value.data for mask in masks[1:]) or (
        masks[0] is not None and masks[0].value.data != (ttng.find_num_ctas(op) or 1) - 1
    ):
        raise op_error(op, "arrivals at barriers of other CTAs are not supported", pass_name=PASS_NAME)


@lowers(ttng.ArriveBarrierOp)
def lower_arrive_barrier(op: ttng.ArriveBarrierOp, fn: FunctionLowering) -> None:
    if op.per_warp is None:
        thread = _in_one_thread(fn, op.pred)
    else:
        fn.emitter.warp_barrier(fn.text)
        thread = fn.both(fn.first_lane(), None if op.pred is None else fn.scalar(op.pred))
    _check_own_cta(op, op.from_cta, op.multicast_cta)
    fn.emitter.arrive(fn.text, fn.shared(op.alloc).base, op.count.value.data, thread)


@lowers(ttng.WaitBarrierOp)
def lower_wait_barrier(op: ttng.WaitBarrierOp, fn: FunctionLowering) -> None:
    predicate = fn.both(None if op.pred is None else fn.scalar(op.pred))
    fn.emitter.wait_barrier(fn.text, fn.shared(op.alloc).base, fn.scalar(op.phase), predicate)


@lowers(ttng.AsyncCopyMbarrierArriveOp)
def lower_async_copy_arrive(op: ttng.AsyncCopyMbarrierArriveOp, fn: FunctionLowering) -> None:
    counted = op.no_increment is not None
    fn.emitter.arrive_after_copies(fn.text, fn.shared(op.barrier).base, counted=counted)


@lowers(ttng.FenceAsyncSharedOp)
def lower_fence_async_shared(op: ttng.FenceAsyncSharedOp, fn: FunctionLowering) -> None:
    fn.emitter.fence_async_shared(fn.text, cluster=bool(op.b_cluster.value.data))


@lowers(ttng.ClusterArriveOp)
def lower_cluster_arrive(op: ttng.ClusterArriveOp, fn: FunctionLowering) -> None:
    fn.emitter.cluster_arrive(fn.text, relaxed=bool(op.relaxed.value.data))


@lowers(ttng.ClusterWaitOp)
def lower_cluster_wait(op: ttng.ClusterWaitOp, fn: FunctionLowering) -> None:
    fn.emitter.cluster_wait(fn.text)


@lowers(ttng.ClusterBarrierOp)
def lower_cluster_barrier(op: ttng.ClusterBarrierOp, fn: FunctionLowering) -> None:
    fn.emitter.cluster_arrive(fn.text, relaxed=bool(op.relaxed.value.data))
    fn.emitter.cluster_wait(fn.text)


@lowers(ttng.FenceMBarrierInitReleaseClusterOp)
def lower_fence_barrier_init(op: ttng.FenceMBarrierInitReleaseClusterOp, fn: FunctionLowering) -> None:
    fn.emitter.fence_barrier_init(fn.text)


@lowers(ttng.AsyncSharedStoreOp)
def lower_async_shared_store(op: ttng.AsyncSharedStoreOp, fn: FunctionLowering) -> None:
    reason = "stores that report to a barrier of the cluster are not supported: CTAs do not share memory"
    raise op_error(op, reason, pass_name=PASS_NAME)


WARPS_OF_GROUP = 4
TURNS = 14
"""The number of the barrier at which the first of two warp groups waits for its turn; the other's is the next."""
TURN_THREADS = 2 * WARPS_OF_GROUP * THREADS_PER_WARP
PASSED_AFTER = 3, 4
"""The part of the registers of what is computed in turns that is there when a turn is passed on: the first exponentials
of the other group fill gaps that the last ones of this group leave. Attention on an H200, after all of them, three
quarters, and half: head 64 490, 516, 512 TFLOP/s, causal 438, 440, 405, head 128 651, 678, 681.
"""


def _group(fn: FunctionLowering) -> str:
    return fn.text.binary("lshr", "i32", fn.uniform_warp, WARPS_OF_GROUP.bit_length() - 1)


@lowers(ttng.AwaitTurnOp)
def lower_await_turn(op: ttng.AwaitTurnOp, fn: FunctionLowering) -> None:
    group = _group(fn)
    waits = None if op.closes is None else fn.text.icmp("eq", "i32", group, 0)
    own = fn.text.binary("add", "i32", group, TURNS)
    fn.emitter.wait_at(fn.text, own, TURN_THREADS, _any_word(op.values, fn), waits)


@lowers(ttng.PassTurnOp)
def lower_pass_turn(op: ttng.PassTurnOp, fn: FunctionLowering) -> None:
    text, group = fn.text, _group(fn)
    is_first = text.icmp("eq", "i32", group, 0)
    if op.opens is None:
        passes = text.binary("or", "i1", is_first, fn.scalar(op.more))
    else:
        passes = text.binary("and", "i1", text.binary("xor", "i1", is_first, "true"), fn.scalar(op.more))
    other = text.binary("sub", "i32", 2 * TURNS + 1, text.binary("add", "i32", group, TURNS))
    fn.emitter.arrive_at(text, other, TURN_THREADS, passes, _any_word(op.values, fn, PASSED_AFTER))


def _any_word(values: Sequence[SSAValue], fn: FunctionLowering, part: tuple[int, int] = (1, 1)) -> str:
    """An i32 that depends on every register of some tensors, or on the first part of them."""
    total, (share, whole) = "0", part
    for value in values:
        words = list(pack_words(fn, element_of(element_type(value.type)), fn.registers(value)))
        for word in words[: -(-len(words) * share // whole)]:
            total = fn.text.binary("or", "i32", total, word)
    return total
