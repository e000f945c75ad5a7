"""Layouts of Gluon back from the attributes of types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tilewright.language.registry import wrong_layout

if TYPE_CHECKING:
    from xdsl.ir import Attribute

    from tilewright.layouts import distributed

from tilewright.language.gluon.distributed_layouts import (
    AutoLayout,
    BlockedLayout,
    CoalescedLayout,
    DistributedLayout,
    DistributedLinearLayout,
    DotOperandLayout,
    NVMMADistributedLayout,
    SliceLayout,
)
from tilewright.language.gluon.shared_layouts import (
    NVMMASharedLayout,
    PaddedSharedLayout,
    SharedLayout,
    SharedLinearLayout,
    SwizzledSharedLayout,
)


def _lists(value: Any) -> Any:
    return list(map(_lists, value)) if isinstance(value, tuple) else value  # pyright: ignore[reportUnknownArgumentType]


def layout_of_encoding(encoding: Attribute, shape: Sequence[int]) -> DistributedLayout:
    """The layout that an attribute of a tensor type of `shape` means."""
    from tilewright.dialects import gluon, ttg

    if encoding == gluon.AUTO:
        return AutoLayout()
    if encoding == gluon.COALESCED:
        return CoalescedLayout()
    return _distributed(ttg.layout_of(encoding), shape)


def _distributed(layout: distributed.DistributedLayout, shape: Sequence[int]) -> DistributedLayout:
    from tilewright.layouts import distributed as plain

    match layout:
        case plain.BlockedLayout():
            return BlockedLayout(
                _lists(layout.size_per_thread),
                _lists(layout.threads_per_warp),
                _lists(layout.warps_per_cta),
                _lists(layout.order),
                _lists(layout.cga),
            )
        case plain.SliceLayout():
            larger = [*shape[: layout.dim], 1, *shape[layout.dim :]]
            return SliceLayout(layout.dim, _distributed(layout.parent, larger))
        case plain.NvidiaMmaLayout():
            return NVMMADistributedLayout(
                [layout.version_major, layout.version_minor],
                _lists(layout.warps_per_cta),
                _lists(layout.instr_shape),
                _lists(layout.cga),
            )
        case plain.DotOperandLayout():
            return DotOperandLayout(layout.op_index, _distributed(layout.parent, shape), layout.k_width)
        case plain.LinearDistributedLayout():
            return DistributedLinearLayout(
                _lists(layout.register), _lists(layout.lane), _lists(layout.warp), _lists(layout.block), list(shape)
            )
        case _:
            raise wrong_layout(ValueError(f"{layout} is not a layout that kernels can name"))


def shared_layout_of_encoding(encoding: Attribute, shape: Sequence[int]) -> SharedLayout:
    """The layout that an attribute of a buffer type of `shape` means."""
    from tilewright.dialects import ttg
    from tilewright.layouts import shared as plain

    layout = ttg.shared_layout_of(encoding)
    match layout:
        case plain.NvmmaSharedLayout():
            return NVMMASharedLayout(
                layout.swizzle_bytes,
                layout.element_bits,
                layout.rank,
                layout.transposed,
                layout.fp4_padded,
                _lists(layout.cga),
            )
        case plain.SwizzledSharedLayout():
            order, cga = _lists(layout.order), _lists(layout.cga)
            return SwizzledSharedLayout(layout.vec, layout.per_phase, layout.max_phase, order, cga)
        case plain.PaddedSharedLayout():
            return PaddedSharedLayout(_lists(layout.pads), _lists(layout.offset), _lists(layout.block), list(shape))
        case plain.SharedLinearLayout():
            return SharedLinearLayout(_lists(layout.offset), _lists(layout.block), layout.bytes_alignment)
        case _:
            raise wrong_layout(ValueError(f"{layout} is not a layout that kernels can name"))


__all__ = ["layout_of_encoding", "shared_layout_of_encoding"]
