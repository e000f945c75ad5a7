"""A tensor descriptor of one dimension: its buffer is not transposed, whatever its layout says."""

import triton
import triton.language as tl

from tilewright.tools.fuzzing.replay import make_array
from tilewright.tools.fuzzing.values import Argument

ARGUMENTS = (
    Argument(name="a0", dtype="float32", count=512),
    Argument(name="a1", dtype="float32", count=512, contents="fill"),
)


@triton.jit
def kernel(a0, a1, n0):
    d = tl.make_tensor_descriptor(a0, (300,), (1,), (64,))
    tl.store(a1 + tl.arange(0, 64), d.load([n0]))


def tilewright_inputs():
    arrays = {a.name: make_array(a, 5 + n) for n, a in enumerate(ARGUMENTS)}
    return kernel, (2,), {**arrays, "n0": 8}
