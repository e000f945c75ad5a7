"""Kernels for whole blocks of narrow elements: A is widened once for all columns of a group of panels, as B is.

    for m0 in m by MC:  wide = A[m0:m0 + MC, k0:k0 + KC], widened;  register tiles read `wide` in place of A

An element that is widened where it is multiplied costs an instruction or two (an 8-bit float more than ten) for the few
products of a register tile's row; here lanes widen together, for all panels of a group. `wide` is in the stack frame.

``tw_mk_widen_<a>_<acc>`` copies along the dimension in which elements are adjacent: a transposed A stays transposed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tilewright.codegen.llvm_text import FunctionText, ModuleText, Parameter
from tilewright.codegen.microkernels.block import BlockForm, BlockWriter
from tilewright.codegen.microkernels.elements import ACCUMULATOR_NAMES, ElementKind, RegisterTile
from tilewright.codegen.microkernels.tile import (
    OUTPUT_PARAMETERS,
    KState,
    LinesAhead,
    Rows,
    Strides,
    TileWriter,
    kernel_function,
)
from tilewright.ir.facts import TargetFacts

ROW_MULTIPLE = 24
"""Rows of a chunk are a multiple of this, so that they fill register tiles of any height."""

CHUNK_BYTES = 128 << 10
"""Bytes of widened elements in a chunk. It stays in the second level cache, together with the panels."""

PADDING = 16
"""Elements between the lines of a chunk, lest their distance be a power of two."""

_PARAMETERS = (
    *(("source", "ptr"), ("line_stride", "i64"), ("step", "i64"), ("lines", "i64"), ("count", "i64")),
    *(("wide", "ptr"), ("wide_stride", "i64")),
)


class WideningBlockWriter(BlockWriter):
    """Writes one kernel for whole blocks of narrow elements."""

    def __init__(
        self, fn: FunctionText, element: ElementKind, tile: RegisterTile, l1_bytes: int, form: BlockForm
    ) -> None:
        super().__init__(fn, element, tile, l1_bytes, form)
        rows = CHUNK_BYTES // (self.k_panel * element.accumulator_bytes)
        self.chunk_rows = max(1, rows // ROW_MULTIPLE) * ROW_MULTIPLE
        most = self.chunk_rows + self.chunk_rows // 2
        size = element.accumulator_bytes
        row, column = (self.k_panel + PADDING) * size, (most + PADDING) * size
        self.wide = fn.entry_value(f"alloca [{max(most * row, self.k_panel * column)} x i8], align 64")
        self.in_rows = fn.value("icmp eq i64 %a_k_stride, 1")
        self._source_strides = super().strides
        a_row, a_k = self._either(str(row), str(size)), self._either(str(size), str(column))
        self.strides = replace(self._source_strides, a_row=a_row, a_k=a_k)

    @property
    def source_strides(self) -> Strides:
        return self._source_strides

    def _either(self, rows: str, columns: str) -> str:
        """One number where rows of A are copied, another where columns are."""
        return self.fn.value(f"select i1 {self.in_rows}, i64 {rows}, i64 {columns}")

    def all_rows(self, a: str, c: str, body: Callable[[str, str], None]) -> None:
        """`body` for one chunk after the other. What would be less than half a chunk is left to the one before."""
        fn, step = self.fn, self.chunk_rows
        whole, output = self.m_count, self.output
        end = fn.call("i64", "llvm.smax.i64", [("i64", fn.value(f"sub i64 {whole}, {step // 2}")), ("i64", "1")])

        def chunk(m0: str) -> None:
            is_last = fn.value(f"icmp sge i64 {fn.value(f'add i64 {m0}, {step}')}, {end}")
            left = fn.value(f"sub i64 {whole}, {m0}")
            self.m_count = fn.value(f"select i1 {is_last}, i64 {left}, i64 {step}")
            self.set_row_limits()
            self._widen(self._row(a, m0, self.source_strides.a_row))
            if output is not None:
                self.output = Rows(self._row(output.first, m0, output.stride), output.stride)
            body(self.wide, self._row(c, m0, self.strides.c_row))

        self.loop(end, step, chunk)
        self.m_count, self.output = whole, output

    def _row(self, first: str, number: str, stride: str) -> str:
        return self.advance(first, self.fn.value(f"mul i64 {number}, {stride}"))

    def _widen(self, a: str) -> None:
        """A call that fills the chunk."""
        element, module, source = self.element, self.fn.module, self.source_strides
        name = f"tw_mk_widen_{element.name}_{ACCUMULATOR_NAMES[element.accumulator]}"
        module.define_once(name, lambda: _emit_widening(name, module, element, self.tile))
        values = (
            a, self._either(source.a_row, source.a_k), self._either(source.a_k, source.a_row),
            self._either(self.m_count, self.depth), self._either(self.depth, self.m_count),
            self.wide, self._either(self.strides.a_row, self.strides.a_k),
        )  # fmt: skip
        operands = (f"{type} {value}" for (_, type), value in zip(_PARAMETERS, values, strict=True))
        self.fn.emit(f"call void @{name}({', '.join(operands)})")

    def load_a(self, address: str) -> str:
        accumulator = self.element.accumulator
        return self.spread(
            self.fn.value(f"load {accumulator}, ptr {address}, align {self.element.accumulator_bytes}"), accumulator
        )

    def lines_ahead(self, state: KState, rows: int) -> list[LinesAhead]:
        """Those of other kernels for blocks; A's go into the first level cache, as lines of a chunk keep a distance."""
        a, *others = super().lines_ahead(state, rows)
        return [replace(a, level=3), *others]


def _emit_widening(name: str, module: ModuleText, element: ElementKind, tile: RegisterTile) -> str:
    """The definition of ``tw_mk_widen_<a>_<acc>``: lines of elements that are `step` bytes apart, widened."""
    parameters = [Parameter(type, f"%{parameter}") for parameter, type in _PARAMETERS]
    fn = FunctionText(module, name, "void", parameters, linkage="internal", attributes="noinline nounwind")
    writer = TileWriter(fn, element, tile)
    vector, size = writer.vector, element.accumulator_bytes
    adjoin = fn.value(f"icmp eq i64 %step, {element.bytes}")
    whole = fn.value(f"select i1 {adjoin}, i64 {fn.value(f'and i64 %count, {-tile.lanes}')}, i64 0")

    def line(number: str) -> None:
        source = writer.advance("%source", fn.value(f"mul i64 {number}, %line_stride"))
        wide = writer.advance("%wide", fn.value(f"mul i64 {number}, %wide_stride"))

        def lanes(at: str) -> None:
            narrow = writer.advance(source, writer.scaled(at, element.bytes))
            loaded = fn.value(f"load {vector.type(element.memory)}, ptr {narrow}, align {element.bytes}")
            to = writer.advance(wide, writer.scaled(at, size))
            fn.emit(f"store {vector.type(element.accumulator)} {element.widen(vector, loaded)}, ptr {to}, align {size}")

        def single(at: str) -> None:
            narrow = writer.advance(source, fn.value(f"mul i64 {at}, %step"))
            loaded = fn.value(f"load {element.memory}, ptr {narrow}, align {element.bytes}")
            to = writer.advance(wide, writer.scaled(at, size))
            fn.emit(f"store {element.accumulator} {element.widen(writer.scalar, loaded)}, ptr {to}, align {size}")

        fn.loop("0", whole, tile.lanes, lanes)
        fn.loop(whole, "%count", 1, single)

    writer.loop("%lines", 1, line)
    fn.terminate("ret void")
    return fn.text()


def emit_block_kernel(
    name: str, module: ModuleText, facts: TargetFacts, element: ElementKind, tile: RegisterTile, form: BlockForm
) -> str:
    """The definition of ``tw_mk_<a>_<acc>_<rows>x<columns>`` for blocks of at least 16 rows."""
    fn = kernel_function(name, module, OUTPUT_PARAMETERS if form.separate_output else ())
    writer = BlockWriter if element.memory == element.accumulator else WideningBlockWriter
    writer(fn, element, tile, facts.l1_bytes, form).write()
    return fn.text()


__all__ = ["WideningBlockWriter", "emit_block_kernel"]
