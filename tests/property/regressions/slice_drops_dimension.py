"""An argmax along an axis of extent 1: the slice in front of the store drops a dimension."""

import triton
import triton.language as tl

from tilewright.tools.fuzzing.replay import make_array
from tilewright.tools.fuzzing.values import Argument

ARGUMENTS = (Argument(name="a6", dtype="int32", count=80, contents="fill", slack=0.0),)
DATA_SEED = 211329365


@triton.jit
def kernel(a6):
    pid = 0
    r0 = tl.arange(0, 16)
    r1 = tl.arange(0, 1)
    x0 = r0[:, None]
    x1 = r1[None, :]
    v2 = x0 * 1 + x1
    v6 = tl.argmax(v2, 1)
    tl.store(a6 + 16 + pid * 16 + tl.arange(0, 16), v6)


def tilewright_inputs():
    arrays = {a.name: make_array(a, DATA_SEED + int(a.name[1:])) for a in ARGUMENTS}
    keywords = {**arrays, "enable_fp_fusion": False}
    return kernel, (3,), keywords
