"""Functions that perform an atomic for each lane of a vector.

```llvm
call void @tw.atomic_addi_16xi32_at_i32(ptr %base, <16 x i32> %offsets, <16 x i32> %values, i16 %mask, ptr %arena)
```
Alone (see `targets/cpu/native/regions.ll`), ordinary loads and stores do:

- of one vector where lanes are neighbours,
- of one element where all lanes have the same, which gets what they have together,
- of each lane's element otherwise. Where more than a fourth of the lanes are on, all are stepped through without a
  branch, those that are off in elements of no meaning.

Among other threads with atomics, each lane of integers is one instruction (`lock add` and its like); those of floats
take the locks of `guarded_atomics`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

from tilewright.codegen.literals import vector_constant
from tilewright.codegen.llvm_text import FunctionText, ModuleText, Parameter
from tilewright.lowering.loops_to_llvm.arena import ATOMICS_OFFSET
from tilewright.lowering.loops_to_llvm.function_lowering import ARENA
from tilewright.lowering.loops_to_llvm.lane_values import Lanes
from tilewright.lowering.loops_to_llvm.types import ScalarType, ValueType

ENTER = "tilewright_enter_atomics"
ALONE = 2


def emit_mode(fn: FunctionText) -> str:
    """Return how the thread has passed the gate of atomics, as i32."""
    return fn.load("i32", fn.address("i8", ARENA, ATOMICS_OFFSET))


def steps_of(type: ValueType, scalar: str = "i64") -> str:
    """0, 1, 2, ... as the offsets of a vector's lanes."""
    return vector_constant(scalar, map(str, range(type.lanes)))


class LaneFunction(ABC):
    """Writes the function of one kind of atomic on one type of lanes; without offsets they are neighbours."""

    def __init__(self, module: ModuleText, name: str, lanes: Lanes, offset: ScalarType | None) -> None:
        self.type = lanes.type
        self.scalar: ScalarType = lanes.type.scalar
        self.bits = f"i{lanes.type.lanes}"
        self.offset = "i64" if offset is None else offset.text
        self.offsets = self.type.of(self.offset)
        self.is_row = offset is None
        parameters = [
            Parameter("ptr", "%base"),
            *(() if offset is None else (Parameter(self.offsets, "%offsets"),)),
            Parameter(self.type.text, "%values"),
            Parameter(self.bits, "%bits"),
            Parameter("ptr", ARENA),
        ]
        self.places = steps_of(self.type) if offset is None else "%offsets"
        self.fn = FunctionText(module, name, "void", parameters, linkage="internal", attributes="noinline")
        self.lanes = lanes.within(self.fn, "%values", "%bits")

    def text(self) -> str:
        """The whole function."""
        fn = self.fn
        some, enter, alone, shared, end = map(fn.new_label, ("some", "enter", "alone", "shared", "end"))
        fn.branch_if(fn.icmp("ne", self.bits, "%bits", 0), some, end)
        fn.start(some)
        self.lanes = self.lanes.masked()
        fn.branch_if(fn.icmp("eq", "i32", emit_mode(fn), ALONE), alone, enter)
        fn.start(enter)
        mode = fn.call("i32", ENTER, [("ptr", ARENA)])
        fn.branch_if(fn.icmp("eq", "i32", mode, ALONE), alone, shared)
        fn.start(alone)
        self._update_alone(end)
        fn.start(shared)
        self.update_among_others(end)
        fn.start(end)
        fn.ret()
        return fn.text()

    @abstractmethod
    def update_among_others(self, end: str) -> None:
        """Update the elements of all lanes, of which some are on, while others have atomics; goes to `end`."""

    # -- alone ------------------------------------------------------------------------------------------------------

    def _update_alone(self, end: str) -> None:
        fn = self.fn
        if self.is_row:
            self.lanes.update_together("%base", end)
            return
        orderly, run, no_run, apart = map(fn.new_label, ("orderly", "run", "no_run", "apart"))
        places = self.spill(self.offsets, self.places)
        first, second = (self.lane_of(places, self.offset, lane, volatile=True) for lane in ("0", "1"))
        step = fn.binary("sub", self.offset, second, first)
        fn.branch_if(fn.icmp("ule", self.offset, step, 1), orderly, apart)
        fn.start(orderly)
        address, is_run = self.find_run()
        fn.branch_if(is_run, run, no_run)
        fn.start(run)
        self.lanes.update_together(address, end)
        fn.start(no_run)
        self.update_if_same(end, apart, self.lanes.update_one)
        fn.start(apart)
        self._update_apart(places, end)

    def _update_apart(self, places: str, end: str) -> None:
        """Step through all lanes, or through those that are on; `places` are the offsets in memory."""
        fn, lanes = self.fn, self.type.lanes
        if self.scalar.is_soft_float:
            self.for_each_lane(places, end, self.lanes.update_one)
            return
        values = self.spill(self.type.text, "%values")
        whole, part, many, few = map(fn.new_label, ("whole", "part", "many", "few"))
        fn.branch_if(fn.icmp("eq", self.bits, "%bits", -1), whole, part)
        fn.start(whole)
        self._step_through(values, lambda lane: self.address(self.lane_of(places, self.offset, lane, volatile=True)))
        fn.branch(end)
        fn.start(part)
        count = fn.call(self.bits, f"llvm.ctpop.{self.bits}", [(self.bits, "%bits")])
        fn.branch_if(fn.icmp("ugt", self.bits, count, lanes // 4), many, few)
        fn.start(few)
        self.for_each_lane(places, end, self.lanes.update_one)
        fn.start(many)
        idle = fn.alloca(f"[{lanes} x {self.scalar.memory}]", align=64)
        at, pointers = self.type.of("i64"), self.type.of("ptr")
        there = fn.address(self.scalar.memory, "%base", self.places, index_type=self.offsets)
        nowhere = fn.address(self.scalar.memory, idle, steps_of(self.type), index_type=at)
        chosen = fn.select(self.lanes.mask, pointers, there, nowhere, condition_type=self.type.of("i1"))
        addresses = self.spill(pointers, chosen)
        self._step_through(values, lambda lane: self.lane_of(addresses, "ptr", lane, volatile=True))
        fn.branch(end)

    def _step_through(self, values: str, address: Callable[[str], str]) -> None:
        """Update the elements of all lanes; volatile reads, or LLVM takes the lanes out of registers one by one."""
        for lane in map(str, range(self.type.lanes)):
            self.lanes.update_one(address(lane), self.lane_of(values, self.scalar.text, lane, volatile=True))

    # -- forms of offsets -------------------------------------------------------------------------------------------

    def find_run(self) -> tuple[str, str]:
        """Return where the first lane lies, and whether lane i is the element i after it."""
        fn = self.fn
        first = fn.extract_element(self.offsets, self.places, 0, index_type="i64")
        run = fn.binary("add", self.offsets, self.splat(first), steps_of(self.type, self.offset))
        follows = self.all_live(fn.icmp("eq", self.offsets, self.places, run))
        # Numbers that wrap around are no neighbours.
        last = (1 << (int(self.offset[1:]) - 1)) - self.type.lanes
        ends = fn.icmp("sle", self.offset, first, last)
        return self.address(first), fn.binary("and", "i1", follows, ends)

    def update_if_same(self, end: str, otherwise: str, update: Callable[[str, str, ScalarType], None]) -> None:
        """Emit the case that all lanes have one element: ``update(address, value, type)`` with their total, and a
        branch to `end`.
        """
        fn = self.fn
        offset = self.lane_of(self.spill(self.offsets, self.places), self.offset, self.first_lane("%bits"))
        same = self.all_live(fn.icmp("eq", self.offsets, self.places, self.splat(offset)))
        equal = fn.new_label("equal")
        fn.branch_if(same, equal, otherwise)
        fn.start(equal)
        # All lanes have a branch of their own: LLVM makes masks of what is in the register of the sum before, and
        # every sum would wait for the last.
        of_all, of_some = fn.new_label("all"), fn.new_label("some")
        fn.branch_if(fn.icmp("eq", self.bits, "%bits", -1), of_all, of_some)
        for label, masked in ((of_all, False), (of_some, True)):
            fn.start(label)
            update(self.address(offset), self.lanes.together(masked=masked), self.lanes.compute)
            fn.branch(end)

    def for_each_lane(self, offsets: str, end: str, act: Callable[[str, str], None]) -> None:
        """``act(address, value)`` for each lane that is on, at least one; `offsets` are in memory. Goes to `end`."""
        fn = self.fn
        values, before = self.spill(self.type.text, "%values"), fn.label
        loop = fn.new_label("lane")
        fn.branch(loop)
        fn.start(loop)
        left = fn.phi(self.bits, "left")
        left.add("%bits", before)
        lane = self.first_lane(left.name)
        value = self.lane_of(values, self.scalar.text, lane)
        act(self.address(self.lane_of(offsets, self.offset, lane)), value)
        less = fn.binary("and", self.bits, left.name, fn.binary("add", self.bits, left.name, -1))
        left.add(less, fn.label)
        fn.branch_if(fn.icmp("eq", self.bits, less, 0), end, loop)

    # -- values -----------------------------------------------------------------------------------------------------

    def all_live(self, condition: str) -> str:
        """Return whether a condition holds in all lanes that are on."""
        off = self.fn.binary("xor", self.bits, "%bits", -1)
        packed = self.fn.cast("bitcast", self.type.of("i1"), condition, self.bits)
        return self.fn.icmp("eq", self.bits, self.fn.binary("or", self.bits, packed, off), -1)

    def splat(self, offset: str) -> str:
        single = self.fn.insert_element(self.offsets, "poison", self.offset, offset, 0, index_type="i64")
        mask = f"<{self.type.lanes} x i32> zeroinitializer"
        return self.fn.shuffle(self.offsets, single, "poison", mask)

    def address(self, offset: str) -> str:
        return self.fn.address(self.scalar.memory, "%base", offset, index_type=self.offset)

    def first_lane(self, bits: str) -> str:
        """The number of the lowest bit that is set, as i64."""
        lane = self.fn.call(self.bits, f"llvm.cttz.{self.bits}", [(self.bits, bits), ("i1", "true")])
        return lane if self.bits == "i64" else self.fn.cast("zext", self.bits, lane, "i64")

    def spill(self, type: str, value: str) -> str:
        """The lanes in memory, to be read one by one."""
        slot = self.fn.alloca(type, align=64)
        self.fn.store(type, value, slot, align=64)
        return slot

    def lane_of(self, slot: str, text: str, lane: str, *, volatile: bool = False) -> str:
        place = self.fn.address(text, slot, lane)
        return self.fn.load(text, place, flags="volatile " * volatile)


class IntegerLanes(LaneFunction):
    """The function of one kind of atomic on integers."""

    def update_among_others(self, end: str) -> None:
        each = self.fn.new_label("each")
        if self.is_row:
            self.fn.branch(each)
        else:
            self.update_if_same(end, each, self._instruction)
        self.fn.start(each)
        self.for_each_lane(self.spill(self.offsets, self.places), end, self._instruction)

    def _instruction(self, address: str, value: str, held_as: ScalarType | None = None) -> None:
        text, bytes = self.scalar.text, self.scalar.bytes
        self.fn.value(f"atomicrmw {self.lanes.instruction} ptr {address}, {text} {value} acq_rel, align {bytes}")
