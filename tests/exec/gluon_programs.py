"""Kernels in Gluon of the kinds that programs have: normalisations, products, attention, rings of copies.

Loaded with tilewright standing in for Triton, as programs are.
"""

# Official Triton's types, where it is installed, know nothing of what is compiled: static_range is not iterable there,
# and a class decorator without types hides the class.
# pyright: reportGeneralTypeIssues=false, reportUntypedClassDecorator=false
from __future__ import annotations

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.ampere import CachePolicy, async_copy, mma_v2
from triton.experimental.gluon.language.nvidia.blackwell import allocate_tensor_memory, tensor_memory_descriptor
from triton.experimental.gluon.language.nvidia.hopper import (
    FractionalEvictionPolicy,
    fence_async_shared,
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_accumulator,
    warpgroup_mma_wait,
)

TILE = gl.BlockedLayout([1, 4], [2, 16], [4, 1], [1, 0])
COLUMNS = gl.BlockedLayout([4, 1], [16, 2], [1, 4], [0, 1])
ROW = gl.BlockedLayout([1], [32], [4], [0])
PLAIN = gl.SwizzledSharedLayout(1, 1, 1, [1, 0])
LINE = gl.SwizzledSharedLayout(1, 1, 1, [0])


# -- on registers -----------------------------------------------------------------------------------------------------
@gluon.jit
def softmax_rows(x_ptr, y_ptr, rows, columns, R: gl.constexpr, C: gl.constexpr, layout: gl.constexpr):
    """A persistent softmax: each program takes every so manieth block of rows."""
    for start in range(gl.program_id(0) * R, rows, gl.num_programs(0) * R):
        row = start + gl.arange(0, R, gl.SliceLayout(1, layout))
        column = gl.arange(0, C, gl.SliceLayout(0, layout))
        at = row[:, None] * columns + column[None, :]
        mask = (row < rows)[:, None] & (column < columns)[None, :]
        x = gl.load(x_ptr + at, mask, other=-float("inf"))
        x = gl.where((row < rows)[:, None], x, 0.0)
        e = gl.exp(x - gl.max(x, axis=1)[:, None])
        gl.store(y_ptr + at, e / gl.sum(e, axis=1)[:, None], mask)


@gluon.jit
def layer_norm(x_ptr, w_ptr, b_ptr, y_ptr, C: gl.constexpr, R: gl.constexpr, layout: gl.constexpr):
    row = gl.program_id(0) * R + gl.arange(0, R, gl.SliceLayout(1, layout))
    column = gl.arange(0, C, gl.SliceLayout(0, layout))
    at = row[:, None] * C + column[None, :]
    x = gl.load(x_ptr + at).to(gl.float32)
    centred = x - (gl.sum(x, 1) / C)[:, None]
    scale = gl.rsqrt(gl.sum(centred * centred, 1) / C + 1e-5)
    y = centred * scale[:, None] * gl.load(w_ptr + column)[None, :] + gl.load(b_ptr + column)[None, :]
    gl.store(y_ptr + at, y.to(y_ptr.dtype.element_ty))


@gluon.jit
def larger_pair(value, index, other_value, other_index):
    takes = (other_value > value) | ((other_value == value) & (other_index < index))
    return gl.where(takes, other_value, value), gl.where(takes, other_index, index)


@gluon.jit
def largest_of_rows(x_ptr, value_ptr, index_ptr, R: gl.constexpr, C: gl.constexpr, layout: gl.constexpr):
    row = gl.arange(0, R, gl.SliceLayout(1, layout))
    column = gl.arange(0, C, gl.SliceLayout(0, layout))
    x = gl.load(x_ptr + row[:, None] * C + column[None, :])
    places = column[None, :] + gl.zeros([R, C], gl.int32, layout)
    value, index = gl.reduce((x, places), 1, larger_pair)
    gl.store(value_ptr + row, value)
    gl.store(index_ptr + row, index)


@gluon.jit
def sums_of_three(x_ptr, y_ptr, A: gl.constexpr, B: gl.constexpr, C: gl.constexpr, layout: gl.constexpr):
    """Sums over the middle and then the last of three dimensions: slices of slices."""
    rows: gl.constexpr = gl.SliceLayout(1, layout)
    a = gl.arange(0, A, gl.SliceLayout(1, gl.SliceLayout(2, layout)))[:, None, None]
    b = gl.arange(0, B, gl.SliceLayout(0, gl.SliceLayout(2, layout)))[None, :, None]
    c = gl.arange(0, C, gl.SliceLayout(0, gl.SliceLayout(1, layout)))[None, None, :]
    x = gl.load(x_ptr + a * (B * C) + b * C + c)
    total = gl.sum(gl.sum(x, 1), 1)
    gl.store(y_ptr + gl.arange(0, A, gl.SliceLayout(1, rows)), total)


@gluon.jit
def quantised_rows(x_ptr, q_ptr, scale_ptr, C: gl.constexpr, R: gl.constexpr, layout: gl.constexpr):
    row = gl.arange(0, R, gl.SliceLayout(1, layout))
    at = row[:, None] * C + gl.arange(0, C, gl.SliceLayout(0, layout))[None, :]
    x = gl.load(x_ptr + at)
    scale = gl.max(gl.abs(x), 1) / 127.0
    gl.store(q_ptr + at, gl.floor(x / scale[:, None] + 0.5).to(gl.int8))
    gl.store(scale_ptr + row, scale)


@gluon.jit
def rows_of_table(table_ptr, index_ptr, y_ptr, C: gl.constexpr, R: gl.constexpr):
    """An embedding, whose layouts follow from the addresses."""
    row = gl.arange(0, R)
    index = gl.load(index_ptr + row)
    column = gl.arange(0, C)
    x = gl.load(gl.set_auto_layout(table_ptr + index[:, None] * C + column[None, :], gl.CoalescedLayout()))
    gl.store(y_ptr + row[:, None] * C + column[None, :], x)


@gluon.jit
def in_linear_layout(x_ptr, y_ptr, layout: gl.constexpr, other: gl.constexpr):
    at = gl.arange(0, 16, gl.SliceLayout(1, layout))[:, None] * 32 + gl.arange(0, 32, gl.SliceLayout(0, layout))[None]
    x = gl.convert_layout(gl.load(x_ptr + at) * 2, other)
    to = gl.arange(0, 16, gl.SliceLayout(1, other))[:, None] + gl.arange(0, 32, gl.SliceLayout(0, other))[None] * 16
    gl.store(y_ptr + to, x)


@gluon.jit
def hinted_copy(x_ptr, y_ptr, N: gl.constexpr, layout: gl.constexpr):
    at = gl.arange(0, N, layout)
    once: gl.constexpr = CachePolicy(l1="evict_first", l2=FractionalEvictionPolicy("evict_first", 0.5))
    x = gl.load(x_ptr + at, cache_policy=once)
    gl.store(y_ptr + at, x, cache_policy=gl.CachePolicy(cache_modifier=".cs"))


# -- through shared memory --------------------------------------------------------------------------------------------
@gluon.jit
def transpose_padded(x_ptr, y_ptr, N: gl.constexpr, layout: gl.constexpr, shared: gl.constexpr):
    row = gl.arange(0, N, gl.SliceLayout(1, layout))
    column = gl.arange(0, N, gl.SliceLayout(0, layout))
    at = row[:, None] * N + column[None, :]
    buffer = gl.allocate_shared_memory(x_ptr.dtype.element_ty, [N, N], shared)
    buffer.store(gl.load(x_ptr + at))
    gl.store(y_ptr + at, buffer.permute((1, 0)).load(layout))


@gluon.jit
def last_slots(x_ptr, y_ptr, first, N: gl.constexpr, layout: gl.constexpr, shared: gl.constexpr):
    """Some of several buffers: a slice that begins at no multiple of its length."""
    at = gl.arange(0, N, layout)
    buffers = gl.allocate_shared_memory(gl.float32, [5, N], shared)
    for i in gl.static_range(5):
        buffers.index(i).store(gl.load(x_ptr + i * N + at))
    slots = buffers.slice(2, 3)
    for i in range(3):
        gl.store(y_ptr + i * N + at, slots.index((first + i) % 3).load(layout))


@gluon.jit
def histogram(x_ptr, y_ptr, n, B: gl.constexpr, BINS: gl.constexpr, layout: gl.constexpr, shared: gl.constexpr):
    bins = gl.allocate_shared_memory(gl.int32, [BINS], shared, gl.zeros([BINS], gl.int32, layout))
    for start in range(gl.program_id(0) * B, n, gl.num_programs(0) * B):
        at = start + gl.arange(0, B, layout)
        x = gl.load(x_ptr + at, at < n, other=0)
        bins.atomic_scatter_add(gl.where(at < n, 1, 0), x, 0)
    gl.atomic_add(y_ptr + gl.arange(0, BINS, layout), bins.load(layout))


@gluon.jit
def start_tiles(a_ptr, b_ptr, a_buffers, b_buffers, k, K, N, B: gl.constexpr, layout: gl.constexpr):
    """Start copying a tile of each operand into the buffers of its step, nothing past the end."""
    STAGES: gl.constexpr = a_buffers.shape[0]
    row = gl.arange(0, B, gl.SliceLayout(1, layout))[:, None]
    column = gl.arange(0, B, gl.SliceLayout(0, layout))[None, :]
    slot = k // B % STAGES
    async_copy.async_load(a_buffers.index(slot), a_ptr + row * K + k + column, mask=(k + column < K) & (row >= 0))
    async_copy.async_load(b_buffers.index(slot), b_ptr + (k + row) * N + column, mask=(k + row < K) & (column >= 0))
    async_copy.commit_group()


@gluon.jit
def product_in_stages(
    a_ptr, b_ptr, c_ptr, N, K, SPLIT, B: gl.constexpr, STAGES: gl.constexpr, layout: gl.constexpr, shared: gl.constexpr
):
    """A product by `mma.sync`: copies run `STAGES - 1` steps ahead, programs share out K and add up."""
    mma: gl.constexpr = gl.NVMMADistributedLayout([2, 0], [2, 2], [16, 8])
    a_buffers = gl.allocate_shared_memory(gl.float16, [STAGES, B, B], shared)
    b_buffers = gl.allocate_shared_memory(gl.float16, [STAGES, B, B], shared)
    a_ptr += gl.program_id(0) * B * K
    b_ptr += gl.program_id(1) * B
    first = gl.program_id(2) * SPLIT
    last = gl.minimum(first + SPLIT, K)
    for ahead in gl.static_range(STAGES - 1):
        start_tiles(a_ptr, b_ptr, a_buffers, b_buffers, first + ahead * B, K, N, B, layout)
    acc = gl.zeros([B, B], gl.float32, mma)
    for k in range(first, last, B):
        async_copy.wait_group(STAGES - 2)
        a = a_buffers.index(k // B % STAGES).load(gl.DotOperandLayout(0, mma, 2))
        b = b_buffers.index(k // B % STAGES).load(gl.DotOperandLayout(1, mma, 2))
        acc = mma_v2(a, b, acc)
        gl.barrier()
        start_tiles(a_ptr, b_ptr, a_buffers, b_buffers, k + (STAGES - 1) * B, K, N, B, layout)
    async_copy.wait_group(0)
    row = gl.program_id(0) * B + gl.arange(0, B, gl.SliceLayout(1, mma))
    column = gl.program_id(1) * B + gl.arange(0, B, gl.SliceLayout(0, mma))
    gl.atomic_add(c_ptr + row[:, None] * N + column[None, :], acc)


# -- Hopper -----------------------------------------------------------------------------------------------------------
@gluon.aggregate
class Accumulator:
    """A chain of products that are under way."""

    value: warpgroup_mma_accumulator | gl.tensor
    has_begun: gl.tensor

    @gluon.jit
    def multiply(self, a, b):
        return Accumulator(warpgroup_mma(a, b, self.value, is_async=True, use_acc=self.has_begun), gl.to_tensor(True))

    @gluon.jit
    def wait(self):
        return Accumulator(warpgroup_mma_wait(0, (self.value,)), self.has_begun)


@gluon.aggregate
class OnBlackwell:
    """What a program for both GPUs has beside it."""

    memory: tensor_memory_descriptor


@gluon.jit
def persistent_product(a, b, c, STAGES: gl.constexpr):
    """Tiles of a product by `wgmma`, boxes copied one step ahead."""
    M: gl.constexpr = c.block_type.shape[0]
    N: gl.constexpr = c.block_type.shape[1]
    KB: gl.constexpr = a.block_type.shape[1]
    layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, N, 16])
    a_buffers = gl.allocate_shared_memory(a.dtype, [STAGES, M, KB], a.layout)
    b_buffers = gl.allocate_shared_memory(b.dtype, [STAGES, KB, N], b.layout)
    c_buffer = gl.allocate_shared_memory(c.dtype, [M, N], c.layout)
    full = mbarrier.allocate_mbarrier(batch=STAGES)
    for i in gl.static_range(STAGES):
        mbarrier.init(full.index(i), count=1)
    columns = gl.cdiv(c.shape[1], N)
    steps = gl.cdiv(a.shape[1], KB)
    step = 0
    for tile in range(gl.program_id(0), gl.cdiv(c.shape[0], M) * columns, gl.num_programs(0)):
        row = tile // columns * M
        column = tile % columns * N
        acc = Accumulator(gl.zeros([M, N], gl.float32, layout), gl.to_tensor(False))
        for k in range(steps):
            slot = step % STAGES
            mbarrier.expect(full.index(slot), a.nbytes_per_cta + b.nbytes_per_cta)
            tma.async_load(a, [row, k * KB], full.index(slot), a_buffers.index(slot))
            tma.async_load(b, [k * KB, column], full.index(slot), b_buffers.index(slot))
            acc = acc.wait()
            mbarrier.wait(full.index(slot), step // STAGES & 1)
            acc = acc.multiply(a_buffers.index(slot), b_buffers.index(slot))
            step += 1
        acc = acc.wait()
        tma.store_wait(0)
        c_buffer.store(acc.value.to(c.dtype))
        fence_async_shared()
        tma.async_store(c, [row, column], c_buffer)
    tma.store_wait(0)


@gluon.jit
def attention(q, k, v, o_ptr, keys, scale, layout_of_out: gl.constexpr):
    """One block of queries: scores and weights stay in registers, weights are the left operand of the second product."""
    M: gl.constexpr = q.block_type.shape[0]
    D: gl.constexpr = q.block_type.shape[1]
    N: gl.constexpr = k.block_type.shape[0]
    scores: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, N, 16])
    out: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, D, 16])
    weights: gl.constexpr = gl.DotOperandLayout(0, out, 2)
    q_buffer = gl.allocate_shared_memory(q.dtype, [M, D], q.layout)
    k_buffer = gl.allocate_shared_memory(k.dtype, [N, D], k.layout)
    v_buffer = gl.allocate_shared_memory(v.dtype, [N, D], v.layout)
    full = mbarrier.allocate_mbarrier()
    mbarrier.init(full, count=1)
    mbarrier.expect(full, q.nbytes_per_cta)
    tma.async_load(q, [gl.program_id(0) * M, 0], full, q_buffer)
    mbarrier.wait(full, 0)
    largest = gl.full([M], -float("inf"), gl.float32, gl.SliceLayout(1, scores))
    total = gl.zeros([M], gl.float32, gl.SliceLayout(1, scores))
    acc = gl.zeros([M, D], gl.float32, out)
    phase = 1
    for start in range(0, keys, N):
        mbarrier.expect(full, k.nbytes_per_cta + v.nbytes_per_cta)
        tma.async_load(k, [start, 0], full, k_buffer)
        tma.async_load(v, [start, 0], full, v_buffer)
        mbarrier.wait(full, phase)
        phase ^= 1
        s = warpgroup_mma(q_buffer, k_buffer.permute((1, 0)), gl.zeros([M, N], gl.float32, scores), use_acc=False)
        column = start + gl.arange(0, N, gl.SliceLayout(0, scores))
        s = gl.where((column < keys)[None, :], s * scale, -float("inf"))
        now = gl.maximum(largest, gl.max(s, 1))
        p = gl.exp(s - now[:, None])
        shrink = gl.exp(largest - now)
        total = total * shrink + gl.sum(p, 1)
        acc = acc * gl.convert_layout(shrink, gl.SliceLayout(1, out))[:, None]
        acc = warpgroup_mma(gl.convert_layout(p.to(q.dtype), weights), v_buffer, acc)
        largest = now
    acc = acc / gl.convert_layout(total, gl.SliceLayout(1, out))[:, None]
    row = gl.program_id(0) * M + gl.arange(0, M, gl.SliceLayout(1, layout_of_out))
    at = row[:, None] * D + gl.arange(0, D, gl.SliceLayout(0, layout_of_out))[None, :]
    gl.store(o_ptr + at, gl.convert_layout(acc, layout_of_out))


@gluon.jit
def narrow_product(a, b, c_ptr, KB: gl.constexpr):
    """A product of 8-bit floats: the right operand lies by columns."""
    N: gl.constexpr = b.block_type.shape[0]
    layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, N, 32])
    a_buffer = gl.allocate_shared_memory(a.dtype, a.block_type.shape, a.layout)
    b_buffer = gl.allocate_shared_memory(b.dtype, b.block_type.shape, b.layout)
    full = mbarrier.allocate_mbarrier()
    mbarrier.init(full, count=1)
    acc = gl.zeros([64, N], gl.float32, layout)
    for k in range(gl.cdiv(a.shape[1], KB)):
        mbarrier.expect(full, a.nbytes_per_cta + b.nbytes_per_cta)
        tma.async_load(a, [0, k * KB], full, a_buffer)
        tma.async_load(b, [0, k * KB], full, b_buffer)
        mbarrier.wait(full, k & 1)
        acc = warpgroup_mma(a_buffer, b_buffer.permute((1, 0)), acc)
    at = gl.arange(0, 64, gl.SliceLayout(1, layout))[:, None] * N + gl.arange(0, N, gl.SliceLayout(0, layout))[None, :]
    gl.store(c_ptr + at, acc)


@gluon.jit
def adds_up_rows(x, y, layout: gl.constexpr):
    """Each program adds its box to the same one, by the copy engine."""
    buffer = gl.allocate_shared_memory(x.dtype, x.block_type.shape, x.layout)
    full = mbarrier.allocate_mbarrier()
    mbarrier.init(full, count=1)
    mbarrier.expect(full, x.nbytes_per_cta)
    tma.async_load(x, [gl.program_id(0) * x.block_type.shape[0], 0], full, buffer)
    mbarrier.wait(full, 0)
    tma.async_atomic_add(y, [0, 0], buffer)
    tma.store_wait(0)


@gluon.jit
def passes_messages(message, flag_ptr, y_ptr, layout: gl.constexpr):
    """The first program writes a box and says so once it is written; the second waits for that and reads it."""
    N: gl.constexpr = message.block_type.shape[0]
    at = gl.arange(0, N, layout)
    buffer = gl.allocate_shared_memory(message.dtype, [N], message.layout)
    if gl.program_id(0) == 0:
        buffer.store(at.to(message.dtype) * 3)
        fence_async_shared()
        tma.async_store(message, [0], buffer)
        tma.store_wait(0, read_only=False)
        gl.atomic_store(flag_ptr, 1, sem="release", scope="gpu")
    else:
        gl.atomic_poll(flag_ptr, 1, sem="acquire", scope="gpu")
        full = mbarrier.allocate_mbarrier()
        mbarrier.init(full, count=1)
        mbarrier.expect(full, message.nbytes_per_cta)
        tma.async_load(message, [0], full, buffer)
        mbarrier.wait(full, 0)
        gl.store(y_ptr + at, buffer.load(layout))


@gluon.jit
def reads_boxes(descs, barriers, buffers, row, steps):
    a, b = descs
    full, empty = barriers
    for step in range(steps):
        slot = step % 2
        bar = full.index(slot)
        mbarrier.wait(empty.index(slot), (step // 2 & 1) ^ 1)
        mbarrier.expect(bar, a.nbytes_per_cta + b.nbytes_per_cta)
        tma.async_load(a, [row, step * a.block_type.shape[1]], bar, buffers[0].index(slot))
        tma.async_load(b, [row, step * a.block_type.shape[1]], bar, buffers[1].index(slot))


@gluon.jit
def writes_boxes(c, ready, done, buffer, row, steps):
    for step in range(steps):
        mbarrier.wait(ready, step & 1)
        tma.async_store(c, [row, step * c.block_type.shape[1]], buffer)
        tma.store_wait(0)
        mbarrier.arrive(done, count=1)


@gluon.jit
def adds_boxes(barriers, ready, done, buffers, out, steps, layout: gl.constexpr):
    full, empty = barriers
    for step in range(steps):
        slot = step % 2
        mbarrier.wait(full.index(slot), step // 2 & 1)
        total = buffers[0].index(slot).load(layout) + buffers[1].index(slot).load(layout)
        mbarrier.arrive(empty.index(slot), count=1)
        mbarrier.wait(done, (step & 1) ^ 1)
        out.store(total)
        fence_async_shared()
        mbarrier.arrive(ready, count=1)


@gluon.jit
def sum_of_two(a, b, c, layout: gl.constexpr):
    """An addition by three groups of warps: one reads, one adds, one writes."""
    M: gl.constexpr = a.block_type.shape[0]
    N: gl.constexpr = a.block_type.shape[1]
    buffers = (
        gl.allocate_shared_memory(a.dtype, [2, M, N], a.layout),
        gl.allocate_shared_memory(b.dtype, [2, M, N], b.layout),
    )
    out = gl.allocate_shared_memory(c.dtype, [M, N], c.layout)
    barriers = (mbarrier.allocate_mbarrier(batch=2), mbarrier.allocate_mbarrier(batch=2))
    ready = mbarrier.allocate_mbarrier()
    done = mbarrier.allocate_mbarrier()
    for i in gl.static_range(2):
        mbarrier.init(barriers[0].index(i), count=1)
        mbarrier.init(barriers[1].index(i), count=1)
    mbarrier.init(ready, count=1)
    mbarrier.init(done, count=1)
    row = gl.program_id(0) * M
    steps = gl.cdiv(a.shape[1], N)
    gl.warp_specialize(
        [
            (adds_boxes, (barriers, ready, done, buffers, out, steps, layout)),
            (reads_boxes, ((a, b), barriers, buffers, row, steps)),
            (writes_boxes, (c, ready, done, out, row, steps)),
        ],
        [1, 1],
        [24, 24],
    )


@gluon.jit
def needs_blackwell(x_ptr, layout: gl.constexpr):
    memory = allocate_tensor_memory(gl.float32, [128, 64], None)
    gl.store(x_ptr + gl.arange(0, 64, layout), memory)


@gluon.jit
def for_several_gpus(x_ptr, layout: gl.constexpr, memory_layout: gl.constexpr, on_blackwell: gl.constexpr):
    if on_blackwell:
        memory = allocate_tensor_memory(gl.float32, [128, 64], memory_layout)
        gl.store(x_ptr + gl.arange(0, 64, layout), memory)
    else:
        gl.store(x_ptr + gl.arange(0, 64, layout), 1.0)


@gluon.jit
def lies_in_registers(x_ptr, layout: gl.constexpr):
    gl.zeros([32, 32], gl.float32, layout)


@gluon.jit
def lies_in_a_slice(x_ptr, layout: gl.constexpr):
    gl.store(x_ptr + gl.arange(0, 64, gl.SliceLayout(0, layout)), 1.0)


@gluon.jit
def lies_in_shared_memory(x_ptr, layout: gl.constexpr):
    gl.allocate_shared_memory(gl.float32, [32, 32], layout)


@gluon.jit
def loads_by_buffer(x_ptr):
    gl.amd.cdna3.buffer_load(x_ptr, 0)


@gluon.jit
def has_pipelined_warps(x_ptr):
    with gl.amd.warp_pipeline_stage("load"):
        gl.store(x_ptr, 1.0)


@gluon.jit
def moves_tensors(x_ptr):
    gl.amd.gfx1250.tdm.async_wait(0)
