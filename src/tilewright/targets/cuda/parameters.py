"""How a launch makes the parameters of a compiled kernel.

Launch slots are 64 bits each (see `runtime/specialization.py`). A parameter is one slot's low bytes, or a tensor map:
128 bytes that are made from the slots of a host's tensor descriptor (base, extents, strides, NaN padding).
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from functools import lru_cache
from itertools import zip_longest
from math import gcd
from typing import TYPE_CHECKING, Any

from tilewright.support.records import dataclass
from tilewright.targets.cuda.computed_maps import ComputedMapParameter, MapDim, computed_map_from_json

if TYPE_CHECKING:
    from xdsl.dialects.builtin import DictionaryAttr
    from xdsl.ir import Attribute

MAP_BYTES = 128
MAP_ALIGNMENT = 64
SLOT_BYTES = 8

CONFIG_BYTES = 56
"""Size of CUlaunchConfig: seven numbers (grid, block, bytes of shared memory), the stream, attributes, their number."""

CONFIG_ATTRIBUTES = 40
"""Where in it the attributes are."""

LAUNCH_ATTRIBUTE_BYTES = 72
COOPERATIVE, PROGRAMMATIC_STREAM_SERIALIZATION = 2, 6
"""The driver's numbers of launch attributes."""

_ATTRIBUTES = struct.Struct("<QI")

UINT8, UINT16, UINT32, INT32, UINT64, INT64, FLOAT16, FLOAT32, FLOAT64, BFLOAT16 = range(10)
"""The driver's numbers of element types in tensor maps."""
TFLOAT32 = 11
"""Float32 in memory; what is read is rounded to tf32."""
ROUNDING = "tt.round_f32_to_tf32"
"""The attribute of a descriptor argument whose tensor map has elements of TFLOAT32."""

SWIZZLES = {0: 0, 32: 1, 64: 2, 128: 3}
"""The driver's numbers of swizzles, by bytes."""


@dataclass(frozen=True)
class TensorMapParameter:
    """A tensor map made from a descriptor's slots; `box` is in elements, innermost dimension first."""

    first_slot: int
    rank: int
    element: int
    element_bytes: int
    box: tuple[int, ...]
    swizzle: int
    pixels: tuple[tuple[int, ...], ...] | None = None
    """Of images: lower corner, upper corner and steps, innermost dimension first; the box is channels and pixels."""


@dataclass(frozen=True)
class GridParameter:
    """A number of programs that the user launched, for a kernel of which fewer run: along an axis, "all", or of those
    before the rows that are "sorted".
    """

    grid: str

    def bytes_of(self, grid: Sequence[int], started: int) -> bytes:
        """The parameter for a launch that starts so many programs, in as many bytes as a tensor map."""
        match self.grid:
            case "all":
                number = programs_of(grid)
            case "sorted":
                number = first_sorted(grid, started)
            case axis:
                number = grid["xyz".index(axis)]
        return struct.pack(f"<i{MAP_BYTES - 4}x", number)


Parameter = int | TensorMapParameter | ComputedMapParameter | GridParameter
"""A launch slot, a tensor map, or a number of programs."""

MOST_PROGRAMS = 1 << 30
"""Programs that are counted in 32 bits, with the next ones of all that run."""


def programs_of(grid: Sequence[int]) -> int:
    """The programs of a grid."""
    x, y, z = grid
    return x * y * z


def persistent_programs(grid: Sequence[int], resident: int) -> int:
    """The programs to start, of which `resident` run at a time, for a grid that they do the work of. Where that does
    not give any of them more to do, their number has no factor in common with a row of the grid, so that each gets its
    share of all columns, as programs of causal attention do more the further right they are.
    """
    total, width = programs_of(grid), grid[0]
    if total <= resident:
        return total
    least = -(-total // -(-total // resident))
    fitting = (count for count in range(resident, least - 1, -1) if total == width or gcd(count, width) == 1)
    return next(fitting, resident)


SORTED_ROUNDS = 4
"""Rounds of programs, at least, that are done in the order of what they have to do."""


def first_sorted(grid: Sequence[int], started: int) -> int:
    """The number of the first program of the rows of a grid that are sorted: as few as are some rounds, with whole
    rounds before them, else all.
    """
    width, total = grid[0], programs_of(grid)
    rows = total // width
    period = started // gcd(started, width)
    least = -(-SORTED_ROUNDS * started // width)
    return max(rows - least, 0) // period * period * width


def describe_parameters(
    types: Sequence[Attribute], attributes: Sequence[DictionaryAttr | None] = ()
) -> list[Parameter]:
    """The parameters of a kernel with arguments of these types, and attributes, at the ttg stage."""
    from xdsl.dialects.builtin import StringAttr

    from tilewright.dialects.tt import TensorDescType
    from tilewright.dialects.ttng import TensorDescIm2ColType
    from tilewright.transforms.tt.tma.recipe import COPY_ROWS, GRID, RECIPE

    found: list[Parameter] = []
    slot = 0
    for type, given in zip_longest(types, attributes):
        recipe = None if given is None else given.data.get(RECIPE)
        axis = None if given is None else given.data.get(GRID)
        rows = None if given is None else given.data.get(COPY_ROWS)
        if isinstance(axis, StringAttr):
            found.append(GridParameter(axis.data))
        elif recipe is not None:
            found.append(_computed_map(type, recipe, rows))
        elif isinstance(type, TensorDescType | TensorDescIm2ColType):
            is_tiled = isinstance(type, TensorDescType)
            parameter = _tensor_map(type, slot, rows) if is_tiled else _map_of_pixels(type, slot, given)
            if given is not None and ROUNDING in given.data:
                parameter = replace(parameter, element=TFLOAT32)
            found.append(parameter)
            slot += 2 + 2 * parameter.rank
        else:
            found.append(slot)
            slot += 1
    return found


def _tensor_map(type: Any, slot: int, rows: Any = None) -> TensorMapParameter:
    """The tensor map of a descriptor argument. Its box is what one instruction copies: at most 256 elements in each
    dimension, or as many rows as are given, and one width of the swizzle in the innermost."""
    from tilewright.dialects.ttg.shared_encodings import find_shared_layout
    from tilewright.layouts.shared import MAX_TMA_BOX, NvmmaSharedLayout

    block = type.block_type
    layout = find_shared_layout(block.encoding)
    swizzle = layout.swizzle_bytes if isinstance(layout, NvmmaSharedLayout) else 0
    element, width = element_number(block.element_type)
    shape = block.get_shape() if layout is None else layout.part_of(block.get_shape())
    inner = min(shape[-1], swizzle // width) if swizzle else min(shape[-1], MAX_TMA_BOX)
    most = MAX_TMA_BOX if rows is None else rows.value.data
    box = (inner, *(min(extent, most) for extent in reversed(shape[:-1])))
    return TensorMapParameter(slot, len(shape), element, width, box, SWIZZLES[swizzle])


def _map_of_pixels(type: Any, slot: int, given: DictionaryAttr | None) -> TensorMapParameter:
    """The tensor map of an argument that describes images: all pixels of a block by one instruction."""
    from tilewright.dialects.ttng.pixels import Pixels

    pixels = Pixels.of(given)
    assert pixels is not None
    inner, _ = _tensor_map(type, slot).box
    return replace(
        _tensor_map(type, slot),
        rank=pixels.rank,
        box=(inner, type.block_type.get_shape()[0]),
        pixels=(pixels.lower[::-1], pixels.upper[::-1], pixels.steps[::-1]),
    )


def _computed_map(type: Any, recipe: Any, rows: Any) -> ComputedMapParameter:
    """The tensor map of an argument that the compiler added."""
    from xdsl.dialects.builtin import StringAttr

    from tilewright.transforms.tt.tma.recipe import STORED

    plain, data = _tensor_map(type, 0, rows), recipe.data

    def number(attribute: Any) -> int | str:
        return attribute.data if isinstance(attribute, StringAttr) else attribute.value.data

    return ComputedMapParameter(
        base=data["base"].value.data,
        numbers=tuple(tuple(number(part) for part in parts.data) for parts in data["numbers"].data),
        checks=tuple(check.value.data for check in data["checks"].data),
        positive=tuple(slot.value.data for slot in data["positive"].data) if "positive" in data else (),
        is_stored=STORED in data,
        dims=tuple(
            MapDim(**{name: attribute.value.data for name, attribute in dim.data.items()}) for dim in data["dims"].data
        ),
        block=tuple(type.block_type.get_shape()),
        element=plain.element,
        element_bytes=plain.element_bytes,
        box=plain.box,
        swizzle=plain.swizzle,
    )


def element_number(type: Attribute) -> tuple[int, int]:
    """The driver's number of an element type in tensor maps, and its width in bytes."""
    from xdsl.dialects.builtin import BFloat16Type, Float16Type, Float32Type, Float64Type, IntegerType, Signedness

    match type:
        case Float16Type():
            return FLOAT16, 2
        case BFloat16Type():
            return BFLOAT16, 2
        case Float32Type():
            return FLOAT32, 4
        case Float64Type():
            return FLOAT64, 8
        case IntegerType(width=width, signedness=signedness):
            is_signed = signedness.data is not Signedness.UNSIGNED
            numbers = {16: UINT16, 32: INT32 if is_signed else UINT32, 64: INT64 if is_signed else UINT64}
            return numbers.get(width.data, UINT8), max(1, width.data // 8)
        case _:
            return UINT8, 1


def to_json(parameters: Sequence[Parameter]) -> list[Any]:
    """For a kernel's metadata."""
    return [parameter if isinstance(parameter, int) else asdict(parameter) for parameter in parameters]


def from_json(data: Sequence[Any]) -> list[Parameter]:
    """The inverse of `to_json`."""
    return [item if isinstance(item, int) else _map_from_json(item) for item in data]


def _map_from_json(item: dict[str, Any]) -> TensorMapParameter | ComputedMapParameter | GridParameter:
    if "grid" in item:
        return GridParameter(**item)
    if "numbers" in item:
        return computed_map_from_json(item)
    pixels: Any = item.get("pixels")
    walk = None if pixels is None else tuple((*part,) for part in pixels)
    values: dict[str, Any] = {**item, "box": tuple(item["box"]), "pixels": walk}
    return TensorMapParameter(**values)


class Arguments:
    """Memory for one launch, in the form that cuLaunchKernelEx takes, to be used again and again.

    In one piece, so that one call packs it: the slots, the address of scratch memory, and the launch's configuration
    (`CUlaunchConfig`); tensor maps follow.
    """

    __slots__ = ("_attributes", "_memory", "_pointers", "call", "maps", "memory")

    def __init__(self, parameters: Sequence[Parameter], num_slots: int, function: int, attributes: bytes) -> None:
        num_maps = sum(not isinstance(parameter, int) for parameter in parameters)
        config = SLOT_BYTES * (num_slots + 1)
        self._memory = (ctypes.c_uint8 * (config + CONFIG_BYTES + num_maps * MAP_BYTES + MAP_ALIGNMENT))()
        self.memory = memoryview(self._memory)
        start = ctypes.addressof(self._memory)
        first_map = (start + config + CONFIG_BYTES + MAP_ALIGNMENT - 1) // MAP_ALIGNMENT * MAP_ALIGNMENT
        self.maps: list[tuple[TensorMapParameter | ComputedMapParameter | GridParameter, int]] = []
        """The tensor maps, and numbers of programs, to make before a launch, with where they go."""
        addresses: list[int] = []
        for parameter in parameters:
            if isinstance(parameter, int):
                addresses.append(start + SLOT_BYTES * parameter)
            else:
                address = first_map + MAP_BYTES * len(self.maps)
                self.maps.append((parameter, address))
                addresses.append(address)
        addresses.append(start + SLOT_BYTES * num_slots)
        self._pointers = (ctypes.c_void_p * len(addresses))(*addresses)
        self._attributes = ctypes.create_string_buffer(attributes, len(attributes)) if attributes else None
        attributes_at = 0 if self._attributes is None else ctypes.addressof(self._attributes)
        _ATTRIBUTES.pack_into(
            self.memory, config + CONFIG_ATTRIBUTES, attributes_at, len(attributes) // LAUNCH_ATTRIBUTE_BYTES
        )
        place = (
            ctypes.c_void_p(start + config),
            ctypes.c_void_p(function),
            ctypes.cast(self._pointers, ctypes.c_void_p),
        )
        self.call = (*place, None)
        """What cuLaunchKernelEx takes: configuration, function, addresses of the arguments, nothing else."""


class ArgumentPool:
    """`Arguments` of one loaded kernel that no launch uses at the moment; launches of several threads take different
    ones."""

    def __init__(self, parameters: Sequence[Parameter], function: int, attributes: bytes = b"") -> None:
        self._parameters = tuple(parameters)
        self._function = function
        self._attributes = attributes
        self.free: list[Arguments] = []
        """`pop` takes one; when the launch has copied it, `append` gives it back."""

    def make(self, num_slots: int) -> Arguments:
        """A new one, for when none is free."""
        return Arguments(self._parameters, num_slots, self._function, self._attributes)


@lru_cache(maxsize=256)
def packer(formats: tuple[str, ...]) -> Callable[..., None]:
    """A function (memory, 0, *slots, scratch, *grid, *block, shared, stream) that fills an `Arguments`, for slots of
    these forms in the letters of `struct`."""
    return struct.Struct(f"<{''.join(formats)}Q7I4xQ").pack_into


def launch_attribute(identifier: int) -> bytes:
    """A `CUlaunchAttribute` whose value is 1."""
    return struct.pack(f"<I4xI{LAUNCH_ATTRIBUTE_BYTES - 12}x", identifier, 1)
