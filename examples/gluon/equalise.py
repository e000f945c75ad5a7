"""Run-time indices into shared memory: the grey values of an image are spread evenly.

Each program has one row of pixels. It counts how often each value occurs (`atomic_scatter_add`), makes a table from the
running sum of the counts, and looks each pixel up in it (`gather`).
"""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl

LAYOUT = gl.BlockedLayout([1], [32], [4], [0])
PLAIN = gl.SwizzledSharedLayout(vec=1, per_phase=1, max_phase=1, order=[0])


@gluon.jit
def equalise_kernel(image_ptr, out_ptr, columns, BLOCK: gl.constexpr, VALUES: gl.constexpr):
    offsets = gl.arange(0, BLOCK, layout=LAYOUT)
    inside = offsets < columns
    pixels = gl.load(image_ptr + gl.program_id(0) * columns + offsets, mask=inside, other=0)

    counts = gl.allocate_shared_memory(gl.int32, [VALUES], PLAIN)
    counts.store(gl.zeros([VALUES], gl.int32, LAYOUT))
    counts.atomic_scatter_add(gl.full([BLOCK], 1, gl.int32, LAYOUT), pixels, 0, inside)

    up_to = gl.associative_scan(counts.load(LAYOUT), 0, add)
    table = gl.allocate_shared_memory(gl.int32, [VALUES], PLAIN, (up_to * (VALUES - 1)) // columns)
    gl.store(out_ptr + gl.program_id(0) * columns + offsets, table.gather(pixels, 0), mask=inside)


@gluon.jit
def add(a, b):
    return a + b


def equalise(image, out, values=256):
    """out[i, j] = how many of row i are at most image[i, j], scaled to 0 .. values - 1; both int32."""
    rows, columns = image.shape
    equalise_kernel[(rows,)](image, out, columns, 1 << (columns - 1).bit_length(), values)
    return out


if __name__ == "__main__":  # TILEWRIGHT_TARGET=cuda_sim tilewright run examples/gluon/equalise.py
    import numpy as np

    image = (np.random.default_rng(0).random((3, 700)) ** 3 * 256).astype(np.int32)
    expected = (image[:, :, None] >= image[:, None, :]).sum(2) * 255 // 700
    error = np.abs(equalise(image, np.empty_like(image)) - expected).max()
    print(f"grey values of {image.shape[0]} x {image.shape[1]}: largest error {error:.1e}")
