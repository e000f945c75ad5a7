"""Barriers in shared memory (`mbarrier`), the fence between ordinary and asynchronous accesses, cluster barriers.

A barrier is worked on by one thread of the CTA; all threads wait on it.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from tilewright.dialects import ttng
from tilewright.dialects.ttg.verification import DEFAULT_THREADS_PER_WARP as THREADS_PER_WARP
from tilewright.dialects.types import element_type
from tilewright.ir.diagnostics import op_error
from tilewright.lowering.ttg_to_llvm.function_lowering import PASS_NAME, GpuFunctionLowering, lowers
from tilewright.lowering.ttg_to_llvm.index import map_bits
from tilewright.lowering.ttg_to_llvm.types import element_of
from tilewright.lowering.ttg_to_llvm.words import pack_words


def _in_one_thread(fn: GpuFunctionLowering, predicate: SSAValue | None) -> str | None:
    """An i1 that holds in one thread, and there only if the op's predicate does."""
    return fn.both(fn.threads.first(), None if predicate is None else fn.scalar(predicate))


@lowers(ttng.InitBarrierOp)
def lower_init_barrier(op: ttng.InitBarrierOp, fn: GpuFunctionLowering) -> None:
    """A barrier that several CTAs share expects the arrivals of all of them."""
    count = op.count.value.data << ttng.shared_ctas(op.alloc.type).bit_count()
    fn.emitter.init_barrier(fn.text, fn.shared(op.alloc).base, count, _in_one_thread(fn, None))


@lowers(ttng.InvalBarrierOp)
def lower_inval_barrier(op: ttng.InvalBarrierOp, fn: GpuFunctionLowering) -> None:
    fn.emitter.invalidate_barrier(fn.text, fn.shared(op.alloc).base, _in_one_thread(fn, None))


@lowers(ttng.BarrierExpectOp)
def lower_barrier_expect(op: ttng.BarrierExpectOp, fn: GpuFunctionLowering) -> None:
    size, base = op.size.value.data, fn.shared(op.alloc).base
    route = _route(op, fn)
    if route is None:
        fn.emitter.expect_bytes(fn.text, base, size, _in_one_thread(fn, op.pred))
    else:
        rank, thread = route
        address = fn.emitter.address_in_cta(fn.text, base, rank)
        fn.emitter.expect_bytes_in_cta(fn.text, address, size, fn.both(thread, fn.scalar(op.pred)))


def _route(op: ttng.ArriveBarrierOp | ttng.BarrierExpectOp, fn: GpuFunctionLowering) -> tuple[str, str] | None:
    """The CTA at whose barrier the thread arrives, and an i1 that holds in the threads that do; None where one thread
    of each CTA arrives at the CTA's own.

    Bits of the CTA's number that `fromCTA` leaves out are 0 in CTAs that arrive, one thread for each CTA that differs
    there. Where CTAs share a barrier, each arrives at that of the one whose bits are 0.
    """
    everybody = fn.module.num_ctas - 1
    shared = ttng.shared_ctas(op.alloc.type)
    for_others = 0 if op.from_cta is None else everybody & ~op.from_cta.value.data
    text = fn.text
    if shared:
        return text.binary("and", "i32", fn.threads.block, everybody & ~shared), fn.threads.first()
    if not for_others:
        return None
    bits = [bit for bit in range(everybody.bit_length()) if for_others >> bit & 1]
    low = text.binary("and", "i32", fn.threads.id, (1 << len(bits)) - 1)
    apart = map_bits(text.value, low, [1 << bit for bit in bits]).operand
    among_first = text.icmp("ult", "i32", fn.threads.id, 1 << len(bits))
    leads = text.icmp("eq", "i32", text.binary("and", "i32", fn.threads.block, for_others), 0)
    return text.binary("or", "i32", fn.threads.block, apart), text.binary("and", "i1", among_first, leads)


@lowers(ttng.ArriveBarrierOp)
def lower_arrive_barrier(op: ttng.ArriveBarrierOp, fn: GpuFunctionLowering) -> None:
    if op.multicast_cta is not None and op.multicast_cta.value.data:
        raise op_error(op, "arrivals at the barriers of several CTAs are not supported", pass_name=PASS_NAME)
    if op.per_warp is not None:
        fn.emitter.warp_barrier(fn.text)
    pred = None if op.pred is None else fn.scalar(op.pred)
    count, base, route = op.count.value.data, fn.shared(op.alloc).base, _route(op, fn)
    if route is None:
        thread = fn.threads.first() if op.per_warp is None else fn.threads.first_lane()
        fn.emitter.arrive(fn.text, base, count, fn.both(thread, pred))
        return
    rank, thread = route
    address = fn.emitter.address_in_cta(fn.text, base, rank)
    fn.emitter.arrive_in_cta(fn.text, address, count, fn.both(thread, pred))


@lowers(ttng.WaitBarrierOp)
def lower_wait_barrier(op: ttng.WaitBarrierOp, fn: GpuFunctionLowering) -> None:
    """Of CTAs that share a barrier the one that has it waits."""
    shared = ttng.shared_ctas(op.alloc.type)
    leads = None
    if shared:
        leads = fn.text.icmp("eq", "i32", fn.text.binary("and", "i32", fn.threads.block, shared), 0)
    predicate = fn.both(leads, None if op.pred is None else fn.scalar(op.pred))
    several = fn.module.num_ctas > 1
    fn.emitter.wait_barrier(fn.text, fn.shared(op.alloc).base, fn.scalar(op.phase), predicate, of_cluster=several)


@lowers(ttng.AsyncCopyMbarrierArriveOp)
def lower_async_copy_arrive(op: ttng.AsyncCopyMbarrierArriveOp, fn: GpuFunctionLowering) -> None:
    counted = op.no_increment is not None
    fn.emitter.arrive_after_copies(fn.text, fn.shared(op.barrier).base, counted=counted)


@lowers(ttng.FenceAsyncSharedOp)
def lower_fence_async_shared(op: ttng.FenceAsyncSharedOp, fn: GpuFunctionLowering) -> None:
    fn.emitter.fence_async_shared(fn.text, cluster=bool(op.b_cluster.value.data))


@lowers(ttng.ClusterArriveOp)
def lower_cluster_arrive(op: ttng.ClusterArriveOp, fn: GpuFunctionLowering) -> None:
    fn.cluster_arrive(relaxed=bool(op.relaxed.value.data))


@lowers(ttng.ClusterWaitOp)
def lower_cluster_wait(op: ttng.ClusterWaitOp, fn: GpuFunctionLowering) -> None:
    fn.cluster_wait()


@lowers(ttng.ClusterBarrierOp)
def lower_cluster_barrier(op: ttng.ClusterBarrierOp, fn: GpuFunctionLowering) -> None:
    fn.cluster_arrive(relaxed=bool(op.relaxed.value.data))
    fn.cluster_wait()


@lowers(ttng.FenceMBarrierInitReleaseClusterOp)
def lower_fence_barrier_init(op: ttng.FenceMBarrierInitReleaseClusterOp, fn: GpuFunctionLowering) -> None:
    fn.emitter.fence_barrier_init(fn.text)


WARPS_OF_GROUP = 4
TURNS = 14
"""The number of the barrier at which the first of two warp groups waits for its turn; the other's is the next."""
TURN_THREADS = 2 * WARPS_OF_GROUP * THREADS_PER_WARP
PASSED_AFTER = 3, 4
"""The part of the registers of what is computed in turns that is there when a turn is passed on: the first exponentials
of the other group fill gaps that the last ones of this group leave. Attention on an H200, after all of them, three
quarters, and half: head 64 490, 516, 512 TFLOP/s, causal 438, 440, 405, head 128 651, 678, 681.
"""


def _group(fn: GpuFunctionLowering) -> str:
    return fn.text.binary("lshr", "i32", fn.threads.uniform_warp, WARPS_OF_GROUP.bit_length() - 1)


@lowers(ttng.AwaitTurnOp)
def lower_await_turn(op: ttng.AwaitTurnOp, fn: GpuFunctionLowering) -> None:
    group = _group(fn)
    waits = None if op.closes is None else fn.text.icmp("eq", "i32", group, 0)
    own = fn.text.binary("add", "i32", group, TURNS)
    fn.emitter.wait_at(fn.text, own, TURN_THREADS, _any_word(op.values, fn), waits)


@lowers(ttng.PassTurnOp)
def lower_pass_turn(op: ttng.PassTurnOp, fn: GpuFunctionLowering) -> None:
    text, group = fn.text, _group(fn)
    is_first = text.icmp("eq", "i32", group, 0)
    if op.opens is None:
        passes = text.binary("or", "i1", is_first, fn.scalar(op.more))
    else:
        passes = text.binary("and", "i1", text.binary("xor", "i1", is_first, "true"), fn.scalar(op.more))
    other = text.binary("sub", "i32", 2 * TURNS + 1, text.binary("add", "i32", group, TURNS))
    fn.emitter.arrive_at(text, other, TURN_THREADS, passes, _any_word(op.values, fn, PASSED_AFTER))


def _any_word(values: Sequence[SSAValue], fn: GpuFunctionLowering, part: tuple[int, int] = (1, 1)) -> str:
    """An i32 that depends on every register of some tensors, or on the first part of them."""
    total, (share, whole) = "0", part
    for value in values:
        words = list(pack_words(fn, element_of(element_type(value.type)), fn.registers(value)))
        for word in words[: -(-len(words) * share // whole)]:
            total = fn.text.binary("or", "i32", total, word)
    return total
