"""A loop went on in the buffer of a tile that a gather, put off until its store, still had to read."""

import triton
import triton.language as tl

from tilewright.tools.fuzzing.replay import make_array
from tilewright.tools.fuzzing.values import Argument

ARGUMENTS = (
    Argument(name="a0", dtype="float32", count=16),
    Argument(name="a1", dtype="float32", count=8, contents="fill"),
    Argument(name="a2", dtype="float32", count=8, contents="fill"),
)
DATA_SEED = 1


@triton.jit
def kernel(a0, a1, a2, n0):
    x0 = tl.arange(0, 8)
    x = tl.load(a0 + x0 * 2, mask=x0 % 5 != 0, other=1)
    taken = tl.gather(x, x0 % 8, 0)
    c = x
    i = 0
    while i < n0:
        i += 1
        c = c * 0 + tl.argmax(c, 0)
    tl.store(a1 + x0, taken)
    tl.store(a2 + x0, c)


def tilewright_inputs():
    arrays = {a.name: make_array(a, DATA_SEED + n) for n, a in enumerate(ARGUMENTS)}
    return kernel, (1,), {**arrays, "n0": 2}
