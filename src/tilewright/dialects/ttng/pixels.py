"""What a descriptor of pixels (im2col) walks over: the box of pixels in each image, and the steps between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, i32
from xdsl.ir import Attribute

from tilewright.dialects.attributes import ADDRESS_ZERO
from tilewright.dialects.tt.types import TensorDescType
from tilewright.dialects.ttng.tensor_descriptors import TensorDescIm2ColType
from tilewright.support.records import dataclass

PIXELS = "ttng.pixels"
"""The attribute of an argument whose type is `!ttng.tensordesc_im2col`."""
MAX_PIXELS = 1024
"""The most pixels that one copy moves."""


@dataclass(frozen=True)
class Pixels:
    """The walk over pixels of images, outer dimensions first (depth, height, width).

    A walk begins at a pixel and goes on by `steps` along the width; after the last column it begins at the first one
    of the next row, after the last row with the next slice, and so on, up to the next image. `lower` is the first
    index of each dimension, `upper` what to add to the last one of the image.
    """

    lower: tuple[int, ...]
    upper: tuple[int, ...]
    steps: tuple[int, ...]

    @property
    def rank(self) -> int:
        """Dimensions of the tensor: those of the pixels, the images, and the channels."""
        return len(self.lower) + 2

    def walk(self, start: Sequence[int], extents: Sequence[int], count: int) -> Iterator[tuple[int, ...]]:
        """The indices (image, ..., width) of so many pixels, from `start` on; `extents` are those of an image."""
        place = list(start)
        for _ in range(count):
            yield tuple(place)
            for dim in reversed(range(len(self.lower))):
                place[1 + dim] += self.steps[dim]
                if place[1 + dim] <= extents[dim] - 1 + self.upper[dim]:
                    break
                place[1 + dim] = self.lower[dim]
            else:
                place[0] += 1

    def attribute(self) -> DictionaryAttr:
        """The argument's attribute: `{lower = [-1 : i32, -1 : i32], upper = ..., steps = ...}`."""
        parts = {"lower": self.lower, "upper": self.upper, "steps": self.steps}
        return DictionaryAttr(
            {name: ArrayAttr([IntegerAttr(value, i32) for value in values]) for name, values in parts.items()}
        )

    @staticmethod
    def of(attributes: DictionaryAttr | None) -> Pixels | None:
        """Read the attributes of an argument; None where they say nothing of pixels."""
        found = None if attributes is None else attributes.data.get(PIXELS)
        if not isinstance(found, DictionaryAttr):
            return None
        return Pixels(*(_numbers(found.data[name]) for name in ("lower", "upper", "steps")))


def _numbers(values: Attribute) -> tuple[int, ...]:
    items: Any = values
    return tuple(item.value.data for item in items.data)


def slots_of(type_: Attribute, attributes: DictionaryAttr | None) -> int:
    """Return how many launch slots an argument takes: a descriptor is its pointer, extents, strides, and a flag."""
    if attributes is not None and ADDRESS_ZERO in attributes.data:
        return 0
    if not isinstance(type_, TensorDescType | TensorDescIm2ColType):
        return 1
    pixels = Pixels.of(attributes)
    return 2 + 2 * (type_.block_type.get_num_dims() if pixels is None else pixels.rank)
