"""Accesses to shared memory in whichever CTA of the cluster has the part of a buffer that an element lies in.

```
mapa.shared::cluster.u32 %m, %buffer, %rank;
ld.shared::cluster.v4.b32 {...}, [%m + offset];
```
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from tilewright.layouts.access import AccessStep, span_of
from tilewright.layouts.between_ctas import OFFSET, ClusterAccess, plan_cluster_access
from tilewright.layouts.distributed import BLOCK, LANE, WARP
from tilewright.lowering.ttg_to_llvm.between_ctas import in_bytes, load_from_cta
from tilewright.lowering.ttg_to_llvm.buffers import (
    as_buffer,
    beginning,
    buffer_layout,
    element_bytes,
    offsets_of,
    pads_of,
)
from tilewright.lowering.ttg_to_llvm.function_lowering import GpuFunctionLowering
from tilewright.lowering.ttg_to_llvm.index import Partial, combine, constant
from tilewright.lowering.ttg_to_llvm.packing import to_words
from tilewright.lowering.ttg_to_llvm.shared_access import padded_operand
from tilewright.lowering.ttg_to_llvm.types import ElementType
from tilewright.lowering.ttg_to_llvm.words import WORD_BITS, pack_words

MAX_BYTES = 16
"""Of one access."""


def plan_in_cluster(fn: GpuFunctionLowering, tensor: SSAValue, target: SSAValue) -> ClusterAccess:
    """Plan how a tensor is read from, or written to, a buffer."""
    buffer = as_buffer(target)
    size = element_bytes(buffer)
    most = MAX_BYTES // size
    for interval, padding in pads_of(buffer):
        most = min(most, interval // size, padding // size)
    return plan_cluster_access(fn.layout(tensor), offsets_of(buffer), buffer_layout(buffer).cga, size * 8, most)


class ClusterAddresses:
    """The addresses of the accesses of a thread to a buffer, or beside it, in the CTA that each step goes to."""

    def __init__(self, fn: GpuFunctionLowering, buffer: SSAValue, plan: ClusterAccess) -> None:
        self._fn = fn
        self._pads = pads_of(as_buffer(buffer))
        self._size = element_bytes(as_buffer(buffer))
        self._base = fn.shared(buffer).base
        flip, begins = beginning(fn, buffer)
        part = fn.threads.index.thread_part(in_bytes(plan.layout, self._size), OFFSET)
        self._part = combine(fn.text.value, part, flip)
        kept = plan.own & ~plan.spread
        own = Partial(fn.text.binary("and", "i32", fn.threads.block, kept), kept) if kept else constant(0)
        among = combine(fn.text.value, fn.threads.index.thread_part(plan.layout, BLOCK), begins)
        self._rank = combine(fn.text.value, among, own)
        self._made: dict[tuple[str, int], str] = {}

    def beside(self, pointer: str, bits_of_rank: int) -> str:
        """The address of the same byte in the CTA of a step's `round`, XOR further bits."""
        if (pointer, bits_of_rank) not in self._made:
            rank = combine(self._fn.text.value, self._rank, constant(bits_of_rank)).operand
            self._made[pointer, bits_of_rank] = self._fn.emitter.address_in_cta(self._fn.text, pointer, rank)
        return self._made[pointer, bits_of_rank]

    def at(self, step: AccessStep, copy: int = 0) -> str:
        """The address of a step, in the copy of the buffer that differs from the own one in some bits."""
        text = self._fn.text
        moved = combine(text.value, self._part, constant(step.offset * self._size)).operand
        base = self.beside(self._base, step.round ^ copy)
        return text.binary("add", "i32", base, padded_operand(self._fn, moved, self._pads))


def writers_in_cluster(fn: GpuFunctionLowering, plan: ClusterAccess) -> str | None:
    """An i1 that holds in one thread of those that hold an element for one place; None where no two do."""
    masks = plan.layout.free_variable_masks
    in_block = masks[LANE] | masks[WARP] << len(plan.layout.packed_bases[LANE])
    found: str | None = None
    for index, mask in ((fn.threads.id, in_block), (fn.threads.block, masks[BLOCK] & ~plan.own)):
        if mask:
            bits = fn.text.binary("and", "i32", index, mask)
            found = fn.both(found, fn.text.icmp("eq", "i32", bits, 0))
    return found


def words_of(fn: GpuFunctionLowering, element: ElementType, operands: Sequence[str]) -> tuple[Sequence[str], int]:
    """Neighbouring elements as words of 8 to 64 bits, and their width."""
    width = len(operands) * max(element.bits, 8)
    if element.bits > WORD_BITS or width < WORD_BITS or element.bits < 8:
        bits = element.bits if element.bits > WORD_BITS else width if element.bits >= 8 else 8
        return to_words(fn.text, element, operands, bits), bits
    return pack_words(fn, element, operands), WORD_BITS


def store_in_cluster(fn: GpuFunctionLowering, tensor: SSAValue, target: SSAValue) -> None:
    """Write a tensor to a buffer, into every copy of the part that an element is in."""
    plan, element, registers = plan_in_cluster(fn, tensor, target), fn.element(tensor), fn.registers(tensor)
    predicate, addresses = writers_in_cluster(fn, plan), ClusterAddresses(fn, target, plan)
    copies = span_of([1 << bit for bit in range(plan.spread.bit_length()) if plan.spread >> bit & 1])
    for step in plan.access.steps:
        words, bits = words_of(fn, element, [registers[index] for index in step.registers])
        for copy in copies:
            fn.emitter.store_to_cta(fn.text, addresses.at(step, copy), words, bits, predicate)


def load_in_cluster(fn: GpuFunctionLowering, result: SSAValue, source: SSAValue) -> list[str]:
    """The registers of a tensor that is read from a buffer."""
    plan, element = plan_in_cluster(fn, result, source), fn.element(result)
    addresses = ClusterAddresses(fn, source, plan)
    registers = [""] * len(plan.access.copies)
    for step in plan.access.steps:
        loaded = load_from_cta(fn, element, addresses.at(step), len(step.registers))
        for index, operand in zip(step.registers, loaded, strict=True):
            registers[index] = operand
    return [registers[copied] for copied in plan.access.copies]
