"""User-defined records."""

import triton
import triton.language as tl
from triton.language.core import _aggregate as aggregate


@aggregate
class Accumulator:
    value: tl.tensor
    count: tl.tensor
    scale: tl.constexpr

    @triton.constexpr_function
    def __init__(self, value, count, scale):
        self.value = value
        self.count = count
        self.scale = tl.constexpr(scale)

    @triton.jit
    def add(self, x):
        return Accumulator(self.value + x * self.scale, self.count + 1, self.scale)

    @triton.jit
    def mean(self):
        return tl.sum(self.value, 0) / self.count


@triton.jit
def records(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    acc = Accumulator(tl.zeros([BLOCK], tl.float32), tl.zeros((), tl.int32), 2)
    for k in range(n):
        acc = acc.add(tl.load(x_ptr + k * BLOCK + i))
    if n > 5:
        acc = acc.add(1.0)
    tl.store(out_ptr, acc.mean())


CASES = [
    (records, "*fp32 *fp32 i32 =64"),
]
