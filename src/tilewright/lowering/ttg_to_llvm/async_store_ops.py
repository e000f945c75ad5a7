"""Stores into shared memory that report to an mbarrier, in this CTA of the cluster or in others (`st.async`).

The part of the buffer that an element lies in says to which CTA it goes; the barrier beside that part counts its bytes:

```
mapa.shared::cluster.u32 %m, %buffer, %rank;
mapa.shared::cluster.u32 %b, %barrier, %rank;
st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%m], {...}, [%b];
```
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from tilewright.dialects import ttng
from tilewright.ir.diagnostics import op_error
from tilewright.layouts.access import AccessStep
from tilewright.layouts.between_ctas import OFFSET, ClusterStore, plan_cluster_store
from tilewright.layouts.distributed import BLOCK, LANE, WARP
from tilewright.layouts.linear import LinearLayout
from tilewright.lowering.ttg_to_llvm.between_ctas import in_bytes
from tilewright.lowering.ttg_to_llvm.buffers import as_buffer, buffer_layout, element_bytes, offsets_of, pads_of
from tilewright.lowering.ttg_to_llvm.function_lowering import PASS_NAME, FunctionLowering, lowers
from tilewright.lowering.ttg_to_llvm.index import Partial, combine, constant
from tilewright.lowering.ttg_to_llvm.packing import to_words
from tilewright.lowering.ttg_to_llvm.shared_access import ALL_BITS, padded_operand
from tilewright.lowering.ttg_to_llvm.values import is_literal
from tilewright.lowering.ttg_to_llvm.words import WORD_BITS, pack_words

MAX_ELEMENTS = 16
"""Of one store, of 128 bits."""


@lowers(ttng.AsyncSharedStoreOp)
def lower_async_shared_store(op: ttng.AsyncSharedStoreOp, fn: FunctionLowering) -> None:
    plan = _plan(op, fn)
    own = "0" if not plan.own else fn.text.binary("and", "i32", fn.block, plan.own)
    rank = combine(fn.text.value, fn.index.thread_part(plan.layout, BLOCK), Partial(own, plan.own))
    predicate, registers = _writes(fn, plan.layout, plan.own), fn.registers(op.src)
    places = _Places(fn, op.dst, op.mbarrier, rank, plan.layout)
    for step in plan.access.steps:
        memory, barrier = places.of(step)
        words, bits = _words(fn, op.src, [registers[index] for index in step.registers])
        fn.emitter.store_async(fn.text, memory, words, bits, barrier, predicate)


def _plan(op: ttng.AsyncSharedStoreOp, fn: FunctionLowering) -> ClusterStore:
    buffer = as_buffer(op.dst)
    size, most = element_bytes(buffer), MAX_ELEMENTS
    for interval, padding in pads_of(buffer):
        most = min(most, interval // size, padding // size)
    plan = plan_cluster_store(fn.layout(op.src), offsets_of(buffer), buffer_layout(buffer).cga, size * 8, most)
    if plan is None:
        reason = "CTAs that have the same part of the buffer do not all hold what is stored there"
        raise op_error(op, reason, pass_name=PASS_NAME)
    if plan.access.vector * size * 8 < WORD_BITS:  # gaps of a padded buffer; others the verifier knows
        raise op_error(op, "requires a layout vectorizing stores to at least 32 bits", pass_name=PASS_NAME)
    if ttng.shared_ctas(op.mbarrier.type):
        raise op_error(op, "cannot report to a barrier that CTAs share", pass_name=PASS_NAME)
    return plan


def _words(fn: FunctionLowering, tensor: SSAValue, operands: Sequence[str]) -> tuple[Sequence[str], int]:
    element = fn.element(tensor)
    if element.bits > WORD_BITS:
        return to_words(fn.text, element, operands, element.bits), element.bits
    return pack_words(fn, element, operands), WORD_BITS


def _writes(fn: FunctionLowering, layout: LinearLayout, own: int) -> str | None:
    """An i1 that holds in one thread of those that hold an element for one place; None where no two do."""
    masks = layout.free_variable_masks
    in_block = masks[LANE] | masks[WARP] << len(layout.packed_bases[LANE])
    found: str | None = None
    for number, mask in ((fn.thread, in_block), (fn.block, masks[BLOCK] & ~own)):
        if mask:
            bits = fn.text.binary("and", "i32", number, mask)
            found = fn.both(found, fn.text.icmp("eq", "i32", bits, 0))
    return found


class _Places:
    """The addresses that a thread stores to and reports to, in the CTA that each step goes to."""

    def __init__(
        self, fn: FunctionLowering, buffer: SSAValue, barrier: SSAValue, rank: Partial, layout: LinearLayout
    ) -> None:
        self._fn = fn
        self._view = fn.shared(buffer)
        self._barrier = fn.shared(barrier).base
        self._rank = rank
        self._pads = pads_of(as_buffer(buffer))
        self._size = element_bytes(as_buffer(buffer))
        flip = Partial(self._view.flip, int(self._view.flip) if is_literal(self._view.flip) else ALL_BITS)
        self._part = combine(fn.text.value, fn.index.thread_part(in_bytes(layout, self._size), OFFSET), flip)
        self._bases: dict[int, tuple[str, str]] = {}

    def of(self, step: AccessStep) -> tuple[str, str]:
        """Where the step stores, and the barrier there."""
        text, emitter = self._fn.text, self._fn.emitter
        if step.round not in self._bases:
            rank = combine(text.value, self._rank, constant(step.round)).operand
            both = (emitter.address_in_cta(text, pointer, rank) for pointer in (self._view.base, self._barrier))
            self._bases[step.round] = (next(both), next(both))
        memory, barrier = self._bases[step.round]
        moved = combine(text.value, self._part, constant(step.offset * self._size)).operand
        return text.binary("add", "i32", memory, padded_operand(self._fn, moved, self._pads)), barrier
