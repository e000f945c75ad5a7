"""Scans whose function computes nothing: it keeps the first element of a row, or all of them. They did not compile."""

import triton
import triton.language as tl

from tilewright.tools.fuzzing.replay import make_array
from tilewright.tools.fuzzing.values import Argument

ARGUMENTS = (
    Argument(name="a0", dtype="float32", count=64),
    Argument(name="a1", dtype="float32", count=64, contents="fill"),
    Argument(name="a2", dtype="float32", count=64, contents="fill"),
)
DATA_SEED = 1


@triton.jit
def left(a, b):
    return a


@triton.jit
def right(a, b):
    return b


@triton.jit
def kernel(a0, a1, a2):
    index = tl.arange(0, 4)[:, None] * 16 + tl.arange(0, 16)[None, :]
    x = tl.load(a0 + index)
    tl.store(a1 + index, tl.associative_scan(x, 1, left, reverse=True))
    tl.store(a2 + index, tl.associative_scan(x, 0, left) + tl.associative_scan(x, 1, right))


def tilewright_inputs():
    arrays = {a.name: make_array(a, DATA_SEED + n) for n, a in enumerate(ARGUMENTS)}
    return kernel, (1,), arrays
