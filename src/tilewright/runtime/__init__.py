"""Launching kernels: `@jit`, arguments, targets, autotuning."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOMES = {
    "Autotuner": "tilewright.runtime.autotuner",
    "Config": "tilewright.runtime.autotuner",
    "Heuristics": "tilewright.runtime.autotuner",
    "KernelInterface": "tilewright.runtime.interface",
    "autotune": "tilewright.runtime.autotuner",
    "heuristics": "tilewright.runtime.autotuner",
    "JITFunction": "tilewright.runtime.jit",
    "MockTensor": "tilewright.runtime.tensors",
    "TensorWrapper": "tilewright.runtime.tensors",
    "reinterpret": "tilewright.runtime.tensors",
    "InterpreterError": "tilewright.runtime.errors",
    "OutOfResources": "tilewright.runtime.errors",
}
_MODULES = {
    **{name: f"tilewright.runtime.{name}" for name in ("autotuner", "driver", "errors", "jit")},
    "cache": "tilewright.compat.cache",
}

__all__ = [*_HOMES, *_MODULES]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in _MODULES:
        return import_module(_MODULES[name])
    raise AttributeError(f"module 'tilewright.runtime' has no attribute {name!r}")
