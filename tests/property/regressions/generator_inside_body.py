"""Computed indices of a scatter of one scalar: no linalg op may land in the body of another."""

import triton
import triton.language as tl

from tilewright.tools.fuzzing.replay import make_array
from tilewright.tools.fuzzing.values import Argument

ARGUMENTS = (
    Argument(name="a0", dtype="int32", count=32, contents="random", slack=0.0),
    Argument(name="a2", dtype="bfloat16", count=64, contents="fill", slack=0.0),
)
DATA_SEED = 75333534


@triton.jit
def kernel(a0, a2):
    r0 = tl.arange(0, 32)
    x0 = r0
    v1 = tl.load(a0)
    v3 = v1
    tl.store(a2 + (x0 ^ 7), v3)


def tilewright_inputs():
    arrays = {a.name: make_array(a, DATA_SEED + int(a.name[1:])) for a in ARGUMENTS}
    keywords = {**arrays, "enable_fp_fusion": False}
    return kernel, (1,), keywords
