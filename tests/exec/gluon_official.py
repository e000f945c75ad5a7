"""What official Triton makes of the kernels of `gluon_kernels`: prints their TTGIR by name as JSON. Run in an environment
where `triton` is official, with `tests/exec` on the path."""

from __future__ import annotations

import json
from typing import Any

import gluon_kernels
import triton
from triton.backends.compiler import GPUTarget
from triton.experimental.gluon import GluonASTSource

ALIGNED = [["tt.divisibility", 16]]


def official(case: gluon_kernels.Case) -> Any:
    """The TTGIR of a case, pointers aligned as ours are."""
    names = case.kernel.arg_names
    signature = {name: case.signature.get(name, "constexpr") for name in names}
    attrs = {(names.index(name),): ALIGNED for name, kind in case.signature.items() if kind.startswith("*")}
    source = GluonASTSource(case.kernel, signature, case.constants, attrs)
    return triton.compile(source, target=GPUTarget("cuda", 90, 32)).asm["ttgir"]


if __name__ == "__main__":
    print(json.dumps({case.name: official(case) for case in gluon_kernels.CASES}))
