"""Dropout whose mask is never stored: the same seed draws the same mask again in the backward pass."""

import triton
import triton.language as tl


@triton.jit
def dropout_kernel(x_ptr, out_ptr, n_elements, p, seed, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    keep = tl.rand(seed, offsets) > p
    tl.store(out_ptr + offsets, tl.where(keep, x / (1 - p), 0.0), mask=mask)


def dropout(x, out, p, seed, block=1024):
    """out = x / (1 - p) where a random number of the seed exceeds p, else 0."""
    n = out.shape[0]
    dropout_kernel[(triton.cdiv(n, block),)](x, out, n, p, seed, BLOCK=block)
    return out


if __name__ == "__main__":  # tilewright run examples/dropout.py
    import numpy as np

    x = np.ones(100_000, np.float32)
    out = dropout(x, np.empty_like(x), p=0.3, seed=123)
    again = dropout(x, np.empty_like(x), p=0.3, seed=123, block=256)
    print(f"kept {(out != 0).mean():.3f} of {x.size} elements; again the same: {(out == again).all()}")
