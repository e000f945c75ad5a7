"""Tiles whose addresses lie in memory, tensor descriptors made by the host and by the kernel, and an allocator."""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

DEVICE = triton.runtime.driver.active.get_active_torch_device()


@triton.jit
def double_each(addresses, sizes, count, BLOCK: tl.constexpr):
    """Program p takes the pieces p, p + P, ... of all arrays, one after the other."""
    piece = tl.program_id(0)
    first = 0
    for number in range(count):
        size = tl.load(sizes + number)
        pieces = tl.cdiv(size, BLOCK)
        while piece >= first and piece < first + pieces:
            data = tl.load(addresses + number).to(tl.pointer_type(tl.float16))
            lanes = (piece - first) * BLOCK + tl.arange(0, BLOCK)
            x = tl.load(data + lanes, mask=lanes < size)
            tl.store(data + lanes, x * 2, mask=lanes < size)
            piece += tl.num_programs(0)
        first += pieces


arrays = [torch.rand(size, device=DEVICE, dtype=torch.float16) for size in (100, 64, 300)]
expected = [2 * array for array in arrays]
addresses = torch.tensor([array.data_ptr() for array in arrays], device=DEVICE)
sizes = torch.tensor([array.numel() for array in arrays], device=DEVICE, dtype=torch.int32)
workers = min(4, triton.runtime.driver.active.utils.get_device_properties(0)["multiprocessor_count"])
double_each[(workers,)](addresses, sizes, len(arrays), BLOCK=64)
assert all(torch.equal(array, right) for array, right in zip(arrays, expected, strict=True))


@triton.jit
def transpose_tile(source, target, rows, columns, TILE: tl.constexpr):
    made_here = tl.make_tensor_descriptor(target, [columns, rows], [rows, 1], [TILE, TILE])
    down, across = tl.program_id(0) * TILE, tl.program_id(1) * TILE
    made_here.store([across, down], source.load([down, across]).T)


triton.set_allocator(lambda size, alignment, stream: torch.empty(size, device=DEVICE, dtype=torch.int8))
x = torch.rand(64, 32, device=DEVICE)
y = torch.zeros(32, 64, device=DEVICE)
transpose_tile[(4, 2)](TensorDescriptor(x, x.shape, x.stride(), [16, 16]), y, *x.shape, TILE=16)
assert torch.equal(x.T, y)
print("right on", triton.runtime.driver.active.get_current_target().backend)
