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
from tilewright.compat.inductor_wrapper import use_launch_sites
from tilewright.runtime.threads import get_num_threads
from tilewright.support.errors import TargetError

MOST_UNSPLIT = 2
"""How many threads a reduction in one kernel keeps busy: its outputs are many, but for sums of all elements."""


def defaults() -> dict[str, Any]:
    """Return what Inductor is asked for that it decides for GPUs where it writes Triton: it cuts sums over the rows of
    a matrix into parts for thousands of threads, in one kernel, and adds the parts in another. It would also time the
    templates of products with and without what follows them, by code that it does not have for CPUs.
    """
    unsplit = {"split_reductions": False} if get_num_threads() <= MOST_UNSPLIT else {}
    return {"benchmark_epilogue_fusion": False, **unsplit}


def compile_graph(
    graph: Any, inputs: Sequence[Any], *, mode: str | None = None, options: Mapping[str, Any] | None = None
) -> Callable[..., Any]:
    """Compile a graph of PyTorch's by Inductor, with Triton kernels on the CPU; `mode` and `options` are Inductor's.
    They go before `defaults`.

    Raises TargetError where PyTorch found no `triton`.
    """
    install()
    if not import_module("torch._inductor.runtime.triton_compat").HAS_TRITON:
        raise TargetError(
            "PyTorch has loaded Inductor without any `triton`: run the program by `tilewright run`, install "
            "tilewright-triton, or call tilewright.compat.install() before `import torch`"
        )
    use_launch_sites()
    patches = defaults()
    if mode and mode != "default":
        patches.update(import_module("torch._inductor").list_mode_options(mode))
    patches.update(options or {}, cpu_backend="triton")
    return import_module("torch._inductor.compile_fx").compile_fx(graph, inputs, config_patches=patches)
