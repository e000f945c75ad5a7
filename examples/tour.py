"""The kernel of docs/tour.md on its way to machine code: `make tour` prints every stage of it."""

from __future__ import annotations

import argparse

import numpy as np
import triton
import triton.language as tl


@triton.jit
def normalize(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n
    x = tl.load(x_ptr + row * n + cols, mask=mask, other=0.0)
    tl.store(out_ptr + row * n + cols, x / tl.sum(x, axis=0), mask=mask)


STAGES = ("ttir", "structured", "linalg", "loops", "llir", "asm")


def main() -> None:
    parser = argparse.ArgumentParser(description="Run the kernel of docs/tour.md and print stages of it.")
    parser.add_argument("stages", nargs="*", help=f"some of {', '.join(STAGES)}, or all")
    stages = parser.parse_args().stages
    x = np.random.default_rng(0).random((64, 200), np.float32)
    out = np.empty_like(x)
    compiled = normalize[(64,)](x, out, 200, BLOCK=256)
    print(f"largest error {np.abs(out - x / x.sum(axis=1, keepdims=True)).max():.1e}")
    for stage in STAGES if "all" in stages else stages:
        print(f"==== {stage}\n{compiled.asm[stage]}")


if __name__ == "__main__":
    main()
