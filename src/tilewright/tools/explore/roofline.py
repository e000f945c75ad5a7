"""What a machine can do at most: operations and bytes per second, for the roofline of a page.

Of this machine both are measured, by NumPy's matmul and by copies of arrays that no cache holds; of GPUs they are those
of the maker's data sheets.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from time import perf_counter

import numpy as np

from tilewright.support.records import dataclass

MATMUL_EXTENT = 768
COPIED_BYTES = 128 << 20
ROUNDS = 4


@dataclass(frozen=True)
class Roofline:
    """Peak rates, and where they come from."""

    flops_per_second: float
    bytes_per_second: float
    origin: str


_GPUS = {
    80: Roofline(312e12, 2.039e12, "A100 80 GB, data sheet: float16 tensor cores, HBM2e"),
    86: Roofline(149.7e12, 0.696e12, "A40, data sheet: float16 tensor cores, GDDR6"),
    89: Roofline(362.05e12, 0.864e12, "L40S, data sheet: float16 tensor cores, GDDR6"),
    90: Roofline(989.4e12, 3.35e12, "H100 SXM, data sheet: float16 tensor cores, HBM3; an H200 moves 4.8 TB/s"),
}
"""By compute capability, one card of each architecture, from NVIDIA's data sheets (A100 80 GB, A40, L40S, H100 SXM):
matmuls of float16 with float32 sums, without sparsity. The H100's says 1,979 TFLOPS with sparsity, which
doubles the rate, and 3.35 TB/s; the H200's the same and 4.8 TB/s. They are what the multiprocessors multiply at the
boost clock (of the H100's architecture paper 132 times 4,096 operations at 1.83 GHz), which a test computes."""


def gpu_roofline(capability: int) -> Roofline | None:
    """The roofline of an architecture's best-known card."""
    return _GPUS.get(capability)


@lru_cache(maxsize=1)
def host_roofline() -> Roofline:
    """This machine's, in a fifth of a second: float32 matmuls of NumPy's library on all cores, and a copy, which reads
    as much as it writes."""
    left, right = np.ones((2, MATMUL_EXTENT, MATMUL_EXTENT), np.float32)
    matmul = min(_seconds(lambda: left @ right) for _ in range(ROUNDS))
    source = np.ones(COPIED_BYTES // 8)
    target = np.empty_like(source)
    copy = min(_seconds(lambda: np.copyto(target, source)) for _ in range(ROUNDS))
    origin = "this machine, measured: NumPy's float32 matmul on all cores, a copy of 128 MiB by one"
    return Roofline(2 * MATMUL_EXTENT**3 / matmul, 2 * COPIED_BYTES / copy, origin)


def _seconds(act: Callable[[], object]) -> float:
    start = perf_counter()
    act()
    return perf_counter() - start
