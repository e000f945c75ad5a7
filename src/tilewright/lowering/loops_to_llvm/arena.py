"""Where `memref.alloca` lives: fixed offsets in the per-thread arena, or the stack for what fits in a few registers.

Offsets are assigned once per function; an alloca in a loop is the same memory in each iteration. A function that is
called gets the part of the arena after its caller's, so a frame's extent is its own plus the largest of its callees.
Coroutines run in turns: each has a part of its caller's own.
"""

from __future__ import annotations

from ctypes import sizeof
from dataclasses import field

from xdsl.ir import Operation

from tilewright.codegen.native_records import ArenaHeader
from tilewright.support.records import dataclass

ALIGNMENT = 64
"""Arena slots start at multiples of this: a cache line, and the widest vector."""

STACK_LIMIT = 256
"""Allocas up to this many bytes become stack slots, which LLVM turns into registers where it can."""

STACK_BYTES = 1 << 16
"""What the stack slots of a function take in all; threads have some megabytes of stack, kernels thousands of tiles."""

HEADER_BYTES = sizeof(ArenaHeader)
"""What precedes the arena."""

PROGRAM_INDEX_OFFSET = ArenaHeader.program_index.offset - HEADER_BYTES
"""Where the index of the program that runs is (i64), counted from the arena's address."""

GRID_SLOT_OFFSET = ArenaHeader.grid_slot.offset - HEADER_BYTES
"""Where it is said which argument slot (i32) has the first extent of the grid."""

HELD_REGION_OFFSET = ArenaHeader.held_region.offset - HEADER_BYTES
"""Where the region of memory is that the thread holds the lock of; 0: none."""

ATOMICS_OFFSET = ArenaHeader.atomics_mode.offset - HEADER_BYTES
"""Where it is said how the thread has passed the gate of atomics: 0 not, 1 among others, 2 alone."""


@dataclass(frozen=True)
class Slot:
    """Where one alloca lives: on the stack, or at an offset from the frame."""

    bytes: int
    alignment: int
    offset: int = 0
    on_stack: bool = False


@dataclass
class FramePlan:
    """The part of the arena that one call of a function uses."""

    slots: dict[Operation, Slot] = field(default_factory=dict["Operation", Slot])
    own_bytes: int = 0
    callee_bytes: int = 0
    stack_bytes: int = 0

    def reserve(self, op: Operation, size: int, alignment: int) -> None:
        """Give an alloca of `size` bytes its offset."""
        alignment = max(alignment, ALIGNMENT)
        if size <= STACK_LIMIT and self.stack_bytes + size <= STACK_BYTES:
            self.stack_bytes += size
            self.slots[op] = Slot(size, alignment, on_stack=True)
            return
        self.reserve_in_arena(op, size, alignment)

    def reserve_in_arena(self, op: Operation, size: int, alignment: int = ALIGNMENT) -> None:
        """Give an alloca, or a coroutine that is started, a part of the arena."""
        offset = -(-self.own_bytes // alignment) * alignment
        self.slots[op] = Slot(size, alignment, offset)
        self.own_bytes = offset + size

    @property
    def frame_bytes(self) -> int:
        """Own slots, rounded up: where a callee's frame starts."""
        return -(-self.own_bytes // ALIGNMENT) * ALIGNMENT

    @property
    def total_bytes(self) -> int:
        """Bytes that a call of the function needs, callees included."""
        return self.frame_bytes + self.callee_bytes
