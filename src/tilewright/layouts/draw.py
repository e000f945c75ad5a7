"""Pictures of layouts, as plain text and as SVG: who owns each element of a tensor, and in which bank of shared
memory it lies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from math import prod
from xml.sax.saxutils import escape

import numpy as np

from tilewright.layouts.banks import BANK_BYTES, NUM_BANKS
from tilewright.layouts.distributed import BLOCK, LANE, REGISTER, WARP, DistributedLayout
from tilewright.layouts.linear import Indices, LinearLayout
from tilewright.layouts.shared import SharedLayout
from tilewright.support.records import dataclass

CELL_WIDTH, CELL_HEIGHT, MARGIN = 56, 22, 34


@dataclass(frozen=True)
class Cell:
    """One element: what is written in it, the group that decides its colour, and a longer text."""

    label: str
    group: int
    title: str


@dataclass(frozen=True)
class Picture:
    """A matrix of cells; tensors of higher rank make one for each index of the outer dimensions."""

    caption: str
    cells: tuple[tuple[Cell, ...], ...]
    num_groups: int


@dataclass(frozen=True)
class Owner:
    """A place that holds an element."""

    block: int
    warp: int
    lane: int
    register: int


def distribute(layout: LinearLayout) -> Indices:
    """Return what each register holds when every tensor element holds its own flat index: shape (blocks, warps, lanes,
    registers).
    """
    return grid_of(layout, layout.table)


def grid_of(layout: LinearLayout, table: Indices) -> Indices:
    """A value for each input of a layout of registers, as an array of shape (blocks, warps, lanes, registers)."""
    sizes = layout.in_dims
    return table.reshape(sizes[BLOCK], sizes[WARP], sizes[LANE], sizes[REGISTER])


def owners_of(layout: LinearLayout) -> dict[int, list[Owner]]:
    """The places of every element, by row-major index."""
    held: Indices = distribute(layout.transpose_outs(tuple(layout.out_dims)[::-1]))
    owners: dict[int, list[Owner]] = {}
    for index in np.ndindex(*held.shape):
        owners.setdefault(int(held[index]), []).append(Owner(*index))
    return owners


def draw_registers(layout: LinearLayout) -> list[Picture]:
    """Draw who holds each element: `T5:2` is register 2 of thread 5, `+`: others hold it, too. Colours go by warp
    and lane.
    """
    shape = tuple(layout.out_dims.values())
    owners = owners_of(layout)
    lanes = layout.in_dims[LANE]

    def cell(index: int) -> Cell:
        first, *others = owners[index]
        block = f"C{first.block} " if layout.in_dims[BLOCK] > 1 else ""
        label = f"{block}T{first.warp * lanes + first.lane}:{first.register}{'+' if others else ''}"
        title = "; ".join(f"CTA {o.block} warp {o.warp} lane {o.lane} register {o.register}" for o in owners[index])
        return Cell(label, first.warp * lanes + first.lane, title)

    return _pictures(shape, cell, lanes * layout.in_dims[WARP])


def draw_banks(layout: SharedLayout, shape: Sequence[int], element_bits: int) -> list[Picture]:
    """The bank of each element, and its offset: `b3 @40` is bank 3, offset 40 in elements. Colours go by bank."""
    offsets = layout.offsets(shape).reshape(-1)
    size = max(element_bits, 8) // 8

    def cell(index: int) -> Cell:
        offset = int(offsets[index])
        bank = offset * size // BANK_BYTES % NUM_BANKS
        return Cell(f"b{bank} @{offset}", bank, f"offset {offset}, byte {offset * size}, bank {bank}")

    return _pictures(tuple(shape), cell, NUM_BANKS)


def _pictures(shape: tuple[int, ...], cell: Callable[[int], Cell], num_groups: int) -> list[Picture]:
    rows, columns = (1, *shape)[-2:]
    pictures: list[Picture] = []
    for position, outer in enumerate(product(*(range(extent) for extent in shape[:-2]))):
        start = position * rows * columns
        cells = tuple(tuple(cell(start + row * columns + column) for column in range(columns)) for row in range(rows))
        caption = "".join(f"[{index}]" for index in outer) + (f"[:{rows}]" if len(shape) > 1 else "") + f"[:{columns}]"
        pictures.append(Picture(caption, cells, num_groups))
    return pictures


def render_text(picture: Picture, *, max_rows: int = 64, max_columns: int = 32) -> str:
    """A table, cut after some rows and columns (`...` says so)."""
    shown = [row[:max_columns] for row in picture.cells[:max_rows]]
    width = max(len(cell.label) for row in shown for cell in row)
    cut = len(picture.cells[0]) > max_columns
    lines = [picture.caption]
    lines += [" ".join(cell.label.rjust(width) for cell in row) + (" ..." if cut else "") for row in shown]
    if len(picture.cells) > max_rows:
        lines.append("...")
    return "\n".join(lines)


def corner(what: str, layout: DistributedLayout, shape: Sequence[int], extent: int = 8) -> str:
    """Draw who holds the first elements of a tensor, for an error: at most `extent` rows and columns."""
    picture = render_text(draw_registers(layout.to_linear(shape))[0], max_rows=extent, max_columns=extent)
    rows = "\n".join(f"    {row}" for row in picture.splitlines()[1:])
    return f"\n  {what}, {'x'.join(map(str, shape))}, T thread:register\n{rows}"


def render_svg(pictures: Sequence[Picture]) -> str:
    """All pictures below each other; hovering over a cell shows the long text."""
    columns = max(len(picture.cells[0]) for picture in pictures)
    height = sum(MARGIN + len(picture.cells) * CELL_HEIGHT for picture in pictures)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{columns * CELL_WIDTH + 2}" height="{height + 2}" '
        'font-family="monospace" font-size="11">'
    ]
    top = 0
    for picture in pictures:
        lines.append(f'<text x="1" y="{top + MARGIN - 10}" font-size="14">{escape(picture.caption)}</text>')
        lines.extend(_svg_cells(picture, top + MARGIN))
        top += MARGIN + len(picture.cells) * CELL_HEIGHT
    return "\n".join([*lines, "</svg>"]) + "\n"


def _svg_cells(picture: Picture, top: int) -> Iterator[str]:
    for row, cells in enumerate(picture.cells):
        for column, cell in enumerate(cells):
            x, y = column * CELL_WIDTH + 1, top + row * CELL_HEIGHT
            yield (
                f'<g><title>{escape(cell.title)}</title><rect x="{x}" y="{y}" width="{CELL_WIDTH}" '
                f'height="{CELL_HEIGHT}" fill="{colour(cell.group, picture.num_groups)}" stroke="white"/>'
                f'<text x="{x + CELL_WIDTH // 2}" y="{y + 15}" text-anchor="middle">{escape(cell.label)}</text></g>'
            )


def colour(group: int, num_groups: int) -> str:
    """A light colour per group, `#rrggbb`; neighbours differ."""
    hue = 6.0 * group / max(num_groups, 1)
    value = 235 if group % 2 else 255
    low = 150
    ramp = int((value - low) * (1 - abs(hue % 2 - 1))) + low
    red, green, blue = (
        (value, ramp, low),
        (ramp, value, low),
        (low, value, ramp),
        (low, ramp, value),
        (ramp, low, value),
        (value, low, ramp),
    )[int(hue) % 6]
    return f"#{red:02x}{green:02x}{blue:02x}"


def summary(layout: LinearLayout) -> str:
    """Sizes, bases and repeats of a layout of registers, a line each."""
    lines = [f"{prod(layout.out_dims.values())} elements in {layout.size} places"]
    lines += [f"{name:8} {size:5}  {[list(v) for v in layout.bases_of(name)]}" for name, size in layout.in_dims.items()]
    masks = {name: mask for name, mask in layout.free_variable_masks.items() if mask}
    if masks:
        lines.append("repeats  " + ", ".join(f"{name} bits {mask:#b}" for name, mask in masks.items()))
    return "\n".join(lines)
