"""From (register, lane, warp, block) to coordinates and offsets, as i32 instructions.

A layout is linear over GF(2), so the image of an index is the XOR of a part that depends on the thread and a constant
per register. The thread's part is computed once, in the entry block: input bits that move up or down by the same
distance are masked and shifted together. `#ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA =
[4]}>` on 1024 elements gives

```llvm
%t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
%a = shl i32 %t, 2          ; lane and warp bits both move by two
%b = and i32 %a, 508
%c = or disjoint i32 %b, 1  ; register 1
%d = or disjoint i32 %b, 512 ; register 4
```
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tilewright.codegen.llvm_text import FunctionText
from tilewright.layouts.distributed import BLOCK, LANE, REGISTER, WARP
from tilewright.layouts.linear import LinearLayout
from tilewright.support.records import dataclass

Emit = Callable[[str], str]
"""Appends an instruction with a result, in the entry block or in the current one."""


@dataclass(frozen=True)
class Partial:
    """A number of which only the bits of `mask` may be set."""

    operand: str
    mask: int


ZERO = Partial("0", 0)


def combine(emit: Emit, a: Partial, b: Partial) -> Partial:
    """a XOR b, as an `or` where they have no bits in common."""
    if not a.mask:
        return b
    if not b.mask:
        return a
    if a.operand.isdecimal() and b.operand.isdecimal():
        value = int(a.operand) ^ int(b.operand)
        return Partial(str(value), value)
    opcode = "xor" if a.mask & b.mask else "or disjoint"
    return Partial(emit(f"{opcode} i32 {a.operand}, {b.operand}"), a.mask | b.mask)


def constant(value: int) -> Partial:
    """A number known now."""
    return Partial(str(value), value)


def map_bits(emit: Emit, source: str, columns: Sequence[int]) -> Partial:
    """XOR of `columns[i]` over the set bits i of `source`."""
    groups: dict[int, int] = {}
    for bit, column in enumerate(columns):
        rest = column
        while rest:
            target = (rest & -rest).bit_length() - 1
            groups[target - bit] = groups.get(target - bit, 0) | (1 << bit)
            rest &= rest - 1
    result = ZERO
    limit = (1 << len(columns)) - 1
    for shift, mask in sorted(groups.items()):
        operand = source if mask == limit else emit(f"and i32 {source}, {mask}")
        if shift > 0:
            operand = emit(f"shl i32 {operand}, {shift}")
        elif shift < 0:
            operand = emit(f"lshr i32 {operand}, {-shift}")
        moved = mask << shift if shift >= 0 else mask >> -shift
        result = combine(emit, result, Partial(operand, moved))
    return result


def thread_columns(layout: LinearLayout, dim: str) -> list[int]:
    """The images in one out-dim of the bits of the thread's number in its CTA (lane bits, then warp bits)."""
    return [*_columns(layout, LANE, dim), *_columns(layout, WARP, dim)]


def register_constants(layout: LinearLayout, dim: str) -> list[int]:
    """The image in one out-dim of each register index."""
    values = [0]
    for column in _columns(layout, REGISTER, dim):
        values += [value ^ column for value in values]
    return values


def _columns(layout: LinearLayout, in_dim: str, out_dim: str) -> list[int]:
    if in_dim not in layout.in_dims:
        return []
    position = list(layout.out_dims).index(out_dim)
    return [basis[position] for basis in layout.bases_of(in_dim)]


class LayoutIndex:
    """Applies layouts for the thread that runs; remembers what the entry block has computed."""

    def __init__(self, text: FunctionText, thread: Callable[[], str], block: Callable[[], str]) -> None:
        self._text = text
        self._thread = thread
        self._block = block
        self._parts: dict[tuple[LinearLayout, str], Partial] = {}
        self._bits: dict[tuple[str, tuple[int, ...]], Partial] = {}

    def thread_part(self, layout: LinearLayout, dim: str) -> Partial:
        """Return what lane, warp and block contribute to the coordinate along `dim`."""
        key = (layout, dim)
        part = self._parts.get(key)
        if part is None:
            part = self._map(self._thread, thread_columns(layout, dim))
            part = combine(self._text.entry_value, part, self._map(self._block, _columns(layout, BLOCK, dim)))
            self._parts[key] = part
        return part

    def _map(self, source: Callable[[], str], columns: list[int]) -> Partial:
        if not any(columns):
            return ZERO
        operand = source()
        key = (operand, tuple(columns))
        part = self._bits.get(key)
        if part is None:
            part = self._bits[key] = map_bits(self._text.entry_value, operand, columns)
        return part

    def along(self, layout: LinearLayout, dim: str) -> list[str]:
        """The coordinate along `dim` of every register: i32 operands; equal coordinates are one operand."""
        part = self.thread_part(layout, dim)
        made: dict[int, str] = {}
        operands: list[str] = []
        for value in register_constants(layout, dim):
            operand = made.get(value)
            if operand is None:
                operand = made[value] = combine(self._text.value, part, constant(value)).operand
            operands.append(operand)
        return operands

    def coordinates(self, layout: LinearLayout) -> list[tuple[str, ...]]:
        """Per register the coordinate along each out-dim."""
        return list(zip(*(self.along(layout, dim) for dim in layout.out_dims), strict=True))
