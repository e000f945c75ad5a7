"""An element of a uniform tile in a body with control flow."""

import triton
import triton.language as tl

from tilewright.tools.fuzzing.replay import make_array
from tilewright.tools.fuzzing.values import Argument

ARGUMENTS = (
    Argument(name="a3", dtype="int8", count=64, contents="random", slack=0.0),
    Argument(name="a7", dtype="uint32", count=29, contents="random", slack=0.0),
    Argument(name="a9", dtype="uint32", count=96, contents="fill", slack=0.0),
)
DATA_SEED = 766660459


@triton.jit
def kernel(a3, a7, a9):
    x0 = tl.arange(0, 64)
    first = tl.zeros((64,), tl.int32) + tl.argmax(tl.load(a3 + x0), 0)
    picked = tl.gather(first, x0 % 64, 0)
    v30 = tl.load(a7 + x0 % 29, mask=picked > -1)
    tl.store(a9 + 16 + x0, tl.where(picked > -1, v30, 5))


def tilewright_inputs():
    arrays = {a.name: make_array(a, DATA_SEED + int(a.name[1:])) for a in ARGUMENTS}
    keywords = {**arrays, "enable_fp_fusion": False}
    return kernel, (1,), keywords
