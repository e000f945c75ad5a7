"""A value that is read by an atomic is reshaped in front of it."""

import triton
import triton.language as tl

from tilewright.tools.fuzzing.replay import make_array
from tilewright.tools.fuzzing.values import Argument

ARGUMENTS = (
    Argument(name="a0", dtype="float16", count=36, contents="random", slack=0.0),
    Argument(name="a1", dtype="uint64", count=52, contents="random", slack=0.0),
    Argument(name="a2", dtype="float32", count=5, contents="random", slack=0.0),
    Argument(name="a3", dtype="float32", count=96, contents="fill", slack=0.0),
    Argument(name="a4", dtype="float64", count=96, contents="fill", slack=0.0),
    Argument(name="a5", dtype="uint16", count=96, contents="fill", slack=0.0),
    Argument(name="a6", dtype="uint64", count=96, contents="fill", slack=0.0),
    Argument(name="a7", dtype="float32", count=96, contents="fill", slack=0.0),
)
DATA_SEED = 741213046


@triton.jit
def kernel(a0, a1, a2, a3, a4, a5, a6, a7, n0, n1):
    pid = tl.program_id(0) + tl.program_id(1) * tl.num_programs(0)
    r0 = tl.arange(0, 1)
    r1 = tl.arange(0, 16)
    x0 = r0[:, None]
    x1 = r1[None, :]
    v1 = tl.load(a0 + 1 + x0 * 33 + x1 * 2, mask=(x0 * 16 + x1) % 5 != 0)
    v2 = tl.where((x0 * 16 + x1) % 5 != 0, v1, -0.5)
    v4 = tl.load(a2 + (x0 * 16 + x1 + 0) % 5, mask=v2 == 0, other=1)
    v6 = tl.ravel(v4)
    tl.atomic_min(a3 + 16 + pid * 16 + x0 * 16 + x1, v4)
    tl.store(a7 + 16 + pid * 16 + tl.arange(0, 16), v6)


def tilewright_inputs():
    arrays = {a.name: make_array(a, DATA_SEED + n) for n, a in enumerate(ARGUMENTS)}
    keywords = {**arrays, "n0": 13, "n1": 32, "enable_fp_fusion": False, "num_warps": 1, "num_stages": 1}
    return kernel, (2, 2), keywords
