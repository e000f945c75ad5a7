"""The facts about an NVIDIA GPU that lowering and code generation may use."""

from __future__ import annotations

from tilewright.support.facts import GpuFacts
from tilewright.support.records import dataclass

NVPTX_TRIPLE = "nvptx64-nvidia-cuda"
WARP_SIZE = 32
REGISTERS = 65536
"""Registers of a multiprocessor."""
UNKNOWN_MULTIPROCESSORS = 4
"""Few, so that persistent kernels take no longer on the simulated GPU than others."""

DEFAULT_PTX_VERSIONS: tuple[tuple[int, int], ...] = ((120, 87), (103, 88), (100, 86), (90, 84), (89, 84), (80, 74))
"""Per compute capability the oldest PTX version (major * 10 + minor) that has all of its instructions that we use."""


@dataclass(frozen=True, kw_only=True)
class NvptxFacts(GpuFacts):
    """Facts of one NVIDIA GPU. Made by `nvptx_facts`."""

    ptx_version: int
    """Version of the PTX that is written, major * 10 + minor: 80 is ``.version 8.0``."""

    def device_properties(self) -> dict[str, int]:
        """Of a GPU of this architecture that is not there: how large it is is not known, so it is a small one."""
        return {
            "multiprocessor_count": UNKNOWN_MULTIPROCESSORS,
            "warpSize": WARP_SIZE,
            "max_num_regs": REGISTERS,
            "max_shared_mem": self.shared_bytes_limit,
        }


_SHARED_LIMITS = {80: 163, 86: 99, 87: 163, 89: 99, 90: 227, 100: 227, 103: 227, 120: 99}
"""KiB of shared memory that one CTA may have, by compute capability."""


def nvptx_facts(capability: int, *, ptx_version: int | None = None) -> NvptxFacts:
    """The facts of a GPU of `capability`, e.g. ``nvptx_facts(90)``; instructions of one architecture only (``sm_90a``)
    are allowed from 9.0 on."""
    suffix = "a" if capability >= 90 else ""
    limit = next((kib for known, kib in sorted(_SHARED_LIMITS.items(), reverse=True) if known <= capability), 48)
    return NvptxFacts(
        name="cuda",
        triple=NVPTX_TRIPLE,
        cpu=f"sm_{capability}{suffix}",
        vector_bits=128,
        capability=capability,
        ptx_version=ptx_version or default_ptx_version(capability),
        shared_bytes_limit=limit * 1024,
    )


def default_ptx_version(capability: int) -> int:
    """The PTX version to write when nobody asks for one."""
    return next((version for known, version in DEFAULT_PTX_VERSIONS if capability >= known), 74)
