"""tilewright: a complete compiler for Triton kernels, in Python.

The names below are those of the `triton` package; each is imported when it is first used, so that importing tilewright
costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tilewright.support.late import bind_modules, bind_names, find_name

__version__ = "0.1.0"

_NAMES = {
    "Config": "tilewright.runtime.autotuner:Config",
    "autotune": "tilewright.runtime.autotuner:autotune",
    "heuristics": "tilewright.runtime.autotuner:heuristics",
    "AutotunerError": "tilewright.runtime.autotuner:AutotunerError",
    "KernelInterface": "tilewright.runtime.interface:KernelInterface",
    "JITFunction": "tilewright.runtime.jit:JITFunction",
    "jit": "tilewright.runtime.jit:jit",
    "AsyncCompileMode": "tilewright.runtime.async_compile:AsyncCompileMode",
    "FutureKernel": "tilewright.runtime.async_compile:FutureKernel",
    "InterpreterError": "tilewright.runtime.errors:InterpreterError",
    "MockTensor": "tilewright.runtime.tensors:MockTensor",
    "TensorWrapper": "tilewright.runtime.tensors:TensorWrapper",
    "reinterpret": "tilewright.runtime.tensors:reinterpret",
    "set_allocator": "tilewright.runtime.scratch:set_allocator",
    "set_num_threads": "tilewright.runtime.threads:set_num_threads",
    "get_num_threads": "tilewright.runtime.threads:get_num_threads",
    "compile": "tilewright.runtime.compiling:compile",
    "cdiv": "tilewright.language.host:cdiv",
    "next_power_of_2": "tilewright.language.host:next_power_of_2",
    "aggregate": "tilewright.language.aggregates:aggregate",
    "constexpr_function": "tilewright.language.callables:constexpr_function",
    "must_use_result": "tilewright.language.registry:must_use_result",
    "CompilationError": "tilewright.support.errors:CompilationError",
    "CompileTimeAssertionFailure": "tilewright.support.errors:CompileTimeAssertionFailure",
    "DeviceAssertionError": "tilewright.support.errors:DeviceAssertionError",
    "OutOfResources": "tilewright.support.errors:OutOfResources",
    "TritonError": "tilewright.support.errors:TilewrightError",
    "TilewrightError": "tilewright.support.errors:TilewrightError",
    "UnsupportedLanguageConstruct": "tilewright.support.errors:UnsupportedLanguageConstruct",
    **{
        name: f"tilewright.{name}"
        for name in ("compat", "compiler", "gluon", "knobs", "language", "runtime", "testing", "tools")
    },
}
bind_names(__name__, _NAMES)

# What layers use of those above them.
bind_modules("passes", "tilewright.transforms.registration", "tilewright.lowering.registration")
bind_modules("dialects", "tilewright.dialects")
bind_modules("driver", "tilewright.runtime.driver")
bind_modules("validation", "tilewright.tools.validation.observer")
bind_names(
    "tilewright.compiler",
    {
        "compile": "tilewright.runtime.compiling:compile",
        "make_backend": "tilewright.compat.compiler:make_backend",
        "max_shared_mem": "tilewright.compat.compiler:max_shared_mem",
        "compiler": "tilewright.compat.compiler",
    },
)
bind_names(
    "tilewright.runtime",
    {
        "cache": "tilewright.compat.cache",
        "RedisRemoteCacheBackend": "tilewright.support.cache_managers:RedisRemoteCacheBackend",
        "RemoteCacheBackend": "tilewright.support.cache_managers:RemoteCacheBackend",
    },
)

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
    from tilewright.runtime.scratch import set_allocator
    from tilewright.runtime.tensors import MockTensor, TensorWrapper, reinterpret
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
    value = globals()[name] = find_name(__name__, name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


def load_ipython_extension(shell: Any) -> None:
    """Be what `%load_ext tilewright` loads: the cell magic `%%tilewright`."""
    import_module("tilewright.tools.explore.notebook").register(shell)
