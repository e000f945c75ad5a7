"""A back end of `torch.compile`, which PyTorch finds by the entry point group `torch_dynamo_backends`:

    torch.compile(f, backend="tilewright")

Inductor writes Triton kernels for the CPU, which tilewright compiles; no switch of Inductor's has to be set. PyTorch
must find a `triton` when it loads its own back ends: that of `tilewright-triton`, of `tilewright run` or of
`tilewright.compat.install()`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from tilewright.compat import install
from tilewright.support.errors import TargetError


def compile_graph(
    graph: Any, inputs: Sequence[Any], *, mode: str | None = None, options: Mapping[str, Any] | None = None
) -> Callable[..., Any]:
    """Compile a graph of PyTorch's by Inductor, with Triton kernels on the CPU; `mode` and `options` are Inductor's.

    Raises TargetError where PyTorch found no `triton`.
    """
    install()
    if not import_module("torch._inductor.runtime.triton_compat").HAS_TRITON:
        raise TargetError(
            "PyTorch has loaded Inductor without any `triton`: run the program by `tilewright run`, install "
            "tilewright-triton, or call tilewright.compat.install() before `import torch`"
        )
    patches: dict[str, Any] = {}
    if mode and mode != "default":
        patches.update(import_module("torch._inductor").list_mode_options(mode))
    patches.update(options or {}, cpu_backend="triton")
    return import_module("torch._inductor.compile_fx").compile_fx(graph, inputs, config_patches=patches)
