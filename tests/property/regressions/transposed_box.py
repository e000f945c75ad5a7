"""A tile of which the last row lies outside of its argument, transposed in registers: that row is not read."""

import triton
import triton.language as tl

from tilewright.tools.fuzzing.replay import make_array
from tilewright.tools.fuzzing.values import Argument

ARGUMENTS = (
    Argument(name="a0", dtype="float32", count=506, contents="random", slack=0.0),
    Argument(name="a1", dtype="float32", count=256, contents="fill", slack=0.0),
)
DATA_SEED = 1067021752


@triton.jit
def kernel(a0, a1, n0, n1):
    x0 = tl.arange(0, 16)[:, None]
    x1 = tl.arange(0, 16)[None, :]
    block = tl.make_block_ptr(a0, (23, 22), (22, 1), (8, 17), (16, 16), (1, 0))
    rows = tl.load(block, boundary_check=(0, 1), padding_option="zero")
    columns = tl.trans(rows)
    if n1 < 8:
        columns = tl.where(x0 * 16 + x1 >= n0, columns, rows)
    tl.store(a1 + x1 + x0 * 16, -columns)


def tilewright_inputs():
    arrays = {a.name: make_array(a, DATA_SEED + int(a.name[1:])) for a in ARGUMENTS}
    return kernel, (1,), {**arrays, "n0": 343, "n1": 184, "enable_fp_fusion": False}
