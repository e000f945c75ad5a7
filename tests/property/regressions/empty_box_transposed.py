"""A box without columns, of which every row is one element: nothing of it is read by the transposing copy."""

import triton
import triton.language as tl

from tilewright.tools.fuzzing.replay import make_array
from tilewright.tools.fuzzing.values import Argument

ARGUMENTS = (
    Argument(name="a0", dtype="uint16", count=512, contents="random", slack=0.0),
    Argument(name="a1", dtype="bfloat16", count=16, contents="random", slack=0.0),
    Argument(name="a2", dtype="bfloat16", count=512, contents="random", slack=0.0),
    Argument(name="a3", dtype="float16", count=266, contents="random", slack=0.0),
    Argument(name="a4", dtype="float32", count=544, contents="fill", slack=0.0),
    Argument(name="a5", dtype="bfloat16", count=544, contents="fill", slack=0.0),
    Argument(name="a6", dtype="int8", count=512, contents="random", slack=0.0),
    Argument(name="a7", dtype="int8", count=512, contents="random", slack=0.0),
    Argument(name="a8", dtype="int16", count=16, contents="random", slack=0.0),
    Argument(name="a9", dtype="float32", count=544, contents="fill", slack=0.0),
    Argument(name="a10", dtype="uint16", count=544, contents="fill", slack=0.0),
    Argument(name="a11", dtype="int16", count=544, contents="fill", slack=0.0),
)
DATA_SEED = 341941844


@triton.jit
def kernel(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, n0, n1):
    pid = 0
    r0 = tl.arange(0, 16)
    r1 = tl.arange(0, 16)
    x0 = r0[:, None]
    x1 = r1[None, :]
    v24 = tl.load(a8 + x0 + 0 * x1, mask=(x0 < 16) & (x1 < 0), other=1)
    tl.store(a11 + 16 + pid * 256 + tl.arange(0, 16)[None, :] * 1 + tl.arange(0, 16)[:, None] * 16, v24)


def tilewright_inputs():
    arrays = {a.name: make_array(a, DATA_SEED + n) for n, a in enumerate(ARGUMENTS)}
    keywords = {**arrays, "n0": 137, "n1": 134, "enable_fp_fusion": False}
    return kernel, (2,), keywords
