"""A block of C over one panel, on AMX tiles: sixteen by sixteen results an instruction.

Blocks of 32 x 32 of C are four tiles; two tiles of A and two of a panel feed four products:

    tileloadd C;  for k in depth by 32 {  tileloaddt1 A, tileloadd B;  four tdpbf16ps  };  tilestored C

A is loaded first, with the hint that its rows are not kept in the first level cache, which belongs to the panel: 4 % of
a matmul of a thousand terms. Blocks of 16 x 32 have one tile of A for two products. Rows of A that a block lacks are
zeros in a copy of its own. Where C is not a full block the tiles go through a scratch block and masked additions.
Results that are rounded (``_out_bf16``) go through it, too, while they are near.

A unit that was idle for half a microsecond takes as long to reach its full speed again, and slows everything else down
meanwhile: matmuls that alternate with other work (attention) pay that each time.
"""

from __future__ import annotations

from collections.abc import Sequence

from tilewright.codegen.float_formats import (
    FORMATS,
    has_bf16_instruction,
    narrow_from_f32,
    narrow_to_bf16_flushing,
    on_cpu,
)
from tilewright.codegen.lane_builder import LaneBuilder
from tilewright.codegen.llvm_text import FunctionText
from tilewright.codegen.microkernels.amx_panels import BLOCK, PANEL_BYTES, lanes_below, tile_depth, words_group
from tilewright.codegen.microkernels.elements import ElementKind
from tilewright.codegen.microkernels.spec import MatmulKernel
from tilewright.codegen.microkernels.tile import Rows
from tilewright.support.facts import TargetFacts
from tilewright.support.records import dataclass

TILE_ROWS = 16

_PRODUCTS = {"bf16": "llvm.x86.tdpbf16ps", "i8": "llvm.x86.tdpbssd"}
_TILE_C, _TILE_A, _TILE_B = (0, 1, 2, 3), (4, 5), (6, 7)
_CONFIGURATION = "@tw_amx_configuration"


def configure_tiles(fn: FunctionText) -> None:
    """Eight tiles of 16 rows of 64 bytes (palette 1), until `release_tiles`; it takes some 150 cycles."""
    data = bytes([1, *[0] * 15, *[64, 0] * 8, *[0] * 16, *[16] * 8, *[0] * 8])
    text = ", ".join(f"i8 {byte}" for byte in data)
    line = f"{_CONFIGURATION} = private unnamed_addr constant [64 x i8] [{text}], align 64"
    if line not in fn.module.globals:
        fn.module.add_global(line)
    fn.call("void", "llvm.x86.ldtilecfg", [("ptr", _CONFIGURATION)])


def release_tiles(fn: FunctionText) -> None:
    """Release the tiles, so that the system need not save them."""
    fn.call("void", "llvm.x86.tilerelease", [])


@dataclass(frozen=True)
class Frame:
    """Stack buffers, as pointers."""

    panel: str
    rows: str
    scratch: str


@dataclass(frozen=True)
class Step:
    """What the blocks of one step of k have in common."""

    depth: str
    is_first: str
    """Whether C has no sums yet."""
    is_copy: str
    """Whether the rows of A are a copy, in which those of a last block may be read that do not exist."""
    is_last: str = ""
    """Of kernels whose results go elsewhere: whether the sums are complete then."""
    output: Rows | None = None
    """Where results go, if not to C: what this step computes or, if it is rounded, what the last one does."""


class AmxBlockWriter:
    """Writes blocks of `height` rows."""

    def __init__(
        self, fn: FunctionText, facts: TargetFacts, element: ElementKind, kernel: MatmulKernel, height: int
    ) -> None:
        self.fn = fn
        self.element = element
        self.kernel = kernel
        self.k_tile = tile_depth(element)
        self.group = words_group(element)
        self.height = height
        self.narrow = None if kernel.rounded_output is None else on_cpu(FORMATS[kernel.rounded_output], facts)
        self.a_tiles = _TILE_A[: height // TILE_ROWS]
        self.c_tiles = _TILE_C[: height // TILE_ROWS * 2]

    def block(self, frame: Frame, step: Step, a: Rows, c: Rows, result: Rows, counts: tuple[str, str]) -> None:
        """One block of C over the frame's panel; of its rows and columns, `counts` exist."""
        fn, depth = self.fn, step.depth
        rows, columns = counts
        all_rows = fn.icmp("eq", "i64", rows, self.height)
        in_place = fn.binary("or", "i1", all_rows, step.is_copy)
        copy, ready, before = fn.new_label("copy"), fn.new_label("ready"), fn.label
        fn.branch_if(in_place, ready, copy)
        fn.start(copy)
        self._copy_rows(frame.rows, a.first, a.stride, rows, depth)
        copied = fn.label
        fn.branch(ready)
        fn.start(ready)
        source, stride = fn.phi("ptr"), fn.phi("i64")
        for phi, direct, padded in ((source, a.first, frame.rows), (stride, a.stride, str(PANEL_BYTES))):
            phi.add(direct, before)
            phi.add(padded, copied)
        all_columns = fn.icmp("eq", "i64", columns, BLOCK)
        full, edge, done = (fn.new_label(hint) for hint in ("full", "edge", "done"))
        fn.branch_if(fn.binary("and", "i1", all_rows, all_columns), full, edge)
        fn.start(full)
        self._start_c(step, c)
        self._multiply(source.name, stride.name, frame.panel, depth)
        self._store_block(frame.scratch, step, c, result)
        fn.branch(done)
        fn.start(edge)
        self._clear_c()
        self._multiply(source.name, stride.name, frame.panel, depth)
        self._each_c_tile("llvm.x86.tilestored64", self._scratch_rows(frame.scratch))
        self._add_scratch(frame.scratch, step, c, result, counts)
        fn.branch(done)
        fn.start(done)

    # --------------------------------------------------------------------------------------------------------- tiles

    def _tile_address(self, base: str, stride: str, row: int, column_bytes: int) -> str:
        at = self.fn.advance(base, self.fn.scaled(stride, row)) if row else base
        return self.fn.advance(at, str(column_bytes)) if column_bytes else at

    def _each_c_tile(self, instruction: str, rows: Rows) -> None:
        for tile in self.c_tiles:
            address = self._tile_address(rows.first, rows.stride, TILE_ROWS * (tile // 2), 64 * (tile % 2))
            self.fn.call("void", instruction, [("i8", str(tile)), ("ptr", address), ("i64", rows.stride)])

    def _scratch_rows(self, scratch: str) -> Rows:
        return Rows(scratch, str(4 * BLOCK))

    def _start_c(self, step: Step, c: Rows) -> None:
        """C's old elements, or zeros for the first terms of a sum from zero."""
        fn = self.fn
        if not self.kernel.from_zero:
            self._each_c_tile("llvm.x86.tileloadd64", c)
            return
        zero, load, ready = (fn.new_label(hint) for hint in ("zero", "load", "ready"))
        fn.branch_if(step.is_first, zero, load)
        fn.start(zero)
        self._clear_c()
        fn.branch(ready)
        fn.start(load)
        self._each_c_tile("llvm.x86.tileloadd64", c)
        fn.branch(ready)
        fn.start(ready)

    def _clear_c(self) -> None:
        for tile in self.c_tiles:
            self.fn.call("void", "llvm.x86.tilezero", [("i8", str(tile))])

    def _multiply(self, a: str, a_stride: str, panel: str, depth: str) -> None:
        """C tiles += A B over the depth of the panel."""
        strips = [self._tile_address(a, a_stride, TILE_ROWS * index, 0) for index in range(len(self.a_tiles))]
        self.fn.loop("0", depth, self.k_tile, lambda k: self._add_products(strips, a_stride, panel, k))

    def _add_products(self, strips: Sequence[str], a_stride: str, panel: str, k: str, *, is_near: bool = False) -> None:
        """C tiles += A B over one tile of k; `strips`: where sixteen rows of A start each, `is_near`: they stay so."""
        offset, panel_row = self.fn.scaled(k, self.element.bytes), 4 * BLOCK
        down = self.fn.scaled(k, panel_row // self.group)
        b_tiles = [
            ("llvm.x86.tileloadd64", _TILE_B[0], self.fn.advance(panel, down), str(panel_row)),
            ("llvm.x86.tileloadd64", _TILE_B[1], self.fn.advance(self.fn.advance(panel, "64"), down), str(panel_row)),
        ]
        load = "llvm.x86.tileloadd64" if is_near else "llvm.x86.tileloaddt164"
        a_tiles = [
            (load, tile, self.fn.advance(at, offset), a_stride) for tile, at in zip(self.a_tiles, strips, strict=True)
        ]
        for instruction, tile, address, stride in (a_tiles[0], *b_tiles, *a_tiles[1:]):
            self.fn.call("void", instruction, [("i8", str(tile)), ("ptr", address), ("i64", stride)])
        for tile in self.c_tiles:
            operands = (tile, _TILE_A[tile // 2], _TILE_B[tile % 2])
            self.fn.call("void", _PRODUCTS[self.element.name], [("i8", str(operand)) for operand in operands])

    def known_block(self, panel: str, a: Rows, c: Rows, depth: int) -> None:
        """A full block over whole tiles of k, whose number is known."""
        if self.kernel.from_zero:
            self._clear_c()
        else:
            self._each_c_tile("llvm.x86.tileloadd64", c)
        strips = [self._tile_address(a.first, a.stride, TILE_ROWS * index, 0) for index in range(len(self.a_tiles))]
        for k in range(0, depth, self.k_tile):
            self._add_products(strips, a.stride, panel, str(k), is_near=True)
        self._each_c_tile("llvm.x86.tilestored64", c)

    # ------------------------------------------------------------------------------------------------------ results

    def _store_block(self, scratch: str, step: Step, c: Rows, result: Rows) -> None:
        """A full block."""
        fn = self.fn
        if self.narrow is None:
            self._each_c_tile("llvm.x86.tilestored64", result)
            return
        last, earlier, done = (fn.new_label(hint) for hint in ("last", "earlier", "stored"))
        fn.branch_if(step.is_last, last, earlier)
        fn.start(last)
        self._each_c_tile("llvm.x86.tilestored64", self._scratch_rows(scratch))

        def row(index: str) -> None:
            source = fn.advance(scratch, fn.scaled(index, 4 * BLOCK))
            target = fn.advance(result.first, fn.scaled(index, result.stride))
            # Sums of tile products are never subnormal.
            narrowed = self._narrowed(fn.load(f"<{BLOCK} x float>", source, align=64), flushing=True)
            fn.store(f"<{BLOCK} x i16>", narrowed, target, align=2)

        fn.loop("0", str(self.height), 1, row)
        fn.branch(done)
        fn.start(earlier)
        self._each_c_tile("llvm.x86.tilestored64", c)
        fn.branch(done)
        fn.start(done)

    def _narrowed(self, row: str, *, flushing: bool = False) -> str:
        """The codes of a row in the narrow format; `flushing`: subnormal numbers may become 0."""
        b, format = LaneBuilder(self.fn, BLOCK), self.narrow
        assert format is not None
        if flushing and has_bf16_instruction(b, format):
            return narrow_to_bf16_flushing(b, row)
        return narrow_from_f32(b, row, format)

    def _add_scratch(self, scratch: str, step: Step, c: Rows, result: Rows, counts: tuple[str, str]) -> None:
        """The results that exist: C + scratch."""
        fn = self.fn
        rows, columns = counts
        text = f"<{BLOCK} x {self.element.accumulator}>"
        mask = wanted = lanes_below(fn, columns, BLOCK)
        if self.kernel.from_zero:
            lanes = f"<{BLOCK} x i1>"
            wanted = fn.select(step.is_first, lanes, "zeroinitializer", mask)
        add = "add" if self.element.is_integer else "fadd"

        def row(index: str) -> None:
            partial = fn.advance(scratch, fn.scaled(index, 4 * BLOCK))
            source = fn.advance(c.first, fn.scaled(index, c.stride))
            target = fn.advance(result.first, fn.scaled(index, result.stride))
            old = self.fn.masked_load(text, source, wanted, align=4)
            total = fn.binary(add, text, old, fn.load(text, partial, align=64))
            if self.narrow is None:
                self.fn.masked_store(text, total, target, mask, align=4)
                return
            last, earlier, done = (fn.new_label(hint) for hint in ("last", "earlier", "stored"))
            fn.branch_if(step.is_last, last, earlier)
            fn.start(last)
            self.fn.masked_store(f"<{BLOCK} x i16>", self._narrowed(total), target, mask, align=2)
            fn.branch(done)
            fn.start(earlier)
            self.fn.masked_store(text, total, source, mask, align=4)
            fn.branch(done)
            fn.start(done)

        fn.loop("0", rows, 1, row)

    def _copy_rows(self, target: str, a: str, stride: str, rows: str, depth: str) -> None:
        """The rows of a block of A with zeros for what does not exist, up to a whole tile of k."""
        fn = self.fn
        size, scalar, lanes = self.element.bytes, self.element.memory, self.k_tile
        text = f"<{lanes} x {scalar}>"

        def row(index: str) -> None:
            exists = fn.icmp("ult", "i64", index, rows)
            source = fn.advance(a, fn.scaled(index, stride))
            into = fn.advance(target, fn.scaled(index, PANEL_BYTES))
            available = fn.select(exists, "i64", depth, 0)

            def chunk(k: str) -> None:
                left = fn.binary("sub", "i64", available, k)
                offset = fn.scaled(k, size)
                loaded = self.fn.masked_load(text, fn.advance(source, offset), lanes_below(fn, left, lanes), align=size)
                fn.store(text, loaded, fn.advance(into, offset), align=64)

            fn.loop("0", depth, lanes, chunk)

        fn.loop("0", str(self.height), 1, row)
