"""Chooses its configurations by the vendor of the GPU that is there; those for AMD have options that only guide it."""

import torch
import triton
import triton.language as tl
from triton.runtime.errors import OutOfResources

DEVICE = triton.runtime.driver.active.get_active_torch_device()
IS_CUDA = triton.runtime.driver.active.get_current_target().backend == "cuda"
FOR_CUDA = [triton.Config({"BLOCK": 64}, num_warps=2, num_stages=3)]
FOR_HIP = [
    triton.Config({"BLOCK": 32, "waves_per_eu": 2, "matrix_instr_nonkdim": 16}, num_warps=8, num_stages=2),
    triton.Config({"BLOCK": 64, "waves_per_eu": 3, "kpack": 2}, num_warps=8, num_stages=2),
]


@triton.autotune(configs=FOR_CUDA if IS_CUDA else FOR_HIP, key=["length", "NEGATE"])
@triton.jit
def accumulate_outer(left, right, out, length, stride, NEGATE: tl.constexpr, BLOCK: tl.constexpr):
    down = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    across = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    steps = tl.arange(0, 32)
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(0, length, 32):
        inside = start + steps < length
        a = tl.load(left + down[:, None] * length + start + steps, mask=(down < stride)[:, None] & inside, other=0.0)
        b = tl.load(
            right + (start + steps)[:, None] * stride + across, mask=inside[:, None] & (across < stride), other=0.0
        )
        total = tl.dot(a, b, total)
    if NEGATE:
        total = -total
    kept = (down < stride)[:, None] & (across < stride)
    tl.store(out + down[:, None] * stride + across, total.to(out.dtype.element_ty), mask=kept)


def product(a, b, negate=False):
    size = b.shape[1]
    out = torch.empty((size, size), device=a.device, dtype=torch.float16)
    grid = lambda meta: (triton.cdiv(size, meta["BLOCK"]), triton.cdiv(size, meta["BLOCK"]))  # noqa: E731
    try:
        accumulate_outer[grid](a, b, out, a.shape[1], size, NEGATE=negate)
    except OutOfResources as error:
        raise SystemExit(f"too large: {error}") from error
    return out


torch.manual_seed(0)
a = torch.rand((72, 40), device=DEVICE, dtype=torch.float16) - 0.5
b = torch.rand((40, 72), device=DEVICE, dtype=torch.float16) - 0.5
torch.testing.assert_close(product(a, b), a @ b, atol=1e-2, rtol=0)
torch.testing.assert_close(product(a, b, True), -(a @ b), atol=1e-2, rtol=0)
small_a, small_b = a.to(torch.float8_e5m2), b.to(torch.float8_e5m2)
torch.testing.assert_close(product(small_a, small_b), small_a.half() @ small_b.half(), atol=1e-2, rtol=0)
print("right on", triton.runtime.driver.active.get_current_target().backend)
