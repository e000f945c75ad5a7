"""Kernels compiled at block sizes from 32 to 4096: compile time must grow slowly, machine code hardly at all."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from tilewright import compat
from tilewright.compiler.compile import build_entry
from tilewright.compiler.options import CompileOptions
from tilewright.compiler.source import ASTSource
from tilewright.targets.base import find_target

sys.path[:0] = [str(Path(__file__).resolve().parents[2] / "examples"), str(Path(__file__).parent)]
with compat.standing_in():
    import kernels
    import softmax
    import vector_add

GROWING = {
    "vector add": (vector_add.add_kernel, "*fp32 *fp32 *fp32 i32"),
    "softmax": (softmax.softmax_kernel, "*fp32 *fp32 i32 i32 i32"),
    "layer norm": (kernels.layer_norm_kernel, "*fp32 *fp32 *fp32 *fp32 i32 i32 fp32"),
    "cumsum": (kernels.cumsum_kernel, "*fp32 *fp32 i32"),
    "argmax": (kernels.argmax_rows_kernel, "*fp32 *i64 i32"),
    "sort": (kernels.sort_rows_kernel, "*fp32 *fp32"),
}
"""Kernels whose only constant is BLOCK, with the types of their other arguments."""


def compile_at(name: str, block: int) -> tuple[float, int]:
    """CPU seconds of a compilation without caches, and bytes of the object."""
    kernel, types = GROWING[name]
    signature = dict(zip(kernel.arg_names, types.split(), strict=False)) | {"BLOCK": "constexpr"}
    source = ASTSource(kernel, signature, {"BLOCK": block})
    start = time.process_time()
    entry = build_entry(source, CompileOptions(), find_target("cpu"))
    return time.process_time() - start, len(entry.sections["obj"])
