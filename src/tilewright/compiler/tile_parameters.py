"""Which constants of a kernel are sizes of its tiles, and of which dimension.

    x = tl.load(x_ptr + rows[:, None] * stride + columns[None, :])     # ROWS x COLUMNS, contiguous along COLUMNS

Found in the front end's module: a dimension of an access is a constant's if it has that size.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from tilewright.analysis.axis_info import ModuleAxisInfo
from tilewright.dialects import scf, tt
from tilewright.dialects.types import is_tensor
from tilewright.ir.walking import find_ops

Tile = tuple[tuple[int, ...], int | None]
"""The shape of an access, and its contiguous dimension, if it has one."""


def order_tile_parameters(module: ModuleOp, sizes: Mapping[str, int]) -> list[str]:
    """The names of `sizes`, which are different numbers: first the size of rows, then that of columns, which are
    contiguous in memory in most accesses, or else by which a loop goes on; then the rest. Empty where nothing is
    said."""
    names = {size: name for name, size in sizes.items()}
    facts = ModuleAxisInfo(module)
    tiles = [tile for tile in _tiles(module, facts) if any(size in names for size in tile[0])]
    rank = max((len(shape) for shape, _ in tiles), default=0)
    contiguous, across = Counter[str](), Counter[str]()
    for shape, fastest in tiles:
        for dim, size in enumerate(shape):
            if size in names and (len(shape) > 1 or rank == 1):
                (contiguous if dim == fastest else across)[names[size]] += 1
    if not contiguous:
        steps = [facts.of(loop.step).constant_value for loop in find_ops(module, scf.ForOp)]
        contiguous.update(names[step] for step in steps if step in names)
    order = list(sizes)
    if not contiguous or len(order) < 2:
        return []
    columns = max(order, key=lambda name: contiguous[name])
    order.remove(columns)
    rows = max(order, key=lambda name: across[name])
    order.remove(rows)
    return [rows, columns, *order]


def _tiles(module: ModuleOp, facts: ModuleAxisInfo) -> Iterator[Tile]:
    for op in find_ops(module, tt.LoadOp, tt.StoreOp):
        pointer: SSAValue = op.ptr
        if is_tensor(pointer.type):
            contiguity = facts.of(pointer).contiguity
            longest = max(contiguity)
            yield pointer.type.get_shape(), contiguity.index(longest) if longest > 1 else None
    for op in find_ops(module, tt.DescriptorLoadOp):
        if is_tensor(op.result.type):
            shape = op.result.type.get_shape()
            yield shape, len(shape) - 1
