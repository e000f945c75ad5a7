"""Copies of a transposed A whose rows AMX tiles are loaded from.

    copy[m][k] = A[m][k],  adjacent in k, with zeros up to a whole tile of k

Where the columns of A are contiguous, sixteen rows and a tile of k are a square of words: groups of steps of k are
interleaved (two of bf16, four of int8) and the words transposed in registers. Other strides are followed element by
element.
"""

from __future__ import annotations

from tilewright.codegen.llvm_text import FunctionText, ModuleText, Parameter
from tilewright.codegen.microkernels.amx_panels import either, interleave, lanes_below, tile_depth, words_group
from tilewright.codegen.microkernels.elements import ElementKind
from tilewright.codegen.microkernels.panels import transpose_square

_PARAMETERS = (
    *(("copy", "ptr"), ("copy_stride", "i64"), ("a", "ptr")),
    *(("row_stride", "i64"), ("k_stride", "i64"), ("rows", "i64"), ("depth", "i64")),
)
_SIDE = 16
"""Rows of a square."""


def call_transposing_copy(fn: FunctionText, element: ElementKind, values: tuple[str, ...]) -> None:
    """Copy `rows` rows of A, of `depth` elements each, by a function that all kernels of a module share.

    `values`: where to, bytes from row to row there, where from, bytes from row to row and from step to step of k there,
    rows, depth.
    """
    name = f"tw_mk_turn_{element.name}"
    fn.module.define_once(name, lambda: _copy_function(name, fn.module, element))
    types = (type for _, type in _PARAMETERS)
    fn.call("void", name, zip(types, values, strict=True))


def _copy_function(name: str, module: ModuleText, element: ElementKind) -> str:
    parameters = [Parameter(type, f"%{parameter}") for parameter, type in _PARAMETERS]
    fn = FunctionText(module, name, "void", parameters, linkage="internal", attributes="noinline nounwind")
    _CopyWriter(fn, element).write()
    return fn.text()


class _CopyWriter:
    """Writes the function."""

    def __init__(self, fn: FunctionText, element: ElementKind) -> None:
        self.fn = fn
        self.element = element
        self.k_tile = tile_depth(element)
        self.group = words_group(element)

    def write(self) -> None:
        fn = self.fn
        squares, single = fn.new_label("squares"), fn.new_label("single")
        fn.branch_if(fn.icmp("eq", "i64", "%row_stride", self.element.bytes), squares, single)
        fn.start(squares)
        fn.loop("0", "%depth", self.k_tile, lambda k: fn.loop("0", "%rows", _SIDE, lambda m: self._square_of_a(m, k)))
        fn.ret()
        fn.start(single)
        fn.loop("0", "%rows", 1, self._row)
        fn.ret()

    def _square_of_a(self, m: str, k: str) -> None:
        """Sixteen rows, one tile of k; what does not exist is 0."""
        fn = self.fn
        source = fn.advance(
            fn.advance("%a", fn.binary("mul", "i64", k, "%k_stride")), fn.binary("mul", "i64", m, self.element.bytes)
        )
        rows_left, k_left = fn.binary("sub", "i64", "%rows", m), fn.binary("sub", "i64", "%depth", k)
        enough_rows = fn.icmp("sge", "i64", rows_left, _SIDE)
        enough_k = fn.icmp("sge", "i64", k_left, self.k_tile)
        text = f"<{_SIDE} x {self.element.memory}>"
        steps = [fn.advance(source, fn.scaled("%k_stride", step)) if step else source for step in range(self.k_tile)]

        def whole() -> list[str]:
            return [fn.load(text, at, align=self.element.bytes) for at in steps]

        def partial() -> list[str]:
            mask, loaded = lanes_below(fn, rows_left, _SIDE), list[str]()
            for step, at in enumerate(steps):
                exists = fn.icmp("slt", "i64", step, k_left)
                lanes = fn.select(exists, f"<{_SIDE} x i1>", mask, "zeroinitializer")
                loaded.append(self.fn.masked_load(text, at, lanes, align=self.element.bytes))
            return loaded

        def words(load: list[str]) -> list[str]:
            groups = [load[step : step + self.group] for step in range(0, self.k_tile, self.group)]
            return [interleave(fn, group, _SIDE, 8 * self.element.bytes) for group in groups]

        found = either(
            fn, fn.binary("and", "i1", enough_rows, enough_k), f"<{_SIDE} x i32>",
            lambda: words(whole()), lambda: words(partial()),
        )  # fmt: skip
        into = fn.advance(fn.advance("%copy", fn.scaled(m, "%copy_stride")), fn.scaled(k, self.element.bytes))
        for row, value in enumerate(transpose_square(fn, found, "i32")):
            target = fn.advance(into, fn.scaled("%copy_stride", row)) if row else into
            fn.store(f"<{_SIDE} x i32>", value, target, align=64)

    def _row(self, m: str) -> None:
        """One row, element by element, and the zeros after it."""
        fn, scalar, size = self.fn, self.element.memory, self.element.bytes
        source = fn.advance("%a", fn.scaled(m, "%row_stride"))
        into = fn.advance("%copy", fn.scaled(m, "%copy_stride"))

        def single(k: str) -> None:
            at = fn.advance(source, fn.scaled(k, "%k_stride"))
            value = fn.load(scalar, at, align=size)
            fn.store(scalar, value, fn.advance(into, fn.scaled(k, size)), align=size)

        def nothing(k: str) -> None:
            fn.store(scalar, 0, fn.advance(into, fn.scaled(k, size)), align=size)

        whole = fn.binary("and", "i64", fn.binary("add", "i64", "%depth", self.k_tile - 1), -self.k_tile)
        fn.loop("0", "%depth", 1, single)
        fn.loop("%depth", whole, 1, nothing)
