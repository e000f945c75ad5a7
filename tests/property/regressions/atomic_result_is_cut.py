"""An atomic whose result is stored in part happens for all elements."""

import triton
import triton.language as tl

from tilewright.tools.fuzzing.replay import make_array
from tilewright.tools.fuzzing.values import Argument

ARGUMENTS = (
    Argument(name="a0", dtype="int32", count=256),
    Argument(name="a1", dtype="int32", count=512, contents="fill"),
)
DATA_SEED = 5


@triton.jit
def kernel(a0, a1, n0):
    pid = tl.program_id(0)
    x0 = tl.arange(0, 16)[:, None]
    x1 = tl.arange(0, 16)[None, :]
    old = tl.atomic_add(a0 + x0 * 16 + x1, 1)
    target = tl.make_tensor_descriptor(a1, (32, 8), (16, 1), (16, 16))
    target.store([pid * 16, 0], tl.where(old > old + 1, 5, n0) + tl.zeros_like(old))


def tilewright_inputs():
    arrays = {a.name: make_array(a, DATA_SEED + n) for n, a in enumerate(ARGUMENTS)}
    return kernel, (2,), {**arrays, "n0": 2}
