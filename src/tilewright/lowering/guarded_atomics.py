"""Which atomics are performed under the lock of a region of memory, in place of a locked instruction an element.

x86 and AArch64 have no atomic sums of floats: each costs a compare-and-swap loop, about 18 cycles an element. A lock
taken once for neighbouring elements makes ordinary vector additions of them. All atomics on floats of all kernels use
these locks (`targets/cpu/native/regions.ll`), so they exclude each other; integers, which programs wait for and signal
with, are left to the CPU's own instructions, and so are floats at system scope, which others than kernels may change.

A thread that is alone needs neither. Atomics of lanes ask for that; those whose results are used may be part of waiting
for another program, and do not.
"""

from __future__ import annotations

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Operation

from tilewright.dialects import memref
from tilewright.dialects.memref import AtomicRMWKind
from tilewright.dialects.types import bit_width, element_type, is_float

INTEGER_SCATTERS = (
    AtomicRMWKind.ADDI,
    AtomicRMWKind.ANDI,
    AtomicRMWKind.ORI,
    AtomicRMWKind.XORI,
    AtomicRMWKind.MAXS,
    AtomicRMWKind.MAXU,
    AtomicRMWKind.MINS,
    AtomicRMWKind.MINU,
)
"""Kinds that give the same in any order of the lanes."""

SYSTEM_SCOPE = "tilewright.system_scope"
"""Unit attribute of atomics that others than the kernels of this process may interfere with."""


def mark_system_scope(op: Operation) -> None:
    """Say that an atomic must be indivisible for everybody."""
    op.attributes[SYSTEM_SCOPE] = UnitAttr()


def is_guarded(op: memref.AtomicRMWOp | memref.GenericAtomicRMWOp) -> bool:
    """Return whether an atomic takes the lock of its region."""
    return is_float(element_type(op.memref.type)) and SYSTEM_SCOPE not in op.attributes


def can_scatter(op: Operation) -> bool:
    """Return whether an atomic can be performed for all lanes of a vector (`lowering.atomic_calls`)."""
    if not isinstance(op, memref.AtomicRMWOp) or op.result.uses.get_length() or SYSTEM_SCOPE in op.attributes:
        return False
    element = element_type(op.memref.type)
    if is_float(element):
        return op.combination == AtomicRMWKind.ADDF
    return op.combination in INTEGER_SCATTERS and bit_width(element) in (32, 64)
