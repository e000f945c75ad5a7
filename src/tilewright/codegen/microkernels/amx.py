"""Matrix products on AMX tiles: bf16 into f32 and int8 into i32, sixteen by sixteen results an instruction.

The loops around it are in `interleaved.py`. Blocks of 32 x 32 of C are four tiles; two tiles of A and two of a panel
feed four products. Kernels of 16 rows (``tw_mk_bf16_f32_16x32``) have blocks of 16 x 32: one tile of A feeds two
products. A is read in place where all rows of a block and whole tiles of k exist, else through a zero-padded copy.
Where C is not a full block the tiles go through a scratch block and masked additions.

A unit that was idle for half a microsecond takes as long to reach its full speed again, and slows everything else down
meanwhile: products that alternate with other work (attention) pay that each time.
"""

from __future__ import annotations

from tilewright.codegen.llvm_text import FunctionText, ModuleText
from tilewright.codegen.microkernels.amx_panels import BLOCK, PANEL_BYTES
from tilewright.codegen.microkernels.block import BlockForm
from tilewright.codegen.microkernels.elements import ElementKind
from tilewright.codegen.microkernels.interleaved import Frame, InterleavedWriter, general_kernel
from tilewright.codegen.microkernels.tile import kernel_function
from tilewright.ir.facts import TargetFacts

_FEATURES = {"bf16": ("amx-tile", "amx-bf16"), "i8": ("amx-tile", "amx-int8")}
_PRODUCTS = {"bf16": "llvm.x86.tdpbf16ps", "i8": "llvm.x86.tdpbssd"}
_TILE_C, _TILE_A, _TILE_B = (0, 1, 2, 3), (4, 5), (6, 7)
_TILE_ROWS = 16
_CONFIGURATION = "@tw_amx_configuration"


def has_amx_form(element: ElementKind, rows: int, columns: int, facts: TargetFacts) -> bool:
    """Whether a kernel of this size for this type runs on AMX tiles."""
    features = _FEATURES.get(element.name)
    return features is not None and all(map(facts.has, features)) and rows >= 16 and columns >= 16


def configure_tiles(fn: FunctionText) -> None:
    """Eight tiles of 16 rows of 64 bytes (palette 1), until `release_tiles`; it takes some 150 cycles."""
    data = bytes([1, *[0] * 15, *[64, 0] * 8, *[0] * 16, *[16] * 8, *[0] * 8])
    text = ", ".join(f"i8 {byte}" for byte in data)
    line = f"{_CONFIGURATION} = private unnamed_addr constant [64 x i8] [{text}], align 64"
    if line not in fn.module.globals:
        fn.module.add_global(line)
    fn.call("void", "llvm.x86.ldtilecfg", [("ptr", _CONFIGURATION)])


def release_tiles(fn: FunctionText) -> None:
    """Nobody expects anything of the tiles any more: the system need not save them."""
    fn.call("void", "llvm.x86.tilerelease", [])


class AmxWriter(InterleavedWriter):
    """Writes one kernel, for blocks of `height` rows."""

    def __init__(self, fn: FunctionText, element: ElementKind, form: BlockForm, height: int) -> None:
        super().__init__(fn, element, form)
        self.height = height
        self.a_tiles = _TILE_A[: height // _TILE_ROWS]
        self.c_tiles = _TILE_C[: height // _TILE_ROWS * 2]

    def begin(self) -> None:
        if not self.form.is_configured:
            configure_tiles(self.fn)

    def end(self) -> None:
        if not self.form.is_configured:
            release_tiles(self.fn)

    def multiply_panel(self, frame: Frame, a: str, c: str, strides: list[str], depth: str, columns: str) -> None:
        self.loop("%m_count", self.height, lambda m0: self._block(frame, a, c, strides, m0, depth, columns))

    def _block(self, frame: Frame, a: str, c: str, strides: list[str], m0: str, depth: str, columns: str) -> None:
        """One block of C over one panel."""
        fn = self.fn
        rows = self.minimum(fn.value(f"sub i64 %m_count, {m0}"), self.height)
        a_m = self.at(a, fn.value(f"mul i64 {m0}, {strides[0]}"))
        c_m = self.at(c, fn.value(f"mul i64 {m0}, {strides[2]}"))
        all_rows = fn.value(f"icmp eq i64 {rows}, {self.height}")
        whole_k = fn.value(f"icmp eq i64 {fn.value(f'urem i64 {depth}, {self.k_tile}')}, 0")
        in_place = fn.value(f"and i1 {all_rows}, {whole_k}")
        copy, ready, before = fn.new_label("copy"), fn.new_label("ready"), fn.label
        fn.branch_if(in_place, ready, copy)
        fn.start(copy)
        self._copy_rows(frame.rows, a_m, strides[0], rows, depth)
        copied = fn.label
        fn.branch(ready)
        fn.start(ready)
        source, stride = fn.phi("ptr"), fn.phi("i64")
        for phi, direct, padded in ((source, a_m, frame.rows), (stride, strides[0], str(PANEL_BYTES))):
            phi.add(direct, before)
            phi.add(padded, copied)
        all_columns = fn.value(f"icmp eq i64 {columns}, {BLOCK}")
        full, edge, done = (fn.new_label(hint) for hint in ("full", "edge", "done"))
        fn.branch_if(fn.value(f"and i1 {all_rows}, {all_columns}"), full, edge)
        fn.start(full)
        self._start_c(c_m, strides[2])
        self._multiply(source.name, stride.name, frame.panel, depth)
        self._each_c_tile("llvm.x86.tilestored64", c_m, strides[2])
        fn.branch(done)
        fn.start(edge)
        for tile in self.c_tiles:
            fn.call("void", "llvm.x86.tilezero", [("i8", str(tile))])
        self._multiply(source.name, stride.name, frame.panel, depth)
        self._each_c_tile("llvm.x86.tilestored64", frame.scratch, str(4 * BLOCK))
        self._add_scratch(frame.scratch, c_m, strides[2], rows, columns)
        fn.branch(done)
        fn.start(done)

    # --------------------------------------------------------------------------------------------------------- tiles

    def _tile_address(self, base: str, stride: str, row: int, column_bytes: int) -> str:
        at = self.at(base, self.scaled(stride, row)) if row else base
        return self.at(at, str(column_bytes)) if column_bytes else at

    def _each_c_tile(self, instruction: str, base: str, stride: str) -> None:
        for tile in self.c_tiles:
            address = self._tile_address(base, stride, _TILE_ROWS * (tile // 2), 64 * (tile % 2))
            self.fn.call("void", instruction, [("i8", str(tile)), ("ptr", address), ("i64", stride)])

    def _start_c(self, c: str, stride: str) -> None:
        """C's old elements, or zeros for the first terms of a sum from zero."""
        fn = self.fn
        if not self.form.from_zero:
            self._each_c_tile("llvm.x86.tileloadd64", c, stride)
            return
        zero, load, ready = (fn.new_label(hint) for hint in ("zero", "load", "ready"))
        fn.branch_if(self.is_first, zero, load)
        fn.start(zero)
        for tile in self.c_tiles:
            fn.call("void", "llvm.x86.tilezero", [("i8", str(tile))])
        fn.branch(ready)
        fn.start(load)
        self._each_c_tile("llvm.x86.tileloadd64", c, stride)
        fn.branch(ready)
        fn.start(ready)

    def _multiply(self, a: str, a_stride: str, panel: str, depth: str) -> None:
        """C tiles += A B over the depth of the panel."""
        strips = [self._tile_address(a, a_stride, _TILE_ROWS * number, 0) for number in range(len(self.a_tiles))]
        panel_row = 4 * BLOCK

        def step(k: str) -> None:
            offset = self.scaled(k, self.element.bytes)
            down = self.scaled(k, panel_row // self.group)
            loads = [
                (_TILE_B[0], self.at(panel, down), str(panel_row)),
                (_TILE_B[1], self.at(self.at(panel, "64"), down), str(panel_row)),
                *((tile, self.at(strip, offset), a_stride) for tile, strip in zip(self.a_tiles, strips, strict=True)),
            ]
            for tile, address, stride in loads:
                self.fn.call("void", "llvm.x86.tileloadd64", [("i8", str(tile)), ("ptr", address), ("i64", stride)])
            for tile in self.c_tiles:
                operands = (tile, _TILE_A[tile // 2], _TILE_B[tile % 2])
                self.fn.call("void", _PRODUCTS[self.element.name], [("i8", str(operand)) for operand in operands])

        self.loop(depth, self.k_tile, step)

    def _add_scratch(self, scratch: str, c: str, stride: str, rows: str, columns: str) -> None:
        """C += scratch where C exists."""
        fn = self.fn
        text = f"<{BLOCK} x {self.element.accumulator}>"
        mask = wanted = self.mask(columns, BLOCK)
        if self.form.from_zero:
            none = f"<{BLOCK} x i1> zeroinitializer"
            wanted = fn.value(f"select i1 {self.is_first}, {none}, <{BLOCK} x i1> {mask}")
        add = "add" if self.element.is_integer else "fadd"

        def row(number: str) -> None:
            partial = self.at(scratch, self.scaled(number, 4 * BLOCK))
            target = self.at(c, fn.value(f"mul i64 {number}, {stride}"))
            old = self.masked_load(text, self.element.accumulator, 4, target, wanted, BLOCK)
            total = fn.value(f"{add} {text} {old}, {fn.value(f'load {text}, ptr {partial}, align 64')}")
            self.masked_store(text, self.element.accumulator, 4, total, target, mask)

        self.loop(rows, 1, row)

    def _copy_rows(self, target: str, a: str, stride: str, rows: str, depth: str) -> None:
        """The rows of a block of A with zeros for what does not exist, up to a whole tile of k."""
        fn = self.fn
        size, scalar, lanes = self.element.bytes, self.element.memory, self.k_tile
        text = f"<{lanes} x {scalar}>"

        def row(number: str) -> None:
            exists = fn.value(f"icmp ult i64 {number}, {rows}")
            source = self.at(a, fn.value(f"mul i64 {number}, {stride}"))
            into = self.at(target, self.scaled(number, PANEL_BYTES))
            available = fn.value(f"select i1 {exists}, i64 {depth}, i64 0")

            def chunk(k: str) -> None:
                left = fn.value(f"sub i64 {available}, {k}")
                offset = self.scaled(k, size)
                loaded = self.masked_load(text, scalar, size, self.at(source, offset), self.mask(left, lanes), lanes)
                fn.emit(f"store {text} {loaded}, ptr {self.at(into, offset)}, align 64")

            self.loop(depth, lanes, chunk)

        self.loop(str(self.height), 1, row)


def emit_amx_kernel(
    name: str, module: ModuleText, facts: TargetFacts, element: ElementKind, rows: int, form: BlockForm
) -> str:
    """The definition of a kernel of at least 16 x 16 on AMX tiles; one of 16 rows has blocks of so many."""
    general = general_kernel(name, module, facts, element, form)
    fn = kernel_function(name, module)
    AmxWriter(fn, element, form, _TILE_ROWS if rows == _TILE_ROWS else BLOCK).write(general)
    return fn.text()
