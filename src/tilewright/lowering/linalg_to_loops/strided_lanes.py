"""Lanes a few elements apart in memory: what is between them is loaded, or stored, with them as vectors, and shuffled.

    gather p[%i] [0, 2, 4, ..., 30]
      ->  %a = maskedload p[%i], [1, 0, 1, 0, ...];  %b = maskedload p[%i + 16], [1, 0, 1, 0, ...]
          shuffle %a, %b [0, 2, ..., 14, 16, ..., 30]

Elements in between are masked: they need not exist, and others may write them. Lanes of stride -1 are a vector in
reverse. Interleaved tensors, such as real and imaginary parts, are members of one access group: they share what is
loaded, and are stored as whole vectors:

    scatter %re, p[%i] [0, 2, ...];  scatter %im, p[%i + 1] [0, 2, ...]
      ->  store shuffle %re, %im [0, 16, 1, 17, ...], p[%i];  store shuffle %re, %im [8, 24, 9, 25, ...], p[%i + 16]
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeGuard

from xdsl.dialects.builtin import i1
from xdsl.ir import SSAValue

from tilewright.lowering.linalg_to_loops.emitter import Index, LoopEmitter, lanes_of
from tilewright.lowering.linalg_to_loops.sources import StridedView
from tilewright.support.cpu_costs import WIDEST_STRIDE
from tilewright.transforms.linalg.index_proofs import distance, is_same


def is_narrow(stride: Index | None) -> TypeGuard[int]:
    """Return whether lanes of that stride, which is not 1, are loaded and stored as vectors with shuffles."""
    return isinstance(stride, int) and (stride == -1 or 2 <= stride <= WIDEST_STRIDE)


def find_interleaved(
    view: StridedView, others: Iterable[StridedView], stride: int
) -> tuple[int, dict[int, StridedView]]:
    """Find the interleaved access group of `view`: which member it is, and all views of the same memory whose
    elements lie between its own, by their index in the group, in the order of their offsets."""
    found: dict[int, StridedView] = {0: view}
    for other in others:
        apart = distance(other.offset, view.offset)
        if other.flat is not view.flat or apart is None or len(other.strides) != len(view.strides):
            continue
        if abs(apart) < stride and all(is_same(a, b) for a, b in zip(other.strides, view.strides, strict=True)):
            found.setdefault(apart, other)
    first = min(found)
    return -first, {apart - first: other for apart, other in found.items() if apart - first < max(1, stride)}


def load_neighbourhood(
    emitter: LoopEmitter, flat: SSAValue, offset: Index, stride: int, members: Sequence[int], filler: SSAValue
) -> list[SSAValue]:
    """`stride` vectors that hold the elements of these members; `filler` is any vector of their type."""
    lanes = lanes_of(filler)
    if stride == -1:
        return [emitter.vector_load(flat, emitter.add(offset, 1 - lanes), lanes)]
    starts = range(0, stride * lanes, lanes)
    if len(members) == stride:
        return [emitter.vector_load(flat, emitter.add(offset, first), lanes) for first in starts]
    return [
        emitter.masked_load(flat, emitter.add(offset, first), _needed(emitter, first, stride, lanes, members), filler)
        for first in starts
    ]


def pick_lanes(emitter: LoopEmitter, parts: Sequence[SSAValue], stride: int, member: int) -> SSAValue:
    """The elements of one member, out of `load_neighbourhood`."""
    lanes = lanes_of(parts[0])
    if stride == -1:
        return emitter.pick(parts[0], range(lanes)[::-1])
    origins = [divmod(lane * stride + member, lanes) for lane in range(lanes)]
    return _merge_all(emitter, parts, origins)


def load_strided(emitter: LoopEmitter, flat: SSAValue, offset: Index, stride: int, filler: SSAValue) -> SSAValue:
    """The elements at `offset`, `offset + stride`, ..."""
    return pick_lanes(emitter, load_neighbourhood(emitter, flat, offset, stride, (0,), filler), stride, 0)


def store_strided(emitter: LoopEmitter, value: SSAValue, flat: SSAValue, offset: Index, stride: int) -> None:
    """Write to `offset`, `offset + stride`, ..., and to nothing in between."""
    lanes = lanes_of(value)
    if stride == -1:
        reverse = emitter.pick(value, range(lanes)[::-1])
        emitter.vector_store(reverse, flat, emitter.add(offset, 1 - lanes))
        return
    for first in range(0, stride * lanes, lanes):
        part = emitter.pick(value, [(first + lane) // stride for lane in range(lanes)])
        emitter.masked_store(part, flat, emitter.add(offset, first), _needed(emitter, first, stride, lanes, (0,)))


def store_interleaved(emitter: LoopEmitter, values: Sequence[SSAValue], flat: SSAValue, offset: Index) -> None:
    """Write the lanes of all values interleaved: the first lane of each, then the second of each, ..."""
    lanes, count = lanes_of(values[0]), len(values)
    for first in range(0, count * lanes, lanes):
        origins = [((first + lane) % count, (first + lane) // count) for lane in range(lanes)]
        emitter.vector_store(_merge_all(emitter, values, origins), flat, emitter.add(offset, first))


def _merge_all(emitter: LoopEmitter, parts: Sequence[SSAValue], origins: Sequence[tuple[int, int]]) -> SSAValue:
    """Lanes out of several vectors: `origins` are the index of a vector and a lane of it for each lane."""
    found = parts[0]
    for index, part in enumerate(parts[1:], start=1):
        order = [
            len(origins) + origin if which == index else lane if index > 1 else origin * (which == 0)
            for lane, (which, origin) in enumerate(origins)
        ]
        found = emitter.shuffle(found, part, order)
    return found


def _needed(emitter: LoopEmitter, first: int, stride: int, lanes: int, members: Sequence[int]) -> SSAValue:
    """Return which elements of the vector that begins at `first` are those of a lane."""
    return emitter.lane_constant([int((first + lane) % stride in members) for lane in range(lanes)], i1)
