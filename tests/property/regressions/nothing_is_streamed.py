"""A store under a mask that is known to be empty, of a tile that is large enough to go past the caches."""

import triton
import triton.language as tl

from tilewright.tools.fuzzing.replay import make_array
from tilewright.tools.fuzzing.values import Argument

ARGUMENTS = (
    Argument(name="a0", dtype="float32", count=512, contents="random", slack=0.0),
    Argument(name="a1", dtype="float32", count=512, contents="random", slack=0.0),
)
DATA_SEED = 20261122


@triton.jit
def kernel(a0, a1, n1, n2):
    lanes = tl.arange(0, 256)
    x = lanes.to(tl.float32)
    tl.store(a1 + (lanes + n2), x, mask=(lanes < n1) & (lanes > 2))
    y = x * tl.load(a1 + 147) + tl.load(a0 + lanes + 16, mask=lanes < n1, other=5)
    tl.store(a0 + lanes, y)


def tilewright_inputs():
    arrays = {a.name: make_array(a, DATA_SEED + n) for n, a in enumerate(ARGUMENTS)}
    return kernel, (1,), {**arrays, "n1": 1, "n2": 5}
