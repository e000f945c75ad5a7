"""Layouts of shared memory: which element lies at which offset.

The linear map goes from `offset` (in elements) and `block` to `dim0`, `dim1`, ...; `offsets` is its inverse for whole
arrays. Padded layouts are a linear map followed by gaps, so only their linear component is a `LinearLayout`;
`offsets` includes the gaps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from math import prod

import numpy as np

from tilewright.layouts.distributed import BLOCK, Vectors, cga_layout, cut, dim_names, fit
from tilewright.layouts.linear import Indices, LinearLayout, identity_nd
from tilewright.support.records import dataclass

OFFSET = "offset"
MAX_TMA_BOX = 256
"""Largest extent of a box that the tensor memory accelerator copies, per dimension."""


class SharedLayout:
    """A layout of a tensor in shared memory."""

    rank: int
    cga: Vectors

    def to_linear(self, shape: Sequence[int]) -> LinearLayout:
        """The map from offsets to coordinates of a tensor of `shape`, before any padding; ValueError where the ranks
        differ.
        """
        if len(shape) != self.rank:
            raise ValueError(f"shared layout of rank {self.rank} on a tensor of rank {len(shape)}")
        return _to_linear(self, tuple(shape))

    def _build(self, shape: tuple[int, ...]) -> LinearLayout:
        raise NotImplementedError

    def part_of(self, shape: Sequence[int]) -> tuple[int, ...]:
        """The extents of the part of a buffer that one CTA of a cluster has."""
        return _shape_per_block(self.cga, shape) if self.cga else tuple(shape)

    def alignment(self) -> int:
        """Bytes that a buffer's address must be a multiple of."""
        return 16

    def num_elements(self, shape: Sequence[int]) -> int:
        """Elements that the buffer of one CTA takes, gaps included."""
        return self.to_linear(shape).in_dims[OFFSET]

    def offsets(self, shape: Sequence[int]) -> Indices:
        """The offset of every element in its CTA's buffer, as an array of `shape`."""
        linear = self.to_linear(shape)
        inverse = linear.pseudoinvert()
        coordinates = np.meshgrid(*(np.arange(size) for size in shape), indexing="ij", sparse=True)
        found = inverse.apply(dict(zip(dim_names(len(shape)), coordinates, strict=True)))
        return np.broadcast_to(found[OFFSET], shape)


@lru_cache(maxsize=4096)
def _to_linear(layout: SharedLayout, shape: tuple[int, ...]) -> LinearLayout:
    return layout._build(shape)  # pyright: ignore[reportPrivateUsage]


@dataclass(frozen=True)
class SwizzledSharedLayout(SharedLayout):
    """Rows whose vectors of `vec` elements are permuted by XOR with the row's phase `(row / per_phase) % max_phase`.

    `offset(r, c) = r*C + ((c/vec ^ phase(r)) * vec + c % vec)` for order (1, 0), the XOR term taken modulo C.
    """

    vec: int
    per_phase: int
    max_phase: int
    order: tuple[int, ...]
    cga: Vectors = ()

    @property
    def rank(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        return len(self.order)

    def alignment(self) -> int:
        return 128 * self.max_phase if self.max_phase > 1 else 16

    def _build(self, shape: tuple[int, ...]) -> LinearLayout:
        names = dim_names(self.rank)
        part = _shape_per_block(self.cga, shape)
        if self.rank == 1:
            tile = LinearLayout.identity_1d(part[0], OFFSET, names[0])
            return _with_blocks(tile, self.cga, shape)
        fast, slow = self.order[:2]
        columns, rows = part[fast], part[slow]
        bases: list[tuple[int, int]] = [(1 << bit, 0) for bit in range(columns.bit_length() - 1)]
        for bit in range(rows.bit_length() - 1):
            phase = ((1 << bit) // self.per_phase) % self.max_phase
            bases.append((self.vec * phase % columns, 1 << bit))
        outs = {names[fast]: columns, names[slow]: rows}
        tile = LinearLayout.from_bases({OFFSET: bases}, outs)
        for dim in self.order[2:]:
            tile *= LinearLayout.identity_1d(part[dim], OFFSET, names[dim])
        return _with_blocks(tile, self.cga, shape)

    @staticmethod
    def for_dot_operand(
        shape: Sequence[int],
        order: Sequence[int],
        element_bits: int,
        op_index: int,
        k_width: int,
    ) -> SwizzledSharedLayout:
        """The swizzle for an operand of `mma.sync` that lets `ldmatrix` and plain loads read without conflicts."""
        rank = len(shape)
        k_dim = rank - 1 if op_index == 0 else rank - 2
        per_phase = max(1024 // (element_bits * shape[order[0]]), 1)
        vec, stride = 4 * k_width, 4 if element_bits == 64 else 8
        if order[0] != k_dim:
            vec, stride = stride, vec
        max_phase = max(max(min(stride, 1024 // (vec * element_bits)), 1) // per_phase, 1)
        return SwizzledSharedLayout(vec, per_phase, max_phase, tuple(order))


@dataclass(frozen=True)
class NvmmaSharedLayout(SharedLayout):
    """What `wgmma` and the tensor memory accelerator read: column blocks of `swizzle_bytes`, rows in atoms of eight
    with a swizzle that XORs address bits 4.. with bits 7.. ; `transposed` makes rows the contiguous dimension.
    Without a swizzle, row-major.
    """

    swizzle_bytes: int
    transposed: bool
    element_bits: int
    fp4_padded: bool = False
    rank: int = 2
    cga: Vectors = ()

    def alignment(self) -> int:
        return 128 * self.max_phase

    @property
    def vec(self) -> int:
        """Elements of 16 bytes."""
        return 128 // self.element_bits

    @property
    def per_phase(self) -> int:
        """Rows that share a phase."""
        return 128 // self.swizzle_bytes if self.swizzle_bytes else 1

    @property
    def max_phase(self) -> int:
        """Number of phases."""
        return max(self.swizzle_bytes // 16, 1)

    def with_rank(self, rank: int) -> NvmmaSharedLayout:
        """The layout of the same blocks with more, or less, leading dimensions of extent 1."""
        if rank == self.rank:
            return self
        more = (0,) * (rank - self.rank)
        transposed = self.swaps_dims if rank > 1 else True
        return replace(self, rank=rank, transposed=transposed, cga=tuple(more + v[-rank:] for v in self.cga))

    def core_tile(self) -> LinearLayout:
        """Eight rows of `swizzle_bytes`: offsets to (row, column), the column being the contiguous coordinate."""
        columns = 8 * self.swizzle_bytes // self.element_bits
        if self.fp4_padded:
            return self._fp4_tile()
        bases = [(0, 1 << bit) for bit in range(columns.bit_length() - 1)]
        for bit in range(3):
            phase = ((1 << bit) // self.per_phase) % self.max_phase
            bases.append((1 << bit, self.vec * phase))
        return LinearLayout.from_bases({OFFSET: bases}, {"row": 8, "column": columns})

    def _fp4_tile(self) -> LinearLayout:
        """As `core_tile`, where each 16 bytes hold 8 bytes of elements: a zero basis stands for the upper half."""
        columns = self.swizzle_bytes // 2
        bases = [(0, 1), (0, 2), (0, 4), (0, 0)]
        bases += [(0, 8 << bit) for bit in range((columns // 8).bit_length() - 1)]
        for bit in range(3):
            phase = ((1 << bit) // self.per_phase) % self.max_phase
            bases.append((1 << bit, 8 * phase))
        return LinearLayout.from_bases({OFFSET: bases}, {"row": 8, "column": columns})

    def _build(self, shape: tuple[int, ...]) -> LinearLayout:
        part = _shape_per_block(self.cga, shape)
        tile = self._unswizzled(part) if self.swizzle_bytes == 0 else self._swizzled(part)
        return _with_blocks(tile, self.cga, shape)

    def _unswizzled(self, part: tuple[int, ...]) -> LinearLayout:
        """Boxes of at most 256 in each dimension, each row-major; boxes along the first dimension first."""
        names = dim_names(self.rank)
        boxes = [min(size, MAX_TMA_BOX) for size in part]
        box = identity_nd(OFFSET, boxes, tuple(reversed(range(self.rank))), names)
        return _repeat(box, part, names)

    @property
    def swaps_dims(self) -> bool:
        """True if rows are contiguous; a layout of one dimension is called transposed, and has no other order."""
        return self.transposed and self.rank > 1

    def _swizzled(self, part: tuple[int, ...]) -> LinearLayout:
        """The core tile repeated along the strided rows (outer dimensions folded in), then along the contiguous
        dimension.
        """
        names = dim_names(self.rank)
        folded = (prod(part[:-1]), part[-1])
        core = self.core_tile()
        if self.transposed:
            strided, contiguous = part[-1], part[-2]
        else:
            strided, contiguous = folded
        rows = min(strided, MAX_TMA_BOX) if self.transposed else strided
        tile = core
        if rows > tile.out_dims["row"]:
            tile *= LinearLayout.identity_1d(rows // tile.out_dims["row"], OFFSET, "row")
        columns = tile.out_dims["column"]
        if contiguous > columns:
            tile *= LinearLayout.identity_1d(contiguous // columns, OFFSET, "column")
        if strided > rows:
            tile *= LinearLayout.identity_1d(strided // rows, OFFSET, "row")
        if strided < tile.out_dims["row"] or contiguous < columns:
            raise ValueError(
                f"a tensor of shape {list(part)} is smaller than the swizzle's 8 rows of {columns} elements"
            )
        return self._to_tensor_dims(tile, part, names)

    def _to_tensor_dims(self, tile: LinearLayout, part: tuple[int, ...], names: tuple[str, ...]) -> LinearLayout:
        if not self.transposed:
            flat = tile.transpose_outs(["column", "row"])
            return flat.reshape_outs([(name, size) for name, size in zip(names[::-1], part[::-1], strict=True)])
        layout = tile.rename_outs({"row": names[-1], "column": names[-2]})
        for name, size in zip(names[:-2][::-1], part[:-2][::-1], strict=True):
            layout *= LinearLayout.identity_1d(size, OFFSET, name)
        return layout

    @staticmethod
    def make(
        shape: Sequence[int], order: Sequence[int], element_bits: int, *, fp4_padded: bool = False
    ) -> NvmmaSharedLayout:
        """The widest swizzle that the fastest dimension fills."""
        packing = 2 if fp4_padded else 1
        row_bytes = shape[order[0]] * packing * element_bits // 8
        rows = prod(shape) // shape[order[0]]
        swizzle = next((width for width in (128, 64, 32) if row_bytes >= width and row_bytes % width == 0), 0)
        if len(shape) < 2 or rows < 8:
            swizzle = 0
        return NvmmaSharedLayout(swizzle, order[0] == 0, element_bits, fp4_padded, len(shape))


@dataclass(frozen=True)
class SharedLinearLayout(SharedLayout):
    """A layout given by its bases."""

    offset: Vectors
    block: Vectors
    rank: int
    bytes_alignment: int = 16

    @property
    def cga(self) -> Vectors:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.block

    def alignment(self) -> int:
        return self.bytes_alignment

    @staticmethod
    def of(layout: LinearLayout, alignment: int = 16) -> SharedLinearLayout:
        """From a linear map of offsets and blocks to `dim0`, `dim1`, ..."""
        rank = len(layout.out_dims)
        ordered = layout.transpose_outs(dim_names(rank))
        block = ordered.bases_of(BLOCK) if BLOCK in ordered.in_dims else ()
        return SharedLinearLayout(ordered.bases_of(OFFSET), block, rank, alignment)

    def extent(self) -> tuple[int, ...]:
        """The shape that the bases reach."""
        return _extent(self.offset, self.block, self.rank)

    def _build(self, shape: tuple[int, ...]) -> LinearLayout:
        bases = {OFFSET: self.offset, BLOCK: self.block}
        return fit(LinearLayout.from_bases(bases, dim_names(self.rank), surjective=False), shape)


@dataclass(frozen=True)
class PaddedSharedLayout(SharedLayout):
    """A linear layout with gaps: after every `interval` elements lie `padding` unused ones, for each pair of `pads`.

    The linear component is either given by bases, or row-major in `order` on `shape`.
    """

    pads: tuple[tuple[int, int], ...]
    offset: Vectors
    block: Vectors
    rank: int

    def __post_init__(self) -> None:
        """ValueError unless each gap has an interval of its own, and offsets reach elements once, without a swizzle."""
        if not self.pads:
            raise ValueError("a padded layout must have at least one pair of interval and padding")
        for what, values in zip(("interval", "padding"), zip(*self.pads, strict=True), strict=True):
            if any(value <= 0 or value & (value - 1) for value in values):
                raise ValueError(f"{what} values must all be power of two")
        if len({interval for interval, _ in self.pads}) != len(self.pads):
            raise ValueError("interval values cannot have duplicates")
        for basis in (*self.offset, *self.block):
            if sum(map(bool, basis)) > 1:
                raise ValueError("Each offset basis must move in at most one dimension.")
            if any(component & (component - 1) for component in basis):
                raise ValueError("Each offset basis must be 0 or a power of two.")
        if len(set(self.offset)) != len(self.offset) or not all(map(any, self.offset)):
            raise ValueError("Broadcasting in offset dimension is not supported.")

    @property
    def cga(self) -> Vectors:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.block

    @staticmethod
    def ordered(
        pads: Sequence[tuple[int, int]], order: Sequence[int], shape: Sequence[int], cga: Vectors = ()
    ) -> PaddedSharedLayout:
        """Elements in `order`, fastest dimension first, over a tensor of `shape`."""
        names = dim_names(len(shape))
        tile = identity_nd(OFFSET, _shape_per_block(cga, shape), order, names)
        layout = _with_blocks(tile, cga, tuple(shape))
        return PaddedSharedLayout(tuple(pads), layout.bases_of(OFFSET), layout.bases_of(BLOCK), len(shape))

    def extent(self) -> tuple[int, ...]:
        """The shape that the bases reach."""
        return _extent(self.offset, self.block, self.rank)

    def _build(self, shape: tuple[int, ...]) -> LinearLayout:
        bases = {OFFSET: self.offset, BLOCK: self.block}
        layout = LinearLayout.from_bases(bases, dim_names(self.rank), surjective=False)
        return cut(layout, shape).transpose_outs(dim_names(self.rank))

    def padded(self, offset: Indices) -> Indices:
        """Return where an element of the linear component at `offset` really lies."""
        gaps = sum((offset // interval) * padding for interval, padding in self.pads)
        return offset + gaps

    def offsets(self, shape: Sequence[int]) -> Indices:
        return self.padded(super().offsets(shape))

    def num_elements(self, shape: Sequence[int]) -> int:
        count = super().num_elements(shape)
        gaps = sum((count // interval - (count % interval == 0)) * padding for interval, padding in self.pads)
        return count + max(gaps, 0)


def _extent(offset: Vectors, block: Vectors, rank: int) -> tuple[int, ...]:
    bases = {OFFSET: offset, BLOCK: block}
    return tuple(LinearLayout.from_bases(bases, dim_names(rank), surjective=False).out_dims.values())


def _shape_per_block(cga: Vectors, shape: Sequence[int]) -> tuple[int, ...]:
    blocks = cga_layout(cga, shape)
    return tuple(max(1, size // blocks.out_dims[name]) for size, name in zip(shape, blocks.out_dims, strict=True))


def _with_blocks(tile: LinearLayout, cga: Vectors, shape: Sequence[int]) -> LinearLayout:
    names = dim_names(len(shape))
    return (tile.transpose_outs(names) * cga_layout(cga, shape)).transpose_outs(names)


def _repeat(tile: LinearLayout, shape: Sequence[int], names: Sequence[str]) -> LinearLayout:
    for name, size in zip(names, shape, strict=True):
        if size > tile.out_dims[name]:
            tile *= LinearLayout.identity_1d(size // tile.out_dims[name], OFFSET, name)
    return tile
