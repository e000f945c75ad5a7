"""tl.umulhi of 64 bits on one element, in a loop: the product is a Python integer."""

import triton
import triton.language as tl

from tilewright.tools.fuzzing.replay import make_array
from tilewright.tools.fuzzing.values import Argument

ARGUMENTS = (
    Argument(name="a0", dtype="float32", count=3, contents="random", slack=0.0),
    Argument(name="a1", dtype="int8", count=3, contents="random", slack=0.0),
    Argument(name="a2", dtype="float16", count=1, contents="random", slack=0.0),
    Argument(name="a3", dtype="int32", count=1, contents="index:1", slack=0.0),
    Argument(name="a4", dtype="float16", count=1, contents="random", slack=0.0),
    Argument(name="a5", dtype="float8e4nv", count=35, contents="fill", slack=0.0),
    Argument(name="a6", dtype="float32", count=7, contents="random", slack=0.0),
    Argument(name="a7", dtype="int32", count=3, contents="random", slack=0.0),
    Argument(name="a8", dtype="float16", count=7, contents="random", slack=0.0),
    Argument(name="a9", dtype="float8e4nv", count=35, contents="fill", slack=0.0),
    Argument(name="a10", dtype="float16", count=3, contents="random", slack=0.0),
    Argument(name="a11", dtype="float32", count=1024, contents="random", slack=0.0),
    Argument(name="a12", dtype="float32", count=1024, contents="random", slack=0.0),
    Argument(name="a13", dtype="float32", count=35, contents="fill", slack=0.0),
    Argument(name="a14", dtype="float32", count=35, contents="fill", slack=0.0),
    Argument(name="a15", dtype="float32", count=1568, contents="fill", slack=0.001953125),
    Argument(name="a16", dtype="float32", count=1568, contents="fill", slack=0.001953125),
    Argument(name="a17", dtype="int32", count=35, contents="fill", slack=0.0),
)
DATA_SEED = 249521867


@triton.jit(noinline=True)
def f11(p, k):
    x = tl.load(p + tl.arange(0, 1))
    return tl.max(x, 0).to(tl.int32) * k


@triton.jit
def kernel(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, n0, n1):
    pid = tl.program_id(0)
    r0 = tl.arange(0, 1)
    x0 = r0
    c8 = tl.zeros((1,), tl.float32)
    v13 = tl.abs(c8).to(tl.uint64)
    tl.store(a9 + 16 + pid * 1 + x0, c8.to(tl.float8e4nv))
    v17 = tl.umulhi(v13.to(tl.uint64), v13.to(tl.uint64) ^ 12345).to(tl.uint64)
    c20 = tl.minimum(tl.maximum(c8, -32.0), 32.0).to(tl.float32)
    c21 = c20
    for _i22 in range(1, pid + 1 + 1):
        v23 = tl.umulhi(v17.to(tl.uint64), v17.to(tl.uint64) ^ 12345).to(tl.uint64)
        c21 = (v23 & 15).to(tl.float32)
    tl.store(a14 + 16 + pid * 1 + tl.arange(0, 1), c21)


def tilewright_inputs():
    arrays = {a.name: make_array(a, DATA_SEED + n) for n, a in enumerate(ARGUMENTS)}
    keywords = {**arrays, "n0": 2, "n1": 1, "enable_fp_fusion": False, "num_warps": 4, "num_stages": 3}
    return kernel, (3,), keywords
