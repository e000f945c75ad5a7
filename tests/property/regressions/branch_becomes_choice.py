"""A branch that computes nothing any more chooses between two tiles."""

import triton
import triton.language as tl

from tilewright.tools.fuzzing.replay import make_array
from tilewright.tools.fuzzing.values import Argument

ARGUMENTS = (
    Argument(name="a0", dtype="uint64", count=8, contents="random", slack=0.0),
    Argument(name="a2", dtype="uint64", count=38, contents="fill", slack=0.0),
    Argument(name="a3", dtype="uint64", count=38, contents="fill", slack=0.0),
    Argument(name="a12", dtype="uint64", count=38, contents="fill", slack=0.0),
)
DATA_SEED = 94892573


@triton.jit
def f22(a, b, c, d):
    return (a * c, b * c + d)


@triton.jit
def kernel(a0, a2, a3, a12, n0, n1):
    pid = tl.program_id(0)
    r0 = tl.arange(0, 2)
    x0 = r0
    v1 = tl.load(a0 + 4 + x0 * 2, mask=(x0 < n1) & (x0 % 4 != 0), other=3)
    v4 = (~v1).to(tl.uint64)
    tl.store(a2 + 16 + pid * 2 + (1 - x0), v4)
    tl.atomic_cas(a3 + 16 + pid * 2 + x0, tl.full((2,), 77, tl.uint64), v1)
    c9 = v4
    c29 = c9
    if n0 >= 3:
        v30 = x0 ^ 0
        c29 = v30.to(tl.uint64)
    tl.store(a12 + 16 + pid * 2 + tl.arange(0, 2), c29)


def tilewright_inputs():
    arrays = {a.name: make_array(a, DATA_SEED + n) for n, a in enumerate(ARGUMENTS)}
    keywords = {**arrays, "n0": 4, "n1": 1, "enable_fp_fusion": False, "num_warps": 2, "num_stages": 4}
    return kernel, (3,), keywords
