"""Kernels for whole blocks of narrow elements: A is widened once for all columns of a group of panels, as B is.

An element that is widened where it is multiplied costs an instruction or two (an 8-bit float more than ten) for the few
products of a register tile's row; in a copy (see `copied_rows.py`) lanes widen together, for all panels of a group.
"""

from __future__ import annotations

from tilewright.codegen.llvm_text import FunctionText, ModuleText, Parameter
from tilewright.codegen.microkernels.copied_rows import CopyingBlockWriter
from tilewright.codegen.microkernels.elements import ACCUMULATOR_NAMES, ElementKind, RegisterTile
from tilewright.codegen.microkernels.tile import TileWriter

_PARAMETERS = (
    *(("source", "ptr"), ("line_stride", "i64"), ("step", "i64"), ("lines", "i64"), ("count", "i64")),
    *(("wide", "ptr"), ("wide_stride", "i64")),
)


class WideningBlockWriter(CopyingBlockWriter):
    """Writes one kernel for whole blocks of narrow elements."""

    def copy_rows(self, a: str) -> str:
        source, rows, depth = self.source_strides, self.limits.count, self.step.depth
        values = (
            *(a, self.either(source.a_row, source.a_k), self.either(source.a_k, source.a_row)),
            *(self.either(rows, depth), self.either(depth, rows), self.copy, self.line_stride),
        )
        widen_lines(self.fn, self.element, self.tile, values)
        return self.copy

    def load_a(self, address: str) -> str:
        text, size = self.element.accumulator, self.element.accumulator_bytes
        return self.spread(self.fn.load(text, address, align=size), text)


def widen_lines(fn: FunctionText, element: ElementKind, tile: RegisterTile, values: tuple[str, ...]) -> None:
    """A call of a function that all kernels of a module share; `values` are those of `_PARAMETERS`."""
    name, module = f"tw_mk_widen_{element.name}_{ACCUMULATOR_NAMES[element.accumulator]}", fn.module
    module.define_once(name, lambda: _emit_widening(name, module, element, tile))
    types = (type for _, type in _PARAMETERS)
    fn.call("void", name, zip(types, values, strict=True))


def _emit_widening(name: str, module: ModuleText, element: ElementKind, tile: RegisterTile) -> str:
    """The definition of ``tw_mk_widen_<a>_<acc>``: lines of elements that are `step` bytes apart, widened."""
    parameters = [Parameter(type, f"%{parameter}") for parameter, type in _PARAMETERS]
    fn = FunctionText(module, name, "void", parameters, linkage="internal", attributes="noinline nounwind")
    writer = TileWriter(fn, element, tile)
    vector, size = writer.vector, element.accumulator_bytes
    adjoin = fn.icmp("eq", "i64", "%step", element.bytes)
    whole = fn.select(adjoin, "i64", fn.binary("and", "i64", "%count", -tile.lanes), 0)

    def line(number: str) -> None:
        source = writer.advance("%source", fn.binary("mul", "i64", number, "%line_stride"))
        wide = writer.advance("%wide", fn.binary("mul", "i64", number, "%wide_stride"))

        def lanes(at: str) -> None:
            narrow = writer.advance(source, writer.scaled(at, element.bytes))
            loaded = fn.load(vector.type(element.memory), narrow, align=element.bytes)
            to = writer.advance(wide, writer.scaled(at, size))
            fn.store(vector.type(element.accumulator), element.widen(vector, loaded), to, align=size)

        def single(at: str) -> None:
            narrow = writer.advance(source, fn.binary("mul", "i64", at, "%step"))
            loaded = fn.load(element.memory, narrow, align=element.bytes)
            to = writer.advance(wide, writer.scaled(at, size))
            fn.store(element.accumulator, element.widen(writer.scalar, loaded), to, align=size)

        fn.loop("0", whole, tile.lanes, lanes)
        fn.loop(whole, "%count", 1, single)

    writer.loop("%lines", 1, line)
    fn.ret()
    return fn.text()


__all__ = ["WideningBlockWriter", "widen_lines"]
