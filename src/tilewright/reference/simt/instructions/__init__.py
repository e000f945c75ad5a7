"""Instruction families: importing this registers their decoders."""

from __future__ import annotations

from tilewright.reference.simt.instructions import (
    arithmetic,
    atomics,
    barriers,
    bits,
    boxes,
    conversions,
    copies,
    floats,
    matrices,
    memory,
    moves,
    warp_groups,
    warps,
)

FAMILIES = (
    arithmetic,
    atomics,
    barriers,
    bits,
    boxes,
    conversions,
    copies,
    floats,
    matrices,
    memory,
    moves,
    warp_groups,
    warps,
)
