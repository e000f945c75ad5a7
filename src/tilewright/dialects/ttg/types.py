"""Types of the `ttg` dialect: buffers in shared or tensor memory, and tokens of asynchronous copies."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod

from xdsl.dialects.builtin import ArrayAttr, IntAttr
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.text import write
from tilewright.dialects.tt.types import PointerType
from tilewright.dialects.ttg.encodings import DistributedEncoding
from tilewright.dialects.ttg.shared_encodings import SharedMemorySpaceAttr, find_shared_layout
from tilewright.dialects.types import bit_width
from tilewright.ir.older_spellings import note_older_spelling
from tilewright.layouts.shared import NvmmaSharedLayout, PaddedSharedLayout, SharedLayout, SharedLinearLayout

SMEM = SharedMemorySpaceAttr()


@irdl_attr_definition
class AsyncTokenType(ParametrizedAttribute, TypeAttribute):
    """Orders asynchronous copies: `!ttg.async.token`."""

    name = "ttg.async.token"


ASYNC_TOKEN = AsyncTokenType()


@irdl_attr_definition
class MemDescType(ParametrizedAttribute, TypeAttribute):
    """A buffer, or a view of one: `!ttg.memdesc<2x128x64xf16, #shared, #smem, mutable>`.

    A view of part of a buffer also bears the shape that was allocated: `!ttg.memdesc<16x16xf16, #shared, #smem,
    mutable, 16x32>`.
    """

    name = "ttg.memdesc"

    shape: ArrayAttr[IntAttr]
    element_type: Attribute
    encoding: Attribute
    memory_space: Attribute
    mutable_memory: IntAttr
    alloc_shape: ArrayAttr[IntAttr]

    def get_shape(self) -> tuple[int, ...]:
        """The extents."""
        return tuple(extent.data for extent in self.shape)

    def get_alloc_shape(self) -> tuple[int, ...]:
        """The extents of the buffer that this is a view of."""
        return tuple(extent.data for extent in self.alloc_shape)

    @property
    def is_mutable(self) -> bool:
        """True if stores are allowed."""
        return bool(self.mutable_memory.data)

    @property
    def num_elements(self) -> int:
        """The number of elements of the view."""
        return prod(self.get_shape())

    def verify(self) -> None:
        shape, allocated = self.get_shape(), self.get_alloc_shape()
        if not shape:
            raise VerifyException("rank must be positive")
        if 1 < (bits := element_bits(self)) < 8:
            raise VerifyException(f"element type bit width must be 1 or at least 8; got {bits}")
        layout = find_shared_layout(self.encoding)
        if _is_for_no_buffer(self.encoding):
            raise VerifyException(f"{self.encoding} is not a valid encoding")
        _check_powers("shape", shape, layout)
        _check_powers("alloc shape", allocated, layout)
        if len(shape) > len(allocated) or any(s > a for s, a in zip(shape[::-1], allocated[::-1], strict=False)):
            raise VerifyException(
                f"shape must be less than or equal to allocShape, got {_joined(shape)} and {_joined(allocated)}"
            )
        if layout is None:
            return
        if layout.rank not in (len(shape), len(shape) - 1):
            raise VerifyException(
                f"rank must be equal to or one less than the shape size. Got {layout.rank} and {len(shape)}"
            )
        if self.memory_space != SMEM:
            raise VerifyException("a shared memory encoding needs the memory space #ttg.shared_memory")
        if isinstance(layout, NvmmaSharedLayout):
            _check_swizzle_fits(layout, allocated[-layout.rank :])
        elif isinstance(layout, PaddedSharedLayout | SharedLinearLayout):
            _check_bases_fit(layout, allocated[-layout.rank :])

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            shape, element = parser.parse_ranked_shape()
            parser.parse_punctuation(",")
            encoding = parser.parse_attribute()
            space: Attribute = SMEM
            if parser.parse_optional_punctuation(","):
                space = parser.parse_attribute()
            else:  # as before there was tensor memory, too
                note_older_spelling(parser, "a buffer without its memory space", "with '#smem'", parser.pos)
            mutable, allocated = False, tuple(shape)
            if parser.parse_optional_punctuation(","):
                mutable = parser.parse_optional_keyword("mutable") is not None
                if not mutable or parser.parse_optional_punctuation(","):
                    allocated = tuple(parser.parse_dimension_list())
        return (extents(tuple(shape)), element, encoding, space, IntAttr(int(mutable)), extents(allocated))

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            write(printer, "x".join(map(str, self.get_shape())) + "x", self.element_type)
            for attribute in (self.encoding, self.memory_space):
                write(printer, ", ", attribute)
            if self.is_mutable:
                printer.print_string(", mutable")
            if self.alloc_shape != self.shape:
                printer.print_string(", " + "x".join(map(str, self.get_alloc_shape())))


def _is_for_no_buffer(encoding: Attribute) -> bool:
    """Return whether an attribute says something else than how a buffer lies; others than ours may say it."""
    return encoding == SMEM or isinstance(encoding, DistributedEncoding)


def element_bits(type: MemDescType) -> int:
    """The width of an element, which may be a pointer."""
    return 64 if isinstance(type.element_type, PointerType) else bit_width(type.element_type)


def _joined(shape: Sequence[int]) -> str:
    return "x".join(map(str, shape))


def _check_powers(what: str, extents: tuple[int, ...], layout: SharedLayout | None) -> None:
    """VerifyException unless extents are powers of two: all that the layout knows, but not how many tiles there are."""
    laid_out = extents[1:] if layout is None else extents[-layout.rank :]
    if any(extent <= 0 for extent in extents) or any(extent & (extent - 1) for extent in laid_out):
        raise VerifyException(
            f"{what} must have power-of-2 and non-zero dimensions; got {', '.join(map(str, extents))}"
        )


def _check_bases_fit(layout: PaddedSharedLayout | SharedLinearLayout, shape: tuple[int, ...]) -> None:
    """VerifyException unless the bases reach all of what is allocated, and nothing else."""
    for dim, (extent, reached) in enumerate(zip(shape, layout.extent(), strict=True)):
        if extent != reached:
            raise VerifyException(f"Mismatch in expected shape for dimension {dim}. Expected: {extent}, got: {reached}")


def _check_swizzle_fits(layout: NvmmaSharedLayout, shape: tuple[int, ...]) -> None:
    if len(shape) == 1 or not layout.swizzle_bytes:
        return
    packing = 2 if layout.fp4_padded else 1
    contiguous = shape[-2 if layout.transposed else -1] * packing * layout.element_bits // 8
    if contiguous < layout.swizzle_bytes or prod(shape) * packing * layout.element_bits // 8 < 8 * layout.swizzle_bytes:
        raise VerifyException(
            f"nvmma_shared tile of 8 rows of {layout.swizzle_bytes} bytes is larger than the buffer {_joined(shape)}"
        )


@lru_cache(maxsize=1024)
def extents(shape: tuple[int, ...]) -> ArrayAttr[IntAttr]:
    """A shape as an attribute."""
    return ArrayAttr([IntAttr(extent) for extent in shape])


@lru_cache(maxsize=1024)
def memdesc_type(
    shape: tuple[int, ...],
    element_type: Attribute,
    encoding: Attribute,
    *,
    memory_space: Attribute = SMEM,
    mutable: bool = True,
    alloc_shape: tuple[int, ...] | None = None,
) -> MemDescType:
    """`!ttg.memdesc<...>`, made once per combination."""
    allocated = extents(alloc_shape or shape)
    return MemDescType(extents(shape), element_type, encoding, memory_space, IntAttr(int(mutable)), allocated)
