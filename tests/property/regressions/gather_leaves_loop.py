"""A loop carries the result of a gather in the layout of its indices, and has that of the load before it."""

import triton
import triton.language as tl

from tilewright.tools.fuzzing.replay import make_array
from tilewright.tools.fuzzing.values import Argument

ARGUMENTS = (
    Argument(name="a0", dtype="int16", count=256),
    Argument(name="a1", dtype="int16", count=256, contents="fill"),
    Argument(name="a2", dtype="int16", count=256, contents="fill"),
)
DATA_SEED = 5


@triton.jit
def kernel(a0, a1, a2, n0):
    x0 = tl.arange(0, 16)[:, None]
    x1 = tl.arange(0, 16)[None, :]
    index = ((x0 * 16 + x1) ^ 251) % 16
    x = tl.load(a0 + x0 * 16 + x1)
    c = x
    for _ in range(n0):
        c = tl.gather(x, index, 0)
    tl.store(a1 + x0 * 16 + x1, c)
    d = x
    i = 0
    while i < n0:
        i += 1
        d = tl.gather(x, index, 1)
    tl.store(a2 + x0 * 16 + x1, d)


def tilewright_inputs():
    arrays = {a.name: make_array(a, DATA_SEED + n) for n, a in enumerate(ARGUMENTS)}
    return kernel, (1,), {**arrays, "n0": 2}
