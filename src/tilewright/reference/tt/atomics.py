"""Atomics: program after program, lane after lane, each lane seeing what those before it wrote."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from xdsl.ir import Attribute

from tilewright.dialects import tt
from tilewright.dialects.numeric import Array
from tilewright.dialects.tt import RMWOp
from tilewright.dialects.types import element_type
from tilewright.reference.errors import reference_error
from tilewright.reference.machine import Frame, Values, meaning_of
from tilewright.reference.tt.access import live_lanes, read_lanes, write_lanes
from tilewright.reference.tt.combine import combine_rmw
from tilewright.reference.tt.pointers import storage_type

Update = Callable[..., Array]
"""The new contents of memory, from the old ones and the operands."""


def update_lanes(
    frame: Frame, addresses: Any, operands: Sequence[Any], element: Attribute, update: Update, mask: Any = None
) -> Any:
    """Replace the elements at the addresses of live lanes one lane after another; gives the old contents, and 0 where a
    lane is masked off.

    Lanes without a common address do not see one another, so they are done at once.
    """
    addresses = np.asarray(addresses)
    live = live_lanes(frame, mask, addresses.shape)
    old = np.zeros(addresses.shape, storage_type(element))
    chosen = np.ones(addresses.shape, np.bool_) if live is None else np.asarray(live)
    for lanes in lanes_in_rounds(addresses, chosen):
        found = np.asarray(read_lanes(frame, addresses, element, lanes))
        write_lanes(frame, addresses, update(found, *(np.asarray(value) for value in operands)), element, lanes)
        old[lanes] = found[lanes]
    return old if addresses.ndim else old[()]


def lanes_in_rounds(addresses: Array, live: Array) -> list[Array]:
    """The live lanes in rounds: of the lanes with one address, the n-th takes part in the n-th round.

    Lanes with different addresses may be reordered, nobody can tell; those with one address keep their order.
    """
    flat, chosen = addresses.reshape(-1), np.flatnonzero(live)
    rounds: list[Array] = []
    seen: dict[int, int] = {}
    for lane, address in zip(chosen.tolist(), flat[chosen].tolist(), strict=True):
        number = seen.get(address, 0)
        seen[address] = number + 1
        if number == len(rounds):
            rounds.append(np.zeros(flat.shape, np.bool_))
        rounds[number][lane] = True
    return [lanes.reshape(addresses.shape) for lanes in rounds]


@meaning_of(tt.AtomicRMWOp)
def atomic_rmw(op: tt.AtomicRMWOp, frame: Frame) -> Values:
    mask = None if op.mask is None else frame.get(op.mask)
    update = rmw_update(op, RMWOp.of(op.atomic_rmw_op), element_type(op.val.type))
    return (update_lanes(frame, frame.get(op.ptr), [frame.get(op.val)], element_type(op.val.type), update, mask),)


@meaning_of(tt.AtomicCASOp)
def atomic_cas(op: tt.AtomicCASOp, frame: Frame) -> Values:
    operands = [frame.get(op.cmp), frame.get(op.val)]
    return (update_lanes(frame, frame.get(op.ptr), operands, element_type(op.val.type), swap_equal),)


@meaning_of(tt.AtomicLoadOp)
def atomic_load(op: tt.AtomicLoadOp, frame: Frame) -> Values:
    addresses = np.asarray(frame.get(op.ptr))
    live = live_lanes(frame, None if op.mask is None else frame.get(op.mask), addresses.shape)
    return (read_lanes(frame, addresses, element_type(op.result.type), live),)


@meaning_of(tt.AtomicStoreOp)
def atomic_store(op: tt.AtomicStoreOp, frame: Frame) -> Values:
    addresses = np.asarray(frame.get(op.ptr))
    live = live_lanes(frame, None if op.mask is None else frame.get(op.mask), addresses.shape)
    write_lanes(frame, addresses, np.asarray(frame.get(op.value)), element_type(op.value.type), live)
    return ()


@meaning_of(tt.AtomicPollOp)
def atomic_poll(op: tt.AtomicPollOp, frame: Frame) -> Values:
    """Programs run one after another: what is not there when a program looks will not be there later."""
    expected = np.asarray(frame.get(op.expected))
    found = np.asarray(read_lanes(frame, np.asarray(frame.get(op.ptr)), element_type(op.expected.type), None))
    is_there = found == expected
    if op.timeout is None and not np.all(is_there):
        raise reference_error(op, "waits for ever: the programs that run before it leave another value there")
    return (is_there,)


def rmw_update(op: Any, kind: RMWOp, element: Attribute) -> Update:
    """The update of a read-modify-write; an error where the element type has no such atomic."""

    def update(old: Array, value: Array) -> Array:
        try:
            return combine_rmw(kind, old, value, element)
        except KeyError:
            raise reference_error(op, f"there is no atomic {kind.keyword} of {element}") from None

    return update


def swap_equal(old: Array, expected: Array, value: Array) -> Array:
    """The value where the contents equal what was expected bit by bit."""
    bits = f"u{old.dtype.itemsize}"
    same = np.ascontiguousarray(old).view(bits) == np.ascontiguousarray(expected).view(bits)
    return np.where(same.reshape(old.shape), value, old)
