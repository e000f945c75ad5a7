"""A gather from a tile whose elements are all equal: the element is a vector all the same."""

import triton
import triton.language as tl

from tilewright.tools.fuzzing.replay import make_array
from tilewright.tools.fuzzing.values import Argument

ARGUMENTS = (
    Argument(name="a1", dtype="int32", count=16, contents="index:16", slack=0.0),
    Argument(name="a2", dtype="uint32", count=16, contents="random", slack=0.0),
    Argument(name="a5", dtype="bfloat16", count=48, contents="fill", slack=0.0),
)
DATA_SEED = 957098432


@triton.jit
def kernel(a1, a2, a5):
    pid = tl.program_id(0)
    r0 = tl.arange(0, 16)
    x0 = r0
    v2 = tl.load(a2 + tl.load(a1 + x0))
    v12 = v2 < v2
    c5 = v12.to(tl.bfloat16)
    v26 = tl.gather(c5, (15 - x0) % 16, 0)
    tl.store(a5 + 16 + pid * 16 + tl.arange(0, 16), v26)


def tilewright_inputs():
    arrays = {a.name: make_array(a, DATA_SEED + int(a.name[1:])) for a in ARGUMENTS}
    keywords = {**arrays, "enable_fp_fusion": False}
    return kernel, (1,), keywords
