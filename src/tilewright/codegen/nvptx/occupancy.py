"""How many CTAs of a kernel a multiprocessor runs at once, from the tables of NVIDIA's CUDA C++ Programming Guide
("Technical Specifications per Compute Capability") and its occupancy calculator."""

from __future__ import annotations

from tilewright.codegen.nvptx.facts import REGISTERS, WARP_SIZE
from tilewright.support.records import dataclass

REGISTER_UNIT = 256
"""Registers of a warp are allocated in so many."""
SHARED_UNIT = 128
RESERVED_SHARED = 1024
"""Bytes of shared memory that the system takes for each CTA."""


@dataclass(frozen=True)
class _Limits:
    warps: int
    ctas: int
    shared_kib: int


_LIMITS = {
    80: _Limits(64, 32, 164),
    86: _Limits(48, 16, 100),
    87: _Limits(48, 16, 164),
    89: _Limits(48, 24, 100),
    90: _Limits(64, 32, 228),
    100: _Limits(64, 32, 228),
    103: _Limits(64, 32, 228),
    120: _Limits(48, 24, 100),
}


@dataclass(frozen=True)
class Occupancy:
    """CTAs on one multiprocessor, the part of its warps that they are, and what allows no more."""

    ctas: int
    fraction: float
    limited_by: str


def occupancy(capability: int, *, warps: int, registers: int | None, shared_bytes: int) -> Occupancy | None:
    """The occupancy of a kernel; registers count where they are known. None for an architecture that is not known."""
    limits = _LIMITS.get(capability)
    if limits is None:
        return None
    per_cta = -(-(shared_bytes + RESERVED_SHARED) // SHARED_UNIT) * SHARED_UNIT
    bounds = {
        "warps": limits.warps // warps,
        "CTAs": limits.ctas,
        "shared memory": limits.shared_kib * 1024 // per_cta,
    }
    if registers:
        of_warp = -(-registers * WARP_SIZE // REGISTER_UNIT) * REGISTER_UNIT
        bounds["registers"] = REGISTERS // of_warp // warps
    limiting = min(bounds, key=lambda name: bounds[name])
    ctas = bounds[limiting]
    return Occupancy(ctas, ctas * warps / limits.warps, limiting)
