"""Where allocas live: small ones on the stack, as long as there are few."""

from __future__ import annotations

from xdsl.dialects.builtin import MemRefType, f32

from tilewright.dialects import memref
from tilewright.lowering.loops_to_llvm.arena import STACK_BYTES, STACK_LIMIT, FramePlan


def test_stack_slots_have_a_limit_in_all() -> None:
    """Thousands of copied tiles would take the whole stack of a thread."""
    plan = FramePlan()
    tile, count = MemRefType(f32, [STACK_LIMIT // 4]), 2 * STACK_BYTES // STACK_LIMIT
    allocas = [memref.AllocaOp([], [], tile) for _ in range(count)]
    for op in allocas:
        plan.reserve(op, STACK_LIMIT, 4)
    slots = [plan.slots[op] for op in allocas]
    assert sum(slot.bytes for slot in slots if slot.on_stack) == STACK_BYTES
    rest = [slot.offset for slot in slots if not slot.on_stack]
    assert rest == [number * STACK_LIMIT for number in range(STACK_BYTES // STACK_LIMIT)]
    assert plan.total_bytes == STACK_BYTES
