"""Kernels that tests/unit/tools/test_aot.py compiles ahead of time, as a user's file has them."""

import triton
import triton.language as tl
from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@triton.jit
def scaled_sum(x_ptr, y_ptr, out_ptr, n, scale, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x, y = tl.load(x_ptr + offsets, mask=mask), tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, (x + y) * scale, mask=mask)


@triton.jit
def matrix_product(a_ptr, b_ptr, c_ptr, m, n, k, SIZE: tl.constexpr, ACT: tl.constexpr):
    rows = tl.program_id(0) * SIZE + tl.arange(0, SIZE)[:, None]
    columns = tl.program_id(1) * SIZE + tl.arange(0, SIZE)[None, :]
    sums = tl.zeros((SIZE, SIZE), tl.float32)
    for start in range(0, k, SIZE):
        steps = start + tl.arange(0, SIZE)
        a = tl.load(a_ptr + rows * k + steps[None, :], mask=(rows < m) & (steps[None, :] < k), other=0.0)
        b = tl.load(b_ptr + steps[:, None] * n + columns, mask=(steps[:, None] < k) & (columns < n), other=0.0)
        sums = tl.dot(a, b, sums, input_precision="ieee")
    if ACT == "relu":
        sums = tl.maximum(sums, 0.0)
    tl.store(c_ptr + rows * n + columns, sums, mask=(rows < m) & (columns < n))


@triton.jit
def checked(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=1.0)
    tl.device_assert(x > 0.0, "not positive")
    tl.store(x_ptr + offsets, tl.sqrt(x), mask=offsets < n)


@triton.jit
def printing(x_ptr, k, N: tl.constexpr):
    tl.device_print("x", tl.load(x_ptr + tl.arange(0, N)), k)
    tl.device_print("code", k.to(tl.int16), hex=True)
    tl.device_print("id", (tl.program_id(1) - 1).to(tl.uint32))
    tl.device_print("done")


@triton.autotune(configs=[triton.Config({"BLOCK": 64})], key=["n"])
@triton.jit
def tuned(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, 1.0, mask=offsets < n)


@triton.jit
def names(x, y, z, stream, status, double, tw_x, slots, config, function, BLOCK: tl.constexpr):
    """Parameters with names that a launcher in C might use itself."""
    offsets = tl.arange(0, BLOCK)
    tl.store(x + offsets, tl.load(y + offsets) + z + stream + status + double + tw_x + slots + config + function)


@triton.jit
def through_descriptors(x, out, m, n, BLOCK: tl.constexpr):
    source = tl.make_tensor_descriptor(x, [m, n], [n, 1], [BLOCK, BLOCK])
    target = tl.make_tensor_descriptor(out, [m, n], [n, 1], [BLOCK, BLOCK])
    target.store([0, 0], source.load([0, 0]) * 2)


@triton.jit
def add_row(x, out_ptr, m, n, row, BLOCK: tl.constexpr):
    """Descriptors from the host and from the kernel, in two dimensions and one."""
    i, j = tl.program_id(0) * BLOCK, tl.program_id(1) * BLOCK
    sums = x.load([i, j]) + row.load([j])[None, :]
    out = tl.make_tensor_descriptor(out_ptr, [m, n], [n, 1], [BLOCK, BLOCK])
    out.store([i, j], sums * x.shape[0])


@triton.jit
def in_reverse(flags_ptr, x_ptr):
    """Each program but the last waits for the one behind it."""
    program, last = tl.program_id(0), tl.num_programs(0) - 1
    total = tl.load(x_ptr + program)
    if program != last:
        while tl.atomic_add(flags_ptr + program + 1, 0, sem="acquire") == 0:
            pass
        total += tl.load(x_ptr + program + 1, volatile=True)
    tl.store(x_ptr + program, total)
    tl.debug_barrier()
    tl.atomic_xchg(flags_ptr + program, 1, sem="release")


@triton.jit
def sum_of_products(a_ptr, b_ptr, c_ptr, K, SIZE: tl.constexpr):
    lanes = tl.arange(0, SIZE)
    total = tl.zeros((SIZE, SIZE), tl.float32)
    for start in range(0, K, SIZE):
        depth = start + lanes
        a = tl.load(a_ptr + lanes[:, None] * K + depth[None, :])
        b = tl.load(b_ptr + depth[:, None] * SIZE + lanes[None, :])
        total = tl.dot(a, b, total)
    tl.store(c_ptr + lanes[:, None] * SIZE + lanes[None, :], total)


@gluon.jit
def with_layouts(x_ptr, n):
    """The second language: where elements are is the kernel's."""
    layout: gl.constexpr = gl.BlockedLayout([2], [32], [4], [0])
    offsets = gl.arange(0, 256, layout)
    x = gl.convert_layout(gl.load(x_ptr + offsets, mask=offsets < n), gl.BlockedLayout([1], [32], [4], [0]))
    gl.store(x_ptr + offsets, gl.convert_layout(x + 1, layout), mask=offsets < n)
