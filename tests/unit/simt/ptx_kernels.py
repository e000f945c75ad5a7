"""Small PTX kernels around the instructions of a test."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from suite.arrays import Array
from tilewright.reference.simt import Run, run_ptx

HEADER = ".version 8.7\n.target sm_90a\n.address_size 64\n"
REGISTERS = """
.reg .pred %p<16>;
.reg .b16 %h<32>;
.reg .b32 %r<160>;
.reg .b64 %d<32>;
"""
PREFIX = {1: "h", 2: "h", 4: "r", 8: "d"}


def kernel(body: str, parameters: Sequence[str] = (), *, functions: str = "", variables: str = "") -> str:
    """A module with a kernel `k`; parameters are 64 bits wide and arrive in `%p0` and so on as `%dN`, from %d16 on."""
    formal = ", ".join(f".param .u64 {name}" for name in parameters)
    loads = "\n".join(f"ld.param.u64 %d{16 + n}, [{name}];" for n, name in enumerate(parameters))
    shared = ".extern .shared .align 16 .b8 smem[];\n"
    head = f"{HEADER}{variables}{shared}{functions}\n.visible .entry k({formal})\n"
    return f"{head}{{\n{REGISTERS}{loads}\n{body}\nret;\n}}\n"


def run(
    body: str, *arguments: Any, threads: int = 32, shared: int = 1024, grid: Sequence[int] = (1,), **options: Any
) -> Run:
    """Run a kernel whose parameters are `a0`, `a1` and so on."""
    texts = {name: options.pop(name) for name in ("functions", "variables") if name in options}
    text = kernel(body, [f"a{n}" for n in range(len(arguments))], **texts)
    return run_ptx(text, "k", grid=grid, num_threads=threads, shared_bytes=shared, args=arguments, **options)


def by_thread(body: str, inputs: Sequence[Array], output: Any, *, threads: int | None = None) -> Array:
    """What a body leaves in register `%h0`, `%r0` or `%d0` (by the output's width; `%p0` for bool) for every thread.

    The n-th element of input i is in `%h(i+1)`, `%r(i+1)` or `%d(i+1)` of thread n, by its width.
    """
    count = threads or max(values.size for values in inputs)
    dtype = np.dtype(output)
    lines = ["mov.u32 %r150, %tid.x;"]
    for number, values in enumerate(inputs):
        size = values.dtype.itemsize
        lines.append(f"mad.wide.u32 %d15, %r150, {size}, %d{17 + number};")
        lines.append(f"ld.global.b{8 * size} %{PREFIX[size]}{number + 1}, [%d15];")
    lines.append(body)
    lines.append(f"mad.wide.u32 %d15, %r150, {dtype.itemsize}, %d16;")
    if dtype == np.bool_:
        lines.append("selp.b16 %h0, 1, 0, %p0;")
    lines.append(f"st.global.b{8 * dtype.itemsize} [%d15], %{PREFIX[dtype.itemsize]}0;")
    result = np.zeros(count, dtype)
    padded = [np.resize(values, count) for values in inputs]
    run("\n".join(lines), result, *padded, threads=count)
    return result
