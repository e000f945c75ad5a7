"""Copies from global to shared memory that run beside the program: `cp.async`, commit, wait.

A copy moves 4, 8 or 16 bytes that lie together on both sides. A masked one reads nothing and fills with zeros; another
value for masked elements is stored instead. What is narrower than 4 bytes goes through registers.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from tilewright.dialects import ttg
from tilewright.dialects.tt.enums import CacheModifier
from tilewright.layouts.access import SharedAccess
from tilewright.layouts.linear import LinearLayout
from tilewright.lowering.ttg_to_llvm.access_plan import AccessPlan
from tilewright.lowering.ttg_to_llvm.buffers import as_buffer, buffer_addresses, plan_buffer_access, writer_predicate
from tilewright.lowering.ttg_to_llvm.function_lowering import GpuFunctionLowering, lowers
from tilewright.lowering.ttg_to_llvm.memory_ops import access_plan, hints_of, memory_type, to_memory
from tilewright.lowering.ttg_to_llvm.shared_access import SharedAddresses
from tilewright.lowering.ttg_to_llvm.words import ZEROS

SHARED_SPACE = 3
MIN_COPY_BYTES, MAX_COPY_BYTES = 4, 16


@lowers(ttg.AsyncCopyGlobalToLocalOp)
def lower_async_copy(op: ttg.AsyncCopyGlobalToLocalOp, fn: GpuFunctionLowering) -> None:
    buffer = as_buffer(op.result)
    access, offsets = _plan(op, fn)
    addresses = buffer_addresses(fn, fn.shared(op.result), access, buffer)
    copy = _Copy(op, fn, access, addresses, writer_predicate(fn, offsets, whole_warps=False))
    for index in range(len(access.steps)):
        copy.emit(index)
    fn.set(op.token, None)


def _plan(op: ttg.AsyncCopyGlobalToLocalOp, fn: GpuFunctionLowering) -> tuple[SharedAccess, LinearLayout]:
    """The widest accesses whose registers also lie together in global memory."""
    buffer, element = as_buffer(op.result), fn.element(op.result)
    together = access_plan(fn, op.src, op.mask, element)
    width = min(together.width, MAX_COPY_BYTES // element.bytes)
    while True:
        access, offsets = plan_buffer_access(fn, op.src, buffer, writes=True, matrices=False, max_vector=width)
        if _lie_together(access, together):
            return access, offsets
        width //= 2


def _lie_together(access: SharedAccess, plan: AccessPlan) -> bool:
    """Return whether each step takes a run of neighbours of one group of global accesses, from a multiple of its
    length.
    """
    places = {register: (group, place) for group, row in enumerate(plan.groups) for place, register in enumerate(row)}
    length = access.vector
    if length == 1:
        return True
    for step in access.steps:
        found = [places.get(plan.sources[register]) for register in step.registers]
        first = found[0]
        if first is None or first[1] % length or found != [(first[0], first[1] + index) for index in range(length)]:
            return False
    return True


class _Copy:
    """The steps of one copy."""

    def __init__(
        self,
        op: ttg.AsyncCopyGlobalToLocalOp,
        fn: GpuFunctionLowering,
        access: SharedAccess,
        addresses: SharedAddresses,
        writer: str | None,
    ) -> None:
        self.fn = fn
        self.access = access
        self.addresses = addresses
        self.writer = writer
        self.element = fn.element(op.result)
        self.pointers = fn.registers(op.src)
        self.masks = _registers(fn, op.mask)
        self.others = _registers(fn, op.other)
        self.hints = hints_of(op.cache, op.evict, volatile=bool(op.is_volatile.value.data))
        self.bypasses_l1 = CacheModifier.of(op.cache) is not CacheModifier.CA
        self._sizes: dict[str, str] = {}

    def emit(self, index: int) -> None:
        """One step."""
        step = self.access.steps[index]
        target = self.addresses.at(step.offset * self.element.bytes)
        source = self.pointers[step.registers[0]]
        mask = self.masks[step.registers[0]] if self.masks is not None else None
        num_bytes = len(step.registers) * self.element.bytes
        if num_bytes < MIN_COPY_BYTES:
            self._through_registers(step.registers, source, target, mask)
            return
        if mask == "true":
            mask = None
        others = None if self.others is None else [self.others[register] for register in step.registers]
        if mask is None or others is None or ZEROS.issuperset(others):
            self._copy(target, source, num_bytes, self.writer, None if mask is None else self._size(mask, num_bytes))
            return
        # A copy of no bytes would still write zeros, at some later time: it must not run where others are stored.
        self._copy(target, source, num_bytes, self.fn.both(mask, self.writer), None)
        outside = self.fn.text.binary("xor", "i1", mask, "true")
        self._store(target, others, self.fn.both(outside, self.writer))

    def _copy(self, target: str, source: str, num_bytes: int, predicate: str | None, kept: str | None) -> None:
        self.fn.emitter.async_copy(
            self.fn.text, target, source, num_bytes, bypass_l1=self.bypasses_l1, kept=kept, predicate=predicate
        )

    def _size(self, mask: str, num_bytes: int) -> str:
        """As many bytes as are read: none where the mask is false."""
        size = self._sizes.get(mask)
        if size is None:
            size = self._sizes[mask] = self.fn.text.select(mask, "i32", num_bytes, 0)
        return size

    def _through_registers(self, registers: tuple[int, ...], source: str, target: str, mask: str | None) -> None:
        fn, element = self.fn, self.element
        others = None
        if self.others is not None:
            others = [to_memory(fn, element, self.others[register]) for register in registers]
        values = fn.emitter.load_vector(
            fn.text,
            source,
            memory_type(element),
            element.bits,
            len(registers),
            predicate=None if mask == "true" else mask,
            others=others,
            hints=self.hints,
        )
        self._store_memory(target, values, self.writer)

    def _store(self, target: str, operands: list[str], predicate: str | None) -> None:
        self._store_memory(target, [to_memory(self.fn, self.element, operand) for operand in operands], predicate)

    def _store_memory(self, target: str, values: list[str], predicate: str | None) -> None:
        self.fn.emitter.store_vector(
            self.fn.text,
            target,
            memory_type(self.element),
            self.element.bits,
            values,
            space=SHARED_SPACE,
            predicate=predicate,
        )


def _registers(fn: GpuFunctionLowering, value: SSAValue | None) -> tuple[str, ...] | None:
    return None if value is None else fn.registers(value)


@lowers(ttg.AsyncCommitGroupOp)
def lower_async_commit_group(op: ttg.AsyncCommitGroupOp, fn: GpuFunctionLowering) -> None:
    fn.emitter.async_commit(fn.text)
    fn.set(op.async_token, None)


@lowers(ttg.AsyncWaitOp)
def lower_async_wait(op: ttg.AsyncWaitOp, fn: GpuFunctionLowering) -> None:
    fn.emitter.async_wait(fn.text, op.num.value.data)
    fn.set(op.ret_token, None)
