"""Compiles kernels at the ttg stage and runs them on the simulated GPU, with shared memory checked for races."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np
from kernel_text import KernelText

from suite.arrays import Array
from tilewright.codegen.nvptx.emitter import NvptxEmitter
from tilewright.codegen.nvptx.facts import nvptx_facts
from tilewright.codegen.nvptx.target_machine import emit_ptx
from tilewright.dialects import make_context
from tilewright.ir.parsing import parse_module
from tilewright.lowering.ttg_to_llvm import lower_module
from tilewright.reference.simt import run_ptx
from tilewright.targets.cuda.pipeline import lower_memory

DTYPES: dict[str, Any] = {
    "i1": np.int8,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "ptr": np.int64,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
}
"""The NumPy type of elements in memory."""


@dataclass(frozen=True)
class Compiled:
    """LLVM's text and PTX of a kernel, and what a launch needs."""

    llir: str
    ptx: str
    shared_bytes: int
    num_threads: int

    def count(self, opcode: str) -> int:
        """How many instructions have an opcode that begins like this."""
        lines = (line.strip() for line in self.ptx.splitlines())
        return sum(
            line.partition(" ")[2].startswith(opcode) if line[:1] == "@" else line.startswith(opcode) for line in lines
        )

    def run(self, *arrays: Array) -> None:
        """Run one CTA on arrays, which are changed in place."""
        run_ptx(
            self.ptx,
            "kernel",
            grid=(1,),
            num_threads=self.num_threads,
            shared_bytes=self.shared_bytes,
            args=[as_memory(array) for array in arrays],
        )


def as_memory(array: Array) -> Array:
    """Types that only ml_dtypes knows as integers of their width."""
    if array.dtype.kind == "V" or array.dtype.type.__module__.startswith("ml_dtypes"):
        return array.view({1: np.uint8, 2: np.uint16}[array.dtype.itemsize])
    return array


@cache
def _context() -> Any:
    return make_context()


def compile_kernel(kernel: KernelText) -> Compiled:
    """The PTX of a kernel."""
    module = parse_module(str(kernel), _context(), "kernel.mlir")
    facts = nvptx_facts(kernel.capability)
    lower_memory(module, facts)
    device = lower_module(module, facts, NvptxEmitter(facts), line_info=False)
    llir = str(device.text)
    return Compiled(llir, emit_ptx(llir, facts), device.shared_bytes, kernel.num_warps * 32)


def run_kernel(kernel: KernelText, inputs: Sequence[Array], outputs: Sequence[Array]) -> Compiled:
    """Compile and run: pointer arguments in order are the inputs, then the outputs."""
    compiled = compile_kernel(kernel)
    compiled.run(*inputs, *outputs)
    return compiled
