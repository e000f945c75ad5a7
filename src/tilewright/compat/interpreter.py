"""What Triton calls `triton.runtime.interpreter`: kernels without a compiler.

    InterpretedFunction(kernel.fn)[grid](...)      # runs on the reference engine, whatever the switches say

There is no interpreter of Python here: `TRITON_INTERPRET=1` has the reference engine run the kernel's IR, and kernels
stay what they are. `isinstance(kernel, InterpretedFunction)` says whether its launches go there.
"""

from __future__ import annotations

from typing import Any

from tilewright.runtime.errors import InterpreterError
from tilewright.runtime.interface import KernelInterface, NamedKernel
from tilewright.runtime.jit import JITFunction
from tilewright.support import knobs

REFERENCE = "reference"


class _RunsOnReference(type(KernelInterface)):
    def __instancecheck__(cls, instance: Any) -> bool:
        if type.__instancecheck__(cls, instance):
            return True
        return isinstance(instance, JITFunction) and not knobs.get("target") and bool(knobs.get("interpret"))


class InterpretedFunction(NamedKernel, metaclass=_RunsOnReference):
    """A kernel of its own whose launches go to the reference engine."""

    def __init__(self, fn: Any, **options: Any) -> None:
        self.kernel = fn if isinstance(fn, JITFunction) else JITFunction(fn, **options)
        self.fn = self.kernel.fn
        self.__name__ = self.fn.__name__

    def run(self, *args: Any, grid: Any, warmup: bool = False, **keywords: Any) -> Any:
        """As `JITFunction.run`; there is nothing to warm up."""
        if warmup:
            return None
        with knobs.scope(target=REFERENCE):
            return self.kernel.run(*args, grid=grid, **keywords)


def __getattr__(name: str) -> Any:
    raise AttributeError(
        f"module 'triton.runtime.interpreter' has no attribute {name!r}: tilewright has no interpreter of Python, "
        "TRITON_INTERPRET=1 runs kernels on its reference engine"
    )


__all__ = ["InterpretedFunction", "InterpreterError"]
