"""Linear layers whose weights a graph makes from int8, int4 or float8, by PyTorch's compiler: which of them become one
kernel, and that all are right; a program for `tilewright run`."""

import torch
import torch.nn.functional as F
from torch._inductor.utils import run_and_get_code
from torch._subclasses.fake_tensor import FakeTensorMode

from tilewright.compat.inductor_int4 import columns_of_block

torch.manual_seed(0)
COLUMNS, DEPTH = 48, 96
BYTES = torch.randint(-128, 128, (COLUMNS, DEPTH), dtype=torch.int8)
SCALE, BIAS = torch.rand(COLUMNS) + 0.5, torch.randn(COLUMNS)
NIBBLES = torch.randint(0, 256, (COLUMNS, DEPTH // 2), dtype=torch.uint8)
GROUPS = torch.rand(COLUMNS, DEPTH // 32) + 0.5
FLOATS = torch.randn(COLUMNS, DEPTH).to(torch.float8_e4m3fn)


def by_channel(x):
    return F.linear(x, BYTES.to(x.dtype) * SCALE[:, None].to(x.dtype))


def scaled_after(x):
    return F.linear(x, BYTES.to(x.dtype)) * SCALE.to(x.dtype)


def with_bias(x):
    return F.linear(x.sin(), BYTES.to(x.dtype) * SCALE[:, None].to(x.dtype), BIAS.to(x.dtype)).relu()


def columns_last(x):
    return x @ (BYTES.view(DEPTH, COLUMNS).to(x.dtype) * SCALE.to(x.dtype))


def in_batches(x):
    return F.linear(x[None].repeat(1, 1, 1), BYTES.to(x.dtype) * SCALE[:, None].to(x.dtype))


def by_group(x):
    q = torch.stack([NIBBLES & 15, NIBBLES >> 4], -1).view(COLUMNS, -1, 32).to(x.dtype) - 8
    return F.linear(x, (q * GROUPS[..., None].to(x.dtype)).view(COLUMNS, DEPTH))


def of_float8(x):
    return F.linear(x, FLOATS.to(x.dtype) * SCALE[0].to(x.dtype))


def packed(x):
    return torch._weight_int8pack_mm(x, BYTES, SCALE.to(x.dtype))


class PackedNibbles:
    """PyTorch's matmul by weights of four bits: what they are, by columns and groups of 32 rows, and as it packs them."""

    def __init__(self, columns, dtype):
        self.__name__ = f"packed_nibbles_{columns}"
        self.q = torch.randint(0, 16, (columns, DEPTH), dtype=torch.int32)
        self.q[:2] = torch.tensor([[0], [15]])
        self.table = torch.randn(DEPTH // 32, columns, 2).to(dtype)
        self.packed = torch.ops.aten._convert_weight_to_int4pack_for_cpu(self.q, 1)

    def __call__(self, x):
        if x.dtype == torch.float64:
            scale, zero = (self.table.double()[:, :, each].t()[..., None] for each in range(2))
            return x @ ((self.q.view(len(self.q), -1, 32) - 8) * scale + zero).flatten(1).t()
        return torch.ops.aten._weight_int4pack_mm_for_cpu(x, self.packed, 32, self.table)


def used_twice(x):
    w = BYTES.to(x.dtype) * SCALE[:, None].to(x.dtype)
    return F.linear(x, w), w.sum(1)


def plain(x):
    return F.linear(x, SCALE[:, None].to(x.dtype).expand(COLUMNS, DEPTH).contiguous().sin().cumsum(0))


def check(function, rows, dtype, *, fused):
    """Compare a function of so many rows with itself in float64, and look for a call of a library in its code."""
    x = torch.randn(rows, DEPTH).to(dtype)
    with torch.no_grad():
        result, (code, *_) = run_and_get_code(torch.compile(function, backend="tilewright", dynamic=False), x)
        exact = (function if function is not packed else scaled_after)(x.double())
    called = any(
        name in code
        for name in (
            "extern_kernels.mm",
            "extern_kernels.addmm",
            "_weight_int8pack_mm(",
            "int4mm_packed_weight_cpu.default(",
            "mkldnn.",
        )
    )
    assert called != fused, (function.__name__, rows, dtype)
    results, exacts = (each if isinstance(each, tuple) else (each,) for each in (result, exact))
    for found, wanted in zip(results, exacts, strict=True):
        assert found.dtype == dtype, function.__name__
        error = (found.double() - wanted).abs().max() / wanted.abs().max()
        assert error < {torch.float32: 2e-6, torch.bfloat16: 2e-2, torch.float16: 2e-3}[dtype], (
            function.__name__,
            rows,
            error,
        )


for each in by_channel, scaled_after, with_bias, columns_last, in_batches, by_group, of_float8, packed:
    check(each, 3, torch.float32, fused=True)
for each in with_bias, by_group, packed:
    check(each, 1, torch.float32, fused=True)
check(with_bias, 1, torch.bfloat16, fused=True)
check(with_bias, 4, torch.float16, fused=True)
check(by_channel, 5, torch.float32, fused=False)  # more rows than are few for weights that caches hold
check(packed, 5, torch.float32, fused=False)
is_known = columns_of_block() is not None  # not on machines without AVX2
columns_of_block.cache_clear()
with FakeTensorMode(), torch.device("meta"):
    assert (columns_of_block() is not None) == is_known
for columns, rows, dtype in (128, 1, torch.float32), (128, 4, torch.float32), (192, 1, torch.float16):
    check(PackedNibbles(columns, dtype), rows, dtype, fused=is_known)
check(PackedNibbles(128, torch.float32), 5, torch.float32, fused=False)
check(PackedNibbles(128, torch.bfloat16), 1, torch.bfloat16, fused=False)  # PyTorch has fast code for it
check(PackedNibbles(112, torch.float32), 1, torch.float32, fused=False)  # the last block is packed in another way
check(used_twice, 1, torch.float32, fused=False)  # the weights have to be in memory
check(plain, 1, torch.float32, fused=False)
print("right")
