"""Nests whose bounds come from the same arithmetic: it is moved in front of them once."""

import triton
import triton.language as tl

from tilewright.tools.fuzzing.replay import make_array
from tilewright.tools.fuzzing.values import Argument

ARGUMENTS = (
    Argument(name="a0", dtype="uint64", count=64, contents="random", slack=0.0),
    Argument(name="a3", dtype="int32", count=7, contents="random", slack=0.0),
    Argument(name="a4", dtype="int32", count=96, contents="fill", slack=0.0),
    Argument(name="a7", dtype="uint64", count=16, contents="fill", slack=0.0),
)
DATA_SEED = 638440882


@triton.jit(noinline=True)
def f10(p, k):
    x = tl.load(p + tl.arange(0, 32))
    return tl.max(x, 0).to(tl.int32) * k


@triton.jit
def kernel(a0, a3, a4, a7, n0, n1):
    pid = tl.program_id(0)
    r0 = tl.arange(0, 4)
    r1 = tl.arange(0, 8)
    x0 = r0[:, None]
    x1 = r1[None, :]
    v1 = tl.load(a0 + x0 * 8, mask=x0 * 8 + x1 < n0, other=1, cache_modifier=".cg")
    b6 = tl.make_block_ptr(a3, (1, 7), (7, 1), (0, 4), (4, 8), (1, 0))
    v7 = tl.load(b6, boundary_check=(0, 1), padding_option="zero")
    tl.store(a4 + 16 + pid * 32 + x0 * 8 + x1, v7, mask=((x0 < n1) | (x1 >= 7)) & ((x0 < 3) & (x1 < 7)))
    d13 = tl.make_tensor_descriptor(a7, (8, 2), (2, 1), (4, 8))
    d13.store([pid * 4, 0], v1)


def tilewright_inputs():
    arrays = {a.name: make_array(a, DATA_SEED + n) for n, a in enumerate(ARGUMENTS)}
    keywords = {**arrays, "n0": 8, "n1": 45, "enable_fp_fusion": False, "num_warps": 1, "num_stages": 1}
    return kernel, (2,), keywords
