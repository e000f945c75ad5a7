"""Layouts of registers as kernels in Gluon write them: which thread holds which element of a tensor.

`plain()` gives the layout of `tilewright.layouts` that one means, `encoding()` the attribute of types. Names and fields
are those of Triton's Gluon.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

from tilewright.language.gluon.layout_base import (
    Layout,
    Lists,
    as_tuples,
    check_order,
    check_powers,
    check_ranks,
    check_vectors,
    plain_value,
)
from tilewright.language.registry import wrong_layout
from tilewright.support.records import dataclass

if TYPE_CHECKING:
    from xdsl.ir import Attribute

    from tilewright.layouts import distributed


class DistributedLayout(Layout):
    """A layout of a tensor over the registers of threads."""

    @property
    def rank(self) -> int:
        raise NotImplementedError

    def plain(self) -> distributed.DistributedLayout:
        """The layout as mathematics."""
        raise NotImplementedError

    def encoding(self) -> Attribute:
        from tilewright.dialects import ttg

        return ttg.encoding_of(self.plain())

    def format_tensor_view(self, shape: Sequence[int]) -> str:
        from tilewright.layouts.draw import draw_registers, render_text

        return "\n".join(map(render_text, draw_registers(self.plain().to_linear(plain_value(shape)))))

    def format_hardware_view(self, shape: Sequence[int]) -> str:
        linear = self.plain().to_linear(plain_value(shape))
        registers, lanes = linear.in_dims["register"], linear.in_dims["lane"]
        lines: list[str] = []
        for warp in range(linear.in_dims["warp"]):
            lines.append(f"warp {warp}")
            for lane in range(lanes):
                held = [
                    linear.apply({"register": register, "lane": lane, "warp": warp, "block": 0})
                    for register in range(registers)
                ]
                lines.append(f"  lane {lane:2}: " + " ".join(str(tuple(place.values())) for place in held))
        return "\n".join(lines)


class MatrixUnitLayout(DistributedLayout):
    """A layout of results of matrix units, of any GPU."""


class InferredLayout(DistributedLayout):
    """A layout that the compiler finds."""

    @property
    def rank(self) -> int:
        raise wrong_layout(ValueError(f"{type(self).__name__} has no rank"))

    def plain(self) -> distributed.DistributedLayout:
        raise wrong_layout(ValueError(f"{type(self).__name__} is not known yet"))

    def format_tensor_view(self, shape: Sequence[int]) -> str:
        raise wrong_layout(ValueError(f"{type(self).__name__} cannot be visualized"))

    format_hardware_view = format_tensor_view


@dataclass(frozen=True)
class AutoLayout(InferredLayout):
    """A layout that follows from what the tensor is used with."""

    __hash__ = Layout.__hash__

    def encoding(self) -> Attribute:
        from tilewright.dialects import gluon

        return gluon.AUTO


@dataclass(frozen=True)
class CoalescedLayout(InferredLayout):
    """The layout in which neighbouring threads access neighbouring memory."""

    __hash__ = Layout.__hash__

    def encoding(self) -> Attribute:
        from tilewright.dialects import gluon

        return gluon.COALESCED


@dataclass(frozen=True)
class BlockedLayout(DistributedLayout):
    """Blocks of `size_per_thread` elements per thread, dealt to the threads of a warp, then to warps; `order` lists
    dimensions fastest first."""

    size_per_thread: list[int]
    threads_per_warp: list[int]
    warps_per_cta: list[int]
    order: list[int]
    cga_layout: Lists = field(default_factory=list[list[int]])

    __hash__ = Layout.__hash__

    def check(self) -> None:
        sizes, threads, warps = self.size_per_thread, self.threads_per_warp, self.warps_per_cta
        check_ranks(size_per_thread=sizes, threads_per_warp=threads, warps_per_cta=warps, order=self.order)
        check_powers(size_per_thread=sizes, threads_per_warp=threads, warps_per_cta=warps)
        check_order(self.order)
        check_vectors(len(self.order), cga_layout=self.cga_layout)

    @property
    def rank(self) -> int:
        return len(self.order)

    def plain(self) -> distributed.DistributedLayout:
        from tilewright.layouts.distributed import BlockedLayout

        return BlockedLayout(
            tuple(self.size_per_thread),
            tuple(self.threads_per_warp),
            tuple(self.warps_per_cta),
            tuple(self.order),
            as_tuples(self.cga_layout),
        )


@dataclass(frozen=True)
class SliceLayout(DistributedLayout):
    """A layout without one dimension: what `sum(axis=dim)` gives, and what `expand_dims` takes."""

    dim: int
    parent: DistributedLayout

    __hash__ = Layout.__hash__

    def check(self) -> None:
        parent: Any = self.parent
        if not isinstance(parent, DistributedLayout):
            raise wrong_layout(TypeError(f"the parent of a SliceLayout must be a distributed layout, got {parent!r}"))
        if not isinstance(self.parent, InferredLayout) and not 0 <= self.dim < self.parent.rank:
            raise wrong_layout(ValueError(f"dim {self.dim} is out of range for a parent of rank {self.parent.rank}"))

    @property
    def rank(self) -> int:
        return self.parent.rank - 1

    @property
    def cga_layout(self) -> Lists:
        return [list(vector) for vector in self.plain().cga]

    def plain(self) -> distributed.DistributedLayout:
        from tilewright.layouts.distributed import SliceLayout

        return SliceLayout(self.dim, self.parent.plain())


@dataclass(frozen=True)
class DistributedLinearLayout(DistributedLayout):
    """A layout given by its bases: where the element of each power-of-two register, lane, warp and CTA lies.

    Two with equal bases are equal: `shape` says for which tensors one was made, and a slice of it, broadcast along
    what was sliced, is in the same layout as the whole.
    """

    reg_bases: Lists
    lane_bases: Lists
    warp_bases: Lists
    block_bases: Lists
    shape: list[int] = field(compare=False)

    def __hash__(self) -> int:
        groups = (self.reg_bases, self.lane_bases, self.warp_bases, self.block_bases)
        return hash((type(self), len(self.shape), *map(as_tuples, groups)))

    def check(self) -> None:
        check_vectors(
            len(self.shape),
            reg_bases=self.reg_bases,
            lane_bases=self.lane_bases,
            warp_bases=self.warp_bases,
            block_bases=self.block_bases,
        )
        if not self.plain().tile().is_surjective:
            raise wrong_layout(ValueError(f"the bases of {self} do not reach every element"))

    @property
    def rank(self) -> int:
        return len(self.shape)

    def plain(self) -> distributed.LinearDistributedLayout:
        from tilewright.layouts.distributed import LinearDistributedLayout

        groups = (self.reg_bases, self.lane_bases, self.warp_bases, self.block_bases)
        return LinearDistributedLayout(*map(as_tuples, groups), rank=len(self.shape))


@dataclass(frozen=True)
class NVMMADistributedLayout(MatrixUnitLayout):
    """The result of NVIDIA's matrix instructions: `version` [2, 0] is `mma.sync`, [3, 0] is `wgmma`."""

    version: list[int]
    warps_per_cta: list[int]
    instr_shape: list[int]
    cga_layout: Lists = field(default_factory=list[list[int]])

    __hash__ = Layout.__hash__

    def check(self) -> None:
        if self.version[0] not in (2, 3):
            raise wrong_layout(
                ValueError(f"the version must be [2, 0] (mma.sync) or [3, 0] (wgmma), got {self.version}")
            )
        check_powers(warps_per_cta=self.warps_per_cta)
        wanted = 3 if self.version[0] == 3 else len(self.warps_per_cta)
        if len(self.instr_shape) != wanted:
            raise wrong_layout(
                ValueError(f"version {self.version} needs an instr_shape of {wanted} extents, got {self.instr_shape}")
            )
        if self.version[0] == 3 and math.prod(self.warps_per_cta) % 4:
            raise wrong_layout(ValueError(f"wgmma needs a multiple of 4 warps, got {self.warps_per_cta}"))

    @property
    def rank(self) -> int:
        return len(self.warps_per_cta)

    def plain(self) -> distributed.DistributedLayout:
        from tilewright.layouts.distributed import NvidiaMmaLayout

        major, minor = self.version
        return NvidiaMmaLayout(
            major, minor, tuple(self.warps_per_cta), tuple(self.instr_shape), as_tuples(self.cga_layout)
        )


@dataclass(frozen=True)
class DotOperandLayout(DistributedLayout):
    """An operand (0 is the left one) of a product whose result has the layout `parent`; `k_width` neighbours along the
    summed dimension are in one thread."""

    operand_index: int
    parent: DistributedLayout
    k_width: int

    __hash__ = Layout.__hash__

    def check(self) -> None:
        if self.operand_index not in (0, 1):
            raise wrong_layout(ValueError(f"operand_index must be 0 or 1, got {self.operand_index}"))
        if not isinstance(self.parent, BlockedLayout | MatrixUnitLayout):
            raise wrong_layout(
                TypeError(f"the parent of a DotOperandLayout must be blocked or of mma, got {self.parent!r}")
            )
        is_mma = isinstance(self.parent, MatrixUnitLayout)
        if is_mma != bool(self.k_width):
            raise wrong_layout(
                ValueError(f"k_width must be {'positive' if is_mma else '0'} for {self.parent}, got {self.k_width}")
            )
        if is_mma:
            check_powers(k_width=[self.k_width])

    @property
    def rank(self) -> int:
        return self.parent.rank

    @property
    def cga_layout(self) -> Lists:
        return [list(vector) for vector in self.plain().cga]

    def plain(self) -> distributed.DistributedLayout:
        from tilewright.layouts.distributed import DotOperandLayout

        return DotOperandLayout(self.operand_index, self.parent.plain(), self.k_width)
