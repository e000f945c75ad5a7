"""The element types of micro-kernels: how A and B are loaded, widened and multiplied into the accumulator type."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from tilewright.codegen.float_formats import F16, FORMATS, FloatFormat, has_native_half, widen_to_f32
from tilewright.codegen.lane_builder import LaneBuilder
from tilewright.support.facts import TargetFacts
from tilewright.support.records import dataclass

_PLAIN = {"f32": ("float", 32), "f64": ("double", 64), "f16": ("half", 16), "i8": ("i8", 8), "i32": ("i32", 32)}
_ACCUMULATORS = {"f32": ("float", 32), "f64": ("double", 64), "i32": ("i32", 32)}

ACCUMULATOR_NAMES = {text: name for name, (text, _) in _ACCUMULATORS.items()}
"""From LLVM's name of an accumulator type to ours."""


@dataclass(frozen=True)
class ElementKind:
    """A pair of element and accumulator type."""

    name: str
    memory: str
    """LLVM type of an element of A and B in memory."""
    bytes: int
    accumulator: str
    """LLVM type of an element of C."""
    accumulator_bits: int
    format: FloatFormat | None = None

    @property
    def accumulator_bytes(self) -> int:
        return self.accumulator_bits // 8

    @property
    def is_integer(self) -> bool:
        return self.accumulator == "i32"

    def on(self, facts: TargetFacts) -> ElementKind:
        """The same elements on a certain CPU: float16 is an integer where the CPU cannot convert it."""
        if self.memory != "half" or has_native_half(facts):
            return self
        return replace(self, memory=F16.storage, format=F16)

    def widen(self, b: LaneBuilder, value: str) -> str:
        """Elements as numbers of the accumulator type."""
        if self.format is not None:
            return widen_to_f32(b, value, self.format)
        if self.memory == self.accumulator:
            return value
        return b.cast("sext" if self.is_integer else "fpext", value, self.memory, self.accumulator)

    def multiply_add(self, b: LaneBuilder, x: str, y: str, accumulator: str) -> str:
        """accumulator + x * y."""
        if self.is_integer:
            return b.add(accumulator, b.mul(x, y))
        return b.fma(x, y, accumulator, self.accumulator)


@cache
def element_kind(a: str, accumulator: str) -> ElementKind:
    """The kind of ``f32``, ``bf16``, ``f8E4M3FN``, ... with an accumulator. Raises ValueError for an unknown pair."""
    if accumulator not in _ACCUMULATORS:
        raise ValueError(f"no micro-kernel accumulates in {accumulator}")
    acc, acc_bits = _ACCUMULATORS[accumulator]
    formats = {name.lower(): found for name, found in FORMATS.items() if name != "f16"}
    if a in _PLAIN:
        memory, bits = _PLAIN[a]
        if (acc == "i32") != memory.startswith("i") or bits > acc_bits:
            raise ValueError(f"no micro-kernel multiplies {a} into {accumulator}")
        return ElementKind(a, memory, bits // 8, acc, acc_bits)
    if a.lower() in formats and acc == "float":
        found = formats[a.lower()]
        return ElementKind(a, found.storage, found.bits // 8, acc, acc_bits, found)
    raise ValueError(f"no micro-kernel multiplies {a} into {accumulator}")


@dataclass(frozen=True)
class RegisterTile:
    """Rows and vectors per row of C that are held in registers at a time."""

    rows: int
    vectors: int
    lanes: int

    @property
    def columns(self) -> int:
        return self.vectors * self.lanes


def plan_register_tile(facts: TargetFacts, rows: int, columns: int, accumulator_bits: int) -> RegisterTile:
    """The largest tile of C, at most rows x columns, whose accumulators leave a quarter of the registers free."""
    lanes = facts.lanes(accumulator_bits)
    while lanes > columns and lanes > 1:
        lanes //= 2
    limit = facts.vector_registers * 3 // 4
    wanted = -(-columns // lanes)
    if rows * wanted <= limit:
        return RegisterTile(rows, wanted, lanes)
    vectors = min(2, wanted)
    fitting = max(1, min(rows, limit // vectors))
    while rows % fitting:
        fitting -= 1
    return RegisterTile(fitting, vectors, lanes)
