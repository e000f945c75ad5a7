"""What an atomic adds is computed for all elements, however far its result is read."""

import triton
import triton.language as tl

from tilewright.tools.fuzzing.replay import make_array
from tilewright.tools.fuzzing.values import Argument

ARGUMENTS = (
    Argument(name="a0", dtype="float16", count=512, contents="random", slack=0.0),
    Argument(name="a1", dtype="float16", count=512, contents="fill", slack=0.0),
    Argument(name="a2", dtype="float16", count=512, contents="fill", slack=0.0),
)
DATA_SEED = 935013126


@triton.jit
def kernel(a0, a1, a2, n1):
    rows = tl.arange(0, 32)[:, None]
    columns = tl.arange(0, 16)[None, :]
    behind = rows * 16 + columns >= n1
    x = tl.where(behind, tl.load(a0 + rows * 16, mask=behind), 1.0)
    before = tl.atomic_add(a1 + columns * 32 + rows, x)
    tl.store(tl.make_block_ptr(a2, (20, 9), (16, 1), (0, 0), (32, 16), (1, 0)), before, boundary_check=(0, 1))


def tilewright_inputs():
    arrays = {a.name: make_array(a, DATA_SEED + n) for n, a in enumerate(ARGUMENTS)}
    return kernel, (1,), {**arrays, "n1": 829}
