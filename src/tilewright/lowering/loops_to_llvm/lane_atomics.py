"""Functions that perform an atomic for each lane of a vector; here those on integers.

```llvm
call void @tw.atomic_addi.16xi32(ptr %base, <16 x i64> %offsets, <16 x i32> %values, i16 %mask, ptr %arena)
```
Among other threads with atomics, each lane is one instruction (`lock add` and its like); alone, ordinary ones do, on
all lanes at once where they are neighbours. `tilewright_enter_atomics` tells (see `targets/cpu/native/regions.ll`).
"""

from __future__ import annotations

from collections.abc import Callable

from tilewright.codegen.lane_builder import LaneBuilder, intrinsic_suffix
from tilewright.codegen.llvm_text import FunctionText, ModuleText, Parameter, vector_constant
from tilewright.dialects.memref import AtomicRMWKind
from tilewright.lowering.loops_to_llvm.function_lowering import ARENA
from tilewright.lowering.loops_to_llvm.types import ScalarType, ValueType

ENTER = "tilewright_enter_atomics"
ALONE = 2

_INSTRUCTIONS = {
    AtomicRMWKind.ADDI: "add",
    AtomicRMWKind.ANDI: "and",
    AtomicRMWKind.ORI: "or",
    AtomicRMWKind.XORI: "xor",
}
_INTRINSICS = {
    AtomicRMWKind.MAXS: ("smax", "max"),
    AtomicRMWKind.MAXU: ("umax", "umax"),
    AtomicRMWKind.MINS: ("smin", "min"),
    AtomicRMWKind.MINU: ("umin", "umin"),
}
"""The intrinsic, and what `atomicrmw` calls it."""


def steps_of(type: ValueType) -> str:
    """0, 1, 2, ... as the offsets of a vector's lanes."""
    return vector_constant("i64", map(str, range(type.lanes)))


class LaneFunction:
    """A function of a base, the offsets and values of lanes, and which of them are on."""

    def __init__(self, module: ModuleText, name: str, type: ValueType) -> None:
        self.type = type
        self.scalar: ScalarType = type.scalar
        self.bits = f"i{type.lanes}"
        self.offsets = type.of("i64")
        parameters = [
            Parameter("ptr", "%base"),
            Parameter(self.offsets, "%offsets"),
            Parameter(type.text, "%values"),
            Parameter(self.bits, "%bits"),
            Parameter("ptr", ARENA),
        ]
        self.fn = FunctionText(module, name, "void", parameters, linkage="internal", attributes="noinline")
        self.mask = ""

    def all_live(self, lanes: str) -> str:
        """Whether a condition holds in all lanes that are on."""
        b = LaneBuilder(self.fn, self.type.lanes)
        fine = b.or_(lanes, b.not_(self.mask), "i1")
        packed = self.fn.value(f"bitcast {self.type.of('i1')} {fine} to {self.bits}")
        return self.fn.value(f"icmp eq {self.bits} {packed}, -1")

    def splat(self, offset: str) -> str:
        single = self.fn.value(f"insertelement {self.offsets} poison, i64 {offset}, i64 0")
        mask = f"<{self.type.lanes} x i32> zeroinitializer"
        return self.fn.value(f"shufflevector {self.offsets} {single}, {self.offsets} poison, {mask}")

    def address(self, offset: str) -> str:
        return self.fn.value(f"getelementptr {self.scalar.memory}, ptr %base, i64 {offset}")

    def first_lane(self, bits: str) -> str:
        """The number of the lowest bit that is set, as i64."""
        lane = self.fn.call(self.bits, f"llvm.cttz.{self.bits}", [(self.bits, bits), ("i1", "true")])
        return self.fn.value(f"zext {self.bits} {lane} to i64")

    def spill(self, type: str, value: str) -> str:
        """The lanes in memory, to be read one by one."""
        slot = self.fn.entry_value(f"alloca {type}, align 64")
        self.fn.emit(f"store {type} {value}, ptr {slot}, align 64")
        return slot

    def lane_of(self, slot: str, text: str, lane: str) -> str:
        return self.fn.value(f"load {text}, ptr {self.fn.value(f'getelementptr {text}, ptr {slot}, i64 {lane}')}")

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
        act(self.address(self.lane_of(offsets, "i64", lane)), value)
        less = fn.value(f"and {self.bits} {left.name}, {fn.value(f'add {self.bits} {left.name}, -1')}")
        left.add(less, fn.label)
        fn.branch_if(fn.value(f"icmp eq {self.bits} {less}, 0"), end, loop)

    def find_run(self) -> tuple[str, str]:
        """Where the first lane lies, and whether lane i is the element i behind it."""
        fn = self.fn
        first = fn.value(f"extractelement {self.offsets} %offsets, i64 0")
        run = fn.value(f"add {self.offsets} {self.splat(first)}, {steps_of(self.type)}")
        return self.address(first), self.all_live(fn.value(f"icmp eq {self.offsets} %offsets, {run}"))


class IntegerLanes(LaneFunction):
    """Writes the function of one kind of atomic on integers."""

    def __init__(self, module: ModuleText, name: str, type: ValueType, kind: AtomicRMWKind) -> None:
        super().__init__(module, name, type)
        self.kind = kind

    def text(self) -> str:
        """The whole function."""
        fn = self.fn
        some, alone, together, apart, shared, end = map(
            fn.new_label, ("some", "alone", "together", "apart", "shared", "end")
        )
        fn.branch_if(fn.value(f"icmp ne {self.bits} %bits, 0"), some, end)
        fn.start(some)
        self.mask = fn.value(f"bitcast {self.bits} %bits to {self.type.of('i1')}")
        mode = fn.call("i32", ENTER, [("ptr", ARENA)])
        fn.branch_if(fn.value(f"icmp eq i32 {mode}, {ALONE}"), alone, shared)
        fn.start(alone)
        address, is_run = self.find_run()
        fn.branch_if(is_run, together, apart)
        fn.start(together)
        self._update_together(address)
        fn.branch(end)
        fn.start(apart)
        self.for_each_lane(self.spill(self.offsets, "%offsets"), end, self._update_one)
        fn.start(shared)
        self.for_each_lane(self.spill(self.offsets, "%offsets"), end, self._instruction)
        fn.start(end)
        fn.terminate("ret void")
        return fn.text()

    def _update_together(self, address: str) -> None:
        fn, type = self.fn, self.type
        suffix, masks = intrinsic_suffix(self.scalar.text, type.lanes), type.of("i1")
        place = (f"ptr align {self.scalar.bytes}", address)
        load, store = f"llvm.masked.load.{suffix}.p0", f"llvm.masked.store.{suffix}.p0"
        fn.declare(f"declare {type.text} @{load}(ptr, {masks}, {type.text})")
        fn.declare(f"declare void @{store}({type.text}, ptr, {masks})")
        before = fn.call(type.text, load, [place, (masks, self.mask), (type.text, "zeroinitializer")])
        after = self._combine(LaneBuilder(fn, type.lanes), before, "%values")
        fn.call("void", store, [(type.text, after), place, (masks, self.mask)])

    def _update_one(self, address: str, value: str) -> None:
        text, align = self.scalar.text, self.scalar.bytes
        before = self.fn.value(f"load volatile {text}, ptr {address}, align {align}")
        after = self._combine(LaneBuilder(self.fn, 0), before, value)
        self.fn.emit(f"store volatile {text} {after}, ptr {address}, align {align}")

    def _instruction(self, address: str, value: str) -> None:
        name = _INSTRUCTIONS.get(self.kind) or _INTRINSICS[self.kind][1]
        self.fn.value(f"atomicrmw {name} ptr {address}, {self.scalar.text} {value} acq_rel, align {self.scalar.bytes}")

    def _combine(self, b: LaneBuilder, before: str, value: str) -> str:
        if (name := _INSTRUCTIONS.get(self.kind)) is not None:
            return b.binary(name, before, value, self.scalar.text)
        return b.intrinsic(_INTRINSICS[self.kind][0], self.scalar.text, before, value)
