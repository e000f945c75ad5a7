"""Which of its two forms a kernel of PyTorch's compiler has at first: that for pointers that do not share memory.

A kernel that `tilewright.compile` returns has to be right for all pointers, and is compiled again at the first launch
whose pointers share none. Inductor's launches nearly always are such, each kernel was compiled twice. Here it is
compiled for them at once, and for others when a launch has them. Its ahead-of-time compiler, which takes the code out
of the kernel, gets that for all pointers.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from tilewright.runtime.compiling import disjoint_first


def compile_for_disjoint_first() -> None:
    """Have Inductor's kernels for the CPU compiled for pointers that do not share memory. Raises AttributeError where
    its class for kernels is not the one that is known here.
    """
    tuner: Any = import_module("torch._inductor.runtime.triton_heuristics").CachingAutotuner
    compile_one = tuner._precompile_config

    def _precompile_config(self: Any, config: Any) -> Any:
        is_launched_by_us = self.device_props.type == "cpu" and not self.inductor_meta.get("store_cubin")
        token = disjoint_first.set(is_launched_by_us)
        try:
            return compile_one(self, config)
        finally:
            disjoint_first.reset(token)

    tuner._precompile_config = _precompile_config
