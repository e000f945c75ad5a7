"""The last vector of a store has one lane, of elements that were narrowed: its neighbour stays."""

import triton
import triton.language as tl

from tilewright.tools.fuzzing.replay import make_array
from tilewright.tools.fuzzing.values import Argument

ARGUMENTS = (
    Argument(name="a0", dtype="int16", count=1536, contents="random", slack=0.0),
    Argument(name="a3", dtype="bfloat16", count=1568, contents="fill", slack=0.0),
)
DATA_SEED = 1017231244


@triton.jit
def kernel(a0, a3, n0):
    pid = 0
    r0 = tl.arange(0, 512)
    x0 = r0
    v1 = tl.load(a0 + x0, mask=x0 >= n0)
    v2 = v1
    v9 = v2
    tl.store(a3 + 16 + pid * 512 + x0, v9, mask=x0 < 97)


def tilewright_inputs():
    arrays = {a.name: make_array(a, DATA_SEED + n) for n, a in enumerate(ARGUMENTS)}
    keywords = {**arrays, "n0": 488, "enable_fp_fusion": False, "num_warps": 2, "num_stages": 2}
    return kernel, (3,), keywords
