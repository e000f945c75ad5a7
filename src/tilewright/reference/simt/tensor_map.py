"""Tensor maps: the descriptors of boxes that the tensor memory accelerator copies.

On the hardware their 128 bytes are opaque; here they are a structure of our own, which `tensormap.replace` changes
field by field as the hardware would.
"""

from __future__ import annotations

import struct
from dataclasses import replace
from typing import Any, cast

import numpy as np

from tilewright.dialects.numeric import Array
from tilewright.reference.address_space import AddressSpace
from tilewright.reference.memory import ByteRange
from tilewright.support.records import dataclass

MAP_BYTES = 128
MAX_RANK = 5
FORMAT = struct.Struct("<5B3xQ5I5Q5I6h3B")
"""Rank - 1, element, swizzle, fill, whether it has pixels; address; extents, strides in bytes (of dimension 1 and up),
box; corners and steps of pixels."""
MOST_PIXEL_DIMS = 3

DRIVER_ELEMENTS = ("u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32", "f64", "bf16", "f32", "tf32")
"""Element types as the driver's interface numbers them; the second f32 reads subnormal numbers as 0."""
DEVICE_ELEMENTS = ("u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32", "f32", "f64", "bf16", "f32", "f32")
"""Element types as `tensormap.replace` numbers them."""


def dtype_of_element(name: str) -> np.dtype[Any]:
    """The NumPy type of elements."""
    import ml_dtypes

    if name == "tf32":
        return np.dtype(np.float32)
    if name == "bf16":
        return np.dtype(ml_dtypes.bfloat16)
    kind = {"u": "u", "s": "i", "f": "f"}[name[0]]
    return np.dtype(f"{kind}{int(name[1:]) // 8}")


@dataclass(frozen=True, eq=False)
class TensorMap:
    """A tensor in global memory and the box that one copy moves; dimensions are listed fastest first.

    `base` is the address of the first element, or the array or `ByteRange` that begins there; `strides` are bytes
    between elements that are neighbours in a dimension, of all dimensions but the first; `element` is the
    driver's number of the element type; `swizzle` is 0, or 1, 2, 3 for 32, 64, 128 bytes.
    """

    base: Any
    extents: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    element: int
    swizzle: int = 0
    fills_nan: bool = False
    pixels: tuple[tuple[int, ...], ...] | None = None
    """Of a map of images: lower corner, upper corner, and steps of the walk, width first; its box is channels and
    pixels."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy type of the elements."""
        return dtype_of_element(DRIVER_ELEMENTS[self.element])

    @property
    def rounds_to_tf32(self) -> bool:
        """Return whether float32 that is read has the mantissa of tf32."""
        return DRIVER_ELEMENTS[self.element] == "tf32"

    def placed(self, space: AddressSpace, name: str = "") -> TensorMap:
        """With an address for its memory."""
        base: Any = self.base
        if isinstance(base, (np.ndarray, ByteRange)):
            return replace(self, base=int(space.add(cast("Array | ByteRange", base), name)))
        return self

    @property
    def address(self) -> int:
        """The address of the first element."""
        return int(self.base)

    def encode(self) -> bytes:
        """The 128 bytes that stand for it."""
        rank = len(self.extents)
        pad = (0,) * (MAX_RANK - rank)
        has_pixels = int(self.pixels is not None)
        head = (rank - 1, self.element, self.swizzle, int(self.fills_nan), has_pixels, self.address & ((1 << 64) - 1))
        strides, box = (*self.strides, 0, *pad), (*self.box, *((0,) * (MAX_RANK - len(self.box))))
        walk = [size for part in self.pixels or ((), (), ()) for size in _sized(part, MOST_PIXEL_DIMS)]
        return FORMAT.pack(*head, *self.extents, *pad, *strides, *box, *walk).ljust(MAP_BYTES, b"\0")

    @staticmethod
    def decode(raw: bytes) -> TensorMap:
        """The inverse of `encode`."""
        values = FORMAT.unpack_from(raw)
        rank = values[0] + 1
        extents, strides, box = values[6:11], values[11:16], values[16:21]
        walk = tuple(values[start : start + rank - 2] for start in (21, 24, 27)) if values[4] else None
        return TensorMap(
            base=values[5],
            extents=extents[:rank],
            strides=strides[: rank - 1],
            box=box[: rank if walk is None else 2],
            element=values[1],
            swizzle=values[2],
            fills_nan=bool(values[3]),
            pixels=walk,
        )

    def replaced(self, field: str, index: int, value: int) -> TensorMap:
        """With one field changed, as `tensormap.replace` names and numbers them. Raises KeyError for an unknown one."""
        rank = len(self.extents)
        match field:
            case "global_address":
                return replace(self, base=value)
            case "rank":
                rank = value + 1
                extents, box = _sized(self.extents, rank), _sized(self.box, rank)
                strides = _sized(self.strides, rank - 1)
                return replace(self, extents=extents, box=box, strides=strides)
            case "box_dim":
                return replace(self, box=_with(_sized(self.box, rank), index, value))
            case "global_dim":
                return replace(self, extents=_with(self.extents, index, value))
            case "global_stride":
                return replace(self, strides=_with(_sized(self.strides, rank - 1), index, value))
            case "elemtype":
                return replace(self, element=DRIVER_ELEMENTS.index(DEVICE_ELEMENTS[value]))
            case "swizzle_mode":
                return replace(self, swizzle=value)
            case "fill_mode":
                return replace(self, fills_nan=bool(value))
            case "element_stride" | "interleave_layout":
                return self
            case _:
                raise KeyError(field)


def _sized(values: tuple[int, ...], rank: int) -> tuple[int, ...]:
    return (values + (0,) * rank)[:rank]


def _with(values: tuple[int, ...], index: int, value: int) -> tuple[int, ...]:
    return (*values[:index], value, *values[index + 1 :])
