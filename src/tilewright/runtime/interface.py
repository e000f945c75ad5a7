"""What launches: jit functions, and what autotuning and heuristics make of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial, reduce
from importlib import import_module
from pickle import PicklingError
from typing import Any, Protocol, Self

from tilewright.support.tracebacks import ends_tracebacks


class Launchable(Protocol):
    """What autotune and heuristics wrap: a jit function, or one of themselves."""

    arg_names: list[str]

    def run(self, *args: Any, grid: Any, warmup: bool, **keywords: Any) -> Any: ...


class KernelInterface:
    """`kernel[grid](...)` for anything that has `run`; programs derive classes of their own, as PyTorch does."""

    def __getitem__(self, grid: Any) -> Callable[..., Any]:
        return partial(self._start, grid)

    @ends_tracebacks
    def _start(self, grid: Any, /, *args: Any, **keywords: Any) -> Any:
        return self.run(*args, grid=grid, warmup=False, **keywords)

    def run(self, *args: Any, grid: Any = None, warmup: bool = False, **keywords: Any) -> Any:
        """Compile if need be and launch over `grid`."""
        raise NotImplementedError

    def warmup(self, *args: Any, grid: Any, **keywords: Any) -> Any:
        """Compile without running; a dtype stands for a tensor of it."""
        wrap = import_module("tilewright.runtime.tensors").MockTensor.wrap_dtype
        return self.run(*map(wrap, args), grid=grid, warmup=True, **keywords)


class NamedKernel(KernelInterface):
    """A decorated function: copied and pickled as Python functions are, by its name."""

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> tuple[Callable[[str, str], Any], tuple[str, str]]:
        function = innermost(self)
        place = function.__module__, function.__qualname__
        try:
            found = named(*place)
        except (ImportError, AttributeError):
            found = None
        if found is not self:
            raise PicklingError(f"kernel {place[1]} cannot be pickled: it is not what {'.'.join(place)} names")
        return named, place


def innermost(kernel: Any) -> Any:
    """The Python function that was decorated first."""
    while not inspect.isfunction(kernel):
        kernel = kernel.fn
    return kernel


def innermost_kernel(kernel: Any) -> Any:
    """The kernel that `@jit` made of it, under all other decorators."""
    while not inspect.isfunction(kernel.fn):
        kernel = kernel.fn
    return kernel


def named(module: str, name: str) -> Any:
    """Return what a module has under a dotted name."""
    return reduce(getattr, name.split("."), import_module(module))
