"""tilewright: a complete compiler for Triton kernels, in Python.

The names below are those of the `triton` package; each is imported when it is first used, so that importing tilewright
costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

#: Public name -> module that defines it; a name that equals its module's last part is the module itself.
_HOMES = {
    "Config": "tilewright.runtime.autotuner",
    "autotune": "tilewright.runtime.autotuner",
    "heuristics": "tilewright.runtime.autotuner",
    "AutotunerError": "tilewright.runtime.autotuner",
    "KernelInterface": "tilewright.runtime.interface",
    "JITFunction": "tilewright.runtime.jit",
    "jit": "tilewright.runtime.jit",
    "AsyncCompileMode": "tilewright.runtime.async_compile",
    "FutureKernel": "tilewright.runtime.async_compile",
    "InterpreterError": "tilewright.runtime.errors",
    "MockTensor": "tilewright.runtime.tensors",
    "TensorWrapper": "tilewright.runtime.tensors",
    "reinterpret": "tilewright.runtime.tensors",
    "set_allocator": "tilewright.runtime.tensors",
    "set_num_threads": "tilewright.runtime.threads",
    "get_num_threads": "tilewright.runtime.threads",
    "compile": "tilewright.runtime.compiling",
    "cdiv": "tilewright.language.host",
    "next_power_of_2": "tilewright.language.host",
    "aggregate": "tilewright.language.aggregates",
    "constexpr_function": "tilewright.language.callables",
    "must_use_result": "tilewright.language.registry",
    "CompilationError": "tilewright.support.errors",
    "CompileTimeAssertionFailure": "tilewright.support.errors",
    "DeviceAssertionError": "tilewright.support.errors",
    "OutOfResources": "tilewright.support.errors",
    "TritonError": "tilewright.support.errors",
    "TilewrightError": "tilewright.support.errors",
    "UnsupportedLanguageConstruct": "tilewright.support.errors",
}
_RENAMED = {"TritonError": "TilewrightError"}
_MODULES = ("compat", "compiler", "gluon", "knobs", "language", "runtime", "testing", "tools")

__all__ = [  # pyright: ignore[reportUnsupportedDunderAll]
    "AsyncCompileMode",
    "AutotunerError",
    "CompilationError",
    "CompileTimeAssertionFailure",
    "Config",
    "DeviceAssertionError",
    "FutureKernel",
    "InterpreterError",
    "JITFunction",
    "KernelInterface",
    "MockTensor",
    "OutOfResources",
    "TensorWrapper",
    "TilewrightError",
    "TritonError",
    "UnsupportedLanguageConstruct",
    "__version__",
    "aggregate",
    "autotune",
    "cdiv",
    "compat",
    "compile",
    "compiler",
    "constexpr_function",
    "get_num_threads",
    "gluon",
    "heuristics",
    "jit",
    "knobs",
    "language",
    "must_use_result",
    "next_power_of_2",
    "reinterpret",
    "runtime",
    "set_allocator",
    "set_num_threads",
    "testing",
    "tools",
]

if TYPE_CHECKING:
    from tilewright import compat, compiler, gluon, knobs, language, runtime, testing, tools
    from tilewright.language.aggregates import aggregate
    from tilewright.language.callables import constexpr_function
    from tilewright.language.host import cdiv, next_power_of_2
    from tilewright.language.registry import must_use_result
    from tilewright.runtime.async_compile import AsyncCompileMode, FutureKernel
    from tilewright.runtime.autotuner import AutotunerError, Config, autotune, heuristics
    from tilewright.runtime.compiling import compile
    from tilewright.runtime.errors import InterpreterError
    from tilewright.runtime.interface import KernelInterface
    from tilewright.runtime.jit import JITFunction, jit
    from tilewright.runtime.tensors import MockTensor, TensorWrapper, reinterpret, set_allocator
    from tilewright.runtime.threads import get_num_threads, set_num_threads
    from tilewright.support.errors import (
        CompilationError,
        CompileTimeAssertionFailure,
        DeviceAssertionError,
        OutOfResources,
        TilewrightError,
        UnsupportedLanguageConstruct,
    )

    TritonError = TilewrightError


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), _RENAMED.get(name, name))
    elif name in _MODULES:
        value = import_module(f"tilewright.{name}")
    else:
        raise AttributeError(f"module 'tilewright' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


def load_ipython_extension(shell: Any) -> None:
    """Be what `%load_ext tilewright` loads: the cell magic `%%tilewright`."""
    import_module("tilewright.tools.explore.notebook").register(shell)
