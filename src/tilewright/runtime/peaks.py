"""What a GPU can do at most, computed from what its driver says: performance models of autotuned kernels ask for it.

Clock rates are kHz, as `nvsmi` and the driver give them times 1000; results are TFLOP/s and GB/s.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from typing import Any

from tilewright.language.dtypes import dtype
from tilewright.runtime.driver import driver
from tilewright.support.errors import TargetError

SUBCORES = 4
"""Schedulers of a multiprocessor."""

TENSOR_BITS = {7: 4096, 8: 8192, 9: 16384, 10: 32768}
"""Bits of operands that the tensor cores of one subcore multiply and add in a clock, by the major number of the
compute capability, counted as two operations for each."""

LANES = {7: 16, 8: 16, 9: 32, 10: 32}
"""Multiplications of float32 with an addition that one subcore does in a clock, by the same number; of 16-bit types
there are twice as many."""


def nvsmi(attributes: Sequence[str]) -> list[int]:
    """Return what `nvidia-smi` says of the first GPU, such as `["clocks.max.sm"]` in MHz. Raises OSError without that
    tool.
    """
    command = ["nvidia-smi", "-i", "0", f"--query-gpu={','.join(attributes)}", "--format=csv,noheader,nounits"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [int(value) for value in said.split(",")]


def get_dram_gbps(device: Any = None) -> float:
    """Bandwidth of a GPU's memory in GB/s: two transfers a clock. Raises TargetError where there is no GPU."""
    properties = _properties(device)
    return properties["mem_clock_rate"] * properties["mem_bus_width"] * 2 / 1e6 / 8


def get_max_tensorcore_tflops(dtype: Any, clock_rate: float, device: Any = None) -> float:
    """Products on tensor cores in TFLOP/s at a clock rate, for operands of a dtype of ours or of PyTorch."""
    properties = _properties(device)
    operations = _of_generation(TENSOR_BITS) // _bits(dtype)
    return properties["multiprocessor_count"] * SUBCORES * clock_rate * operations * 1e-9


def get_max_simd_tflops(dtype: Any, clock_rate: float, device: Any = None) -> float:
    """Operations on vectors of threads in TFLOP/s at a clock rate, for float32 or a 16-bit dtype, of ours or of
    PyTorch."""
    properties = _properties(device)
    operations = 2 * _of_generation(LANES) * 32 // max(16, _bits(dtype))
    return properties["multiprocessor_count"] * SUBCORES * clock_rate * operations * 1e-9


def _of_generation(table: dict[int, int]) -> int:
    """The entry for the current GPU; the nearest one for generations that are not there."""
    major = int(str(driver.active.get_current_target().arch)) // 10
    return table[min(max(major, min(table)), max(table))]


def _properties(device: Any) -> dict[str, int]:
    active = driver.active
    if not active.is_gpu:
        raise TargetError(f"the peaks of a GPU are asked for, and launches go to target '{active.name}'")
    return active.utils.get_device_properties(device)


def _bits(kind: Any) -> int:
    return kind.primitive_bitwidth if isinstance(kind, dtype) else 8 * int(kind.itemsize)
