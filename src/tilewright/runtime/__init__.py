"""Launching kernels: `@jit`, arguments, targets, autotuning."""

from __future__ import annotations

from tilewright.support.late import late_names, names_of

NAMES = {
    "Autotuner": "tilewright.runtime.autotuner:Autotuner",
    "Config": "tilewright.runtime.autotuner:Config",
    "Heuristics": "tilewright.runtime.autotuner:Heuristics",
    "KernelInterface": "tilewright.runtime.interface:KernelInterface",
    "autotune": "tilewright.runtime.autotuner:autotune",
    "heuristics": "tilewright.runtime.autotuner:heuristics",
    "JITFunction": "tilewright.runtime.jit:JITFunction",
    "MockTensor": "tilewright.runtime.tensors:MockTensor",
    "TensorWrapper": "tilewright.runtime.tensors:TensorWrapper",
    "reinterpret": "tilewright.runtime.tensors:reinterpret",
    "InterpreterError": "tilewright.runtime.errors:InterpreterError",
    "OutOfResources": "tilewright.runtime.errors:OutOfResources",
    **{name: f"tilewright.runtime.{name}" for name in ("autotuner", "driver", "errors", "jit")},
}

__getattr__ = late_names(__name__, NAMES)

__all__ = names_of(__name__)  # pyright: ignore[reportUnsupportedDunderAll]
