"""Atomics on floats under the locks of regions of memory: of single elements, and of lanes among other threads.

A region is 4 KiB; the runtime's `tilewright_hold_region` takes its lock, giving back the one that the thread holds,
which the header of the arena names. Lanes that are neighbours in one region are added as one vector, those of one
element are summed first, others are added one by one, each region held until another is needed.

Other threads change the elements: what one thread does to them lies between calls of the runtime, or is volatile, so
that LLVM keeps it between the lock's.
"""

from __future__ import annotations

from collections.abc import Callable

from tilewright.codegen.lane_builder import LaneBuilder
from tilewright.codegen.llvm_text import FunctionText
from tilewright.lowering.loops_to_llvm.arena import HELD_REGION_OFFSET
from tilewright.lowering.loops_to_llvm.function_lowering import ARENA, CpuFunctionLowering
from tilewright.lowering.loops_to_llvm.lane_atomics import LaneFunction, emit_mode
from tilewright.lowering.loops_to_llvm.types import ScalarType, ValueType

HOLD, RELEASE = "tilewright_hold_region", "tilewright_release_region"
SHARE = "tilewright_share_atomics"
AMONG_OTHERS = 1
REGION_BITS = 12


def emit_sharing(low: CpuFunctionLowering) -> None:
    """In front of an atomic instruction: see to it that no other thread does without them."""
    fn = low.fn
    low.module.needs.externals.add(SHARE)
    share, ready = fn.new_label("share"), fn.new_label("shared")
    fn.branch_if(fn.icmp("eq", "i32", emit_mode(fn), AMONG_OTHERS), ready, share)
    fn.start(share)
    fn.call("void", SHARE, [("ptr", ARENA)])
    fn.branch(ready)
    fn.start(ready)


def emit_guarded(low: CpuFunctionLowering, type: ValueType, address: str, step: Callable[[str], str]) -> str:
    """Replace one element by ``step(element)`` under its region's lock; returns what it was before."""
    low.module.needs.externals.update((HOLD, RELEASE))
    _hold(low.fn, low.fn.cast("ptrtoint", "ptr", address, "i64"))
    before = _update(low.fn, type, address, step)
    low.fn.call("void", RELEASE, [("ptr", ARENA)])
    return before


def _hold(fn: FunctionText, address: str) -> None:
    """Hold the region of an address, given as i64."""
    region = fn.binary("lshr", "i64", address, REGION_BITS)
    held = fn.load("i64", fn.address("i8", ARENA, HELD_REGION_OFFSET))
    change, ready = fn.new_label("change"), fn.new_label("ready")
    fn.branch_if(fn.icmp("eq", "i64", region, held), ready, change)
    fn.start(change)
    fn.call("void", HOLD, [("ptr", ARENA), ("i64", region)])
    fn.branch(ready)
    fn.start(ready)


def _update(fn: FunctionText, type: ValueType, address: str, step: Callable[[str], str]) -> str:
    """Load, change and store an element."""
    align = type.scalar.bytes
    before = fn.load(type.text, address, align=align, flags="volatile ")
    fn.store(type.text, step(before), address, align=align, flags="volatile ")
    return before


class FloatLanes(LaneFunction):
    """The function that adds lanes of floats to memory."""

    def update_among_others(self, end: str) -> None:
        fn = self.fn
        together, apart = fn.new_label("together"), fn.new_label("apart")
        address, is_run = ("%base", "true") if self.is_row else self.find_run()
        inside = self._is_inside(address)
        fn.branch_if(fn.binary("and", "i1", is_run, inside), together, apart)
        fn.start(together)
        _hold(fn, fn.cast("ptrtoint", "ptr", address, "i64"))
        self.lanes.update_together(address, end)
        fn.start(apart)
        each = fn.new_label("each")
        if self.is_row:
            fn.branch(each)
        else:
            self.update_if_same(end, each, self._update_held)
        fn.start(each)
        self.for_each_lane(self.spill(self.offsets, self.places), end, self._update_held)

    def _is_inside(self, address: str) -> str:
        """Return whether a vector lies in one region."""
        start = self.fn.cast("ptrtoint", "ptr", address, "i64")
        end = self.fn.binary("add", "i64", start, self.type.lanes * self.scalar.bytes - 1)
        return self.fn.icmp("ult", "i64", self.fn.binary("xor", "i64", start, end), 1 << REGION_BITS)

    def _update_held(self, address: str, value: str, held_as: ScalarType | None = None) -> None:
        _hold(self.fn, self.fn.cast("ptrtoint", "ptr", address, "i64"))
        b = LaneBuilder(self.fn, 0)
        _update(self.fn, ValueType(self.scalar), address, lambda before: self.lanes.combine(b, before, value, held_as))
