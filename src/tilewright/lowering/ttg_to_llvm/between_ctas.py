"""Elements that move between the CTAs of a cluster (`layouts.between_ctas`).

Each thread writes its registers to the scratch of its CTA; the cluster meets; each reads what it wants, from whichever
CTA has it; the cluster meets again, so that nobody writes there, or ends, while others read:

```
st.shared.v4.b32 [%own], {...};
barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
mapa.shared::cluster.u32 %r, %scratch, %rank;
ld.shared::cluster.v4.b32 {...}, [%r + offset];
barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
```
"""

from __future__ import annotations

from collections.abc import Sequence

from tilewright.layouts.between_ctas import OFFSET, RANK, ClusterConversion
from tilewright.layouts.distributed import LANE, REGISTER, WARP
from tilewright.layouts.linear import LinearLayout
from tilewright.lowering.ttg_to_llvm.buffers import writer_predicate
from tilewright.lowering.ttg_to_llvm.function_lowering import GpuFunctionLowering
from tilewright.lowering.ttg_to_llvm.index import Partial, combine, constant, register_constants
from tilewright.lowering.ttg_to_llvm.packing import from_words
from tilewright.lowering.ttg_to_llvm.shared_access import SharedAddresses, emit_stores
from tilewright.lowering.ttg_to_llvm.types import ElementType
from tilewright.lowering.ttg_to_llvm.words import WORD_BITS, unpack_words


def exchange_between_ctas(
    fn: GpuFunctionLowering,
    plan: ClusterConversion,
    element: ElementType,
    registers: Sequence[str],
    scratch: str,
    writer: str | None = None,
) -> list[str]:
    """The registers of a tensor after a conversion; `writer` is an i1 that holds in the threads that have its elements,
    if not in all."""
    size = max(plan.element_bits, 8) // 8
    access = plan.store_access
    if writer is None:
        held = plan.store.sublayout([REGISTER, LANE, WARP], [OFFSET])
        writer = writer_predicate(fn, held, whole_warps=False)
    part = fn.threads.index.thread_part(in_bytes(plan.store, size), OFFSET)
    emit_stores(fn, access, SharedAddresses(fn, scratch, part), element, registers, predicate=writer)
    if plan.is_local:
        fn.barrier()
        return _load(fn, plan, element, scratch)
    fn.program_barrier()
    result = _load(fn, plan, element, scratch)
    fn.program_barrier()
    return result


def in_bytes(layout: LinearLayout, size: int) -> LinearLayout:
    """The offsets of a layout in bytes."""
    offsets = layout.sublayout(list(layout.in_dims), [OFFSET])
    columns = [(name, [column * size for column in columns]) for name, columns in offsets.packed_bases.items()]
    return LinearLayout(columns, [(OFFSET, offsets.out_bits + size.bit_length() - 1)])


def _load(fn: GpuFunctionLowering, plan: ClusterConversion, element: ElementType, scratch: str) -> list[str]:
    """Read every register's element, those that lie together at once."""
    size = max(plan.element_bits, 8) // 8
    text, byte_offsets = fn.text, in_bytes(plan.load, size)
    offsets, ranks = register_constants(byte_offsets, OFFSET), register_constants(plan.load, RANK)
    own = "0" if not plan.own else text.binary("and", "i32", fn.threads.block, plan.own)
    rank = combine(text.value, fn.threads.index.thread_part(plan.load, RANK), Partial(own, plan.own))
    part = fn.threads.index.thread_part(byte_offsets, OFFSET)
    where = {(offset, rank_): register for register, (offset, rank_) in enumerate(zip(offsets, ranks, strict=True))}
    bases: dict[int, str] = {}
    loaded: dict[tuple[int, int], str] = {}
    for offset, cta in where:
        start = offset & -(plan.vector * size)
        group = [(start + place * size, cta) for place in range(plan.vector)]
        if (offset, cta) in loaded:
            continue
        if cta not in bases:
            bases[cta] = fn.emitter.address_in_cta(text, scratch, combine(text.value, rank, constant(cta)).operand)
        moved = combine(text.value, part, constant(start)).operand
        address = text.binary("add", "i32", bases[cta], moved)
        loaded.update(zip(group, load_from_cta(fn, element, address, plan.vector), strict=True))
    return [loaded[place] for place in zip(offsets, ranks, strict=True)]


def load_from_cta(fn: GpuFunctionLowering, element: ElementType, address: str, count: int) -> list[str]:
    """Neighbouring elements at an address of another CTA."""
    width = count * element.bits
    if element.bits < 8:
        words = fn.emitter.load_from_cta(fn.text, address, 8, 1)
        return from_words(fn.text, element, words, 8)
    if width < WORD_BITS:
        return unpack_words(fn, element, fn.emitter.load_from_cta(fn.text, address, width, 1), width)
    if element.bits > WORD_BITS:
        words = fn.emitter.load_from_cta(fn.text, address, element.bits, count)
        return from_words(fn.text, element, words, element.bits)
    return unpack_words(fn, element, fn.emitter.load_from_cta(fn.text, address, WORD_BITS, width // WORD_BITS))
