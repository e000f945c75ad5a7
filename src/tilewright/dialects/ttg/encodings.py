"""Encodings of tensors: how elements are distributed over registers, lanes, warps and CTAs.

An encoding is a thin attribute around a layout of `tilewright.layouts.distributed`; the text is Triton's.
`encoding_of(layout)` gives the attribute of a layout, made once.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from math import prod
from typing import ClassVar, Generic, TypeVar

from xdsl.ir import Attribute, Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.tt.inference import LayoutInference
from tilewright.dialects.ttg import fields
from tilewright.dialects.ttg.fields import FieldValue
from tilewright.ir.older_spellings import note_older_spelling
from tilewright.layouts import reshaping
from tilewright.layouts.distributed import (
    BlockedLayout,
    DistributedLayout,
    DotOperandLayout,
    LinearDistributedLayout,
    NvidiaMmaLayout,
    SliceLayout,
    Vectors,
    cga_bases,
)
from tilewright.layouts.linear import LinearLayout

L = TypeVar("L", bound=DistributedLayout)
R = TypeVar("R")


class DistributedEncoding(Data[L], LayoutInference, Generic[L]):
    """What all encodings of tensors have in common."""

    KEYS: ClassVar[tuple[str, ...]] = ()
    OPTIONAL: ClassVar[tuple[str, ...]] = ()
    WRITTEN_TODAY: ClassVar[tuple[str, ...]] = ()
    """Optional keys that are 0 where they are missing, as older texts may have it."""

    @classmethod
    @abstractmethod
    def from_fields(cls, values: Mapping[str, FieldValue]) -> L:
        """The layout that parsed fields describe; ValueError says what is wrong with them."""

    @abstractmethod
    def to_fields(self) -> Mapping[str, FieldValue]:
        """The fields as printed."""

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> L:
        start = parser.pos
        with parser.in_angle_brackets():
            values = fields.parse_fields(parser, cls.KEYS, cls.OPTIONAL)
        for key in (key for key in cls.WRITTEN_TODAY if key not in values):
            note_older_spelling(parser, f"a layout without '{key}'", f"with '{key} = 0'", start)
        try:
            return cls.from_fields(values)
        except ValueError as error:
            parser.raise_error(str(error), start, parser.pos)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            fields.print_fields(printer, self.to_fields())

    @property
    def tensor_layout(self) -> DistributedLayout:
        """The layout, as any layout of registers."""
        return self.data

    def to_linear(self, shape: Sequence[int]) -> LinearLayout:
        """The linear form for a tensor of `shape`."""
        return self.data.to_linear(shape)

    def layout_error(self, rank: int, lanes: int, warps: int, blocks: int) -> str | None:
        """Return why a tensor of that rank, in a program of so many lanes, warps and CTAs, cannot have this layout."""
        layout = self.data
        if layout.rank != rank:
            return f"Layout has rank {layout.rank}, but the tensor it's attached to has rank {rank}."
        for has, wants, what in (
            (layout.num_lanes, lanes, "threads per warp"),
            (layout.num_warps, warps, "warps per CTA"),
            (layout.num_blocks, blocks, "CTAs per CGA"),
        ):
            if has != wants:
                return f"Layout has {has} {what}, but the context requires {wants} {what}."
        return None

    # What the shape-changing ops of `tt` ask.

    def infer_reduce(self, axis: int) -> Attribute:
        return encoding_of(SliceLayout(axis, self.data))

    def infer_expand_dims(self, axis: int, shape: tuple[int, ...]) -> Attribute:
        return _inferred(lambda: encoding_of(reshaping.expand_dims(self.data, axis)))

    def infer_trans(self, shape: tuple[int, ...], order: tuple[int, ...]) -> Attribute:
        return _inferred(lambda: encoding_of(reshaping.transpose(self.data, shape, order)))

    def infer_reshape(self, shape: tuple[int, ...], new_shape: tuple[int, ...]) -> Attribute:
        return _inferred(lambda: encoding_of(reshaping.reshape(self.data, shape, new_shape)))

    def infer_join(self, shape: tuple[int, ...]) -> Attribute:
        return _inferred(lambda: encoding_of(reshaping.join(self.data, shape)))

    def infer_split(self, shape: tuple[int, ...]) -> Attribute:
        return _inferred(lambda: encoding_of(reshaping.split(self.data, shape)))

    def is_equivalent(self, other: Attribute, shape: tuple[int, ...]) -> bool:
        if not isinstance(other, DistributedEncoding):
            return False
        return _inferred(lambda: reshaping.equivalent(self.data, other.tensor_layout, shape))

    def check_dot(self, operands: Sequence[Attribute]) -> None:
        widths: set[int] = set()
        for index, operand in enumerate(operands):
            layout = operand.tensor_layout if isinstance(operand, DistributedEncoding) else None
            if not isinstance(layout, DotOperandLayout):
                raise VerifyException("mismatching encoding between the operands and the result of a dot")
            if layout.op_index != index:
                raise VerifyException(f"Wrong opIdx: operand {'AB'[index]} has opIdx = {layout.op_index}")
            if layout.parent != self.data:
                raise VerifyException(f"Incompatible parent encoding of operand {'AB'[index]}: expected {self}")
            widths.add(layout.k_width)
        if len(widths) > 1 and isinstance(self.data, NvidiaMmaLayout):
            raise VerifyException(f"mismatching kWidth between A and B operands: {sorted(widths)}")


def _inferred(infer: Callable[[], R]) -> R:
    """The answer, or a VerifyException where the layout mathematics refuses."""
    try:
        return infer()
    except ValueError as error:
        raise VerifyException(str(error)) from error


def _check_powers(**groups: Sequence[int]) -> None:
    for name, values in groups.items():
        for value in values:
            if value <= 0 or value & (value - 1):
                raise ValueError(f"{name} must be powers of two, got {list(values)}")


def _check_equal_rank(**groups: Sequence[int]) -> None:
    if len({len(values) for values in groups.values()}) > 1:
        raise ValueError(f"{', '.join(groups)} must have the same rank")


def check_order(order: Sequence[int]) -> None:
    """ValueError unless `order` is a permutation."""
    if sorted(order) != list(range(len(order))):
        raise ValueError(f"order must be a permutation of the dimensions, got {list(order)}")


def cga_of_fields(values: Mapping[str, FieldValue], rank: int) -> Vectors:
    """The bases under `CGALayout`; ValueError where CTAs do not tile, or share, a tensor with them."""
    cga = fields.vectors(values, "CGALayout", rank)
    if not cga_bases(cga, rank).is_permutation:
        raise ValueError(
            f"After removing broadcast bases the CGA encoding must be a permutation matrix, got {list(map(list, cga))}"
        )
    return cga


def with_cga(layout_fields: dict[str, FieldValue], cga: Vectors) -> dict[str, FieldValue]:
    """The fields, and the CGA layout where there are several CTAs."""
    return {**layout_fields, "CGALayout": cga} if cga else layout_fields


@irdl_attr_definition
class BlockedEncodingAttr(DistributedEncoding[BlockedLayout]):
    """`#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>`"""

    name = "ttg.blocked"
    alias_name = "blocked"
    KEYS = ("sizePerThread", "threadsPerWarp", "warpsPerCTA", "order")
    OPTIONAL = ("CGALayout",)

    @classmethod
    def from_fields(cls, values: Mapping[str, FieldValue]) -> BlockedLayout:
        sizes, threads, warps, order = (fields.integers(values, key) for key in cls.KEYS)
        _check_equal_rank(sizePerThread=sizes, threadsPerWarp=threads, warpsPerCTA=warps, order=order)
        _check_powers(sizePerThread=sizes, threadsPerWarp=threads, warpsPerCTA=warps)
        check_order(order)
        return BlockedLayout(sizes, threads, warps, order, cga_of_fields(values, len(order)))

    def to_fields(self) -> Mapping[str, FieldValue]:
        layout = self.data
        values = (layout.size_per_thread, layout.threads_per_warp, layout.warps_per_cta, layout.order)
        return with_cga(dict(zip(self.KEYS, values, strict=True)), layout.cga)


class LinearEncoding(DistributedEncoding[LinearDistributedLayout]):
    """What both encodings have that are given by their bases."""

    KEYS = ("register", "lane", "warp", "block")

    @classmethod
    def from_fields(cls, values: Mapping[str, FieldValue]) -> LinearDistributedLayout:
        groups = [fields.vectors(values, key) for key in cls.KEYS]
        ranks = {len(vector) for group in groups for vector in group}
        if len(ranks) != 1:
            raise ValueError(f"all bases must have one rank, got {sorted(ranks)}")
        layout = LinearDistributedLayout(*groups, rank=ranks.pop())
        if not layout.tile().is_surjective:
            raise ValueError("the bases do not reach every element")
        return layout

    def to_fields(self) -> Mapping[str, FieldValue]:
        layout = self.data
        return {"register": layout.register, "lane": layout.lane, "warp": layout.warp, "block": layout.block}


@irdl_attr_definition
class LinearEncodingAttr(LinearEncoding):
    """`#ttg.linear<{register = [[0, 1], [0, 2]], lane = [[0, 4], ...], warp = [[4, 0], [8, 0]], block = []}>`: each
    basis is zero, or has a bit of the coordinates to itself.
    """

    name = "ttg.linear"
    alias_name = "linear"

    @classmethod
    def from_fields(cls, values: Mapping[str, FieldValue]) -> LinearDistributedLayout:
        layout = super().from_fields(values)
        if not layout.tile().is_permutation:
            raise ValueError(
                "LinearEncodingAttr requires a permutation matrix layout after removing broadcast bases; others are "
                "'#ttg.generic_linear'"
            )
        return layout


@irdl_attr_definition
class GenericLinearEncodingAttr(LinearEncoding):
    """`#ttg.generic_linear<{register = [[1], [3]], lane = [], warp = [], block = []}>`: any bases that reach every
    element.
    """

    name = "ttg.generic_linear"
    alias_name = "generic_linear"


@irdl_attr_definition
class SliceEncodingAttr(DistributedEncoding[SliceLayout]):
    """`#ttg.slice<{dim = 1, parent = #blocked}>`"""

    name = "ttg.slice"
    KEYS = ("dim", "parent")

    @classmethod
    def from_fields(cls, values: Mapping[str, FieldValue]) -> SliceLayout:
        dim, parent = fields.integer(values, "dim"), layout_of(values["parent"])
        if parent.rank < 2:
            raise ValueError(f"parent of a slice must have rank 2 at least, got {parent.rank}")
        if not 0 <= dim < parent.rank:
            raise ValueError(f"slice dim {dim} is out of bounds for a parent of rank {parent.rank}")
        return SliceLayout(dim, parent)

    def to_fields(self) -> Mapping[str, FieldValue]:
        return {"dim": self.data.dim, "parent": encoding_of(self.data.parent)}


@irdl_attr_definition
class DotOperandEncodingAttr(DistributedEncoding[DotOperandLayout]):
    """`#ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>`; no kWidth where the parent is blocked."""

    name = "ttg.dot_op"
    KEYS = ("opIdx", "parent")
    OPTIONAL = ("kWidth",)

    @classmethod
    def from_fields(cls, values: Mapping[str, FieldValue]) -> DotOperandLayout:
        index, width = fields.integer(values, "opIdx"), fields.integer(values, "kWidth")
        parent = layout_of(values["parent"])
        if index not in (0, 1):
            raise ValueError(f"opIdx must be 0 or 1, got {index}")
        if isinstance(parent, NvidiaMmaLayout):
            if not width:
                raise ValueError("kWidth is mandatory for an mma parent")
            _check_powers(kWidth=(width,))
            if parent.is_hopper and index == 1:
                raise ValueError("opIdx must be 0 for a Hopper parent: B comes from shared memory")
        elif width:
            raise ValueError("kWidth is not supported when the parent is a blocked layout")
        return DotOperandLayout(index, parent, width)

    def to_fields(self) -> Mapping[str, FieldValue]:
        layout = self.data
        shown: dict[str, FieldValue] = {"opIdx": layout.op_index, "parent": encoding_of(layout.parent)}
        return {**shown, "kWidth": layout.k_width} if layout.k_width else shown


@irdl_attr_definition
class NvidiaMmaEncodingAttr(DistributedEncoding[NvidiaMmaLayout]):
    """`#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>`"""

    name = "ttg.nvidia_mma"
    alias_name = "mma"
    KEYS = ("versionMajor", "warpsPerCTA", "instrShape")
    OPTIONAL = ("versionMinor", "CGALayout")
    WRITTEN_TODAY = ("versionMinor",)

    @classmethod
    def from_fields(cls, values: Mapping[str, FieldValue]) -> NvidiaMmaLayout:
        warps, instruction = fields.integers(values, "warpsPerCTA"), fields.integers(values, "instrShape")
        major, minor = fields.integer(values, "versionMajor"), fields.integer(values, "versionMinor")
        if major not in (2, 3):
            raise ValueError(f"versionMajor must be 2 (mma.sync) or 3 (wgmma), got {major}")
        _check_powers(warpsPerCTA=warps)
        if len(instruction) != (3 if major == 3 else len(warps)):
            raise ValueError(f"instrShape {list(instruction)} does not fit version {major} of rank {len(warps)}")
        cga = cga_of_fields(values, len(warps))
        if major == 3 and prod(warps) % 4:
            raise ValueError(f"wgmma needs a multiple of 4 warps, got {list(warps)}")
        return NvidiaMmaLayout(major, minor, warps, instruction, cga)

    def to_fields(self) -> Mapping[str, FieldValue]:
        layout = self.data
        versions: dict[str, FieldValue] = {
            "versionMajor": layout.version_major,
            "versionMinor": layout.version_minor,
            "warpsPerCTA": layout.warps_per_cta,
        }
        return {**with_cga(versions, layout.cga), "instrShape": layout.instr_shape}


@lru_cache(maxsize=4096)
def encoding_of(layout: DistributedLayout) -> Attribute:
    """The attribute of a layout."""
    match layout:
        case BlockedLayout():
            return BlockedEncodingAttr(layout)
        case SliceLayout():
            return SliceEncodingAttr(layout)
        case LinearDistributedLayout():
            return LinearEncodingAttr(layout) if layout.tile().is_permutation else GenericLinearEncodingAttr(layout)
        case DotOperandLayout():
            return DotOperandEncodingAttr(layout)
        case NvidiaMmaLayout():
            return NvidiaMmaEncodingAttr(layout)
        case _:
            raise ValueError(f"{layout} has no encoding")


def layout_of(encoding: object) -> DistributedLayout:
    """The layout of an encoding of a tensor; ValueError for any other attribute."""
    if not isinstance(encoding, DistributedEncoding):
        raise ValueError(f"expected a distributed encoding, got {encoding}")
    return encoding.tensor_layout
