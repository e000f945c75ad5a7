"""What an atomic on lanes combines memory with: the values, which lanes take part, and how they are combined."""

from __future__ import annotations

from dataclasses import replace

from tilewright.codegen.lane_builder import LaneBuilder, intrinsic_suffix
from tilewright.codegen.llvm_text import FunctionText
from tilewright.dialects.memref import AtomicRMWKind
from tilewright.lowering.loops_to_llvm.conversions import float_literal, from_compute, widen
from tilewright.lowering.loops_to_llvm.types import F32, ScalarType, ValueType
from tilewright.support.records import dataclass

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
LANE_KINDS = frozenset((AtomicRMWKind.ADDF, *_INSTRUCTIONS, *_INTRINSICS))


@dataclass(frozen=True, slots=True)
class Lanes:
    """A vector of values in a function; `bits` says which lanes are on, `mask` is the same as a vector."""

    fn: FunctionText
    kind: AtomicRMWKind
    type: ValueType
    values: str
    bits: str
    mask: str

    def within(self, fn: FunctionText, values: str, bits: str) -> Lanes:
        """The parameters of a function in place of them."""
        return replace(self, fn=fn, values=values, bits=bits, mask="")

    def masked(self) -> Lanes:
        """With the mask made of the bits."""
        return replace(self, mask=self.fn.cast("bitcast", f"i{self.type.lanes}", self.bits, self.type.of("i1")))

    @property
    def compute(self) -> ScalarType:
        """The type that is computed in."""
        return F32 if self.type.scalar.is_soft_float else self.type.scalar

    @property
    def instruction(self) -> str:
        """The name that `atomicrmw` has for the kind."""
        return _INSTRUCTIONS.get(self.kind) or _INTRINSICS[self.kind][1]

    def combine(self, b: LaneBuilder, before: str, value: str, held_as: ScalarType | None = None) -> str:
        """An element or all of them, of the memory's type, with a value of its type or of the one computed in."""
        scalar = self.type.scalar
        if self.kind == AtomicRMWKind.ADDF:
            total = b.fadd(widen(b, before, scalar), widen(b, value, held_as or scalar), self.compute.text)
            return from_compute(b, total, scalar)
        if (name := _INSTRUCTIONS.get(self.kind)) is not None:
            return b.binary(name, before, value, scalar.text)
        return b.intrinsic(_INTRINSICS[self.kind][0], scalar.text, before, value)

    def together(self, *, masked: bool) -> str:
        """All lanes combined, or those that are on, in the type that is computed in."""
        fn, type = self.fn, self.type
        b, text = LaneBuilder(fn, type.lanes), self.compute.text
        neutral, lanes = self._neutral(), widen(b, self.values, type.scalar)
        if masked:
            lanes = b.select(self.mask, lanes, b.splat(text, neutral), text)
        suffix, operand = intrinsic_suffix(text, type.lanes), (b.type(text), lanes)
        if self.kind == AtomicRMWKind.ADDF:
            return fn.call(text, f"llvm.vector.reduce.fadd.{suffix}", [(text, neutral), operand], flags="reassoc ")
        name = _INSTRUCTIONS.get(self.kind) or _INTRINSICS[self.kind][0]
        return fn.call(text, f"llvm.vector.reduce.{name}.{suffix}", [operand])

    def _neutral(self) -> str:
        """Return what changes nothing."""
        bits = 8 * self.type.scalar.bytes
        match self.kind:
            case AtomicRMWKind.ADDF:
                return float_literal(-0.0, self.compute)
            case AtomicRMWKind.ANDI | AtomicRMWKind.MINU:
                return "-1"
            case AtomicRMWKind.MAXS:
                return str(-(1 << (bits - 1)))
            case AtomicRMWKind.MINS:
                return str((1 << (bits - 1)) - 1)
            case _:
                return "0"

    def update_together(self, address: str, end: str) -> None:
        """Update the neighbours from an address on, of which some are on, and go to `end`. They are masked only where
        lanes are off: what a masked store writes cannot be handed on to the next load."""
        fn, type = self.fn, self.type
        whole, part = fn.new_label("whole"), fn.new_label("part")
        fn.branch_if(fn.icmp("eq", f"i{type.lanes}", self.bits, -1), whole, part)
        fn.start(whole)
        b, align = LaneBuilder(fn, type.lanes), type.scalar.bytes
        before = fn.load(type.text, address, align=align, flags="volatile ")
        after = self.combine(b, before, self.values)
        fn.store(type.text, after, address, align=align, flags="volatile ")
        fn.branch(end)
        fn.start(part)
        before = fn.masked_load(type.text, address, self.mask, align=align)
        after = self.combine(b, before, self.values)
        fn.masked_store(type.text, after, address, self.mask, align=align)
        fn.branch(end)

    def update_one(self, address: str, value: str, held_as: ScalarType | None = None) -> None:
        """Update one element by a value of its type, or of the one computed in."""
        fn, text, align = self.fn, self.type.scalar.text, self.type.scalar.bytes
        before = fn.load(text, address, align=align)
        after = self.combine(LaneBuilder(fn, 0), before, value, held_as)
        fn.store(text, after, address, align=align)
