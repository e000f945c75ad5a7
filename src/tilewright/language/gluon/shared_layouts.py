"""Layouts of shared memory as kernels in Gluon write them: where the elements of a buffer lie."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

from tilewright.language.callables import constexpr_function
from tilewright.language.gluon.layout_base import (
    LANES,
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

    from tilewright.layouts import shared


class SharedLayout(Layout):
    """A layout of a buffer in shared memory."""

    rank: int

    def plain(self) -> shared.SharedLayout:
        """The layout as mathematics."""
        raise NotImplementedError

    def encoding(self) -> Attribute:
        from tilewright.dialects import ttg

        return ttg.shared_encoding_of(self.plain())

    def format_tensor_view(self, shape: Sequence[int]) -> str:
        from tilewright.layouts.draw import draw_banks, render_text

        return "\n".join(map(render_text, draw_banks(self.plain(), plain_value(shape), LANES)))

    def format_hardware_view(self, shape: Sequence[int]) -> str:
        offsets = self.plain().offsets(plain_value(shape))
        placed = sorted((int(offset), place) for place, offset in _places(offsets))
        return "\n".join(f"{offset:6}: {place}" for offset, place in placed)


def _places(offsets: Any) -> Any:
    import numpy as np

    return np.ndenumerate(offsets)


@dataclass(frozen=True)
class NVMMASharedLayout(SharedLayout):
    """What TMA writes and `wgmma` reads: rows swizzled over `swizzle_byte_width` bytes (0, 32, 64 or 128)."""

    swizzle_byte_width: int
    element_bitwidth: int
    rank: int = 2
    transposed: bool = False
    fp4_padded: bool = False
    cga_layout: Lists = field(default_factory=list[list[int]])

    __hash__ = Layout.__hash__

    def check(self) -> None:
        object.__setattr__(self, "cga_layout", self.cga_layout or [])
        if self.element_bitwidth not in (8, 16, 32, 64):
            raise wrong_layout(ValueError(f"element_bitwidth must be 8, 16, 32 or 64, got {self.element_bitwidth}"))
        if self.swizzle_byte_width not in (0, 32, 64, 128):
            raise wrong_layout(
                ValueError(f"swizzle_byte_width must be 0, 32, 64 or 128, got {self.swizzle_byte_width}")
            )
        if self.fp4_padded and (self.swizzle_byte_width, self.element_bitwidth) != (128, 8):
            raise wrong_layout(ValueError("fp4_padded needs swizzle_byte_width=128 and element_bitwidth=8"))
        check_vectors(self.rank, cga_layout=self.cga_layout)

    def plain(self) -> shared.SharedLayout:
        from tilewright.layouts.shared import NvmmaSharedLayout

        return NvmmaSharedLayout(
            self.swizzle_byte_width,
            self.transposed,
            self.element_bitwidth,
            self.fp4_padded,
            self.rank,
            as_tuples(self.cga_layout),
        )

    @staticmethod
    @constexpr_function
    def get_default_for(
        block_shape: Any, dtype: Any, transposed: bool = False, fp4_padded: bool = False, cga_layout: Any = None
    ) -> NVMMASharedLayout:
        """The layout of a block with the widest swizzle that its rows allow."""
        part = list(block_shape) if not cga_layout else shape_per_cta(block_shape, cga_layout)
        ordered = [*part[1:], *part[:1]] if transposed else part
        row_bytes = ordered[-1] * (2 if fp4_padded else 1) * dtype.primitive_bitwidth // 8
        has_rows = len(part) > 1 and math.prod(ordered[:-1]) >= 8
        width = next((w for w in (128, 64, 32) if has_rows and row_bytes >= w and row_bytes % w == 0), 0)
        return NVMMASharedLayout(
            width, dtype.primitive_bitwidth, len(part), transposed, fp4_padded, cga_layout=cga_layout or []
        )


@dataclass(frozen=True)
class SwizzledSharedLayout(SharedLayout):
    """Rows whose groups of `vec` elements are permuted: by another pattern every `per_phase` rows, of `max_phase`."""

    vec: int
    per_phase: int
    max_phase: int
    order: list[int]
    cga_layout: Lists = field(default_factory=list[list[int]])

    __hash__ = Layout.__hash__

    def check(self) -> None:
        check_powers(vec=[self.vec], per_phase=[self.per_phase], max_phase=[self.max_phase])
        check_order(self.order)
        check_vectors(len(self.order), cga_layout=self.cga_layout)

    @property
    def rank(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        return len(self.order)

    def plain(self) -> shared.SharedLayout:
        from tilewright.layouts.shared import SwizzledSharedLayout

        return SwizzledSharedLayout(
            self.vec, self.per_phase, self.max_phase, tuple(self.order), as_tuples(self.cga_layout)
        )


@dataclass(frozen=True)
class PaddedSharedLayout(SharedLayout):
    """Elements at the offsets that `offset_bases` give, with `padding` elements left free after every `interval`, for
    each pair `[interval, padding]`."""

    interval_padding_pairs: Lists
    offset_bases: Lists
    cga_layout: Lists
    shape: list[int]

    __hash__ = Layout.__hash__

    def check(self) -> None:
        pairs = self.interval_padding_pairs
        if not pairs or any(len(pair) != 2 for pair in pairs):
            raise wrong_layout(
                ValueError(f"interval_padding_pairs must be pairs of an interval and a padding, got {pairs}")
            )
        check_powers(interval_padding_pairs=[number for pair in pairs for number in pair])
        if len({interval for interval, _ in pairs}) != len(pairs):
            raise wrong_layout(ValueError(f"the intervals must differ, got {pairs}"))
        check_vectors(len(self.shape), offset_bases=self.offset_bases, cga_layout=self.cga_layout)

    @property
    def rank(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        return len(self.shape)

    def plain(self) -> shared.SharedLayout:
        from tilewright.layouts.shared import PaddedSharedLayout

        pads, offsets = as_tuples(self.interval_padding_pairs), as_tuples(self.offset_bases)
        return PaddedSharedLayout(pads, offsets, as_tuples(self.cga_layout), len(self.shape))

    @staticmethod
    @constexpr_function
    def with_identity_for(
        interval_padding_pairs: Any, shape: Any, order: Any, cga_layout: Any = None
    ) -> PaddedSharedLayout:
        """Elements in plain order, the dimensions in `order` fastest first, with padding."""
        part = shape_per_cta(shape, cga_layout) if cga_layout else [int(extent) for extent in shape]
        dims = [int(dim) for dim in order]
        check_ranks(shape=part, order=dims)
        check_powers(shape=part)
        bases = [
            [1 << bit if other == dim else 0 for other in range(len(part))]
            for dim in dims
            for bit in range(part[dim].bit_length() - 1)
        ]
        return PaddedSharedLayout(interval_padding_pairs, bases, cga_layout or [], list(shape))


@dataclass(frozen=True)
class SharedLinearLayout(SharedLayout):
    """Elements at the offsets that the bases give, one per power of two."""

    offset_bases: Lists
    block_bases: Lists = field(default_factory=list[list[int]])
    alignment: int = 16

    __hash__ = Layout.__hash__

    def check(self) -> None:
        if not self.offset_bases or not self.offset_bases[0]:
            raise wrong_layout(ValueError("offset_bases must not be empty"))
        check_vectors(len(self.offset_bases[0]), offset_bases=self.offset_bases, block_bases=self.block_bases)
        check_powers(alignment=[self.alignment])

    @property
    def rank(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        return len(self.offset_bases[0])

    @property
    def shape(self) -> list[int]:
        """The extents that the bases reach."""
        reach = [max(column) for column in zip(*self.offset_bases, *self.block_bases, strict=True)]
        return [1 << largest.bit_length() for largest in reach]

    def plain(self) -> shared.SharedLayout:
        from tilewright.layouts.shared import SharedLinearLayout

        return SharedLinearLayout(as_tuples(self.offset_bases), as_tuples(self.block_bases), self.rank, self.alignment)


def shape_per_cta(shape: Sequence[int], cga_layout: Lists) -> list[int]:
    """The part of a tensor that one CTA of a cluster holds. Raises ValueError where the CTAs do not divide it."""
    splits = [2 * max(column) or 1 for column in zip(*cga_layout, strict=True)] or [1] * len(shape)
    if any(extent % split for extent, split in zip(shape, splits, strict=True)):
        raise wrong_layout(ValueError(f"a shape of {list(shape)} cannot be divided among CTAs by {cga_layout}"))
    return [extent // split for extent, split in zip(shape, splits, strict=True)]
