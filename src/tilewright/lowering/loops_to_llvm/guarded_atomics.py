"""Atomics under the locks of regions of memory: `vector.atomic_scatter`, and single elements.

A region is 4 KiB; the runtime's `tilewright_hold_region` takes its lock, giving back the one that the thread holds,
which the header of the arena names. The lanes of a vector are added

- as one vector where they are neighbours in one region,
- summed first where all of them are one element,
- one by one otherwise, each region held until another is needed.

```llvm
call void @tw.atomic_add.16xfloat(ptr %base, <16 x i64> %offsets, <16 x float> %values, i16 %mask, ptr %arena)
```
Other threads change the elements: loads and stores are volatile, so that LLVM keeps them between the lock's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from xdsl.ir import Operation

from tilewright.codegen.lane_builder import LaneBuilder, intrinsic_suffix
from tilewright.codegen.llvm_text import FunctionText, Parameter, global_name, vector_constant
from tilewright.dialects import vector
from tilewright.dialects.memref import AtomicRMWKind
from tilewright.lowering.loops_to_llvm.addressing import element_address
from tilewright.lowering.loops_to_llvm.arena import HELD_REGION_OFFSET
from tilewright.lowering.loops_to_llvm.conversions import float_literal, from_compute, widen
from tilewright.lowering.loops_to_llvm.function_lowering import ARENA, FunctionLowering, Rule
from tilewright.lowering.loops_to_llvm.mask_bits import for_scalar_use
from tilewright.lowering.loops_to_llvm.types import F32, ScalarType, ValueType

HOLD, RELEASE = "tilewright_hold_region", "tilewright_release_region"
REGION_BITS = 12


def lower_atomic_scatter(low: FunctionLowering, op: Operation) -> None:
    scatter = cast(vector.AtomicScatterOp, op)
    if scatter.combination != AtomicRMWKind.ADDF:
        low.fail(op, f"of kind {scatter.combination.name.lower()}: lanes can be added only")
    fn, type = low.fn, low.type_of(scatter.value)
    base = element_address(low, scatter.base, low.memref(scatter.base), scatter.indices)
    offsets, lanes = low.get(scatter.index_vec), type.of("i64")
    if (given := low.type_of(scatter.index_vec)).scalar.text != "i64":
        offsets = fn.value(f"sext {given.text} {offsets} to {lanes}")
    mask = for_scalar_use(low, low.get(scatter.mask), type.lanes)
    bits = fn.value(f"bitcast {type.of('i1')} {mask} to i{type.lanes}")
    name = f"tw.atomic_add.{type.lanes}x{type.scalar.text}"
    if type.scalar.format is not None:
        name += f".{type.scalar.format.name}"
    low.module.externals.update((HOLD, RELEASE))
    fn.module.define_once(name, lambda: _LaneAdder(low, name, type).text())
    operands = f"ptr {base}, {lanes} {offsets}, {type.text} {low.get(scatter.value)}, i{type.lanes} {bits}, ptr {ARENA}"
    fn.emit(f"call void {global_name(name)}({operands})")


def lower_end_atomics(low: FunctionLowering, op: Operation) -> None:
    """One call; it sees by itself whether there is something to give back."""
    low.module.externals.add(RELEASE)
    low.fn.call("void", RELEASE, [("ptr", ARENA)])


def emit_guarded(low: FunctionLowering, type: ValueType, address: str, step: Callable[[str], str]) -> str:
    """Replace one element by ``step(element)`` under its region's lock; returns what it was before."""
    low.module.externals.update((HOLD, RELEASE))
    _hold(low.fn, low.fn.value(f"ptrtoint ptr {address} to i64"))
    before = _update(low.fn, type, address, step)
    low.fn.call("void", RELEASE, [("ptr", ARENA)])
    return before


def _hold(fn: FunctionText, place: str) -> None:
    """Hold the region of an address, given as i64."""
    region = fn.value(f"lshr i64 {place}, {REGION_BITS}")
    held = fn.value(f"load i64, ptr {fn.value(f'getelementptr i8, ptr {ARENA}, i64 {HELD_REGION_OFFSET}')}")
    change, ready = fn.new_label("change"), fn.new_label("ready")
    fn.branch_if(fn.value(f"icmp eq i64 {region}, {held}"), ready, change)
    fn.start(change)
    fn.call("void", HOLD, [("ptr", ARENA), ("i64", region)])
    fn.branch(ready)
    fn.start(ready)


def _update(fn: FunctionText, type: ValueType, address: str, step: Callable[[str], str]) -> str:
    """Load, change and store an element, or neighbouring ones."""
    align = type.scalar.bytes
    before = fn.value(f"load volatile {type.text}, ptr {address}, align {align}")
    fn.emit(f"store volatile {type.text} {step(before)}, ptr {address}, align {align}")
    return before


class _LaneAdder:
    """Writes the function that adds the lanes of one vector type."""

    def __init__(self, low: FunctionLowering, name: str, type: ValueType) -> None:
        self.type = type
        self.scalar: ScalarType = type.scalar
        self.lanes = type.lanes
        self.bits = f"i{type.lanes}"
        self.offsets = type.of("i64")
        parameters = [
            Parameter("ptr", "%base"),
            Parameter(self.offsets, "%offsets"),
            Parameter(type.text, "%values"),
            Parameter(self.bits, "%bits"),
            Parameter("ptr", ARENA),
        ]
        self.fn = FunctionText(low.module.text, name, "void", parameters, linkage="internal", attributes="noinline")
        self.mask = ""

    def text(self) -> str:
        """The whole function."""
        fn = self.fn
        some, together, apart, end = (fn.new_label(hint) for hint in ("some", "together", "apart", "end"))
        fn.branch_if(fn.value(f"icmp ne {self.bits} %bits, 0"), some, end)
        fn.start(some)
        self.mask = fn.value(f"bitcast {self.bits} %bits to {self.type.of('i1')}")
        address, is_run = self._find_run()
        fn.branch_if(is_run, together, apart)
        fn.start(together)
        self._add_together(address, end)
        fn.start(apart)
        self._add_apart(end)
        fn.start(end)
        fn.terminate("ret void")
        return fn.text()

    def _find_run(self) -> tuple[str, str]:
        """Where the first lane lies, and whether lane i is the element i behind it, all in one region."""
        fn = self.fn
        first = fn.value(f"extractelement {self.offsets} %offsets, i64 0")
        steps = vector_constant("i64", map(str, range(self.lanes)))
        run = fn.value(f"add {self.offsets} {self._splat(first)}, {steps}")
        follows = self._all_live(fn.value(f"icmp eq {self.offsets} %offsets, {run}"))
        leads = fn.value(f"trunc {self.bits} %bits to i1")
        address = self._address(first)
        start = fn.value(f"ptrtoint ptr {address} to i64")
        end = fn.value(f"add i64 {start}, {self.lanes * self.scalar.bytes - 1}")
        crossing = fn.value(f"xor i64 {start}, {end}")
        inside = fn.value(f"icmp ult i64 {crossing}, {1 << REGION_BITS}")
        return address, fn.value(f"and i1 {fn.value(f'and i1 {follows}, {leads}')}, {inside}")

    def _add_together(self, address: str, end: str) -> None:
        """One vector; masked only where lanes are off: what it stores cannot be handed on to the next load."""
        fn, type = self.fn, self.type
        _hold(fn, fn.value(f"ptrtoint ptr {address} to i64"))
        whole, part = fn.new_label("whole"), fn.new_label("part")
        fn.branch_if(fn.value(f"icmp eq {self.bits} %bits, -1"), whole, part)
        fn.start(whole)
        _update(fn, type, address, lambda before: self._sum(before, "%values", self.lanes))
        fn.branch(end)
        fn.start(part)
        suffix, masks = intrinsic_suffix(self.scalar.text, self.lanes), type.of("i1")
        place = (f"ptr align {self.scalar.bytes}", address)
        load, store = f"llvm.masked.load.{suffix}.p0", f"llvm.masked.store.{suffix}.p0"
        fn.declare(f"declare {type.text} @{load}(ptr, {masks}, {type.text})")
        fn.declare(f"declare void @{store}({type.text}, ptr, {masks})")
        before = fn.call(type.text, load, [place, (masks, self.mask), (type.text, "zeroinitializer")])
        fn.call("void", store, [(type.text, self._sum(before, "%values", self.lanes)), place, (masks, self.mask)])
        fn.branch(end)

    def _add_apart(self, end: str) -> None:
        fn = self.fn
        offsets = self._spill(self.offsets, "%offsets")
        lane = self._first_lane("%bits")
        offset = self._lane_of(offsets, "i64", lane)
        same = self._all_live(fn.value(f"icmp eq {self.offsets} %offsets, {self._splat(offset)}"))
        sum_label, each = fn.new_label("sum"), fn.new_label("each")
        fn.branch_if(same, sum_label, each)
        fn.start(sum_label)
        self._add_one(offset, self._sum_of_live(), F32 if self.scalar.is_soft_float else self.scalar)
        fn.branch(end)
        fn.start(each)
        values = self._spill(self.type.text, "%values")
        loop = fn.new_label("lane")
        fn.branch(loop)
        fn.start(loop)
        left = fn.phi(self.bits, "left")
        left.add("%bits", each)
        lane = self._first_lane(left.name)
        value = self._lane_of(values, self.scalar.text, lane)
        self._add_one(self._lane_of(offsets, "i64", lane), value, self.scalar)
        less = fn.value(f"and {self.bits} {left.name}, {fn.value(f'add {self.bits} {left.name}, -1')}")
        left.add(less, fn.label)
        fn.branch_if(fn.value(f"icmp eq {self.bits} {less}, 0"), end, loop)

    def _add_one(self, offset: str, value: str, held_as: ScalarType) -> None:
        """Add to the element at an offset a value of its type, or of the type it is computed in."""
        address = self._address(offset)
        _hold(self.fn, self.fn.value(f"ptrtoint ptr {address} to i64"))
        one = LaneBuilder(self.fn, 0)

        def step(before: str) -> str:
            total = one.fadd(widen(one, before, self.scalar), widen(one, value, held_as), self._compute.text)
            return from_compute(one, total, self.scalar)

        _update(self.fn, ValueType(self.scalar), address, step)

    # -- values -----------------------------------------------------------------------------------------------------

    @property
    def _compute(self) -> ScalarType:
        return F32 if self.scalar.is_soft_float else self.scalar

    def _sum(self, left: str, right: str, lanes: int) -> str:
        b = LaneBuilder(self.fn, lanes)
        total = b.fadd(widen(b, left, self.scalar), widen(b, right, self.scalar), self._compute.text)
        return from_compute(b, total, self.scalar)

    def _sum_of_live(self) -> str:
        """The sum over the lanes that are on, in the type that it is computed in."""
        b, text = LaneBuilder(self.fn, self.lanes), self._compute.text
        zero = float_literal(-0.0, self._compute)
        live = b.select(self.mask, widen(b, "%values", self.scalar), b.splat(text, zero), text)
        name = f"llvm.vector.reduce.fadd.{intrinsic_suffix(text, self.lanes)}"
        return self.fn.call(text, name, [(text, zero), (b.type(text), live)], flags="reassoc ")

    def _all_live(self, lanes: str) -> str:
        """Whether a condition holds in all lanes that are on."""
        b = LaneBuilder(self.fn, self.lanes)
        fine = b.or_(lanes, b.not_(self.mask), "i1")
        packed = self.fn.value(f"bitcast {self.type.of('i1')} {fine} to {self.bits}")
        return self.fn.value(f"icmp eq {self.bits} {packed}, -1")

    def _splat(self, offset: str) -> str:
        single = self.fn.value(f"insertelement {self.offsets} poison, i64 {offset}, i64 0")
        mask = f"<{self.lanes} x i32> zeroinitializer"
        return self.fn.value(f"shufflevector {self.offsets} {single}, {self.offsets} poison, {mask}")

    def _address(self, offset: str) -> str:
        return self.fn.value(f"getelementptr {self.scalar.memory}, ptr %base, i64 {offset}")

    def _first_lane(self, bits: str) -> str:
        """The number of the lowest bit that is set, as i64."""
        lane = self.fn.call(self.bits, f"llvm.cttz.{self.bits}", [(self.bits, bits), ("i1", "true")])
        return self.fn.value(f"zext {self.bits} {lane} to i64")

    def _spill(self, type: str, value: str) -> str:
        """The lanes in memory, to be read one by one."""
        slot = self.fn.entry_value(f"alloca {type}, align 64")
        self.fn.emit(f"store {type} {value}, ptr {slot}, align 64")
        return slot

    def _lane_of(self, slot: str, text: str, lane: str) -> str:
        return self.fn.value(f"load {text}, ptr {self.fn.value(f'getelementptr {text}, ptr {slot}, i64 {lane}')}")


RULES: dict[type[Operation], Rule] = {
    vector.AtomicScatterOp: lower_atomic_scatter,
    vector.EndAtomicsOp: lower_end_atomics,
}
