"""`kernel.device_caches`: what a jit function has compiled in this process, in the shape in which Triton keeps it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from tilewright.compiler.kernel import CompiledKernel
from tilewright.runtime.binding import Binder
from tilewright.runtime.driver import driver

PerDevice = tuple[dict[Hashable, CompiledKernel], dict[Any, Any], Any, Any, Binder]


class DeviceCaches:
    """`kernel.device_caches[device][0]` are the kernels by specialisation; `clear()` forgets them.

    All devices share one table here: where a kernel runs is part of its key.
    """

    def __init__(self, kernels: dict[Hashable, CompiledKernel], binder: Binder, forget: Callable[[], None]) -> None:
        self._kernels = kernels
        self._binder = binder
        self.clear = forget

    def __getitem__(self, device: Any) -> PerDevice:
        """The kernels, a table of keys (empty here), the target, what compiles for it, and the binder."""
        present = driver.active
        return self._kernels, {}, present.get_current_target(), present.target, self._binder
