"""Layouts of tensors in registers, and the linear map of each for a shape.

The map goes from `register`, `lane`, `warp`, `block` to `dim0`, `dim1`, ... A layout whose tile is smaller than the
tensor repeats in registers; one that is larger holds elements several times: its bases that reach outside the tensor
become zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import ClassVar

from tilewright.layouts.linear import LinearLayout, identity_nd
from tilewright.support.records import dataclass

REGISTER, LANE, WARP, BLOCK = "register", "lane", "warp", "block"
IN_DIMS = (REGISTER, LANE, WARP, BLOCK)

Vectors = tuple[tuple[int, ...], ...]
"""Basis vectors, one coordinate per tensor dimension."""


def dim_names(rank: int) -> tuple[str, ...]:
    """`dim0`, `dim1`, ..."""
    return tuple(f"dim{index}" for index in range(rank))


class DistributedLayout:
    """A layout of tensor elements over the registers of the threads of a CTA, and over CTAs."""

    rank: int
    cga: Vectors

    def to_linear(self, shape: Sequence[int]) -> LinearLayout:
        """The linear map for a tensor of `shape`; ValueError where the ranks differ or a size is not a power of two."""
        if len(shape) != self.rank:
            raise ValueError(f"layout of rank {self.rank} on a tensor of rank {len(shape)}")
        return _to_linear(self, tuple(shape))

    def _build(self, shape: tuple[int, ...]) -> LinearLayout:
        raise NotImplementedError

    @property
    def num_lanes(self) -> int:
        """Threads of a warp."""
        raise NotImplementedError

    @property
    def num_warps(self) -> int:
        """Warps of a CTA."""
        raise NotImplementedError

    @property
    def num_blocks(self) -> int:
        """CTAs that share the tensor."""
        return 1 << len(self.cga)


@lru_cache(maxsize=4096)
def _to_linear(layout: DistributedLayout, shape: tuple[int, ...]) -> LinearLayout:
    return layout._build(shape)  # pyright: ignore[reportPrivateUsage]


@dataclass(frozen=True)
class BlockedLayout(DistributedLayout):
    """Contiguous blocks of elements per thread, threads per warp, warps per CTA; `order` lists dimensions fastest
    first.
    """

    size_per_thread: tuple[int, ...]
    threads_per_warp: tuple[int, ...]
    warps_per_cta: tuple[int, ...]
    order: tuple[int, ...]
    cga: Vectors = ()

    @property
    def rank(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        return len(self.order)

    @property
    def num_lanes(self) -> int:
        return prod(self.threads_per_warp)

    @property
    def num_warps(self) -> int:
        return prod(self.warps_per_cta)

    def _build(self, shape: tuple[int, ...]) -> LinearLayout:
        outs = dim_names(self.rank)
        tile = (
            identity_nd(REGISTER, self.size_per_thread, self.order, outs)
            * identity_nd(LANE, self.threads_per_warp, self.order, outs)
            * identity_nd(WARP, self.warps_per_cta, self.order, outs)
        )
        return cover(tile, self.cga, shape)

    @staticmethod
    def make(
        shape: Sequence[int],
        size_per_thread: Sequence[int],
        order: Sequence[int],
        num_warps: int,
        num_lanes: int = 32,
        num_blocks: int = 1,
    ) -> BlockedLayout:
        """Threads, then warps, dealt along `order` as far as the shape goes; the slowest dimension takes what is
        left. CTAs are dealt the other way round, slowest dimension first, and those left over hold copies.
        """
        rank = len(order)
        splits, cga = _deal_blocks(shape, size_per_thread, order, num_blocks)
        lanes, warps = num_lanes, num_warps
        threads = num_lanes * num_warps
        threads_per_warp, warps_per_cta = [1] * rank, [1] * rank
        for dim in order[:-1]:
            wanted = min(max(threads, 1), max(1, shape[dim] // splits[dim] // size_per_thread[dim]))
            threads_per_warp[dim] = min(max(wanted, 1), lanes)
            warps_per_cta[dim] = min(max(wanted // threads_per_warp[dim], 1), warps)
            lanes //= threads_per_warp[dim]
            warps //= warps_per_cta[dim]
            threads //= wanted
        threads_per_warp[order[-1]], warps_per_cta[order[-1]] = lanes, warps
        return BlockedLayout(tuple(size_per_thread), tuple(threads_per_warp), tuple(warps_per_cta), tuple(order), cga)

    @staticmethod
    def default(shape: Sequence[int], num_warps: int, num_lanes: int = 32, num_blocks: int = 1) -> BlockedLayout:
        """The layout that a tensor gets when nothing is known: one element per thread, row-major."""
        rank = len(shape)
        return BlockedLayout.make(shape, [1] * rank, list(reversed(range(rank))), num_warps, num_lanes, num_blocks)


def _deal_blocks(
    shape: Sequence[int], size_per_thread: Sequence[int], order: Sequence[int], num_blocks: int
) -> tuple[list[int], Vectors]:
    """Into how many parts CTAs split each dimension, and the bases of the CTAs."""
    splits, left = [1] * len(order), num_blocks
    for dim in reversed(order):
        splits[dim] = min(left, max(1, shape[dim] // size_per_thread[dim]))
        left //= splits[dim]
    bases = [
        tuple((1 << bit) if other == dim else 0 for other in range(len(order)))
        for dim in order
        for bit in range(splits[dim].bit_length() - 1)
    ]
    return splits, (*bases, *[(0,) * len(order)] * (left.bit_length() - 1))


class _OfParent(DistributedLayout):
    """A layout of the same threads as another."""

    parent: DistributedLayout

    @property
    def num_lanes(self) -> int:
        return self.parent.num_lanes

    @property
    def num_warps(self) -> int:
        return self.parent.num_warps


@dataclass(frozen=True)
class SliceLayout(_OfParent):
    """A parent layout without one dimension: what a reduction along `dim` gives."""

    dim: int
    parent: DistributedLayout

    @property
    def rank(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.parent.rank - 1

    @property
    def cga(self) -> Vectors:  # pyright: ignore[reportIncompatibleVariableOverride]
        return tuple(vector[: self.dim] + vector[self.dim + 1 :] for vector in self.parent.cga)

    def _build(self, shape: tuple[int, ...]) -> LinearLayout:
        parent = self.parent.to_linear((*shape[: self.dim], 1, *shape[self.dim :]))
        kept = [name for index, name in enumerate(dim_names(self.rank + 1)) if index != self.dim]
        part = parent.sublayout(IN_DIMS, kept).rename_outs(dict(zip(kept, dim_names(self.rank), strict=True)))
        return part.remove_zero_bases_along(REGISTER)


@dataclass(frozen=True)
class LinearDistributedLayout(DistributedLayout):
    """A layout given by its bases."""

    register: Vectors
    lane: Vectors
    warp: Vectors
    block: Vectors
    rank: int

    @property
    def cga(self) -> Vectors:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.block

    @property
    def num_lanes(self) -> int:
        return 1 << len(self.lane)

    @property
    def num_warps(self) -> int:
        return 1 << len(self.warp)

    @staticmethod
    def of(layout: LinearLayout) -> LinearDistributedLayout:
        """From a linear map of registers, lanes, warps, blocks to `dim0`, `dim1`, ..."""
        rank = len(layout.out_dims)
        ordered = layout.transpose_outs(dim_names(rank))
        bases = {name: ordered.bases_of(name) if name in ordered.in_dims else () for name in IN_DIMS}
        return LinearDistributedLayout(bases[REGISTER], bases[LANE], bases[WARP], bases[BLOCK], rank)

    def tile(self) -> LinearLayout:
        """The map as given, on the smallest shape that holds it."""
        bases = {REGISTER: self.register, LANE: self.lane, WARP: self.warp, BLOCK: self.block}
        return LinearLayout.from_bases(bases, dim_names(self.rank), surjective=False)

    def _build(self, shape: tuple[int, ...]) -> LinearLayout:
        return fit(self.tile(), shape)


@dataclass(frozen=True)
class NvidiaMmaLayout(DistributedLayout):
    """The accumulator of NVIDIA's matrix instructions.

    Version 2 (`mma.sync`, instr_shape [16, 8]) deals warps row-major; version 3 (`wgmma`, instr_shape [16, N, K])
    column-major, and one instruction spans N columns. In both, thread t of a warp holds in value r row `t/4 + 8*(r>>1
    & 1)`, column `2*(t%4) + (r&1)` of each 8 columns.
    """

    version_major: int
    version_minor: int
    warps_per_cta: tuple[int, ...]
    instr_shape: tuple[int, ...]
    cga: Vectors = ()

    @property
    def rank(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        return len(self.warps_per_cta)

    @property
    def num_lanes(self) -> int:
        return 32

    @property
    def num_warps(self) -> int:
        return prod(self.warps_per_cta)

    @property
    def is_hopper(self) -> bool:
        """True if warps work in groups of four (`wgmma`)."""
        return self.version_major == 3

    @property
    def n_per_instruction(self) -> int:
        """Columns that one instruction makes."""
        return self.instr_shape[1 if self.is_hopper else -1]

    @property
    def warp_order(self) -> tuple[int, ...]:
        """Dimensions in the order in which warps are dealt, fastest first."""
        rank = self.rank
        return (rank - 2, rank - 1, *range(rank - 2)) if self.is_hopper else (rank - 1, rank - 2, *range(rank - 2))

    def _build(self, shape: tuple[int, ...]) -> LinearLayout:
        outs = dim_names(self.rank)
        m, n = outs[-2:]
        instruction = (
            LinearLayout.identity_1d(2, REGISTER, n)
            * LinearLayout.identity_1d(4, LANE, n)
            * LinearLayout.identity_1d(8, LANE, m)
            * LinearLayout.identity_1d(2, REGISTER, m)
            * LinearLayout.identity_1d(max(self.n_per_instruction // 8, 1), REGISTER, n)
        )
        repeat_order = (n, m, *outs[:-2])
        tile = _with_all_outs(instruction, repeat_order) * identity_nd(WARP, self.warps_per_cta, self.warp_order, outs)
        return cover(tile.transpose_outs(repeat_order), self.cga, shape)


@dataclass(frozen=True)
class DotOperandLayout(_OfParent):
    """An operand of a matmul (`op_index` 0 is A, 1 is B) whose result has the layout `parent`.

    `k_width` elements along K are contiguous in a thread (0 for a blocked parent, where each thread holds the whole
    of K).
    """

    op_index: int
    parent: DistributedLayout
    k_width: int = 0

    A: ClassVar[int] = 0
    B: ClassVar[int] = 1

    @property
    def rank(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.parent.rank

    @property
    def cga(self) -> Vectors:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The parent's, with CTAs that differ only along K holding the same elements."""
        k = self.k_dim
        return tuple((*vector[:k], 0, *vector[k + 1 :]) for vector in self.parent.cga)

    @property
    def k_dim(self) -> int:
        """The dimension that the product sums over."""
        return self.rank - 1 if self.op_index == self.A else self.rank - 2

    def _build(self, shape: tuple[int, ...]) -> LinearLayout:
        match self.parent:
            case BlockedLayout():
                return self._build_fma(self.parent, shape)
            case NvidiaMmaLayout():
                return self._build_mma(self.parent, shape)
            case _:
                raise ValueError(f"a dot operand needs a blocked or mma parent, got {self.parent}")

    def _build_fma(self, parent: BlockedLayout, shape: tuple[int, ...]) -> LinearLayout:
        outs = dim_names(self.rank)
        registers = list(parent.size_per_thread)
        registers[self.k_dim] = shape[self.k_dim]
        tile = (
            identity_nd(REGISTER, registers, parent.order, outs)
            * self._without_k(LANE, parent.threads_per_warp, parent.order)
            * self._without_k(WARP, parent.warps_per_cta, parent.order)
        )
        return cover(tile, self.cga, shape)

    def _build_mma(self, parent: NvidiaMmaLayout, shape: tuple[int, ...]) -> LinearLayout:
        outs = dim_names(self.rank)
        k, other = outs[self.k_dim], outs[-2 if self.op_index == self.A else -1]
        tile = LinearLayout.identity_1d(self.k_width, REGISTER, k) * LinearLayout.identity_1d(4, LANE, k)
        tile *= LinearLayout.identity_1d(8, LANE, other)
        if self.op_index == self.A:
            tile *= LinearLayout.identity_1d(2, REGISTER, other)
        tile *= LinearLayout.identity_1d(2, REGISTER, k)
        repeat_order = (k, other, *outs[:-2])
        tile = _with_all_outs(tile, repeat_order) * self._without_k(WARP, parent.warps_per_cta, parent.warp_order)
        return cover(tile.transpose_outs(repeat_order), self.cga, shape)

    def _without_k(self, in_dim: str, sizes: Sequence[int], order: Sequence[int]) -> LinearLayout:
        """Sizes dealt in `order`, where those along K hold the same elements."""
        outs = dim_names(self.rank)
        layout = LinearLayout.empty()
        for dim in order:
            make = LinearLayout.zeros_1d if dim == self.k_dim else LinearLayout.identity_1d
            layout *= make(sizes[dim], in_dim, outs[dim])
        return layout


def cover(tile: LinearLayout, cga: Vectors, shape: Sequence[int]) -> LinearLayout:
    """The layout of one CTA repeated or cut to its part of `shape`, and tiled over CTAs."""
    names = dim_names(len(shape))
    blocks = cga_layout(cga, shape)
    part = tuple(max(1, size // blocks.out_dims[name]) for size, name in zip(shape, names, strict=True))
    return (fit(tile, part, keep_order=True) * blocks).transpose_outs(names)


def cga_bases(cga: Vectors, rank: int) -> LinearLayout:
    """Return how CTAs lie beside each other, whatever the tensor."""
    return LinearLayout.from_bases({BLOCK: cga}, dim_names(rank), surjective=False)


def cga_layout(cga: Vectors, shape: Sequence[int]) -> LinearLayout:
    """Return how CTAs tile a tensor of `shape`."""
    return cut(cga_bases(cga, len(shape)), shape)


def fit(layout: LinearLayout, shape: Sequence[int], *, keep_order: bool = False) -> LinearLayout:
    """A layout repeated in its first in-dim (registers, offsets) where `shape` is larger, and cut where it is smaller.

    Repeats go along out-dims in the layout's order, first out-dim first. The result has the out-dims in the tensor's
    order.
    """
    names = dim_names(len(shape))
    first = next(iter(layout.in_dims))
    for name in tuple(layout.out_dims):
        repeats = shape[names.index(name)] // layout.out_dims[name]
        if repeats > 1:
            layout *= LinearLayout.identity_1d(repeats, first, name)
    layout = cut(layout, shape)
    return layout if keep_order else layout.transpose_outs(names)


def cut(layout: LinearLayout, shape: Sequence[int]) -> LinearLayout:
    """Coordinates modulo `shape` where the layout reaches further, so that such bases become zero."""
    for name, size in zip(dim_names(len(shape)), shape, strict=True):
        if layout.out_dims[name] > size:
            layout = layout.resize_out_dim(name, size)
    return layout


def _with_all_outs(layout: LinearLayout, order: Sequence[str]) -> LinearLayout:
    for name in order:
        if name not in layout.out_dims:
            layout = layout.unsqueeze_out(name)
    return layout.transpose_outs(order)
