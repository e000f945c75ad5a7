"""Stores and atomics whose mask has no form of its own wrote all lanes behind a function of single elements."""

import triton
import triton.language as tl

from tilewright.tools.fuzzing.replay import make_array
from tilewright.tools.fuzzing.values import Argument

ARGUMENTS = (
    Argument(name="a0", dtype="int32", count=32),
    Argument(name="a1", dtype="int32", count=32, contents="fill"),
    Argument(name="a2", dtype="int32", count=32, contents="zeros"),
)
DATA_SEED = 1


@triton.jit
def larger_or_negative(x, y):
    if x > y:
        return x
    return -y


@triton.jit
def kernel(a0, a1, a2, n0):
    x0 = tl.arange(0, 32)
    x = tl.load(a0 + x0)
    mapped = tl.map_elementwise(larger_or_negative, x, tl.flip(x))
    tl.store(a1 + x0, mapped, mask=(x0 % 3 != 0) & (x > n0))
    tl.atomic_min(a2 + x0, mapped, mask=x < n0)


def tilewright_inputs():
    arrays = {a.name: make_array(a, DATA_SEED + n) for n, a in enumerate(ARGUMENTS)}
    return kernel, (1,), {**arrays, "n0": 1}
