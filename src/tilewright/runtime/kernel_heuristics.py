"""`heuristics`: constants of a kernel that follow from its arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tilewright.runtime.interface import Launchable, NamedKernel
from tilewright.support.tracebacks import ends_tracebacks


class Heuristics(NamedKernel):
    """Computes meta-parameters from the arguments before each launch."""

    def __init__(
        self, fn: Launchable, arg_names: Sequence[str], values: Mapping[str, Callable[[dict[str, Any]], Any]]
    ) -> None:
        self.fn = fn
        self.values = dict(values)
        self.arg_names = list(arg_names)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "fn" not in self.__dict__:
            raise AttributeError(name)
        return getattr(self.fn, name)

    @ends_tracebacks
    def run(self, *args: Any, grid: Any = None, warmup: bool = False, **keywords: Any) -> Any:
        arguments = dict(zip(self.arg_names, args, strict=False))
        for name, rule in self.values.items():
            keywords[name] = rule({**arguments, **keywords})
        return self.fn.run(*args, grid=grid, warmup=warmup, **keywords)

    @ends_tracebacks
    def warmup(self, *args: Any, grid: Any = None, **keywords: Any) -> Any:
        return self.run(*args, grid=grid, warmup=True, **keywords)


def heuristics(values: Mapping[str, Callable[[dict[str, Any]], Any]]) -> Callable[[Launchable], Heuristics]:
    """Decorator: before each launch set the parameters named in `values` to what their functions return."""
    return lambda fn: Heuristics(fn, fn.arg_names, values)
