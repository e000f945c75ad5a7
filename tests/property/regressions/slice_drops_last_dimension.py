"""Interleaving rows: the slice that each half is put in drops its last dimension, not its first."""

import triton
import triton.language as tl

from tilewright.tools.fuzzing.replay import make_array
from tilewright.tools.fuzzing.values import Argument

ARGUMENTS = (
    Argument(name="a0", dtype="float32", count=37, contents="random", slack=0.0),
    Argument(name="a1", dtype="uint8", count=8, contents="random", slack=0.0),
    Argument(name="a2", dtype="uint8", count=80, contents="fill", slack=0.0),
    Argument(name="a3", dtype="int64", count=16, contents="random", slack=0.0),
    Argument(name="a4", dtype="float32", count=128, contents="fill", slack=0.0),
    Argument(name="a5", dtype="uint8", count=80, contents="fill", slack=0.0),
    Argument(name="a6", dtype="int64", count=80, contents="fill", slack=0.0),
    Argument(name="a7", dtype="float32", count=128, contents="fill", slack=0.0),
    Argument(name="a8", dtype="uint8", count=80, contents="fill", slack=0.0),
)
DATA_SEED = 566338481


@triton.jit
def kernel(a0, a1, a2, a3, a4, a5, a6, a7, a8, n0, n1):
    pid = 0
    r1 = tl.arange(0, 16)
    x1 = r1[None, :]
    v1 = tl.load(a0 + x1 * 2)
    t3 = tl.interleave(v1, v1)
    v4 = t3
    tl.store(a4 + 16 + pid * 32 + tl.arange(0, 32)[None, :] * 1 + tl.arange(0, 1)[:, None] * 32, v4)


def tilewright_inputs():
    arrays = {a.name: make_array(a, DATA_SEED + n) for n, a in enumerate(ARGUMENTS)}
    keywords = {**arrays, "n0": 23, "n1": 7, "enable_fp_fusion": True}
    return kernel, (3,), keywords
