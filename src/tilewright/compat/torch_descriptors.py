"""What PyTorch asks about tensor descriptors, answered for CPUs.

PyTorch (`torch/utils/_triton.py`) takes descriptors for a matter of TMA units alone, and answers False without a GPU
that has one. Its tracer then does not know `TensorDescriptor`, so that a user's kernel that gets one cannot be in a
graph. On CPUs they are ordinary arguments of kernels, so the two questions about `triton`'s interface are True there;
the one about the device that kernels of Inductor's templates need (`has_triton_tma_device`) stays what it is.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable

QUESTIONS = ("has_triton_stable_tma_api", "has_triton_tensor_descriptor_host_tma")


def answer_for_cpus() -> None:
    """Replace the questions in the module that PyTorch asks; does nothing for those that it does not have."""
    module = importlib.import_module("torch.utils._triton")
    for name in QUESTIONS:
        if (known := getattr(module, name, None)) is not None:
            setattr(module, name, _on_cpus_too(known))


def _on_cpus_too(known: Callable[[], bool]) -> Callable[[], bool]:
    """The same question; where PyTorch has no GPU, whether `triton` has a back end for CPUs, as PyTorch asks that."""

    @functools.cache
    @functools.wraps(known)
    def answer() -> bool:
        torch = importlib.import_module("torch")
        if torch.cuda.is_available() or torch.xpu.is_available():
            return known()
        try:
            return "cpu" in importlib.import_module("triton.backends").backends
        except ImportError:
            return False

    return answer
