"""The first kernel in Gluon: a vector's elements are dealt out to threads by a layout that the kernel is given."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@gluon.jit
def saxpy_kernel(x_ptr, y_ptr, a, n, BLOCK: gl.constexpr, layout: gl.constexpr):
    offsets = gl.program_id(0) * BLOCK + gl.arange(0, BLOCK, layout=layout)
    mask = offsets < n
    y = a * gl.load(x_ptr + offsets, mask=mask) + gl.load(y_ptr + offsets, mask=mask)
    gl.store(y_ptr + offsets, y, mask=mask)


def saxpy(a, x, y, block=1024):
    """y = a x + y, in place, for vectors of float32. A thread has four neighbours: one access of 16 bytes."""
    layout = gl.BlockedLayout(size_per_thread=[4], threads_per_warp=[32], warps_per_cta=[4], order=[0])
    saxpy_kernel[(-(-len(x) // block),)](x, y, a, len(x), block, layout)
    return y


if __name__ == "__main__":  # TILEWRIGHT_TARGET=cuda_sim tilewright run examples/gluon/saxpy.py
    import numpy as np

    x, y = np.random.default_rng(0).standard_normal((2, 5000), dtype=np.float32)
    exact = 2.5 * x + y
    print(f"saxpy of {len(x)} elements: largest error {np.abs(saxpy(2.5, x, y) - exact).max():.1e}")
