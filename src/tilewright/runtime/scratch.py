"""Global scratch memory of kernels: who provides it, under the names that Triton has in `triton.runtime._allocation`.

Kernels for the CPU need none (descriptors made in a kernel are lowered to plain accesses).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Allocator = Callable[[int, int, int | None], Any]
"""`(size, alignment, stream) -> object with data_ptr()`."""


class NullAllocator:
    """Stands for no allocator."""

    def __call__(self, size: int, alignment: int, stream: int | None) -> Any:
        """Raises RuntimeError."""
        raise RuntimeError(
            "Kernel requires a runtime memory allocation, but no allocator was set. Use set_allocator to specify one."
        )


class _Chosen:
    """The allocator of the process."""

    def __init__(self) -> None:
        self._allocator: Allocator = NullAllocator()

    def get(self) -> Allocator:
        return self._allocator

    def set(self, allocator: Allocator) -> None:
        self._allocator = allocator


_allocator = _Chosen()


def set_allocator(allocator: Allocator) -> None:
    """Set what provides global scratch memory; `NullAllocator()` for nothing."""
    _allocator.set(allocator)


def allocator() -> Allocator:
    """The allocator that was set; one that raises RuntimeError where there is none."""
    return _allocator.get()
