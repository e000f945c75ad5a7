"""A tile is needed in memory inside of a branch and read again behind it."""

import triton
import triton.language as tl

from tilewright.tools.fuzzing.replay import make_array
from tilewright.tools.fuzzing.values import Argument

ARGUMENTS = (
    Argument(name="x", dtype="uint8", count=16),
    Argument(name="y", dtype="uint16", count=16),
    Argument(name="first", dtype="uint8", count=16, contents="fill"),
    Argument(name="second", dtype="uint16", count=16, contents="fill"),
)


@triton.jit
def kernel(x, y, first, second, flag, n):
    lanes = tl.arange(0, 16)
    tile = tl.load(x + lanes, mask=lanes < n, other=0)
    other = tl.load(y + (lanes + flag) % 4)
    if flag > 16:
        other = tl.gather(tile, lanes, 0).to(tl.uint16)
    tl.store(first + lanes, tile)
    tl.store(second + lanes, other)


def tilewright_inputs():
    arrays = {a.name: make_array(a, number) for number, a in enumerate(ARGUMENTS)}
    return kernel, (1,), {**arrays, "flag": 5, "n": 9}
