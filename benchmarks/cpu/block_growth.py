"""Kernels of all kinds compiled at block sizes from 32 to 4096: compile time must grow slowly, machine code hardly."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tilewright import compat
from tilewright.compiler.compilation import build_entry
from tilewright.compiler.options import CompileOptions
from tilewright.compiler.source import ASTSource
from tilewright.targets.base import find_target

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(REPOSITORY / folder) for folder in ("examples", "tests/exec", "tests", "tests/kernels/corpus")]
sys.path.insert(0, str(Path(__file__).parent))
with compat.standing_in():
    import basics
    import flattened_kernels
    import functions
    import patterns
    import reductions
    import shapes
    import tutorials

    import kernels
    import softmax
    import vector_add

Constants = Callable[[int], dict[str, int]]


@dataclass(frozen=True)
class Growing:
    """A kernel, the types of its arguments that are no constants, and its constants for a number of elements."""

    kernel: Any
    types: str
    constants: Constants


def row(name: str, **more: int) -> Constants:
    """One row of elements."""
    return lambda block: {name: block, **more}


def tile(*names: str, **more: int) -> Constants:
    """About as many rows as columns, each constant named at least 4."""

    def constants(block: int) -> dict[str, int]:
        bits = block.bit_length() - 1
        sizes = (1 << bits // 2, 1 << bits - bits // 2, 1 << bits // 2)
        return {**dict(zip(names, sizes, strict=False)), **more}

    return constants


GROWING = {
    "vector add": Growing(vector_add.add_kernel, "*fp32 *fp32 *fp32 i32", row("BLOCK")),
    "softmax": Growing(softmax.softmax_kernel, "*fp32 *fp32 i32 i32 i32", row("BLOCK")),
    "layer norm": Growing(kernels.layer_norm_kernel, "*fp32 *fp32 *fp32 *fp32 i32 i32 fp32", row("BLOCK")),
    "cumsum": Growing(kernels.cumsum_kernel, "*fp32 *fp32 i32", row("BLOCK")),
    "argmax": Growing(kernels.argmax_rows_kernel, "*fp32 *i64 i32", row("BLOCK")),
    "sort": Growing(kernels.sort_rows_kernel, "*fp32 *fp32", row("BLOCK")),
    "sort of a tile": Growing(reductions.sorting2d, "*fp32 *fp32", tile("N", "M")),
    "sums along all axes": Growing(reductions.sums, "*fp32 *fp32", tile("N", "M")),
    "positions along all axes": Growing(reductions.positions, "*fp32 *i32", tile("N", "M")),
    "reductions by functions": Growing(reductions.custom_reductions, "*fp32 *fp32", tile("N", "M")),
    "scans along all axes": Growing(reductions.running, "*fp32 *fp32", tile("N", "M")),
    "linear recurrence": Growing(reductions.linear_recurrence, "*fp32 *fp32", row("N")),
    "dots": Growing(functions.products, "*fp32 *fp32 *fp32", tile("M", "N", "K")),
    "matmul": Growing(
        basics.matmul, "*fp16 *fp16 *fp16 i32 i32 i32 i32 i32 i32 i32 i32 i32",
        tile("BM", "BN", "BK", GROUP=8, ACTIVATION=0),
    ),
    "attention": Growing(
        basics.attention, "*fp16 *fp16 *fp16 fp32 *fp32 *fp16 i32 i32 i32", tile("BM", "BN", CTX=1024, D=64, STAGE=3)
    ),
    "reshapes": Growing(shapes.reshapes, "*fp32 *fp32", tile("N", "M")),
    "joins and splits": Growing(shapes.joining, "*fp32 *fp32 *fp32", row("N")),
    "gathers": Growing(shapes.gathers, "*fp32 *i32 *fp32", tile("N", "M")),
    "histogram": Growing(shapes.histograms, "*i32 *i32 i32", row("N", BINS=64)),
    "top-2 gating": Growing(tutorials.top2_gating, "*fp32 *fp32 *i32 i32", row("BLOCK")),
    "convolution": Growing(tutorials.conv1d, "*fp32 *fp32 *fp32 i32", row("BLOCK", TAPS=7)),
    "random numbers": Growing(functions.random_numbers, "*fp32 i32", row("N")),
    "masked gathers": Growing(patterns.gather_scatter_masks, "*fp32 *i32 *fp32 i32", row("B")),
    "NCHW to NHWC": Growing(flattened_kernels.permute_kernel, "*fp32 *fp32 i32 i32 i32", row("BLOCK")),
}  # fmt: skip
"""From a name to what is compiled at each number of elements."""


def compile_at(name: str, block: int) -> tuple[float, int]:
    """CPU seconds of a compilation without caches, and bytes of the object."""
    growing = GROWING[name]
    constants = growing.constants(block)
    signature = dict.fromkeys(constants, "constexpr")
    given = [argument for argument in growing.kernel.arg_names if argument not in constants]
    signature.update(zip(given, growing.types.split(), strict=True))
    ordered = {argument: signature[argument] for argument in growing.kernel.arg_names}
    source = ASTSource(growing.kernel, ordered, constants)
    start = time.process_time()
    entry = build_entry(source, CompileOptions(), find_target("cpu"))
    return time.process_time() - start, len(entry.sections["obj"])
