"""Elements found by computed indices within tensors."""

from __future__ import annotations

import numpy as np

from tilewright.dialects import tt
from tilewright.dialects.arith.meaning import as_unsigned
from tilewright.dialects.numeric import dtype_of
from tilewright.dialects.tt.types import shape_of
from tilewright.dialects.types import bit_width, element_type
from tilewright.reference.machine import Frame, Values, meaning_of
from tilewright.reference.memory import AccessError


@meaning_of(tt.GatherOp)
def gather(op: tt.GatherOp, frame: Frame) -> Values:
    """An index outside of the source has no meaning."""
    source, indices = np.asarray(frame.get(op.src)), np.asarray(frame.get(op.indices)).astype(np.int64)
    axis = op.axis.value.data
    outside = (indices < 0) | (indices >= source.shape[axis])
    if np.any(outside):
        lane = tuple(int(place) for place in np.argwhere(outside)[0])
        where = f"outside of dimension {axis} of size {source.shape[axis]}"
        raise AccessError(f"at {list(lane)} of the tile: index {indices[lane]} is {where}")
    return (np.take_along_axis(source, indices, axis),)


@meaning_of(tt.HistogramOp)
def histogram(op: tt.HistogramOp, frame: Frame) -> Values:
    """Values are read as unsigned; those that have no bin are not counted."""
    values = np.asarray(frame.get(op.src))
    (bins,) = shape_of(op.result.type)
    places = as_unsigned(values, bit_width(element_type(op.src.type))).astype(np.uint64)
    live = places < np.uint64(bins)
    if op.mask is not None:
        live = live & frame.get(op.mask)
    counts = np.bincount(places[live].astype(np.int64), minlength=bins)
    return (counts.astype(dtype_of(element_type(op.result.type))),)
