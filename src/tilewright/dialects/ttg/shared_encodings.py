"""Encodings of buffers in shared memory, and the memory space."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import permutations
from typing import ClassVar, Generic, TypeVar

from xdsl.ir import Attribute, Data, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from tilewright.dialects.ttg import fields
from tilewright.dialects.ttg.encodings import cga_of_fields, check_order, with_cga
from tilewright.dialects.ttg.fields import FieldValue
from tilewright.layouts.distributed import Vectors
from tilewright.layouts.linear import LinearLayout
from tilewright.layouts.shared import (
    NvmmaSharedLayout,
    PaddedSharedLayout,
    SharedLayout,
    SharedLinearLayout,
    SwizzledSharedLayout,
)

S = TypeVar("S", bound=SharedLayout)


@irdl_attr_definition
class SharedMemorySpaceAttr(ParametrizedAttribute):
    """The memory that the threads of a CTA share: `#ttg.shared_memory`."""

    name = "ttg.shared_memory"

    @property
    def alias_name(self) -> str:
        """`#smem`"""
        return "smem"


class SharedEncoding(Data[S], Generic[S]):
    """What all encodings of buffers have in common."""

    alias_name: ClassVar[str] = "shared"

    @classmethod
    @abstractmethod
    def parse_layout(cls, parser: AttrParser) -> S:
        """The layout inside `<...>`; ValueError says what is wrong with it."""

    @abstractmethod
    def print_layout(self, printer: Printer) -> None:
        """Print the parameters between `<` and `>`."""

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> S:
        start = parser.pos
        with parser.in_angle_brackets():
            try:
                return cls.parse_layout(parser)
            except ValueError as error:
                parser.raise_error(str(error), start, parser.pos)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            self.print_layout(printer)

    @property
    def buffer_layout(self) -> SharedLayout:
        """The layout, as any layout of shared memory."""
        return self.data

    def to_linear(self, shape: Sequence[int]) -> LinearLayout:
        """The linear form for a buffer of `shape`."""
        return self.data.to_linear(shape)


@irdl_attr_definition
class SwizzledSharedEncodingAttr(SharedEncoding[SwizzledSharedLayout]):
    """`#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>`"""

    name = "ttg.swizzled_shared"

    @classmethod
    def parse_layout(cls, parser: AttrParser) -> SwizzledSharedLayout:
        values = fields.parse_fields(parser, ("vec", "perPhase", "maxPhase", "order"), ("CGALayout",))
        order = fields.integers(values, "order")
        check_order(order)
        vec, per_phase, max_phase = (fields.integer(values, key) for key in ("vec", "perPhase", "maxPhase"))
        if any(number <= 0 or number & (number - 1) for number in (vec, per_phase, max_phase)):
            raise ValueError(f"vec, perPhase and maxPhase must be powers of two, got {vec}, {per_phase}, {max_phase}")
        return SwizzledSharedLayout(vec, per_phase, max_phase, order, cga_of_fields(values, len(order)))

    def print_layout(self, printer: Printer) -> None:
        layout = self.data
        shown: dict[str, FieldValue] = {
            "vec": layout.vec,
            "perPhase": layout.per_phase,
            "maxPhase": layout.max_phase,
            "order": layout.order,
        }
        fields.print_fields(printer, with_cga(shown, layout.cga))


@irdl_attr_definition
class NVMMASharedEncodingAttr(SharedEncoding[NvmmaSharedLayout]):
    """`#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>`"""

    name = "ttg.nvmma_shared"

    @classmethod
    def parse_layout(cls, parser: AttrParser) -> NvmmaSharedLayout:
        keys = ("swizzlingByteWidth", "transposed", "elementBitWidth")
        values = fields.parse_fields(parser, keys, ("fp4Padded", "rank", "CGALayout"))
        cga = fields.vectors(values, "CGALayout")
        rank = fields.integer(values, "rank", len(cga[0]) if cga else 2)
        width = fields.integer(values, "swizzlingByteWidth")
        if width not in (0, 32, 64, 128):
            raise ValueError(f"swizzlingByteWidth must be 0, 32, 64 or 128, got {width}")
        return NvmmaSharedLayout(
            width,
            fields.flag(values, "transposed"),
            fields.integer(values, "elementBitWidth"),
            fields.flag(values, "fp4Padded"),
            rank,
            cga_of_fields(values, rank),
        )

    def print_layout(self, printer: Printer) -> None:
        layout = self.data
        shown: dict[str, FieldValue] = {
            "swizzlingByteWidth": layout.swizzle_bytes,
            "transposed": layout.transposed,
            "elementBitWidth": layout.element_bits,
        }
        if layout.fp4_padded:
            shown["fp4Padded"] = True
        if layout.rank != 2 and not layout.cga:
            shown["rank"] = layout.rank
        fields.print_fields(printer, with_cga(shown, layout.cga))


@irdl_attr_definition
class SharedLinearEncodingAttr(SharedEncoding[SharedLinearLayout]):
    """`#ttg.shared_linear<{offset = [[0, 1], [0, 2], [1, 0], [2, 2]]}, alignment = 16>`"""

    name = "ttg.shared_linear"

    @classmethod
    def parse_layout(cls, parser: AttrParser) -> SharedLinearLayout:
        values = fields.parse_fields(parser, ("offset",), ("block",))
        parser.parse_punctuation(",")
        parser.parse_keyword("alignment")
        parser.parse_punctuation("=")
        offset = fields.vectors(values, "offset")
        rank = len(offset[0]) if offset else 1
        offset, block = fields.vectors(values, "offset", rank), fields.vectors(values, "block", rank)
        return SharedLinearLayout(offset, block, rank, parser.parse_integer())

    def print_layout(self, printer: Printer) -> None:
        layout = self.data
        fields.print_fields(printer, _offset_and_block(layout.offset, layout.block))
        printer.print_string(f", alignment = {layout.bytes_alignment}")


def _offset_and_block(offset: FieldValue, block: Sequence[Sequence[int]]) -> dict[str, FieldValue]:
    return {"offset": offset, "block": block} if block else {"offset": offset}


@irdl_attr_definition
class PaddedSharedEncodingAttr(SharedEncoding[PaddedSharedLayout]):
    """`#ttg.padded_shared<[32:+4, 64:+8] {order = [1, 0], shape = [16, 32]}>`, or with explicit bases `{offset =
    [...], block = [...]}`
    """

    name = "ttg.padded_shared"

    @classmethod
    def parse_layout(cls, parser: AttrParser) -> PaddedSharedLayout:
        pads = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: _parse_pad(parser))
        values = fields.parse_fields(parser, (), ("order", "shape", "offset", "block"))
        if "offset" in values or "block" in values:
            return PaddedSharedLayout(tuple(pads), *_padded_bases(values))
        order, shape = fields.integers(values, "order"), fields.integers(values, "shape")
        check_order(order)
        if len(order) != len(shape):
            raise ValueError("order and shape must have the same rank")
        return PaddedSharedLayout.ordered(pads, order, shape)

    def print_layout(self, printer: Printer) -> None:
        layout = self.data
        pads = ", ".join(f"{interval}:+{padding}" for interval, padding in layout.pads)
        printer.print_string(f"[{pads}] ")
        order = _plain_order(layout)
        if order is None:
            fields.print_fields(printer, {"offset": layout.offset, "block": layout.block})
        else:
            fields.print_fields(printer, {"order": order, "shape": layout.extent()})


def _parse_pad(parser: AttrParser) -> tuple[int, int]:
    """`32:+4`"""
    interval = parser.parse_integer()
    parser.parse_punctuation(":")
    parser.parse_optional_punctuation("+")
    return interval, parser.parse_integer()


def _padded_bases(values: Mapping[str, FieldValue]) -> tuple[Vectors, Vectors, int]:
    """The bases of offsets and of CTAs, and their rank."""
    for key in ("offset", "block"):
        if key not in values:
            raise ValueError(f"Expected basis of '{key}' not found")
    for key in values.keys() - {"offset", "block"}:
        raise ValueError(f"Unexpected attribute \"{key}\" found beside 'offset'")
    offset, block = fields.vectors(values, "offset"), fields.vectors(values, "block")
    rank = len((*offset, *block)[0]) if offset or block else 1
    return fields.vectors(values, "offset", rank), fields.vectors(values, "block", rank), rank


def _plain_order(layout: PaddedSharedLayout) -> tuple[int, ...] | None:
    """The order in which elements simply follow each other, None where the bases say more than that."""
    if layout.block:
        return None
    extent = layout.extent()
    for order in permutations(reversed(range(layout.rank))):
        if PaddedSharedLayout.ordered(layout.pads, order, extent).offset == layout.offset:
            return order
    return None


@lru_cache(maxsize=1024)
def shared_encoding_of(layout: SharedLayout) -> Attribute:
    """The attribute of a layout of shared memory."""
    match layout:
        case SwizzledSharedLayout():
            return SwizzledSharedEncodingAttr(layout)
        case NvmmaSharedLayout():
            return NVMMASharedEncodingAttr(layout)
        case SharedLinearLayout():
            return SharedLinearEncodingAttr(layout)
        case PaddedSharedLayout():
            return PaddedSharedEncodingAttr(layout)
        case _:
            raise ValueError(f"{layout} has no encoding")


def find_shared_layout(encoding: Attribute) -> SharedLayout | None:
    """The layout of an encoding of a buffer in shared memory; None for any other attribute."""
    return encoding.buffer_layout if isinstance(encoding, SharedEncoding) else None


def encoding_of_rank(encoding: Attribute, rank: int) -> Attribute:
    """The encoding of the same blocks with more, or less, leading dimensions of extent 1."""
    layout = find_shared_layout(encoding)
    return shared_encoding_of(layout.with_rank(rank)) if isinstance(layout, NvmmaSharedLayout) else encoding


def shared_layout_of(encoding: Attribute) -> SharedLayout:
    """As `find_shared_layout`; ValueError for any other attribute."""
    layout = find_shared_layout(encoding)
    if layout is None:
        raise ValueError(f"expected a shared memory encoding, got {encoding}")
    return layout
