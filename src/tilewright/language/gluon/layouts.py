"""Layouts as kernels in Gluon write them: which thread holds which element of a tensor, where elements lie in shared
memory.

A layout is a value of compile time. `plain()` gives the layout of `tilewright.layouts` that it means, `encoding()` the
attribute of types; `layout_of_encoding` goes the other way. Names and fields are those of Triton's Gluon.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import field, fields
from typing import TYPE_CHECKING, Any

from tilewright.language.callables import constexpr_function
from tilewright.language.registry import wrong_layout
from tilewright.language.values import constexpr_type, is_sequence, unwrap
from tilewright.support.records import dataclass

if TYPE_CHECKING:
    from xdsl.ir import Attribute

    from tilewright.layouts import distributed, shared

Lists = list[list[int]]
LANES = 32
"""Threads of a warp."""


def _plain(value: Any) -> Any:
    """Constants and tuples of the language as Python's own, sequences as lists."""
    plain: Any = unwrap(value)
    return list(map(_plain, plain)) if is_sequence(plain) else plain


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value  # pyright: ignore[reportUnknownArgumentType]


def _check_powers(**groups: Sequence[Any]) -> None:
    for name, values in groups.items():
        if any(not isinstance(v, int) or v <= 0 or v & (v - 1) for v in values):
            raise wrong_layout(ValueError(f"{name} must be powers of two, got {list(values)}"))


def _check_ranks(**groups: Sequence[Any]) -> None:
    """ValueError unless all lists have one length."""
    if len({len(values) for values in groups.values()}) > 1:
        shown = ", ".join(f"{name} has {len(values)}" for name, values in groups.items())
        raise wrong_layout(ValueError(f"all fields of a layout must have one rank: {shown}"))


def _check_vectors(rank: int, **groups: Lists) -> None:
    for name, vectors in groups.items():
        if any(len(vector) != rank for vector in vectors):
            raise wrong_layout(ValueError(f"each basis of {name} must have {rank} coordinates, got {vectors}"))


def _check_order(order: list[int]) -> None:
    if sorted(order) != list(range(len(order))):
        raise wrong_layout(ValueError(f"order must be a permutation of the dimensions, got {order}"))


class Layout:
    """What layouts have in common: fields in plain form, equality by them, a name in symbols."""

    def __post_init__(self) -> None:
        for each in fields(self):  # pyright: ignore[reportArgumentType]
            object.__setattr__(self, each.name, _plain(getattr(self, each.name)))
        self.check()

    def check(self) -> None:
        """Raises ValueError for fields that are no layout."""

    @property
    def type(self) -> constexpr_type:
        return constexpr_type(self)

    def mangle(self) -> str:
        """Text that stands for the layout in symbols."""
        shown = "_".join(str(getattr(self, each.name)) for each in fields(self))  # pyright: ignore[reportArgumentType]
        kind = "".join(letter for letter in type(self).__name__ if letter.isupper())
        return f"{kind}{shown}".translate(str.maketrans("[], ()", "______"))

    def encoding(self) -> Attribute:
        """The attribute of types."""
        raise NotImplementedError

    def __hash__(self) -> int:
        return hash((type(self), *(_tuples(getattr(self, each.name)) for each in fields(self))))  # pyright: ignore[reportArgumentType]

    def format_tensor_view(self, shape: Sequence[int]) -> str:
        """A table over the elements of a tensor of `shape`: who holds each, or where it lies."""
        raise NotImplementedError

    def format_hardware_view(self, shape: Sequence[int]) -> str:
        """The elements of a tensor of `shape` in the order of threads and registers, or of memory."""
        raise NotImplementedError


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

        return "\n".join(map(render_text, draw_registers(self.plain().to_linear(_plain(shape)))))

    def format_hardware_view(self, shape: Sequence[int]) -> str:
        linear = self.plain().to_linear(_plain(shape))
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
        _check_ranks(size_per_thread=sizes, threads_per_warp=threads, warps_per_cta=warps, order=self.order)
        _check_powers(size_per_thread=sizes, threads_per_warp=threads, warps_per_cta=warps)
        _check_order(self.order)
        _check_vectors(len(self.order), cga_layout=self.cga_layout)

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
            _tuples(self.cga_layout),
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
        return hash((type(self), len(self.shape), *map(_tuples, groups)))

    def check(self) -> None:
        _check_vectors(
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
        return LinearDistributedLayout(*map(_tuples, groups), rank=len(self.shape))


@dataclass(frozen=True)
class NVMMADistributedLayout(DistributedLayout):
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
        _check_powers(warps_per_cta=self.warps_per_cta)
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
            major, minor, tuple(self.warps_per_cta), tuple(self.instr_shape), _tuples(self.cga_layout)
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
        if not isinstance(self.parent, BlockedLayout | NVMMADistributedLayout):
            raise wrong_layout(
                TypeError(f"the parent of a DotOperandLayout must be blocked or of mma, got {self.parent!r}")
            )
        is_mma = isinstance(self.parent, NVMMADistributedLayout)
        if is_mma != bool(self.k_width):
            raise wrong_layout(
                ValueError(f"k_width must be {'positive' if is_mma else '0'} for {self.parent}, got {self.k_width}")
            )
        if is_mma:
            _check_powers(k_width=[self.k_width])

    @property
    def rank(self) -> int:
        return self.parent.rank

    @property
    def cga_layout(self) -> Lists:
        return [list(vector) for vector in self.plain().cga]

    def plain(self) -> distributed.DistributedLayout:
        from tilewright.layouts.distributed import DotOperandLayout

        return DotOperandLayout(self.operand_index, self.parent.plain(), self.k_width)


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

        return "\n".join(map(render_text, draw_banks(self.plain(), _plain(shape), LANES)))

    def format_hardware_view(self, shape: Sequence[int]) -> str:
        offsets = self.plain().offsets(_plain(shape))
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
        _check_vectors(self.rank, cga_layout=self.cga_layout)

    def plain(self) -> shared.SharedLayout:
        from tilewright.layouts.shared import NvmmaSharedLayout

        return NvmmaSharedLayout(
            self.swizzle_byte_width,
            self.transposed,
            self.element_bitwidth,
            self.fp4_padded,
            self.rank,
            _tuples(self.cga_layout),
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
        _check_powers(vec=[self.vec], per_phase=[self.per_phase], max_phase=[self.max_phase])
        _check_order(self.order)
        _check_vectors(len(self.order), cga_layout=self.cga_layout)

    @property
    def rank(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        return len(self.order)

    def plain(self) -> shared.SharedLayout:
        from tilewright.layouts.shared import SwizzledSharedLayout

        return SwizzledSharedLayout(
            self.vec, self.per_phase, self.max_phase, tuple(self.order), _tuples(self.cga_layout)
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
        _check_powers(interval_padding_pairs=[number for pair in pairs for number in pair])
        if len({interval for interval, _ in pairs}) != len(pairs):
            raise wrong_layout(ValueError(f"the intervals must differ, got {pairs}"))
        _check_vectors(len(self.shape), offset_bases=self.offset_bases, cga_layout=self.cga_layout)

    @property
    def rank(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        return len(self.shape)

    def plain(self) -> shared.SharedLayout:
        from tilewright.layouts.shared import PaddedSharedLayout

        pads, offsets = _tuples(self.interval_padding_pairs), _tuples(self.offset_bases)
        return PaddedSharedLayout(pads, offsets, _tuples(self.cga_layout), len(self.shape))

    @staticmethod
    @constexpr_function
    def with_identity_for(
        interval_padding_pairs: Any, shape: Any, order: Any, cga_layout: Any = None
    ) -> PaddedSharedLayout:
        """Elements in plain order, the dimensions in `order` fastest first, with padding."""
        part = shape_per_cta(shape, cga_layout) if cga_layout else [int(extent) for extent in shape]
        dims = [int(dim) for dim in order]
        _check_ranks(shape=part, order=dims)
        _check_powers(shape=part)
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
        _check_vectors(len(self.offset_bases[0]), offset_bases=self.offset_bases, block_bases=self.block_bases)
        _check_powers(alignment=[self.alignment])

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

        return SharedLinearLayout(_tuples(self.offset_bases), _tuples(self.block_bases), self.rank, self.alignment)


def shape_per_cta(shape: Sequence[int], cga_layout: Lists) -> list[int]:
    """The part of a tensor that one CTA of a cluster holds. Raises ValueError where the CTAs do not divide it."""
    splits = [2 * max(column) or 1 for column in zip(*cga_layout, strict=True)] or [1] * len(shape)
    if any(extent % split for extent, split in zip(shape, splits, strict=True)):
        raise wrong_layout(ValueError(f"a shape of {list(shape)} cannot be divided among CTAs by {cga_layout}"))
    return [extent // split for extent, split in zip(shape, splits, strict=True)]


# -- back from attributes ---------------------------------------------------------------------------------------------
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


__all__ = [
    "AutoLayout",
    "BlockedLayout",
    "CoalescedLayout",
    "DistributedLayout",
    "DistributedLinearLayout",
    "DotOperandLayout",
    "NVMMADistributedLayout",
    "NVMMASharedLayout",
    "PaddedSharedLayout",
    "SharedLayout",
    "SharedLinearLayout",
    "SliceLayout",
    "SwizzledSharedLayout",
]
