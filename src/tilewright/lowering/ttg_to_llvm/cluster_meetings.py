"""Warps of one role that meet those of the same role in the other CTAs of a cluster.

The barrier of a cluster is one of all its threads, so kernels whose warps have several roles do not use it beyond
their start. Each role has an mbarrier in every CTA, at which all CTAs arrive:

```
bar.sync 2, 128;                                              // the warps of the role
mapa.shared::cluster.u32 %r, %cell, %rank;                    // a thread for each CTA
@%p mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r], 1;
mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 complete, [%cell], %phase;
```
The parity of the phase is each thread's own: all threads of a role come to the same meetings. Nobody runs ahead by
two phases, as the next one needs the arrival of the CTA, which comes after the barrier of its warps.
"""

from __future__ import annotations

from collections.abc import Sequence

from tilewright.lowering.ttg_to_llvm.function_lowering import GpuFunctionLowering
from tilewright.transforms.ttg.allocate_shared_memory import MEETING_BYTES


class Meetings:
    """The mbarriers of the roles of a kernel, and the phases that a thread has passed; the first is the kernel's own
    warps'."""

    def __init__(self, fn: GpuFunctionLowering, first_byte: int, count: int) -> None:
        self._fn = fn
        self._cells = [fn.shared_at(first_byte + MEETING_BYTES * index) for index in range(count)]
        self._phases: Sequence[str] = [fn.text.alloca("i32") for _ in range(count)]

    def begin(self) -> None:
        """At the start of the kernel, on all warps: the mbarriers are there for the whole cluster."""
        fn = self._fn
        first = fn.threads.first()
        for cell, phase in zip(self._cells, self._phases, strict=True):
            fn.emitter.init_barrier(fn.text, cell, fn.module.num_ctas, first)
            fn.text.store("i32", "0", phase)
        fn.emitter.fence_barrier_init(fn.text)
        fn.emitter.cluster_arrive(fn.text, relaxed=True)
        fn.emitter.cluster_wait(fn.text)

    def arrive(self, role: int) -> None:
        """The warps of a role have come so far, in this CTA."""
        fn, text = self._fn, self._fn.text
        fn.barrier()
        is_sent = text.icmp("ult", "i32", fn.threads.id, fn.module.num_ctas)
        rank = text.binary("and", "i32", fn.threads.id, fn.module.num_ctas - 1)
        address = fn.emitter.address_in_cta(text, self._cells[role], rank)
        fn.emitter.arrive_in_cta(text, address, 1, is_sent)

    def wait(self, role: int) -> None:
        """They have in all CTAs."""
        fn, text, phase = self._fn, self._fn.text, self._phases[role]
        parity = text.load("i32", phase)
        fn.emitter.wait_barrier(text, self._cells[role], parity, None, of_cluster=True)
        text.store("i32", text.binary("xor", "i32", parity, 1), phase)
