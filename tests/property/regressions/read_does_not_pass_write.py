"""A load is used behind a store to the same buffer: fusion must not move the read past it."""

import triton
import triton.language as tl

from tilewright.tools.fuzzing.replay import make_array
from tilewright.tools.fuzzing.values import Argument

ARGUMENTS = (
    Argument(name="buffer", dtype="float32", count=512, contents="fill"),
    Argument(name="out", dtype="int8", count=512, contents="fill"),
)


@triton.jit
def kernel(buffer, out):
    x0 = tl.arange(0, 16)[:, None]
    x1 = tl.arange(0, 32)[None, :]
    old = tl.load(buffer + ((x0 * 32 + x1) * 5 + 1) % 512)
    less = tl.minimum(old, 64.0) < x0
    tl.store(buffer + x1 * 16 + x0, (x0 + 0 * x1).to(tl.float32))
    tl.store(out + x0 * 32 + x1, less.to(tl.int8))


def tilewright_inputs():
    return kernel, (1,), {a.name: make_array(a, number) for number, a in enumerate(ARGUMENTS)}
