"""Dots in loops over K, in the forms that kernels have them: wrapped and clamped rows, tails, persistent programs."""

from __future__ import annotations

from tilewright.tools.fuzzing.builder import GUARD, Builder
from tilewright.tools.fuzzing.indices import Indices

KINDS = ("float32", "float32", "float16", "int8", "bfloat16")


def dot_loop(b: Builder, indices: Indices) -> None:
    """Rows of A and columns of B by some form of index, pointers or indices that move along K, a store of C."""
    w = b.writer
    m, n = b.shape
    dtype = b.pick(KINDS)
    block = 32 if dtype == "int8" else b.pick((16, 32))
    rows, columns = b.pick((b.integer(1, 3 * m), m, 2 * m)), b.pick((b.integer(1, 2 * n), n, 2 * n))
    depth = b.pick((b.integer(1, 3 * block), 2 * block))
    left = b.new_argument(dtype, rows * depth + 3 * m * block)
    right = b.new_argument(dtype, depth * columns + block * (columns + 3 * n))
    wide = "int32" if dtype == "int8" else "float32"
    out = b.new_argument(wide, rows * columns + 2 * GUARD, "fill")
    tiles = b.chance(0.4)
    if tiles:
        w.line(f"for tile in range(pid, {-(-rows // m)} * {-(-columns // n)}, tl.num_programs(0)):")
        with w.indented():
            w.line(f"pm = tile // {-(-columns // n)}")
            w.line(f"pn = tile % {-(-columns // n)}")
            _tile(b, indices, (rows, columns, depth, block), (left.name, right.name, out.name), dtype, wide)
    else:
        w.line("pm = pid")
        w.line("pn = 0")
        _tile(b, indices, (rows, columns, depth, block), (left.name, right.name, out.name), dtype, wide)
    w.features.add("dot loop")


def _bounded(b: Builder, name: str, limit: int, block: int) -> str:
    """Lanes brought within [0, limit), as kernels do that store under a mask."""
    text = b.pick((f"{name} % {limit}", f"tl.where({name} < {limit}, {name}, 0)", f"tl.minimum({name}, {limit - 1})"))
    if limit % block == 0 and b.chance(0.5):
        text = f"tl.max_contiguous(tl.multiple_of({text}, {block}), {block})"
    return text


def _tile(
    b: Builder,
    indices: Indices,
    sizes: tuple[int, int, int, int],
    names: tuple[str, str, str],
    dtype: str,
    wide: str,
) -> None:
    """One tile of C."""
    w = b.writer
    m, n = b.shape
    rows, columns, depth, block = sizes
    a, c, out = names
    index = ".to(tl.int64)" if b.chance(0.3) else ""
    w.line(f"rm = pm{index} * {m} + tl.arange(0, {m})")
    w.line(f"rn = pn * {n} + tl.arange(0, {n})")
    w.line(f"am = {_bounded(b, 'rm', rows, m)}")
    w.line(f"bn = {_bounded(b, 'rn', columns, n)}")
    w.line(f"ks = tl.arange(0, {block})")
    w.line(f"acc = tl.zeros(({m}, {n}), tl.{wide})")
    whole = -(-depth // block)
    moves = b.chance(0.6)
    a_at, b_at = f"{a} + am[:, None] * {depth} + ks[None, :]", f"{c} + ks[:, None] * {columns} + bn[None, :]"
    if moves:
        w.line(f"p = {a_at}")
        w.line(f"q = {b_at}")
    has_tail = depth % block != 0 or b.chance(0.5)
    steps = b.pick((f"range({whole})", f"range(0, {depth}, {block})", f"tl.range(0, {whole}, num_stages=3)"))
    by_block = ", " in steps and str(block) in steps.rpartition(",")[2] and "stages" not in steps
    w.line(f"for k in {steps}:")
    with w.indented():
        left = f"{depth} - k" if by_block else f"{depth} - k * {block}"
        start = "k" if by_block else f"k * {block}"
        a_text = "p" if moves else f"{a_at} + {start}"
        b_text = "q" if moves else f"{b_at} + ({start}) * {columns}"
        a_mask = f", mask=ks[None, :] < {left}, other=0" if has_tail else ""
        b_mask = f", mask=ks[:, None] < {left}, other=0" if has_tail else ""
        precision = ", input_precision='ieee'" if dtype == "float32" else ""
        w.line(f"x = tl.load({a_text}{a_mask})")
        w.line(f"y = tl.load({b_text}{b_mask})")
        w.line(f"acc = tl.dot(x, y, acc{precision}, out_dtype=tl.{wide})")
        if moves:
            w.line(f"p += {block}")
            w.line(f"q += {block} * {columns}")
    if b.chance(0.3):
        w.line("acc = acc * 2")
    mask = f"(rm[:, None] < {rows}) & (rn[None, :] < {columns})"
    if b.chance(0.4):
        mask += f" & {indices.scalar_condition()}"
    guard = b.chance(0.3)
    # Programs beyond the last row store nothing, so that no two of them store one element.
    w.line(f"at = {out} + {GUARD} + rm[:, None] * {columns} + rn[None, :]")
    if guard:
        w.line(f"if {indices.scalar_condition()}:")
    w.line(f"{'    ' if guard else ''}tl.store(at, acc, mask={mask})")
