"""Stores into shared memory that report to an mbarrier, in this CTA of the cluster or in others (`st.async`).

The part of the buffer that an element lies in says to which CTA it goes; the barrier beside that part counts its bytes:

```
mapa.shared::cluster.u32 %m, %buffer, %rank;
mapa.shared::cluster.u32 %b, %barrier, %rank;
st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%m], {...}, [%b];
```
"""

from __future__ import annotations

from tilewright.dialects import ttng
from tilewright.ir.diagnostics import op_error
from tilewright.layouts.between_ctas import ClusterAccess
from tilewright.lowering.ttg_to_llvm.cluster_access import (
    ClusterAddresses,
    plan_in_cluster,
    words_of,
    writers_in_cluster,
)
from tilewright.lowering.ttg_to_llvm.function_lowering import PASS_NAME, GpuFunctionLowering, lowers
from tilewright.lowering.ttg_to_llvm.words import WORD_BITS


@lowers(ttng.AsyncSharedStoreOp)
def lower_async_shared_store(op: ttng.AsyncSharedStoreOp, fn: GpuFunctionLowering) -> None:
    plan = _plan(op, fn)
    predicate, addresses = writers_in_cluster(fn, plan), ClusterAddresses(fn, op.dst, plan)
    element, registers, barrier = fn.element(op.src), fn.registers(op.src), fn.shared(op.mbarrier).base
    for step in plan.access.steps:
        words, bits = words_of(fn, element, [registers[index] for index in step.registers])
        reported = addresses.beside(barrier, step.round)
        fn.emitter.store_async(fn.text, addresses.at(step), words, bits, reported, predicate)


def _plan(op: ttng.AsyncSharedStoreOp, fn: GpuFunctionLowering) -> ClusterAccess:
    plan = plan_in_cluster(fn, op.src, op.dst)
    if plan.spread:
        reason = "CTAs that have the same part of the buffer do not all hold what is stored there"
        raise op_error(op, reason, pass_name=PASS_NAME)
    if plan.access.vector * plan.access.element_bits < WORD_BITS:  # by gaps of the buffer; the rest is verified
        raise op_error(op, "requires a layout vectorizing stores to at least 32 bits", pass_name=PASS_NAME)
    if ttng.shared_ctas(op.mbarrier.type):
        raise op_error(op, "cannot report to a barrier that CTAs share", pass_name=PASS_NAME)
    return plan
