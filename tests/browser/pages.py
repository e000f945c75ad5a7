"""The pages that tests look at: one kernel for CPUs, for GPUs, and two versions beside each other."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

from tilewright.tools.cli import main

KERNEL = '''\
"""Softmax of rows, and a matmul."""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def shifted(x):
    return x - tl.max(x, 0)


@triton.jit
def rows(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * n + offsets, mask=offsets < n, other=-float("inf"))
    powers = tl.exp(shifted(x))
    tl.store(out_ptr + tl.program_id(0) * n + offsets, powers / tl.sum(powers, 0), mask=offsets < n)


@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, K, BLOCK: tl.constexpr):
    across = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(0, K, BLOCK):
        a = tl.load(a_ptr + across[:, None] * K + start + across[None, :])
        b = tl.load(b_ptr + (start + across)[:, None] * BLOCK + across[None, :])
        total = tl.dot(a, b, total)
    tl.store(c_ptr + across[:, None] * BLOCK + across[None, :], total)


if __name__ == "__main__":
    x = np.random.rand(100, 200).astype(np.float32)
    rows[(100,)](x, np.empty_like(x), 200, BLOCK=256)
    a, b = np.ones((2, 64, 64), np.float16)
    matmul[(1,)](a, b, np.empty((64, 64), np.float32), 64, BLOCK=64)
'''


def line_with(text: str) -> int:
    """The number of the line of the kernel's file that has a text in it."""
    return next(number for number, line in enumerate(KERNEL.splitlines(), 1) if text in line)


def write_pages(folder: Path) -> dict[str, Path]:
    """The pages, by name; `folder` has `rows.py`."""
    pages = {name: folder / f"{name}.html" for name in ("cpu", "gpu", "versions")}
    file = f"{folder / 'rows.py'}"
    for name, arguments in {
        "cpu": [f"{file}:rows"],
        "gpu": [f"{file}:matmul", "-t", "cuda:80"],
        "versions": [f"{file}:rows", "-t", "cuda:90", "--compare", "--num-warps 8", "--compare", "-t cpu"],
    }.items():
        with contextlib.redirect_stdout(io.StringIO()):
            assert main(["explore", *arguments, "--main", "-o", str(pages[name])]) == 0
    return pages
