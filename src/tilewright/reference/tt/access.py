"""Reading and writing the lanes of a tensor of addresses, with messages that say which lane missed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from xdsl.ir import Attribute

from tilewright.dialects.numeric import Array
from tilewright.reference.address_space import OutOfBounds
from tilewright.reference.machine import Frame
from tilewright.reference.memory import AccessError
from tilewright.reference.tt.pointers import storage_type


def spread(values: Array, shape: tuple[int, ...]) -> Array:
    """Values in the shape of the lanes: most have it, and NumPy takes microseconds to find that out."""
    return values if values.shape == shape else np.broadcast_to(values, shape)


def live_lanes(frame: Frame, mask: Any, shape: tuple[int, ...]) -> Array | None:
    """Return which lanes take part; None when all do."""
    live = None if mask is None else spread(np.asarray(mask), shape)
    if frame.active is not None:
        live = frame.active if live is None else live & frame.active
    return live


def read_lanes(frame: Frame, addresses: Any, element: Attribute, mask: Any = None, other: Any = None) -> Any:
    """The elements at addresses; lanes that are masked off are `other`, or 0, and touch no memory."""
    addresses = np.asarray(addresses)
    dtype, memory = storage_type(element), frame.machine.memory
    live = live_lanes(frame, mask, addresses.shape)
    if live is None:
        flat = _located(frame, lambda: memory.read(addresses.reshape(-1), dtype), addresses.shape, None)
        return flat.reshape(addresses.shape) if addresses.ndim else flat[0]
    fill = np.zeros((), dtype) if other is None else other
    result = np.array(spread(np.asarray(fill), addresses.shape), dtype)
    result[live] = _located(frame, lambda: memory.read(addresses[live], dtype), addresses.shape, live)
    return result if addresses.ndim else result[()]


def write_lanes(frame: Frame, addresses: Any, values: Any, element: Attribute, mask: Any = None) -> None:
    """Set the elements at the addresses of live lanes, in lane order: of several writes to one place the last stays."""
    addresses = np.asarray(addresses)
    dtype, memory = storage_type(element), frame.machine.memory
    live = live_lanes(frame, mask, addresses.shape)
    wide = spread(np.asarray(values, dtype), addresses.shape)
    chosen, flat = (addresses.reshape(-1), wide.reshape(-1)) if live is None else (addresses[live], wide[live])
    _located(frame, lambda: memory.write(chosen, flat, dtype), addresses.shape, live)


def _located(frame: Frame, access: Callable[[], Any], shape: tuple[int, ...], live: Array | None) -> Any:
    """Run an access; a miss is reported with its lane and program."""
    try:
        return access()
    except OutOfBounds as miss:
        raise AccessError(f"{describe_lane(miss.position, shape, live)}{miss.reason}{_program(frame)}") from None


def describe_lane(position: int, shape: tuple[int, ...], live: Array | None) -> str:
    """The lane that is the n-th of the live ones."""
    if not shape:
        return ""
    number = position if live is None else int(np.flatnonzero(np.broadcast_to(live, shape))[position])
    lane = [int(place) for place in np.unravel_index(number, shape)]
    return f"at {lane} of the tile: "


def _program(frame: Frame) -> str:
    x, y, z = frame.machine.program_id
    return f" (program {x}, {y}, {z})"
