"""Emission of accesses to shared memory (`layouts.access`).

The address of a step is the buffer's, plus the thread's part XOR the step's constant. Constants that share no bits with
the thread's part are added, so they become immediate offsets; for each combination of the others one address is made:

```llvm
%x = xor i32 %part, 16                                      ; once per combination, hoisted out of loops
%p = getelementptr i8, ptr addrspace(3) %buffer, i32 %x
%q = getelementptr i8, ptr addrspace(3) %p, i32 2048        ; an immediate of the instruction
```
"""

from __future__ import annotations

from collections.abc import Sequence

from tilewright.layouts.access import AccessKind, AccessStep, SharedAccess
from tilewright.layouts.distributed import BLOCK, LANE, REGISTER, WARP
from tilewright.layouts.linear import LinearLayout
from tilewright.lowering.ttg_to_llvm.function_lowering import GpuFunctionLowering
from tilewright.lowering.ttg_to_llvm.index import Partial, combine
from tilewright.lowering.ttg_to_llvm.packing import from_words, to_words
from tilewright.lowering.ttg_to_llvm.types import ElementType
from tilewright.lowering.ttg_to_llvm.values import is_literal
from tilewright.lowering.ttg_to_llvm.words import WORD_BITS, pack_words, unpack_words

SHARED_SPACE = 3
BYTE_OFFSET = "byte"
ALL_BITS = (1 << 32) - 1

Pads = Sequence[tuple[int, int]]
"""(interval, padding) in bytes, as in `PaddedSharedLayout`."""


class SharedAddresses:
    """The addresses of the accesses of a thread to one buffer; each distinct one is computed once."""

    def __init__(self, fn: GpuFunctionLowering, base: str, part: Partial, pads: Pads = (), flip: str = "0") -> None:
        self._fn = fn
        self._base = base
        self._part = part
        self._flip = 0
        if is_literal(flip):
            self._flip = int(flip)
        else:
            self._part = combine(fn.text.value, part, Partial(flip, ALL_BITS))
        self._pads = pads
        self._made: dict[int, str] = {}

    def at(self, offset: int) -> str:
        """ptr addrspace(3) to the thread's part XOR `offset`, in bytes of the buffer or of the slice at `flip`."""
        offset ^= self._flip
        overlapping = offset & self._part.mask
        apart = offset ^ overlapping
        pointer = self._made.get(overlapping)
        if pointer is None:
            pointer = self._made[overlapping] = self._address(overlapping)
        return step_pointer(self._fn, pointer, str(apart + _padding(apart, self._pads)))

    def _address(self, flipped: int) -> str:
        part = combine(self._fn.text.value, self._part, Partial(str(flipped), flipped))
        return step_pointer(self._fn, self._base, padded_operand(self._fn, part.operand, self._pads))


def padded_operand(fn: GpuFunctionLowering, offset: str, pads: Pads) -> str:
    """Return where the byte at an offset that does not count gaps really lies."""
    operand = offset
    for interval, padding in pads:
        groups = fn.text.binary("lshr", "i32", offset, interval.bit_length() - 1)
        gap = fn.text.binary("shl", "i32", groups, padding.bit_length() - 1)
        operand = fn.text.binary("add", "i32", operand, gap)
    return operand


def _padding(offset: int, pads: Pads) -> int:
    return sum((offset // interval) * padding for interval, padding in pads)


def step_pointer(fn: GpuFunctionLowering, pointer: str, offset: str) -> str:
    """A shared address some bytes further."""
    if offset == "0":
        return pointer
    return fn.text.address("i8", pointer, offset, index_type="i32", space=3)


def thread_part(fn: GpuFunctionLowering, access: SharedAccess) -> Partial:
    """Return what lane, warp and CTA add to the addresses of an access, in bytes."""
    size = access.element_bits // 8
    columns = {
        REGISTER: (),
        LANE: [column * size for column in access.lanes],
        WARP: [column * size for column in access.warps],
        BLOCK: [column * size for column in access.blocks],
    }
    bits = max((column.bit_length() for group in columns.values() for column in group), default=0)
    return fn.threads.index.thread_part(LinearLayout(columns.items(), [(BYTE_OFFSET, bits)]), BYTE_OFFSET)


def emit_stores(
    fn: GpuFunctionLowering,
    access: SharedAccess,
    addresses: SharedAddresses,
    element: ElementType,
    registers: Sequence[str],
    *,
    round_: int = 0,
    predicate: str | None = None,
) -> None:
    """Write the registers of one round of an access where the predicate holds, which for matrices is one of warps."""
    text = fn.text
    steps = [step for step in access.steps if step.round == round_]
    pointers = [addresses.at(step.offset * access.element_bits // 8) for step in steps]
    guarded = access.kind is not AccessKind.VECTOR and predicate is not None
    done = ""
    if guarded:
        store, done = text.new_label("store"), text.new_label("stored")
        text.branch_if(predicate or "true", store, done)
        text.start(store)
    for step, pointer in zip(steps, pointers, strict=True):
        _store(fn, access, step, pointer, element, [registers[index] for index in step.registers], predicate)
    if guarded:
        text.branch(done)
        text.start(done)


def _store(
    fn: GpuFunctionLowering,
    access: SharedAccess,
    step: AccessStep,
    pointer: str,
    element: ElementType,
    operands: Sequence[str],
    predicate: str | None,
) -> None:
    if access.kind is not AccessKind.VECTOR:
        transposed = access.kind is AccessKind.MATRIX_TRANSPOSED
        fn.emitter.store_matrices(fn.text, pointer, pack_words(fn, element, operands), transposed=transposed)
        return
    width = len(operands) * element.bits
    if width < WORD_BITS:
        words, word_bits = to_words(fn.text, element, operands, width), width
    elif element.bits > WORD_BITS:
        words, word_bits = to_words(fn.text, element, operands, element.bits), element.bits
    else:
        words, word_bits = pack_words(fn, element, operands), WORD_BITS
    fn.emitter.store_words(fn.text, pointer, words, word_bits, space=SHARED_SPACE, predicate=predicate)


def emit_loads(
    fn: GpuFunctionLowering,
    access: SharedAccess,
    addresses: SharedAddresses,
    element: ElementType,
    registers: list[str],
    *,
    round_: int = 0,
) -> None:
    """Read one round of an access into `registers`, those that repeat others too."""
    for step in access.steps:
        if step.round == round_:
            pointer = addresses.at(step.offset * access.element_bits // 8)
            for index, operand in zip(step.registers, _load(fn, access, step, pointer, element), strict=True):
                registers[index] = operand
    for index, copied in enumerate(access.copies):
        registers[index] = registers[copied]


def _load(
    fn: GpuFunctionLowering, access: SharedAccess, step: AccessStep, pointer: str, element: ElementType
) -> list[str]:
    count = len(step.registers)
    width = count * element.bits
    if access.kind is not AccessKind.VECTOR:
        transposed = access.kind is AccessKind.MATRIX_TRANSPOSED
        words = fn.emitter.load_matrices(fn.text, pointer, width // WORD_BITS, transposed=transposed)
        return unpack_words(fn, element, words)
    if width < WORD_BITS:
        words = fn.emitter.load_words(fn.text, pointer, width, 1, space=SHARED_SPACE)
        return unpack_words(fn, element, words, width)
    if element.bits > WORD_BITS:
        words = fn.emitter.load_words(fn.text, pointer, element.bits, count, space=SHARED_SPACE)
        return from_words(fn.text, element, words, element.bits)
    words = fn.emitter.load_words(fn.text, pointer, WORD_BITS, width // WORD_BITS, space=SHARED_SPACE)
    return unpack_words(fn, element, words)
