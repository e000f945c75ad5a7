"""What a row of the table is made of: our launches, peers that compute the same, and the work that has to be done."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

try:
    import torch
except ImportError:
    torch = None

Contender = Callable[[], Any]


@dataclass(frozen=True)
class Launch:
    """One launch of a kernel with everything fixed: `kernel[grid](*arguments, **constants)`."""

    kernel: Any
    grid: tuple[int, ...]
    arguments: tuple[Any, ...]
    constants: Mapping[str, Any]

    def __call__(self) -> None:
        self.kernel[self.grid](*self.arguments, **self.constants)

    @property
    def label(self) -> str:
        """The block sizes, for the table."""
        return " ".join(str(value) for value in self.constants.values() if isinstance(value, int))


@dataclass
class Case:
    """Our launches, of which the fastest counts, against peers; `read` and `written` are bytes of memory traffic."""

    ours: Sequence[Contender]
    read: float
    written: float
    operations: float = 0.0
    kind: str = "f32"
    eager: Contender | None = None
    """PyTorch as users write it; `traced` where that is left out."""
    prepared: Contender | None = None
    """PyTorch into memory that is there already."""
    traced: Callable[..., Any] | None = None
    """What torch.compile is given, to be called with `tensors`."""
    tensors: tuple[Any, ...] = ()
    numpy: Contender | None = None
    numba: Contender | None = None
    floor: float | None = None
    """The promised ratio of PyTorch's time to ours."""
    note: str = ""
    """Why nothing is promised."""
    results: Callable[[], tuple[Any, Any]] | None = None
    """Our result after a launch, and what it should be."""
    tolerance: float = 1e-4
    peers: dict[str, Contender] = field(default_factory=dict[str, Contender])
    """Filled in by the measuring process."""


ALIGNMENT = 64
"""Bytes: where PyTorch's tensors start. NumPy's large arrays start 16 bytes behind a page."""


def empty(shape: int | tuple[int, ...], dtype: Any) -> Any:
    """As `np.empty`, with PyTorch's alignment."""
    extents = (shape,) if isinstance(shape, int) else shape
    wanted = math.prod(extents) * np.dtype(dtype).itemsize
    memory = np.empty(wanted + ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % ALIGNMENT
    return memory[start : start + wanted].view(dtype).reshape(extents)


def empty_like(array: Any) -> Any:
    """As `np.empty_like`, with PyTorch's alignment."""
    return empty(array.shape, array.dtype)


def zeros(shape: int | tuple[int, ...], dtype: Any) -> Any:
    """As `np.zeros`, with PyTorch's alignment."""
    array = empty(shape, dtype)
    array[...] = 0
    return array


def normal(*shape: int, dtype: Any = np.float32, seed: int = 0) -> Any:
    """Random numbers, as a NumPy array with PyTorch's alignment."""
    array = empty(shape, dtype)
    array[...] = np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)
    return array


def cdiv(x: int, y: int) -> int:
    return -(-x // y)


def tensors(*arrays: Any) -> tuple[Any, ...]:
    """PyTorch tensors over the same memory; nothing where PyTorch is absent."""
    return tuple(torch.from_numpy(array) for array in arrays) if torch is not None else ()


def bf16(*shape: int, seed: int = 0) -> Any:
    """Random numbers in bfloat16, as a tensor. Raises RuntimeError where PyTorch is absent."""
    if torch is None:
        raise RuntimeError("needs PyTorch for bfloat16")
    return torch.from_numpy(normal(*shape, seed=seed)).to(torch.bfloat16)


def deviation(found: Any, expected: Any) -> float:
    """||found - expected|| / ||expected|| in float64."""
    pair = [
        value.double().numpy() if hasattr(value, "double") else np.asarray(value, np.float64)
        for value in (found, expected)
    ]
    size = float(np.linalg.norm(pair[1].ravel()))
    return float(np.linalg.norm((pair[0] - pair[1]).ravel())) / (size or 1.0)
