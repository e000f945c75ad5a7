"""`kernel.device_caches`: what a jit function has compiled in this process, in the shape in which Triton keeps it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Any

from tilewright.compiler.kernel import CompiledKernel
from tilewright.runtime.argument_types import described
from tilewright.runtime.binding import Binder
from tilewright.runtime.driver import driver

Described = tuple[dict[str, Any], list[Any], dict[str, Any]]
"""Arguments by name, type and specialisation of each, and launch options."""

PerDevice = tuple[dict[Hashable, CompiledKernel], dict[Any, Any], Any, Any, Callable[..., Described]]


class DeviceCaches(Mapping[Any, PerDevice]):
    """`kernel.device_caches[device][0]` are the kernels by specialisation; `clear()` forgets them.

    All devices share one table here: where a kernel runs is part of its key. Who goes through them meets one device,
    the current one, once something has been compiled.
    """

    def __init__(self, kernels: dict[Hashable, CompiledKernel], binder: Binder, forget: Callable[[], None]) -> None:
        self._kernels = kernels
        self._binder = binder
        self.clear = forget

    def __getitem__(self, device: Any) -> PerDevice:
        """The kernels, a table of keys (empty here), the target, what compiles for it, and what describes arguments."""
        present = driver.active
        return self._kernels, {}, present.get_current_target(), present.target, self._describe

    def __iter__(self) -> Iterator[Any]:
        return iter([driver.active.get_current_device()] if self._kernels else [])

    def __len__(self) -> int:
        return 1 if self._kernels else 0

    def _describe(self, *args: Any, **keywords: Any) -> Described:
        """The arguments of a call, and what of them decides which kernel is run. Raises ArgumentError classes."""
        values, options = self._binder.match(args, keywords)
        bound = self._binder.bind(values, options)
        return dict(zip(bound.names, values, strict=True)), [described(item) for item in bound.items], options
