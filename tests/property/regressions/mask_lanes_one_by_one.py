"""A masked scatter of 16-bit elements among many live vector registers: LLVM reads the mask from a wrong one."""

import triton
import triton.language as tl

from tilewright.tools.fuzzing.replay import make_array
from tilewright.tools.fuzzing.values import Argument

ARGUMENTS = (
    Argument(name="a0", dtype="float32", count=8, contents="random", slack=0.0),
    Argument(name="a1", dtype="bfloat16", count=64, contents="random", slack=0.0),
    Argument(name="a2", dtype="bfloat16", count=96, contents="fill", slack=0.0),
    Argument(name="a3", dtype="bfloat16", count=96, contents="fill", slack=0.0),
    Argument(name="a6", dtype="float32", count=96, contents="fill", slack=0.0),
)
DATA_SEED = 775653750


@triton.jit
def kernel(a0, a1, a2, a3, a6, n0):
    pid = tl.program_id(0)
    r0 = tl.arange(0, 4)
    r1 = tl.arange(0, 8)
    x0 = r0[:, None]
    x1 = r1[None, :]
    tl.load(a0 + x1 + 0 * x0)
    v2 = tl.load(a1 + pid * 32 + x0 * 8 + x1)
    v3 = tl.where(x0 * 8 + x1 < n0 - pid * 4, v2, v2)
    tl.store(a2 + 16 + pid * 32 + (x0 * 8 + x1 ^ 25), v2)
    tl.store(a3 + 16 + pid * 32 + x0 * 8 + x1, v3, mask=x0 * 8 + x1 >= n0)
    v17 = tl.abs(v2).to(tl.uint64)
    c6 = (v17 & 15).to(tl.float32)
    tl.store(a6 + 16 + pid * 32 + tl.arange(0, 8)[None, :] * 1 + tl.arange(0, 4)[:, None] * 8, c6)


def tilewright_inputs():
    arrays = {a.name: make_array(a, DATA_SEED + n) for n, a in enumerate(ARGUMENTS)}
    keywords = {**arrays, "n0": 9, "enable_fp_fusion": True}
    return kernel, (2,), keywords
