"""Numbers that are meant to wrap around, as hashes do, were compared as if they did not."""

import triton
import triton.language as tl

from tilewright.tools.fuzzing.replay import make_array
from tilewright.tools.fuzzing.values import Argument

ARGUMENTS = (
    Argument(name="a0", dtype="int32", count=64),
    Argument(name="a1", dtype="int32", count=64, contents="fill"),
    Argument(name="a2", dtype="int32", count=1, contents="fill"),
)
DATA_SEED = 1


@triton.jit
def kernel(a0, a1, a2, n0):
    x0 = tl.arange(0, 64)
    tl.store(a1 + x0, tl.load(a0 + x0, mask=x0 * 1103515245 + 12345 > 0, other=-1))
    one = tl.arange(0, 1)
    draws = tl.randint4x(n0, one)
    tl.store(a2 + one, tl.load(a0 + one, mask=draws[3].to(tl.int32) >= 0, other=-1))


def tilewright_inputs():
    arrays = {a.name: make_array(a, DATA_SEED + n) for n, a in enumerate(ARGUMENTS)}
    return kernel, (1,), {**arrays, "n0": 1}
