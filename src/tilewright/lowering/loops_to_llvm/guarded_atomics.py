"""Atomics of lanes (`lowering.atomic_calls`), and those of single elements under the locks of regions of memory.

A region is 4 KiB; the runtime's `tilewright_hold_region` takes its lock, giving back the one that the thread holds,
which the header of the arena names. The lanes of a vector are added

- as one vector where they are neighbours in one region, which is known here or found out by comparing their places,
- summed first where all of them are one element,
- one by one otherwise, each region held until another is needed.

```llvm
call void @tw.atomic_add.16xfloat(ptr %base, <16 x i64> %offsets, <16 x float> %values, i16 %mask, ptr %arena)
```
Other threads change the elements: loads and stores are volatile, so that LLVM keeps them between the lock's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tilewright.codegen.lane_builder import LaneBuilder, intrinsic_suffix
from tilewright.codegen.llvm_text import FunctionText, global_name
from tilewright.dialects import func
from tilewright.dialects.memref import AtomicRMWKind
from tilewright.lowering.atomic_calls import END_ATOMICS, AtomicCall, find_atomic_call
from tilewright.lowering.loops_to_llvm.addressing import element_address
from tilewright.lowering.loops_to_llvm.arena import ATOMICS_OFFSET, HELD_REGION_OFFSET
from tilewright.lowering.loops_to_llvm.conversions import float_literal, from_compute, widen
from tilewright.lowering.loops_to_llvm.function_lowering import ARENA, FunctionLowering
from tilewright.lowering.loops_to_llvm.lane_atomics import ENTER, IntegerLanes, LaneFunction, steps_of
from tilewright.lowering.loops_to_llvm.mask_bits import for_scalar_use
from tilewright.lowering.loops_to_llvm.types import F32, ScalarType, ValueType

HOLD, RELEASE = "tilewright_hold_region", "tilewright_release_region"
SHARE = "tilewright_share_atomics"
AMONG_OTHERS = 1
REGION_BITS = 12


def lower_atomic_call(low: FunctionLowering, op: func.CallOp) -> bool:
    """Lower a call that `lowering.atomic_calls` describes; False for others."""
    symbol = op.callee.string_value()
    if symbol == END_ATOMICS:
        # One call; it sees by itself whether there is something to give back.
        low.module.externals.add(RELEASE)
        low.fn.call("void", RELEASE, [("ptr", ARENA)])
        return True
    call = find_atomic_call(symbol, tuple(operand.type for operand in op.operands))
    if call is None:
        return False
    _lower_lanes(low, op, call)
    return True


def _lower_lanes(low: FunctionLowering, op: func.CallOp, call: AtomicCall) -> None:
    fn, type = low.fn, low.module.types.value(call.values)
    flat, index, *offsets_given, mask_given, values = op.operands
    base = element_address(low, flat, low.memref(flat), [index])
    mask = for_scalar_use(low, low.get(mask_given), type.lanes)
    lanes = _Lanes(fn, type, low.get(values), fn.value(f"bitcast {type.of('i1')} {mask} to i{type.lanes}"), mask)
    low.module.externals.update((HOLD, RELEASE, ENTER))
    offsets = steps_of(type)
    if offsets_given:
        offsets, given = low.get(offsets_given[0]), low.type_of(offsets_given[0])
        if given.scalar.text != "i64":
            offsets = fn.value(f"sext {given.text} {offsets} to {type.of('i64')}")
    if not type.scalar.is_float:
        name = f"tw.atomic_{call.kind.name.lower()}.{type.lanes}x{type.scalar.text}"
        fn.module.define_once(name, lambda: IntegerLanes(low.module.text, name, type, call.kind).text())
        _call_lanes(fn, name, base, offsets, lanes)
        return
    if call.kind != AtomicRMWKind.ADDF:
        low.fail(op, f"of kind {call.kind.name.lower()}: lanes of floats can be added only")
    if call.offsets is not None:
        _call_adder(low, base, offsets, lanes)
        return
    crosses, inside, end = fn.new_label("crosses"), fn.new_label("inside"), fn.new_label("added")
    fn.branch_if(_is_inside(fn, base, type), inside, crosses)
    fn.start(crosses)
    _call_adder(low, base, offsets, lanes)
    fn.branch(end)
    fn.start(inside)
    _add_together(lanes, base, end)
    fn.start(end)


def _call_adder(low: FunctionLowering, base: str, offsets: str, lanes: _Lanes) -> None:
    type = lanes.type
    name = f"tw.atomic_add.{type.lanes}x{type.scalar.text}"
    if type.scalar.format is not None:
        name += f".{type.scalar.format.name}"
    low.fn.module.define_once(name, lambda: _LaneAdder(low.module.text, name, type).text())
    _call_lanes(low.fn, name, base, offsets, lanes)


def _call_lanes(fn: FunctionText, name: str, base: str, offsets: str, lanes: _Lanes) -> None:
    type = lanes.type
    operands = (
        f"ptr {base}, {type.of('i64')} {offsets}, {type.text} {lanes.values}, i{type.lanes} {lanes.bits}, ptr {ARENA}"
    )
    fn.emit(f"call void {global_name(name)}({operands})")


def emit_sharing(low: FunctionLowering) -> None:
    """In front of an atomic instruction: see to it that no other thread does without them."""
    fn = low.fn
    low.module.externals.add(SHARE)
    mode = fn.value(f"load i32, ptr {fn.value(f'getelementptr i8, ptr {ARENA}, i64 {ATOMICS_OFFSET}')}")
    share, ready = fn.new_label("share"), fn.new_label("shared")
    fn.branch_if(fn.value(f"icmp eq i32 {mode}, {AMONG_OTHERS}"), ready, share)
    fn.start(share)
    fn.call("void", SHARE, [("ptr", ARENA)])
    fn.branch(ready)
    fn.start(ready)


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


@dataclass(frozen=True, slots=True)
class _Lanes:
    """What is added: the values, and which of them, as bits and as a mask."""

    fn: FunctionText
    type: ValueType
    values: str
    bits: str
    mask: str


def _is_inside(fn: FunctionText, address: str, type: ValueType) -> str:
    """Whether a vector lies in one region."""
    start = fn.value(f"ptrtoint ptr {address} to i64")
    end = fn.value(f"add i64 {start}, {type.lanes * type.scalar.bytes - 1}")
    return fn.value(f"icmp ult i64 {fn.value(f'xor i64 {start}, {end}')}, {1 << REGION_BITS}")


def _add_together(lanes: _Lanes, address: str, end: str) -> None:
    """Add one vector, and go to `end`. It is masked only where lanes are off: what a masked store writes cannot be
    handed on to the next load."""
    fn, type, bits = lanes.fn, lanes.type, f"i{lanes.type.lanes}"
    some, whole, part = (fn.new_label(hint) for hint in ("some", "whole", "part"))
    fn.branch_if(fn.value(f"icmp eq {bits} {lanes.bits}, 0"), end, some)
    fn.start(some)
    _hold(fn, fn.value(f"ptrtoint ptr {address} to i64"))
    fn.branch_if(fn.value(f"icmp eq {bits} {lanes.bits}, -1"), whole, part)
    fn.start(whole)
    _update(fn, type, address, lambda before: _sum(fn, type, before, lanes.values))
    fn.branch(end)
    fn.start(part)
    suffix, masks = intrinsic_suffix(type.scalar.text, type.lanes), type.of("i1")
    place = (f"ptr align {type.scalar.bytes}", address)
    load, store = f"llvm.masked.load.{suffix}.p0", f"llvm.masked.store.{suffix}.p0"
    fn.declare(f"declare {type.text} @{load}(ptr, {masks}, {type.text})")
    fn.declare(f"declare void @{store}({type.text}, ptr, {masks})")
    before = fn.call(type.text, load, [place, (masks, lanes.mask), (type.text, "zeroinitializer")])
    total = _sum(fn, type, before, lanes.values)
    fn.call("void", store, [(type.text, total), place, (masks, lanes.mask)])
    fn.branch(end)


def _compute_type(type: ValueType) -> ScalarType:
    return F32 if type.scalar.is_soft_float else type.scalar


def _sum(fn: FunctionText, type: ValueType, left: str, right: str) -> str:
    b = LaneBuilder(fn, type.lanes)
    total = b.fadd(widen(b, left, type.scalar), widen(b, right, type.scalar), _compute_type(type).text)
    return from_compute(b, total, type.scalar)


class _LaneAdder(LaneFunction):
    """Writes the function that adds the lanes of one vector of floats, wherever they belong."""

    def text(self) -> str:
        """The whole function."""
        fn = self.fn
        some, together, apart, end = (fn.new_label(hint) for hint in ("some", "together", "apart", "end"))
        fn.branch_if(fn.value(f"icmp ne {self.bits} %bits, 0"), some, end)
        fn.start(some)
        self.mask = fn.value(f"bitcast {self.bits} %bits to {self.type.of('i1')}")
        address, is_run = self._find_run_inside()
        fn.branch_if(is_run, together, apart)
        fn.start(together)
        _add_together(_Lanes(fn, self.type, "%values", "%bits", self.mask), address, end)
        fn.start(apart)
        self._add_apart(end)
        fn.start(end)
        fn.terminate("ret void")
        return fn.text()

    def _find_run_inside(self) -> tuple[str, str]:
        """Where the first lane lies, and whether lane i is the element i behind it, all in one region."""
        fn = self.fn
        address, follows = self.find_run()
        leads = fn.value(f"trunc {self.bits} %bits to i1")
        inside = _is_inside(fn, address, self.type)
        return address, fn.value(f"and i1 {fn.value(f'and i1 {follows}, {leads}')}, {inside}")

    def _add_apart(self, end: str) -> None:
        fn = self.fn
        offsets = self.spill(self.offsets, "%offsets")
        lane = self.first_lane("%bits")
        offset = self.lane_of(offsets, "i64", lane)
        same = self.all_live(fn.value(f"icmp eq {self.offsets} %offsets, {self.splat(offset)}"))
        equal, each = fn.new_label("equal"), fn.new_label("each")
        fn.branch_if(same, equal, each)
        fn.start(equal)
        self._add_sum(offset, end)
        fn.start(each)
        self.for_each_lane(offsets, end, lambda address, value: self._add_one(address, value, self.scalar))

    def _add_sum(self, offset: str, end: str) -> None:
        """Add what lanes have to one element. Sums of all lanes have a branch of their own: LLVM makes masks of what is
        in the register of the sum before, and every sum would wait for the last."""
        fn = self.fn
        of_all, of_some = fn.new_label("all"), fn.new_label("some")
        fn.branch_if(fn.value(f"icmp eq {self.bits} %bits, -1"), of_all, of_some)
        for label, masked in ((of_all, False), (of_some, True)):
            fn.start(label)
            self._add_one(self.address(offset), self._sum_over_lanes(masked=masked), _compute_type(self.type))
            fn.branch(end)

    def _add_one(self, address: str, value: str, held_as: ScalarType) -> None:
        """Add to an element a value of its type, or of the type it is computed in."""
        _hold(self.fn, self.fn.value(f"ptrtoint ptr {address} to i64"))
        one = LaneBuilder(self.fn, 0)

        def step(before: str) -> str:
            total = one.fadd(widen(one, before, self.scalar), widen(one, value, held_as), _compute_type(self.type).text)
            return from_compute(one, total, self.scalar)

        _update(self.fn, ValueType(self.scalar), address, step)

    # -- values -----------------------------------------------------------------------------------------------------

    def _sum_over_lanes(self, *, masked: bool) -> str:
        """The sum over all lanes, or over those that are on, in the type that it is computed in."""
        b, compute = LaneBuilder(self.fn, self.type.lanes), _compute_type(self.type)
        text, zero = compute.text, float_literal(-0.0, compute)
        lanes = widen(b, "%values", self.scalar)
        if masked:
            lanes = b.select(self.mask, lanes, b.splat(text, zero), text)
        name = f"llvm.vector.reduce.fadd.{intrinsic_suffix(text, self.type.lanes)}"
        return self.fn.call(text, name, [(text, zero), (b.type(text), lanes)], flags="reassoc ")
