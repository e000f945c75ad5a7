"""What a TritonGPU module says about the GPU it is for."""

from __future__ import annotations

import re

from xdsl.dialects.builtin import ModuleOp, StringAttr

from tilewright.dialects.ttg.verification import TARGET
from tilewright.ir.diagnostics import op_error

_CUDA = re.compile(r"cuda:(\d+)")


def compute_capability(module: ModuleOp) -> int:
    """The number after `cuda:` in the module's `ttg.target`: 90 for `cuda:90`.

    Raises `PassError` where the module names no target, or none of NVIDIA's.
    """
    target = module.attributes.get(TARGET)
    name = target.data if isinstance(target, StringAttr) else ""
    found = _CUDA.fullmatch(name)
    if found is None:
        problem = f"unknown target '{name}'" if name else f"the module has no '{TARGET}'"
        raise op_error(module, f"{problem}; expected cuda:CAPABILITY, e.g. cuda:90")
    return int(found[1])
