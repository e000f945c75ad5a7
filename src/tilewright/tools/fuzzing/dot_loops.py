"""Dots in loops over K, in the forms that kernels have them: wrapped and clamped rows, tails, persistent programs."""

from __future__ import annotations

from textwrap import indent

from tilewright.support.records import dataclass
from tilewright.tools.fuzzing.builder import GUARD, Builder
from tilewright.tools.fuzzing.indices import Indices
from tilewright.tools.fuzzing.k_loops import KLoop, k_loop

DTYPES = ("float32", "float32", "float16", "int8", "bfloat16")
WAYS = ("pointers", "pointers", "indices", "block pointers")
"""How a tile moves along K."""


@dataclass(frozen=True)
class Sizes:
    """C is `rows` by `columns`, the sum over `depth` elements, `block` of them a round."""

    rows: int
    columns: int
    depth: int
    block: int


def dot_loop(b: Builder, indices: Indices) -> None:
    """Rows of A and columns of B by some form of index, something that moves along K, a store of C."""
    w = b.writer
    m, n = b.shape
    dtype = b.pick(DTYPES)
    block = 32 if dtype == "int8" else b.pick((16, 32))
    rows, columns = b.pick((b.integer(1, 3 * m), m, 2 * m)), b.pick((b.integer(1, 2 * n), n, 2 * n))
    sizes = Sizes(rows, columns, b.pick((b.integer(1, 3 * block), 2 * block)), block)
    w.features.add("dot loop")
    if b.chance(0.4):
        down, across = -(-rows // m), -(-columns // n)
        w.line(f"for tile in range(pid, {down} * {across}, tl.num_programs(0)):")
        with w.indented():
            w.line(f"pm = tile // {across}")
            w.line(f"pn = tile % {across}")
            _Tile(b, indices, sizes, dtype).write()
        return
    if b.chance(0.2):
        w.line(f"if {indices.scalar_condition()}:")
        w.line("    return")
        w.features.add("return")
    w.line("pm = pid")
    w.line("pn = 0")
    _Tile(b, indices, sizes, dtype).write()


class _Tile:
    """One tile of C."""

    def __init__(self, b: Builder, indices: Indices, sizes: Sizes, dtype: str) -> None:
        self.b, self.w, self.indices, self.sizes, self.dtype = b, b.writer, indices, sizes, dtype
        self.loop: KLoop = k_loop(b, sizes.depth, sizes.block)
        self.wide = "int32" if dtype == "int8" else "float32"
        self.way = b.pick(WAYS)
        self.has_tail = sizes.depth % sizes.block != 0 or self.loop.may_pass or b.chance(0.4)
        self.lies_across = b.chance(0.3)
        """Whether B is stored by columns."""
        self.is_turned = self.lies_across and b.chance(0.5)
        """Whether a tile of it is loaded as it lies and transposed."""
        self.is_doubled = b.chance(0.15)
        """Whether a second product goes with the first."""

    def write(self) -> None:
        b, w, sizes = self.b, self.w, self.sizes
        m, n = b.shape
        rows, columns = sizes.rows, sizes.columns
        out = b.new_argument(self.wide, rows * columns + 2 * GUARD, "fill").name
        index = ".to(tl.int64)" if b.chance(0.3) else ""
        w.line(f"rm = pm{index} * {m} + tl.arange(0, {m})")
        w.line(f"rn = pn * {n} + tl.arange(0, {n})")
        w.line(f"am = {self._bounded('rm', rows, m)}")
        w.line(f"bn = {self._bounded('rn', columns, n)}")
        w.line(f"ks = tl.arange(0, {sizes.block})")
        sums = ("acc", "more") if self.is_doubled else ("acc",)
        for name in sums:
            w.line(f"{name} = {self._first_sum()}")
        self._rounds(sums)
        if self.is_doubled:
            w.line("acc = acc - more")
        if b.chance(0.3):
            w.line("acc = acc * 2")
        mask = f"(rm[:, None] < {rows}) & (rn[None, :] < {columns})"
        if b.chance(0.4):
            mask += f" & {self.indices.scalar_condition()}"
        # Programs beyond the last row store nothing, so that no two of them store one element.
        w.line(f"at = {out} + {GUARD} + rm[:, None] * {columns} + rn[None, :]")
        guard = b.chance(0.3)
        if guard:
            w.line(f"if {self.indices.scalar_condition()}:")
        w.line(f"{'    ' if guard else ''}tl.store(at, acc, mask={mask})")

    def _bounded(self, name: str, limit: int, block: int) -> str:
        """Lanes brought within [0, limit), as kernels do that store under a mask."""
        forms = (f"{name} % {limit}", f"tl.where({name} < {limit}, {name}, 0)", f"tl.minimum({name}, {limit - 1})")
        text = self.b.pick(forms)
        if limit % block == 0 and self.b.chance(0.5):
            text = f"tl.max_contiguous(tl.multiple_of({text}, {block}), {block})"
        return text

    def _first_sum(self) -> str:
        shape = f"({self.b.shape[0]}, {self.b.shape[1]})"
        forms = (f"tl.zeros({shape}, tl.{self.wide})", f"tl.full({shape}, 2, tl.{self.wide})")
        return forms[0] if self.b.chance(0.8) else forms[1]

    def _rounds(self, sums: tuple[str, ...]) -> None:
        """The loop over K."""
        b, sizes = self.b, self.sizes
        rows, columns, depth, block = sizes.rows, sizes.columns, sizes.depth, sizes.block
        m, n = b.shape
        stride = self._stride("sa", depth)
        left = b.new_argument(self.dtype, rows * depth + 3 * m * block).name
        moves: list[str] = []
        x = self._operand("p", (left, rows, depth), (stride, "1"), ("am", "ks"), ("pm", m), moves)
        loads = [f"x = {x}"]
        for name, pointer in zip(("y", "z"), ("q", "r"), strict=True):
            if name == "z" and not self.is_doubled:
                break
            right = b.new_argument(self.dtype, depth * columns + block * (columns + 3 * n)).name
            loads.append(f"{name} = {self._right(right, pointer, moves)}")
        precision = ", input_precision='ieee'" if self.dtype == "float32" else ""
        loads += [self._product(name, factor, precision) for name, factor in zip(sums, ("y", "z"), strict=False)]
        body = "\n".join(loads)
        if b.chance(0.15):
            body = f"if {self.indices.scalar_condition()}:\n{indent(body, '    ')}"
        lines = [*body.splitlines(), *moves, *([self.loop.closing] if self.loop.closing else [])]
        level = 0
        for line in self.loop.opening:
            self.w.line("    " * level + line)
            level += line.endswith(":")
        for line in lines:
            self.w.line("    " * level + line)

    def _product(self, name: str, factor: str, precision: str) -> str:
        if self.b.chance(0.7):
            return f"{name} = tl.dot(x, {factor}, {name}{precision}, out_dtype=tl.{self.wide})"
        return f"{name} += tl.dot(x, {factor}{precision}, out_dtype=tl.{self.wide})"

    def _right(self, base: str, pointer: str, moves: list[str]) -> str:
        """The load of a tile of B."""
        columns, depth, n = self.sizes.columns, self.sizes.depth, self.b.shape[1]
        stride = self._stride("sb", depth if self.lies_across else columns)
        if self.is_turned:
            place = (base, columns, depth)
            return f"tl.trans({self._operand(pointer, place, (stride, '1'), ('bn', 'ks'), ('pn', n), moves)})"
        strides = ("1", stride) if self.lies_across else (stride, "1")
        return self._operand(pointer, (base, depth, columns), strides, ("ks", "bn"), ("pn", n), moves)

    def _stride(self, name: str, value: int) -> str:
        """Elements from one row to the next, as a number or an argument."""
        if self.b.chance(0.7):
            return str(value)
        self.w.scalars[name] = value
        return name

    def _operand(
        self,
        pointer: str,
        matrix: tuple[str, int, int],
        strides: tuple[str, str],
        lanes: tuple[str, str],
        block: tuple[str, int],
        moves: list[str],
    ) -> str:
        """The load of a tile; what moves it along K goes to `moves`.

        `matrix` is base and extents, `lanes` names the rows' and the columns' indices, of which one is `ks`, and
        `block` has the number and the size of the other's block.
        """
        base, height, width = matrix
        along = lanes.index("ks")
        start, step, w = self.loop.start, self.loop.step, self.w
        if self.way == "block pointers":
            number, size = block
            offsets, shape, step_text = [f"{number} * {size}"] * 2, [size] * 2, ["0"] * 2
            offsets[along], shape[along], step_text[along] = start, self.sizes.block, step
            order = "(0, 1)" if strides[0] == "1" else "(1, 0)"
            w.line(
                f"{pointer} = tl.make_block_ptr({base}, ({height}, {width}), ({strides[0]}, {strides[1]}), "
                f"({offsets[0]}, {offsets[1]}), ({shape[0]}, {shape[1]}), {order})"
            )
            moves.append(f"{pointer} = tl.advance({pointer}, ({step_text[0]}, {step_text[1]}))")
            return f"tl.load({pointer}, boundary_check=(0, 1), padding_option='zero')"
        by = strides[along]
        at = f"{base} + {lanes[0]}[:, None] * {strides[0]} + {lanes[1]}[None, :] * {strides[1]}"
        place = "[:, None]" if along == 0 else "[None, :]"
        rest = f"{self.sizes.depth} - ({self.loop.element})"
        mask = f", mask=ks{place} < {rest}, other=0" if self.has_tail else ""
        if self.way == "indices":
            return f"tl.load({at} + ({self.loop.element}) * {by}{mask})"
        w.line(f"{pointer} = {at} + ({start}) * {by}")
        moves.append(f"{pointer} += {step} * {by}")
        return f"tl.load({pointer}{mask})"
