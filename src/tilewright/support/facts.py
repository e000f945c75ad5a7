"""The facts about the target machine that a lowering may use: plain numbers, never a target object."""

from __future__ import annotations

from tilewright.support.records import dataclass

FAR_PANEL_BYTES = 64 * 1024
"""Of panels that lie in the second-level cache: with larger ones products are not faster any more."""

MAX_WARPS = 64
"""Warps that programs of one multiprocessor have together, as on NVIDIA's since compute capability 8.0."""


@dataclass(frozen=True, kw_only=True)
class TargetFacts:
    """Facts of one machine; targets subclass it. Lowerings read facts, they never ask which target it is."""

    name: str
    """Target name, e.g. ``"cpu"``."""

    triple: str
    """LLVM target triple, e.g. ``"x86_64-unknown-linux-gnu"``."""

    cpu: str
    """LLVM processor name, e.g. ``"znver4"`` or ``"sm_90"``."""

    features: frozenset[str] = frozenset()
    """LLVM feature names that are on, without the plus sign, e.g. ``{"avx2", "fma"}``."""

    absent_features: frozenset[str] = frozenset()
    """LLVM feature names that are off although the processor's name may stand for them."""

    vector_bits: int = 128
    """Width of one vector register in bits."""

    l1_bytes: int = 32 * 1024
    """Data cache per core, level one, in bytes."""

    l2_bytes: int = 512 * 1024
    """Cache per core, level two, in bytes."""

    num_cores: int = 1
    """Cores that work on one grid."""

    loops_prefetch: bool = True
    """Whether loops over long contiguous ranges gain by prefetching what they are about to read and write."""

    fetched_near_bytes: int = 32 * 1024
    """Tiles up to this size go to the first-level cache where loops of little arithmetic fetch them, larger ones to the
    second."""

    streamed_traffic: int | None = None
    """Bytes that a launch reads and writes from which on its outputs are better written past the caches, however few of
    them it writes; None where only what it writes decides."""

    has_fast_gathers: bool = True
    """Whether gathers are faster than a load for each lane."""

    prefetches_by_page: bool = False
    """Whether loops had better ask for short rows that are far apart."""

    streams_half_vectors: bool = False
    """Whether loops that wait for several arrays pass more memory in vectors of half the width."""

    panels_are_far: bool = False
    """Whether products are as fast with panels that lie in the second-level cache."""

    def has(self, feature: str) -> bool:
        """Return whether the machine has an LLVM feature, e.g. ``facts.has("avx512f")``."""
        return feature in self.features

    @property
    def has_byte_dots(self) -> bool:
        """True if one instruction of x86 multiplies bytes and sums four of the products (VNNI)."""
        is_narrow = self.vector_bits <= 256
        return (self.has("avx512vnni") and self.has("avx512vl")) or (self.has("avxvnni") and is_narrow)

    def has_byte_registers(self, bits: int) -> bool:
        """Return whether a vector of so many bits is a register of x86, with instructions for its bytes."""
        return bits in (128, 256, 512) and bits <= self.vector_bits and (bits < 512 or self.has("avx512bw"))

    @property
    def vector_registers(self) -> int:
        """Vector registers that code can name: 16 on x86 before AVX-512, 32 on all others that are known here."""
        return 32 if self.vector_bits >= 512 or not self.triple.startswith("x86_64") else 16

    @property
    def near_bytes(self) -> int:
        """Two thirds of the first-level cache, in bytes: a working set of loops that stays in it."""
        return self.l1_bytes * 2 // 3

    @property
    def panel_bytes(self) -> int:
        """Bytes of a packed matrix that register tiles of a product go over one after the other."""
        return max(self.near_bytes, FAR_PANEL_BYTES) if self.panels_are_far else self.near_bytes

    @property
    def feature_string(self) -> str:
        """The features as LLVM's target machine takes them, e.g. ``"-amx-tile,+avx2,+fma"``."""
        absent = (f"-{feature}" for feature in sorted(self.absent_features))
        return ",".join([*absent, *(f"+{feature}" for feature in sorted(self.features))])

    def device_properties(self) -> dict[str, int]:
        """Return what programs size their grids by, under Triton's names: a core counts as a multiprocessor with one
        thread per warp and one register per thread, its own cache as shared memory.
        """
        return {
            "multiprocessor_count": self.num_cores,
            "warpSize": 1,
            "max_num_regs": MAX_WARPS,
            "max_shared_mem": self.l2_bytes,
        }

    def lanes(self, element_bits: int) -> int:
        """Elements of the given width that one vector register holds; at least 1."""
        return max(1, self.vector_bits // element_bits)


@dataclass(frozen=True, kw_only=True)
class GpuFacts(TargetFacts):
    """Facts of one NVIDIA GPU."""

    capability: int
    """Compute capability, major * 10 + minor: 80, 90."""

    shared_bytes_limit: int = 48 * 1024
    """Shared memory that one CTA may have."""


DEFAULT_FACTS = TargetFacts(name="", triple="x86_64-unknown-linux-gnu", cpu="", vector_bits=256)
"""What passes that run without a target assume."""
