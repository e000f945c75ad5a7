"""A mask that keeps no row: a dimension of extent 0 runs no iteration."""

import triton
import triton.language as tl

from tilewright.tools.fuzzing.replay import make_array
from tilewright.tools.fuzzing.values import Argument

ARGUMENTS = (
    Argument(name="a0", dtype="uint8", count=384, contents="random", slack=0.0),
    Argument(name="a1", dtype="int32", count=54, contents="random", slack=0.0),
    Argument(name="a2", dtype="uint8", count=416, contents="fill", slack=0.0),
    Argument(name="a3", dtype="int32", count=416, contents="fill", slack=0.0),
    Argument(name="a4", dtype="uint8", count=416, contents="fill", slack=0.0),
    Argument(name="a5", dtype="uint8", count=416, contents="fill", slack=0.0),
)
DATA_SEED = 580695299


@triton.jit
def kernel(a0, a1, a2, a3, a4, a5, n0, n1):
    pid = tl.program_id(0)
    r0 = tl.arange(0, 2)
    r1 = tl.arange(0, 64)
    x0 = r0[:, None]
    x1 = r1[None, :]
    v1 = tl.load(a0 + pid * 128 + x0 * 64 + x1, mask=(x0 < n1) | (x1 >= n0), other=0)
    b2 = tl.make_block_ptr(a1, (2, 27), (27, 1), (1, 22), (2, 64), (1, 0))
    b2 = tl.advance(b2, (1, 3))
    v3 = tl.load(b2, boundary_check=(0, 1), padding_option="zero")
    v4 = tl.minimum(v1, v1).to(tl.uint8)
    tl.store(a2 + 16 + pid * 128 + x0 * 64 + x1, v4, mask=(x0 < 0) & (x1 < n0))
    v5 = tl.gather(v4, (x0 * 64 + x1 ^ 77) % 2, 0)
    tl.store(a3 + 16 + pid * 128 + tl.arange(0, 64)[None, :] * 1 + tl.arange(0, 2)[:, None] * 64, v3)
    tl.store(a4 + 16 + pid * 128 + tl.arange(0, 64)[None, :] * 1 + tl.arange(0, 2)[:, None] * 64, v4)
    tl.store(a5 + 16 + pid * 128 + tl.arange(0, 64)[None, :] * 1 + tl.arange(0, 2)[:, None] * 64, v5)


def tilewright_inputs():
    arrays = {a.name: make_array(a, DATA_SEED + int(a.name[1:])) for a in ARGUMENTS}
    keywords = {**arrays, "n0": 230, "n1": 156, "enable_fp_fusion": False}
    return kernel, (3,), keywords
