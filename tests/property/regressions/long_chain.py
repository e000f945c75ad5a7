"""Each value of a long chain was found by a call from within that of the one behind it: Python's stack ended at 100."""

import tilewright
import tilewright.language as tl
from tilewright.tools.fuzzing.replay import make_array
from tilewright.tools.fuzzing.values import Argument

ARGUMENTS = (
    Argument(name="a0", dtype="float32", count=16),
    Argument(name="a1", dtype="float32", count=16, contents="fill"),
)
DATA_SEED = 3


@tilewright.jit
def kernel(a0, a1, n0):
    x0 = tl.arange(0, 16)
    x = tl.load(a0 + x0)
    total = x
    for n in tl.static_range(110):
        total = total * 0.5 + tl.where((x0 + n) % 3 == n0, x, n)
    tl.store(a1 + x0, total)


def tilewright_inputs():
    arrays = {a.name: make_array(a, DATA_SEED + n) for n, a in enumerate(ARGUMENTS)}
    return kernel, (1,), {**arrays, "n0": 0}
