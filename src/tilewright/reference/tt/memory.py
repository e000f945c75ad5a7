"""Loads and stores."""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.ir import Attribute

from tilewright.dialects import tt
from tilewright.dialects.construction import static_values
from tilewright.dialects.numeric import Array
from tilewright.dialects.tt import PaddingOption
from tilewright.dialects.tt.types import pointee_like
from tilewright.dialects.types import element_type, is_float
from tilewright.reference.machine import Frame, Values, meaning_of
from tilewright.reference.tt.access import read_lanes, write_lanes
from tilewright.reference.tt.block_pointers import Block
from tilewright.reference.tt.pointers import storage_type


def padding_value(padding: PaddingOption | None, element: Attribute) -> Any:
    """Return what elements outside of a tensor read as: NaN where asked for and possible, else 0."""
    nan = padding is PaddingOption.NAN and is_float(element)
    return np.array(np.nan if nan else 0).astype(storage_type(element))


@meaning_of(tt.LoadOp)
def load(op: tt.LoadOp, frame: Frame) -> Values:
    """Lanes that are masked off are `other`, or 0; those beyond a checked boundary are the padding, or 0."""
    pointer = frame.get(op.ptr)
    element = element_type(pointee_like(op.ptr.type))
    if isinstance(pointer, Block):
        other = padding_value(None if op.padding is None else PaddingOption.of(op.padding), element)
        return (read_lanes(frame, pointer.addresses(), element, _inside(pointer, op), other),)
    mask = None if op.mask is None else frame.get(op.mask)
    other = None if op.other is None else frame.get(op.other)
    return (read_lanes(frame, pointer, element, mask, other),)


@meaning_of(tt.StoreOp)
def store(op: tt.StoreOp, frame: Frame) -> Values:
    pointer, value = frame.get(op.ptr), frame.get(op.value)
    element = element_type(op.value.type)
    if isinstance(pointer, Block):
        write_lanes(frame, pointer.addresses(), value, element, _inside(pointer, op))
        return ()
    write_lanes(frame, pointer, value, element, None if op.mask is None else frame.get(op.mask))
    return ()


def _inside(block: Block, op: tt.LoadOp | tt.StoreOp) -> Array | None:
    return block.inside(static_values(op.boundary_check))
