"""The buffer, and the part of it, that a memdesc refers to: sizes in bytes, and the boxes that views with fixed offsets
cover."""

from __future__ import annotations

from functools import lru_cache
from math import prod

from xdsl.ir import Attribute, OpResult, SSAValue

from tilewright.dialects import arith, ttg
from tilewright.dialects.construction import static_values
from tilewright.dialects.tt.types import PointerType
from tilewright.dialects.ttg.constraints import as_memdesc
from tilewright.dialects.ttg.shared_encodings import shared_layout_of
from tilewright.dialects.ttg.types import MemDescType
from tilewright.dialects.types import bit_width
from tilewright.support.records import dataclass

VIEWS = (
    ttg.MemDescIndexOp,
    ttg.MemDescSubsliceOp,
    ttg.MemDescTransOp,
    ttg.MemDescReshapeOp,
    ttg.MemDescReinterpretOp,
)
"""Ops whose result is a view of their first operand."""


def element_bytes(type: MemDescType) -> int:
    """Bytes that one element takes in shared memory."""
    element = type.element_type
    return 8 if isinstance(element, PointerType) else max(8, bit_width(element)) // 8


@lru_cache(maxsize=1024)
def buffer_bytes(type: MemDescType) -> int:
    """Bytes of the buffer of one CTA that a memdesc type describes, the gaps of padded layouts included.

    A leading dimension that the layout does not know counts whole buffers.
    """
    layout, shape = shared_layout_of(type.encoding), type.get_alloc_shape()
    counted = prod(shape[: len(shape) - layout.rank])
    return counted * layout.num_elements(shape[len(shape) - layout.rank :]) * element_bytes(type)


@dataclass(frozen=True)
class Box:
    """A box of the elements of a buffer, comparable with boxes of equal `frame`: what is laid out how."""

    frame: Attribute
    offsets: tuple[int, ...]
    shape: tuple[int, ...]

    def is_apart(self, other: Box) -> bool:
        """Return whether two boxes surely have no element in common."""
        if self.frame != other.frame:
            return False
        pairs = zip(self.offsets, self.shape, other.offsets, other.shape, strict=True)
        return any(a + n <= b or b + m <= a for a, n, b, m in pairs)


@dataclass(frozen=True)
class View:
    """What a memdesc sees: bytes `start` to `stop` from the beginning of the buffer `root`, within them a box if that
    is known. The root is what the walk up ends at: an allocation, or a value that control flow hands on."""

    root: SSAValue
    start: int
    stop: int
    box: Box | None = None


def view_of(value: SSAValue) -> View:
    """Return what a memdesc sees, as far as views with constant offsets tell; a view at an unknown index sees all that
    its source does.
    """
    op = value.op if isinstance(value, OpResult) else None
    match op:
        case ttg.MemDescIndexOp():
            return _indexed(op, view_of(op.src))
        case ttg.MemDescSubsliceOp():
            return _sliced(op, view_of(op.src))
        case ttg.MemDescTransOp() | ttg.MemDescReshapeOp() | ttg.MemDescReinterpretOp():
            source = view_of(op.src)
            return View(source.root, source.start, source.stop)
        case _:
            type = as_memdesc(value.type)
            return View(value, 0, buffer_bytes(type))


def _indexed(op: ttg.MemDescIndexOp, source: View) -> View:
    index = arith.find_constant_int(op.index)
    if index is None or source.box is not None:
        return View(source.root, source.start, source.stop)
    size = buffer_bytes(as_memdesc(op.result.type))
    start = source.start + index * size
    return View(source.root, start, start + size) if 0 <= start < source.stop else source


def _sliced(op: ttg.MemDescSubsliceOp, source: View) -> View:
    type, result = as_memdesc(op.src.type), as_memdesc(op.result.type)
    frame = _frame(type)
    start = source.box.offsets if source.box is not None else (0,) * len(type.get_shape())
    if source.box is not None and source.box.frame != frame:
        return View(source.root, source.start, source.stop)
    offsets = tuple(a + b for a, b in zip(start, static_values(op.offsets), strict=True))
    return View(source.root, source.start, source.stop, Box(frame, offsets, result.get_shape()))


@lru_cache(maxsize=1024)
def _frame(type: MemDescType) -> Attribute:
    """Return what offsets into a buffer mean: its whole shape, its elements and their layout."""
    return ttg.memdesc_type(type.get_alloc_shape(), type.element_type, type.encoding)
