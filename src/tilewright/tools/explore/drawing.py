"""Pictures of the layouts that a module's tensors and buffers have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING

from tilewright.layouts.draw import Picture
from tilewright.support.records import dataclass
from tilewright.tools.layout import MAX_ELEMENTS, LayoutError, draw_encoding

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Attribute, SSAValue

ROWS, COLUMNS = 16, 16
"""What is shown of a picture: a layout repeats itself."""


@dataclass(frozen=True)
class Drawing:
    """One layout on one shape."""

    encoding: str
    shape: tuple[int, ...]
    element: str
    summary: str
    picture: Picture
    """Cut to `ROWS` x `COLUMNS`."""

    is_cut: bool
    is_shared: bool
    """Whether it is of shared memory: the picture shows banks."""
    values: tuple[str, ...]
    """The values that have the layout, by the names that the IR prints."""

    @property
    def title(self) -> str:
        """Shape and element type, as in a tensor's."""
        return f"{'x'.join(map(str, self.shape))}x{self.element}"


def draw_layouts(module: ModuleOp, names: Mapping[SSAValue, str]) -> list[Drawing]:
    """Every layout in a module, on the largest shape that has it; none before layouts are assigned."""
    from tilewright.dialects.ttg import SharedEncoding
    from tilewright.ir.printing import print_attribute

    largest: dict[Attribute, tuple[tuple[int, ...], Attribute]] = {}
    values: dict[Attribute, list[str]] = {}
    for value, encoding, shape, element in _shaped(module):
        values.setdefault(encoding, []).append(names.get(value, ""))
        if prod(shape) <= MAX_ELEMENTS and (encoding not in largest or prod(shape) > prod(largest[encoding][0])):
            largest[encoding] = shape, element
    drawings: list[Drawing] = []
    for encoding, (shape, element) in largest.items():
        drawn = _drawn(encoding, shape, _bits(element))
        if drawn is not None:
            summary, picture = drawn
            corner = replace(picture, cells=tuple(row[:COLUMNS] for row in picture.cells[:ROWS]))
            is_cut = len(picture.cells) > ROWS or len(picture.cells[0]) > COLUMNS
            holders = tuple(dict.fromkeys(filter(None, values[encoding])))
            texts = print_attribute(encoding), shape, print_attribute(element), summary
            drawings.append(Drawing(*texts, corner, is_cut, isinstance(encoding, SharedEncoding), holders))
    return drawings


def _drawn(encoding: Attribute, shape: tuple[int, ...], bits: int) -> tuple[str, Picture] | None:
    """A summary, and the first picture; of a buffer of several stages, each of which has the layout, the first one."""
    for extents in (shape, shape[1:]):
        try:
            drawn = draw_encoding(encoding, extents, bits)
        except LayoutError:
            continue
        return None if drawn is None else (drawn[0], drawn[1][0])
    return None


def _shaped(module: ModuleOp) -> Iterator[tuple[SSAValue, Attribute, tuple[int, ...], Attribute]]:
    """Every value that has a layout, with that, its extents and its element type."""
    from xdsl.dialects.builtin import NoneAttr

    from tilewright.dialects.ttg import MemDescType
    from tilewright.dialects.types import is_tensor
    from tilewright.ir.walking import ops_within

    for op in ops_within(module):
        for value in op.results:
            type_ = value.type
            if is_tensor(type_) and not isinstance(type_.encoding, NoneAttr):
                yield value, type_.encoding, tuple(type_.get_shape()), type_.element_type
            if isinstance(type_, MemDescType):
                yield value, type_.encoding, type_.get_shape(), type_.element_type


def _bits(element: Attribute) -> int:
    """Bits of an element; of a pointer 64."""
    return getattr(element, "bitwidth", 64)
