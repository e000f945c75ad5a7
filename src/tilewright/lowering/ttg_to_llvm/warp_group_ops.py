"""Matmuls of warp groups (`wgmma`): descriptors of operands in shared memory, the instructions, the waits.

A descriptor is 64 bits: where the tile starts, how far core tiles (8 rows of `swizzle` bytes) lie apart, and the
swizzle. The part that does not depend on the tile is computed once per op; a tile adds a constant to it.

```mlir
%d = ttng.warp_group_dot %A, %B, %c {isAsync = true} : !ttg.memdesc<128x64xf16, ...> * ... -> tensor<128x128xf32, #mma>
```
```ptx
wgmma.fence.sync.aligned;
wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {...}, %a, %b, 1, 1, 1, 0, 1;       // k = 0
wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {...}, %a + 2, %b + 128, 1, 1, 1, 0, 1; // k = 16
wgmma.commit_group.sync.aligned;
```
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float8E4M3FNType,
    Float8E5M2Type,
    Float16Type,
    Float32Type,
    IntegerType,
)
from xdsl.ir import Attribute, Operation, SSAValue

from tilewright.codegen.nvptx.hopper import FRAGMENT_WORDS, WarpGroupShape
from tilewright.dialects import ttg, ttng
from tilewright.dialects.ttg.encodings import DotOperandEncodingAttr, NvidiaMmaEncodingAttr
from tilewright.dialects.ttg.shared_encodings import find_shared_layout
from tilewright.dialects.types import is_tensor
from tilewright.ir.diagnostics import op_error
from tilewright.layouts.distributed import REGISTER, WARP, dim_names
from tilewright.layouts.linear import LinearLayout
from tilewright.layouts.shared import OFFSET, NvmmaSharedLayout
from tilewright.lowering.ttg_to_llvm.buffers import first_element
from tilewright.lowering.ttg_to_llvm.function_lowering import PASS_NAME, GpuFunctionLowering, lowers
from tilewright.lowering.ttg_to_llvm.index import Partial, map_bits
from tilewright.lowering.ttg_to_llvm.types import ElementType, element_of
from tilewright.lowering.ttg_to_llvm.words import WORD_BITS, pack_words, unpack_words
from tilewright.support.records import dataclass

CORE_ROWS = 8
NO_SWIZZLE_BYTES = 16
SWIZZLE_CODES = {0: 0, 128: 1, 64: 2, 32: 3}
GROUP_ROWS = 64
WARPS_PER_GROUP_BITS = 2
ADDRESS_MASK = (1 << 14) - 1
ZEROS = frozenset({"0", "zeroinitializer", "0x0000000000000000", "0.0", "0xH0000"})


def type_name(op: Operation, type: Attribute) -> str:
    """PTX's name of an operand's element type."""
    match type:
        case Float16Type():
            return "f16"
        case BFloat16Type():
            return "bf16"
        case Float32Type():
            return "tf32"
        case Float8E4M3FNType():
            return "e4m3"
        case Float8E5M2Type():
            return "e5m2"
        case IntegerType() if type.width.data == 8:
            return "s8"
        case _:
            raise op_error(op, f"warp groups do not multiply {type}", pass_name=PASS_NAME)


def result_name(op: Operation, type: Attribute) -> str:
    """PTX's name of an accumulator's element type."""
    match type:
        case Float32Type():
            return "f32"
        case Float16Type():
            return "f16"
        case IntegerType() if type.width.data == 32:
            return "s32"
        case _:
            raise op_error(op, f"warp groups do not accumulate in {type}", pass_name=PASS_NAME)


# --------------------------------------------------------------------------------------------------------- descriptors


@dataclass(frozen=True)
class OperandPlan:
    """An operand in shared memory: the fixed part of its descriptors, and the byte at which an element lies."""

    fixed: int
    is_k_contiguous: bool
    inverse: LinearLayout
    element_bytes: int

    def offset_of(self, row: int, column: int) -> int:
        """The byte in the buffer of an element of the matrix as it is multiplied (rows by columns)."""
        return self.inverse.apply({"dim0": row, "dim1": column})[OFFSET] * self.element_bytes


def plan_operand(op: Operation, value: SSAValue, index: int, instruction_extent: int) -> OperandPlan:
    """The descriptor of operand A (index 0) or B (1); one instruction takes `instruction_extent` of its rows of A or
    columns of B. PassError where the layout is none that the hardware reads."""
    type = value.type
    assert isinstance(type, ttg.MemDescType)
    layout = find_shared_layout(type.encoding)
    if not isinstance(layout, NvmmaSharedLayout) or layout.rank != 2:
        raise op_error(op, f"warp groups cannot read an operand with layout {type.encoding}", pass_name=PASS_NAME)
    element = element_of(type.element_type)
    shape = type.get_alloc_shape()[-2:]
    inverse = layout.to_linear(shape).pseudoinvert().transpose_ins(dim_names(2))
    k_dim = 1 - index
    contiguous_dim = 0 if layout.transposed else 1
    is_k_contiguous = contiguous_dim == k_dim
    if not is_k_contiguous and element.bytes != 2:
        raise op_error(
            op, "operands of warp groups must be contiguous along K unless they have 16 bits", pass_name=PASS_NAME
        )
    plan = OperandPlan(0, is_k_contiguous, inverse, element.bytes)
    width = (layout.swizzle_bytes or NO_SWIZZLE_BYTES) // element.bytes
    instruction_k = 32 // element.bytes
    extents = (instruction_k, instruction_extent) if is_k_contiguous else (instruction_extent, instruction_k)

    def stride(dim: int, distance: int, extent: int) -> int:
        """Bytes from an element to the one `distance` further along a dimension, 0 where an instruction ends before."""
        if extent <= distance or shape[dim] <= distance:
            return 0
        return plan.offset_of(*((distance, 0) if dim == 0 else (0, distance)))

    leading = stride(contiguous_dim, width, extents[0])
    striding = stride(1 - contiguous_dim, CORE_ROWS, extents[1])
    if not layout.swizzle_bytes and not is_k_contiguous:
        leading, striding = striding, leading
    fixed = (leading >> 4) << 16 | (striding >> 4) << 32 | SWIZZLE_CODES[layout.swizzle_bytes] << 62
    return OperandPlan(fixed, is_k_contiguous, inverse, element.bytes)


class Descriptors:
    """The descriptors of one operand's tiles for the thread's warp group."""

    def __init__(
        self, fn: GpuFunctionLowering, plan: OperandPlan, value: SSAValue, group_places: Sequence[tuple[int, int]]
    ) -> None:
        self._fn = fn
        self._plan = plan
        self._made: dict[int, str] = {}
        columns = [0] * WARPS_PER_GROUP_BITS + [plan.offset_of(*position) for position in group_places]
        self._base = self._start(
            first_element(fn, value),
            map_bits(fn.text.value, fn.threads.uniform_warp, columns) if any(columns) else None,
        )

    def _start(self, base: str, part: Partial | None) -> str:
        """The descriptor of the tile at the start of the view, an i64."""
        text = self._fn.text
        address = text.cast("ptrtoint", "ptr addrspace(3)", base, "i32")
        if part is not None:
            address = text.binary("add", "i32", address, part.operand)
        field = text.binary("lshr", "i32", address, 4)
        wide = text.cast("zext", "i32", text.binary("and", "i32", field, ADDRESS_MASK), "i64")
        fixed = self._plan.fixed
        return text.binary("or disjoint", "i64", wide, fixed - (1 << 64) if fixed >> 63 else fixed)

    def at(self, row: int, column: int) -> str:
        """The descriptor of the tile whose first element is at these coordinates of the matrix."""
        step = self._plan.offset_of(row, column) >> 4
        if not step:
            return self._base
        made = self._made.get(step)
        if made is None:
            made = self._made[step] = self._fn.text.binary("add", "i64", self._base, step)
        return made


# --------------------------------------------------------------------------------------------------------------- dots


class WarpGroupDot:
    """The emission of one dot: tiles of 64 rows by N columns per warp group, K deep."""

    def __init__(self, op: ttng.WarpGroupDotOp, fn: GpuFunctionLowering) -> None:
        self.op = op
        self.fn = fn
        assert is_tensor(op.d.type)
        encoding = op.d.type.encoding
        assert isinstance(encoding, NvidiaMmaEncodingAttr)
        _, n, k = encoding.data.instr_shape
        self.element = element_of(op.d.type.element_type)
        a, b = (_element_type(value.type) for value in (op.a, op.b))
        self.shape = WarpGroupShape(n, k, result_name(op, op.d.type.element_type), type_name(op, a), type_name(op, b))
        self.depth = _shape(op.b.type)[0]
        self.layout = fn.layout(op.d)
        self.tile_registers = GROUP_ROWS * n // 128
        groups = self.layout.bases_of(WARP)[WARPS_PER_GROUP_BITS:]
        self.a = self._find_a([(basis[0], 0) for basis in groups], element_of(a))
        plan = plan_operand(op, op.b, 1, n)
        self.b = Descriptors(fn, plan, op.b, [(0, basis[1]) for basis in groups])
        self.orders = (self._a_order, int(not plan.is_k_contiguous))

    _a_order = 0

    def _find_a(
        self, groups: Sequence[tuple[int, int]], element: ElementType
    ) -> Descriptors | dict[tuple[int, int], list[str]]:
        """The descriptors of A, or its fragments by (row, k) where it is in registers."""
        if not is_tensor(self.op.a.type):
            plan = plan_operand(self.op, self.op.a, 0, GROUP_ROWS)
            self._a_order = int(not plan.is_k_contiguous)
            return Descriptors(self.fn, plan, self.op.a, groups)
        words = pack_words(self.fn, element, self.fn.registers(self.op.a))
        layout = self.fn.layout(self.op.a)
        fragments: dict[tuple[int, int], list[str]] = {}
        per_word = WORD_BITS // element.bits
        for start in range(0, len(words), FRAGMENT_WORDS):
            position = _tile_position(layout, start * per_word)
            fragments.setdefault(position, words[start : start + FRAGMENT_WORDS])
        return fragments

    def emit(self) -> None:
        """Start all products; wait for them unless the op is asynchronous."""
        fn, op = self.fn, self.op
        held = fn.registers(op.c)
        tiles: dict[tuple[int, int], list[str]] = {}
        order: list[tuple[int, int]] = []
        self._fence()
        for start in range(0, len(held), self.tile_registers):
            position = _tile_position(self.layout, start)
            order.append(position)
            if position not in tiles:
                tiles[position] = self._tile(position, held[start : start + self.tile_registers])
        fn.emitter.group_commit(fn.text)
        if not op.is_async.value.data:
            tiles = self._wait(tiles)
        fn.set(op.d, tuple(register for position in order for register in self._unpacked(tiles[position])))

    def _fence(self) -> None:
        self.fn.emitter.group_fence(self.fn.text)

    def _tile(self, position: tuple[int, int], held: Sequence[str]) -> list[str]:
        """The accumulators of one tile after all steps along K."""
        op = self.op
        starts_at_zero = all(register in ZEROS for register in held)
        registers = ["poison"] * self._num_accumulators() if starts_at_zero else self._packed(held)
        uses_c = "false" if starts_at_zero else "true" if op.use_c is None else self.fn.scalar(op.use_c)
        limit = op.max_num_imprecise_acc.value.data
        if self.shape.a in ("e4m3", "e5m2") and self.shape.result == "f32" and 0 < limit <= self.depth:
            return self._tile_in_parts(position, registers, uses_c, limit)
        for k in range(0, self.depth, self.shape.k):
            registers = self._step(position, k, registers, uses_c)
            uses_c = "true"
        return registers

    def _tile_in_parts(self, position: tuple[int, int], registers: list[str], uses_c: str, limit: int) -> list[str]:
        """As `_tile`, adding up no more than `limit` products, or one instruction's, in the hardware's narrow
        accumulator: also where `limit` is all of K, as a loop goes on with the sums of its last iteration.
        """
        text, emitter = self.fn.text, self.fn.emitter
        type, _ = self.shape.accumulator
        zero = "0x0000000000000000"
        if uses_c == "false":
            registers = [zero] * len(registers)
        elif uses_c != "true":
            registers = [text.select(uses_c, type, old, zero) for old in registers]
        size = max(limit // self.shape.k, 1) * self.shape.k
        for first in range(0, self.depth, size):
            partial, follows = ["poison"] * len(registers), "false"
            for k in range(first, min(first + size, self.depth), self.shape.k):
                partial = self._step(position, k, partial, follows)
                follows = "true"
            emitter.group_commit(text)
            partial = emitter.group_wait(text, 0, [(type, register) for register in partial])
            registers = [text.binary("fadd", type, a, b) for a, b in zip(registers, partial, strict=True)]
            self._fence()
        return registers

    def _step(self, position: tuple[int, int], k: int, registers: Sequence[str], uses_c: str) -> list[str]:
        row, column = position
        a = self.a[row, k] if isinstance(self.a, dict) else [self.a.at(row, k)]
        b = self.b.at(k, column)
        return self.fn.emitter.group_mma(self.fn.text, self.shape, a, b, registers, uses_c=uses_c, orders=self.orders)

    def _wait(self, tiles: dict[tuple[int, int], list[str]]) -> dict[tuple[int, int], list[str]]:
        type, _ = self.shape.accumulator
        every = [(type, register) for registers in tiles.values() for register in registers]
        waited = iter(self.fn.emitter.group_wait(self.fn.text, 0, every))
        return {position: [next(waited) for _ in registers] for position, registers in tiles.items()}

    def _num_accumulators(self) -> int:
        return self.tile_registers // 2 if self.shape.result == "f16" else self.tile_registers

    def _packed(self, held: Sequence[str]) -> list[str]:
        return pack_words(self.fn, self.element, held) if self.shape.result == "f16" else list(held)

    def _unpacked(self, registers: Sequence[str]) -> list[str]:
        return unpack_words(self.fn, self.element, registers) if self.shape.result == "f16" else list(registers)


def _tile_position(layout: LinearLayout, register: int) -> tuple[int, int]:
    """Row and column of a register in the first thread."""
    found = layout.apply({dim: register if dim == REGISTER else 0 for dim in layout.in_dims})
    return found["dim0"], found["dim1"]


def _shape(type: Attribute) -> tuple[int, ...]:
    assert isinstance(type, ttg.MemDescType) or is_tensor(type)
    return tuple(type.get_shape())


def _element_type(type: Attribute) -> Attribute:
    assert isinstance(type, ttg.MemDescType) or is_tensor(type)
    return type.element_type


@lowers(ttng.WarpGroupDotOp)
def lower_warp_group_dot(op: ttng.WarpGroupDotOp, fn: GpuFunctionLowering) -> None:
    WarpGroupDot(op, fn).emit()


@lowers(ttng.WarpGroupDotWaitOp)
def lower_warp_group_dot_wait(op: ttng.WarpGroupDotWaitOp, fn: GpuFunctionLowering) -> None:
    """Registers of sums go through the instruction, so that they are not read before it; those of operands are used
    after it, so that they are not written before it.
    """
    registers: list[tuple[str, str]] = []
    counts: list[int] = []
    for value in op.inputs:
        words = _as_words(fn, value) if is_tensor(value.type) and not _is_operand(value) else []
        counts.append(len(words))
        registers += words
    waited = iter(fn.emitter.group_wait(fn.text, op.pendings.value.data, registers))
    for value in filter(_is_operand, op.inputs):
        fn.emitter.hold_registers(fn.text, pack_words(fn, fn.element(value), fn.registers(value)))
    for value, result, count in zip(op.inputs, op.outputs, counts, strict=True):
        if not is_tensor(value.type) or _is_operand(value):
            fn.set(result, fn.values[value])
            continue
        words = [next(waited) for _ in range(count)]
        fn.set(result, tuple(_from_words(fn, value, words)))


def _is_operand(value: SSAValue) -> bool:
    """Return whether a value is A of a product, in registers."""
    return is_tensor(value.type) and isinstance(value.type.encoding, DotOperandEncodingAttr)


def _is_whole(element: ElementType) -> bool:
    """Return whether a register of the tensor is a register of the instruction."""
    return element.text in ("float", "i32")


def _as_words(fn: GpuFunctionLowering, value: SSAValue) -> list[tuple[str, str]]:
    element, registers = fn.element(value), fn.registers(value)
    if _is_whole(element):
        return [(element.text, register) for register in registers]
    return [("i32", word) for word in pack_words(fn, element, registers)]


def _from_words(fn: GpuFunctionLowering, value: SSAValue, words: list[str]) -> list[str]:
    element = fn.element(value)
    return words if _is_whole(element) else unpack_words(fn, element, words)
