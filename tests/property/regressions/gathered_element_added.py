"""An atomic adds what a gather reads."""

import triton
import triton.language as tl

from tilewright.tools.fuzzing.replay import make_array
from tilewright.tools.fuzzing.values import Argument

ARGUMENTS = (
    Argument(name="a0", dtype="int32", count=64, contents="random", slack=0.0),
    Argument(name="a1", dtype="float64", count=64, contents="random", slack=0.0),
    Argument(name="a2", dtype="float8e5", count=32, contents="random", slack=0.0),
    Argument(name="a3", dtype="float16", count=38, contents="random", slack=0.0),
    Argument(name="a4", dtype="float16", count=192, contents="fill", slack=0.0),
    Argument(name="a5", dtype="int32", count=96, contents="fill", slack=0.0),
    Argument(name="a6", dtype="float16", count=96, contents="fill", slack=0.0),
    Argument(name="a7", dtype="float16", count=96, contents="fill", slack=0.0),
    Argument(name="a8", dtype="float16", count=96, contents="fill", slack=0.0),
    Argument(name="a9", dtype="float16", count=96, contents="fill", slack=0.0),
    Argument(name="a10", dtype="float16", count=96, contents="fill", slack=0.0),
)
DATA_SEED = 754194255


@triton.jit
def kernel(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, n0, n1):
    pid = tl.program_id(0) + tl.program_id(1) * tl.num_programs(0)
    r0 = tl.arange(0, 4)
    r1 = tl.arange(0, 8)
    x0 = r0[:, None]
    x1 = r1[None, :]
    v4 = tl.load(a2 + x0 * 8 + x1).to(tl.float16)
    v5 = tl.where((x0 * 8 + x1) % 4 != 0, v4, v4)
    c15 = tl.gather(v5, (x1 * 4 + x0) % 4, 0)
    v20 = tl.atomic_add(a7 + 16 + pid * 32 + (x1 * 4 + x0), c15)
    v21 = tl.minimum(tl.maximum(v20, -64.0), 64.0).to(tl.float16)
    tl.store(a10 + 16 + pid * 32 + tl.arange(0, 8)[None, :] * 1 + tl.arange(0, 4)[:, None] * 8, v21)


def tilewright_inputs():
    arrays = {a.name: make_array(a, DATA_SEED + n) for n, a in enumerate(ARGUMENTS)}
    keywords = {**arrays, "n0": 56, "n1": 2, "enable_fp_fusion": False, "num_warps": 2, "num_stages": 2}
    return kernel, (1, 2), keywords
