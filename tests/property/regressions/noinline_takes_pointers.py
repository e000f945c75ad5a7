"""A function that is not to be inlined gets pointers into arrays, and loads and stores tiles there."""

import triton
import triton.language as tl

from tilewright.tools.fuzzing.replay import make_array
from tilewright.tools.fuzzing.values import Argument

ARGUMENTS = (
    Argument(name="a0", dtype="int16", count=64),
    Argument(name="a1", dtype="int16", count=64, contents="fill"),
)
DATA_SEED = 5


@triton.jit(noinline=True)
def move(source, target, n):
    i = tl.arange(0, 16)
    tl.store(target + i, tl.load(source + i, mask=i < n, other=2), mask=i > 0)
    return tl.load(target + n)


@triton.jit
def kernel(a0, a1, n0):
    pid = tl.program_id(0)
    last = move(a0 + pid * 16, a1 + pid * 16, 12)
    for k in range(n0):
        last += move(a1 + pid * 16, a1 + 32 + pid * 16, k)
    tl.store(a1 + pid * 16, last)


def tilewright_inputs():
    arrays = {a.name: make_array(a, DATA_SEED + n) for n, a in enumerate(ARGUMENTS)}
    return kernel, (2,), {**arrays, "n0": 3}
