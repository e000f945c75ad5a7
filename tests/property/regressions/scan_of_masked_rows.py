"""A scan along rows: what its masks need is made in front of its loops."""

import triton
import triton.language as tl

from tilewright.tools.fuzzing.replay import make_array
from tilewright.tools.fuzzing.values import Argument

ARGUMENTS = (
    Argument(name="a0", dtype="int32", count=512),
    Argument(name="a1", dtype="int32", count=512, contents="fill"),
)
DATA_SEED = 5


@triton.jit
def f(a, b):
    return tl.maximum(a, b)


@triton.jit
def kernel(a0, a1, n0):
    x1 = tl.arange(0, 16)[None, :]
    v1 = tl.load(a0 + x1, mask=x1 < 15, other=0)
    tl.store(a1 + x1, tl.associative_scan(v1, 1, f))


def tilewright_inputs():
    arrays = {a.name: make_array(a, DATA_SEED + n) for n, a in enumerate(ARGUMENTS)}
    return kernel, (1,), {**arrays, "n0": 0}
