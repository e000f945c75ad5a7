"""Copies of narrow elements of A, widened once for all columns of a group of panels, as B is.

An element that is widened where it is multiplied costs an instruction or two (an 8-bit float more than ten) for the few
products of a register tile's row; in a copy (see `copied_rows.py`) lanes widen together, for all panels of a group.
"""

from __future__ import annotations

from tilewright.codegen.lane_builder import LaneBuilder
from tilewright.codegen.llvm_text import FunctionText, ModuleText, Parameter
from tilewright.codegen.microkernels.block_tiles import Step
from tilewright.codegen.microkernels.copied_rows import CopiedRows
from tilewright.codegen.microkernels.elements import ACCUMULATOR_NAMES, ElementKind, RegisterTile

_PARAMETERS = (
    *(("source", "ptr"), ("line_stride", "i64"), ("step", "i64"), ("lines", "i64"), ("count", "i64")),
    *(("wide", "ptr"), ("wide_stride", "i64")),
)


class WidenedRows(CopiedRows):
    """Copies of narrow elements, as wide as those of C."""

    def copy_rows(self, a: str, rows: str, step: Step) -> str:
        source = self.source
        values = (
            *(a, self.either(source.a_row, source.a_k), self.either(source.a_k, source.a_row)),
            *(self.either(rows, step.depth), self.either(step.depth, rows), self.copy, self.line_stride),
        )
        widen_lines(self.fn, self.element, self.tile, values)
        return self.copy


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
    vector, scalar, size = LaneBuilder(fn, tile.lanes), LaneBuilder(fn, 0), element.accumulator_bytes
    adjoin = fn.icmp("eq", "i64", "%step", element.bytes)
    whole = fn.select(adjoin, "i64", fn.binary("and", "i64", "%count", -tile.lanes), 0)

    def line(index: str) -> None:
        source = fn.advance("%source", fn.scaled(index, "%line_stride"))
        wide = fn.advance("%wide", fn.scaled(index, "%wide_stride"))

        def lanes(at: str) -> None:
            narrow = fn.advance(source, fn.scaled(at, element.bytes))
            loaded = fn.load(vector.type(element.memory), narrow, align=element.bytes)
            to = fn.advance(wide, fn.scaled(at, size))
            fn.store(vector.type(element.accumulator), element.widen(vector, loaded), to, align=size)

        def single(at: str) -> None:
            narrow = fn.advance(source, fn.scaled(at, "%step"))
            loaded = fn.load(element.memory, narrow, align=element.bytes)
            to = fn.advance(wide, fn.scaled(at, size))
            fn.store(element.accumulator, element.widen(scalar, loaded), to, align=size)

        fn.loop("0", whole, tile.lanes, lanes)
        fn.loop(whole, "%count", 1, single)

    fn.loop("0", "%lines", 1, line)
    fn.ret()
    return fn.text()
