"""Vector addition: each program adds one block of elements; the mask keeps the last block inside the arrays."""

import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n_elements, BLOCK: tl.constexpr):
    pid = tl.program_id(axis=0)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


def add(x, y, out, block=4096):
    """out = x + y for 1-D arrays or tensors of one length."""
    n = out.shape[0]
    add_kernel[(triton.cdiv(n, block),)](x, y, out, n, BLOCK=block)
    return out


if __name__ == "__main__":  # tilewright run examples/vector_add.py
    import numpy as np

    x, y = np.random.default_rng(0).random((2, 1_000_000), dtype=np.float32)
    error = np.abs(add(x, y, np.empty_like(x)) - (x + y)).max()
    print(f"sum of {x.size} elements: largest error {error:.1e}")
