"""Atomics on a base and element offsets, in the order of lanes."""

from __future__ import annotations

import time

import numpy as np

from tilewright.dialects import tts
from tilewright.dialects.tt import RMWOp
from tilewright.dialects.types import element_type
from tilewright.reference.machine import Frame, Values, meaning_of
from tilewright.reference.tt.atomics import rmw_update, swap_equal, update_lanes
from tilewright.reference.tts.accesses import element_addresses


@meaning_of(tts.AtomicRMWOp)
def atomic_rmw(op: tts.AtomicRMWOp, frame: Frame) -> Values:
    element = element_type(op.value.type)
    update = rmw_update(op, RMWOp.of(op.atomic_rmw_op), element)
    mask = None if op.mask is None else frame.get(op.mask)
    addresses = element_addresses(op.base, op.offset, frame)
    return (update_lanes(frame, addresses, [frame.get(op.value)], element, update, mask),)


@meaning_of(tts.AtomicCASOp)
def atomic_cas(op: tts.AtomicCASOp, frame: Frame) -> Values:
    operands = [frame.get(op.cmp), frame.get(op.value)]
    addresses = element_addresses(op.base, op.offset, frame)
    return (update_lanes(frame, addresses, operands, element_type(op.value.type), swap_equal),)


@meaning_of(tts.NanosecondsOp)
def nanoseconds(op: tts.NanosecondsOp, frame: Frame) -> Values:
    return (np.int64(time.monotonic_ns()),)
