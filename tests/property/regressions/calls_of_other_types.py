"""Two functions that are called: PTX passes the second parameter of both under one name, as 32 and as 64 bits."""

import triton
import triton.language as tl

from tilewright.tools.fuzzing.replay import make_array
from tilewright.tools.fuzzing.values import Argument

ARGUMENTS = (
    Argument(name="a0", dtype="int32", count=64),
    Argument(name="a1", dtype="int32", count=64, contents="fill"),
)
DATA_SEED = 5


@triton.jit(noinline=True)
def largest(source, factor):
    return tl.max(tl.load(source + tl.arange(0, 8)), 0) * factor


@triton.jit(noinline=True)
def move(source, target, n):
    i = tl.arange(0, 16)
    tl.store(target + i, tl.load(source + i, mask=i < n, other=2), mask=i > 0)


@triton.jit
def kernel(a0, a1, n0):
    pid = tl.program_id(0)
    most = largest(a0 + pid * 16, n0)
    move(a0 + pid * 16, a1 + pid * 16, 7)
    tl.store(a1 + pid * 16, most)


def tilewright_inputs():
    arrays = {a.name: make_array(a, DATA_SEED + n) for n, a in enumerate(ARGUMENTS)}
    return kernel, (2,), {**arrays, "n0": 3}
