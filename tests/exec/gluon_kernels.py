"""Kernels in Gluon that both official Triton and we compile: imported where `triton` is either."""

# pyright: reportGeneralTypeIssues=false, reportAttributeAccessIssue=false
# Official Triton's types, where it is installed, know nothing of what is compiled: static_range is not iterable there.

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.ampere import async_copy, mma_v2
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_init,
    warpgroup_mma_wait,
)


@gluon.jit
def scale(x_ptr, y_ptr, n, BLOCK: gl.constexpr, layout: gl.constexpr):
    """A vector times two."""
    offsets = gl.program_id(0) * BLOCK + gl.arange(0, BLOCK, layout=layout)
    inside = offsets < n
    gl.store(y_ptr + offsets, gl.load(x_ptr + offsets, mask=inside) * 2, mask=inside)


@gluon.jit
def scale_coalesced(x_ptr, y_ptr, n, BLOCK: gl.constexpr):
    """The same in the layout that the addresses ask for."""
    offsets = gl.program_id(0) * BLOCK + gl.arange(0, BLOCK, layout=gl.CoalescedLayout())
    inside = offsets < n
    gl.store(y_ptr + offsets, gl.load(x_ptr + offsets, mask=inside) * 2, mask=inside)


@gluon.jit
def centre_rows(x_ptr, y_ptr, ROWS: gl.constexpr, COLUMNS: gl.constexpr, layout: gl.constexpr):
    """Rows less their means, every layout but one following."""
    rows = gl.arange(0, ROWS)
    columns = gl.arange(0, COLUMNS)
    offsets = gl.set_auto_layout(rows[:, None] * COLUMNS + columns[None, :], layout)
    x = gl.load(x_ptr + offsets)
    mean = gl.sum(x, axis=1) * (1 / COLUMNS)
    gl.store(y_ptr + offsets, x - mean[:, None])


@gluon.jit
def running_sums(x_ptr, y_ptr, N: gl.constexpr, layout: gl.constexpr):
    """A scan, with the sign of what it has come to."""
    offsets = gl.arange(0, N, layout=layout)
    x = gl.load(x_ptr + offsets)
    sums = gl.cumsum(x, axis=0)
    gl.store(y_ptr + offsets, gl.where(x > 0, sums, -sums))


@gluon.jit
def interleave(x_ptr, y_ptr, N: gl.constexpr, layout: gl.constexpr):
    """Two vectors as the columns of a matrix."""
    offsets = gl.arange(0, N, layout=layout)
    x = gl.load(x_ptr + offsets)
    pairs = gl.join(x, x + 1)
    flat = gl.convert_layout(gl.reshape(pairs, [2 * N]), layout)
    gl.store(y_ptr + gl.arange(0, 2 * N, layout=layout), flat)


@gluon.jit
def transpose(x_ptr, y_ptr, M: gl.constexpr, N: gl.constexpr, read: gl.constexpr, write: gl.constexpr):
    """A matrix read along rows and written along columns."""
    rows = gl.arange(0, M, gl.SliceLayout(1, read))[:, None]
    columns = gl.arange(0, N, gl.SliceLayout(0, read))[None, :]
    x = gl.load(x_ptr + rows * N + columns)
    turned = gl.convert_layout(gl.permute(x, (1, 0)), write)
    rows = gl.arange(0, N, gl.SliceLayout(1, write))[:, None]
    columns = gl.arange(0, M, gl.SliceLayout(0, write))[None, :]
    gl.store(y_ptr + rows * M + columns, turned)


@gluon.jit
def transpose_in_memory(x_ptr, y_ptr, N: gl.constexpr, layout: gl.constexpr, shared: gl.constexpr):
    """The same through a buffer in shared memory and a view of it."""
    rows = gl.arange(0, N, gl.SliceLayout(1, layout))[:, None]
    columns = gl.arange(0, N, gl.SliceLayout(0, layout))[None, :]
    offsets = rows * N + columns
    buffer = gl.allocate_shared_memory(gl.float32, [N, N], shared)
    buffer.store(gl.load(x_ptr + offsets))
    gl.store(y_ptr + offsets, buffer.permute((1, 0)).load(layout))


@gluon.jit
def halves(x_ptr, y_ptr, N: gl.constexpr, layout: gl.constexpr, shared: gl.constexpr):
    """Views of part of a buffer: the halves of a vector exchanged."""
    buffer = gl.allocate_shared_memory(gl.float32, [2, N], shared)
    offsets = gl.arange(0, N, layout=layout)
    for half in gl.static_range(2):
        buffer.index(half).store(gl.load(x_ptr + half * N + offsets))
    for half in gl.static_range(2):
        gl.store(y_ptr + half * N + offsets, buffer.index(1 - half).load(layout))


@gluon.jit
def rows_ahead(x_ptr, y_ptr, rows, N: gl.constexpr, layout: gl.constexpr, shared: gl.constexpr):
    """Sums of rows that are copied one iteration ahead."""
    offsets = gl.arange(0, N, layout=layout)
    buffer = gl.allocate_shared_memory(gl.float32, [2, N], shared)
    async_copy.async_load(buffer.index(0), x_ptr + offsets)
    async_copy.commit_group()
    total = gl.zeros([N], gl.float32, layout)
    for row in range(rows):
        following = row + 1
        async_copy.async_load(buffer.index(following % 2), x_ptr + following * N + offsets, mask=offsets < N)
        async_copy.commit_group()
        async_copy.wait_group(1)
        total += buffer.index(row % 2).load(layout)
    async_copy.wait_group(0)
    gl.store(y_ptr + offsets, total)


@gluon.jit
def product_v2(a_ptr, b_ptr, c_ptr, N: gl.constexpr, layout: gl.constexpr):
    """A square product by mma.sync."""
    mma: gl.constexpr = gl.NVMMADistributedLayout([2, 0], [2, 2], [16, 8])
    rows = gl.arange(0, N, gl.SliceLayout(1, layout))[:, None]
    columns = gl.arange(0, N, gl.SliceLayout(0, layout))[None, :]
    a = gl.convert_layout(gl.load(a_ptr + rows * N + columns), gl.DotOperandLayout(0, mma, 2))
    b = gl.convert_layout(gl.load(b_ptr + rows * N + columns), gl.DotOperandLayout(1, mma, 2))
    c = mma_v2(a, b, gl.zeros([N, N], gl.float32, mma))
    gl.store(c_ptr + rows * N + columns, gl.convert_layout(c, layout))


@gluon.jit
def rows_without_fences(x, y, layout: gl.constexpr):
    """Boxes out of one buffer, one after the other, and no `fence_async_shared`."""
    buffer = gl.allocate_shared_memory(y.dtype, y.block_type.shape, y.layout)
    M: gl.constexpr = y.block_type.shape[0]
    N: gl.constexpr = y.block_type.shape[1]
    places = (
        gl.arange(0, M, gl.SliceLayout(1, layout))[:, None] * N + gl.arange(0, N, gl.SliceLayout(0, layout))[None, :]
    )
    for box in range(2):
        tma.store_wait(0)
        buffer.store(gl.load(x + box * M * N + places) * 2.0)
        tma.async_store(y, [box * M, 0], buffer)
    tma.store_wait(0)


@gluon.jit
def add_one_by_tma(x, y, layout: gl.constexpr):
    """A box in, one more, a box out."""
    barrier = mbarrier.allocate_mbarrier()
    mbarrier.init(barrier, count=1)
    buffer = gl.allocate_shared_memory(x.dtype, x.block_type.shape, x.layout)
    row = gl.program_id(0) * x.block_type.shape[0]
    mbarrier.expect(barrier, x.nbytes_per_cta)
    tma.async_load(x, [row, 0], barrier, buffer)
    mbarrier.wait(barrier, 0)
    mbarrier.invalidate(barrier)
    buffer.store(buffer.load(layout) + 1.0)
    fence_async_shared()
    tma.async_store(y, [row, 0], buffer)
    tma.store_wait(0)


@gluon.jit
def copy_by_tma(x, y, buffer):
    """The box at the origin of x, through shared memory, to the origin of y."""
    barrier = mbarrier.allocate_mbarrier()
    mbarrier.init(barrier, count=1)
    mbarrier.expect(barrier, x.nbytes_per_cta)
    tma.async_load(x, [0, 0], barrier, buffer)
    mbarrier.wait(barrier, 0)
    tma.async_store(y, [0, 0], buffer)
    tma.store_wait(0)


@gluon.jit
def copy_pixels(x, y, coord, offsets):
    """Pixels of images, from those at `coord` on, to the rows of a matrix."""
    buffer = gl.allocate_shared_memory(x.dtype, x.block_shape, x.layout)
    barrier = mbarrier.allocate_mbarrier()
    mbarrier.init(barrier, count=1)
    mbarrier.expect(barrier, x.nbytes_per_cta)
    tma.async_load_im2col(x, coord, offsets, barrier, buffer)
    mbarrier.wait(barrier, 0)
    tma.async_store(y, [0, 0], buffer)
    tma.store_wait(0)


@gluon.jit
def copy_box(x, y):
    copy_by_tma(x, y, gl.allocate_shared_memory(x.dtype, x.block_type.shape, x.layout))


@gluon.jit
def copy_by_parts(x, y, DIM: gl.constexpr, layout: gl.constexpr):
    """A box through the second half of a buffer, then one more through the first half."""
    ROWS: gl.constexpr = x.block_type.shape[0]
    COLUMNS: gl.constexpr = x.block_type.shape[1]
    HALF: gl.constexpr = ROWS if DIM == 0 else COLUMNS
    shape: gl.constexpr = [2 * ROWS, COLUMNS] if DIM == 0 else [ROWS, 2 * COLUMNS]
    buffer = gl.allocate_shared_memory(x.dtype, shape, x.layout)
    first, second = buffer.slice(0, HALF, dim=DIM), buffer.slice(HALF, HALF, dim=DIM)
    first.store(gl.zeros([ROWS, COLUMNS], x.dtype, layout))
    copy_by_tma(x, y, second)
    first.store(second.load(layout) + 1.0)
    fence_async_shared()
    tma.async_store(y, [ROWS, 0], first)
    tma.store_wait(0)


@gluon.jit
def load_tiles(a, b, row, column, k, barrier, a_buffer, b_buffer):
    """Start copying a tile of both operands."""
    mbarrier.expect(barrier, a.nbytes_per_cta + b.nbytes_per_cta)
    tma.async_load(a, [row, k], barrier, a_buffer)
    tma.async_load(b, [k, column], barrier, b_buffer)


@gluon.jit
def product_v3(a, b, c, K):
    """A product by wgmma, its operands copied one iteration ahead."""
    BM: gl.constexpr = a.block_type.shape[0]
    BN: gl.constexpr = b.block_type.shape[1]
    BK: gl.constexpr = a.block_type.shape[1]
    mma: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, BN, 16])
    a_tiles = gl.allocate_shared_memory(a.dtype, [2, BM, BK], a.layout)
    b_tiles = gl.allocate_shared_memory(b.dtype, [2, BK, BN], b.layout)
    ready = mbarrier.allocate_mbarrier(batch=2)
    for i in gl.static_range(2):
        mbarrier.init(ready.index(i), count=1)
    row = gl.program_id(0) * BM
    column = gl.program_id(1) * BN
    load_tiles(a, b, row, column, 0, ready.index(0), a_tiles.index(0), b_tiles.index(0))
    acc = warpgroup_mma_init(gl.zeros([BM, BN], gl.float32, mma))
    count = 0
    for k in range(BK, K, BK):
        acc = warpgroup_mma_init(warpgroup_mma_wait(0, deps=[acc]))
        following = (count + 1) % 2
        load_tiles(a, b, row, column, k, ready.index(following), a_tiles.index(following), b_tiles.index(following))
        mbarrier.wait(ready.index(count % 2), count // 2 & 1)
        acc = warpgroup_mma(a_tiles.index(count % 2), b_tiles.index(count % 2), acc, is_async=True)
        count += 1
    mbarrier.wait(ready.index(count % 2), count // 2 & 1)
    acc = warpgroup_mma(a_tiles.index(count % 2), b_tiles.index(count % 2), acc, is_async=True)
    acc = warpgroup_mma_wait(0, deps=[acc])
    result = gl.allocate_shared_memory(c.dtype, c.block_type.shape, c.layout)
    result.store(acc.to(c.dtype))
    fence_async_shared()
    tma.async_store(c, [row, column], result)
    tma.store_wait(0)


@gluon.jit
def reader(x, full, empty, buffers, rows):
    """Of `roles`: brings boxes, one after the other, as buffers become free."""
    for row in range(rows):
        slot = row % 2
        mbarrier.wait(empty.index(slot), row // 2 & 1 ^ 1)
        mbarrier.expect(full.index(slot), x.nbytes_per_cta)
        tma.async_load(x, [row, 0], full.index(slot), buffers.index(slot))


@gluon.jit
def summer(y_ptr, full, empty, buffers, rows, layout: gl.constexpr):
    """Of `roles`: adds up what has come."""
    N: gl.constexpr = buffers.shape[2]
    total = gl.zeros([1, N], gl.float32, layout)
    for row in range(rows):
        slot = row % 2
        mbarrier.wait(full.index(slot), row // 2 & 1)
        total += buffers.index(slot).load(layout)
        mbarrier.arrive(empty.index(slot), count=1)
    columns = gl.arange(0, N, gl.SliceLayout(0, layout))[None, :]
    gl.store(y_ptr + columns, total)


@gluon.jit
def roles(x, y_ptr, rows, layout: gl.constexpr):
    """One warp copies, four add."""
    N: gl.constexpr = x.block_type.shape[1]
    buffers = gl.allocate_shared_memory(x.dtype, [2, 1, N], x.layout)
    full = mbarrier.allocate_mbarrier(batch=2)
    empty = mbarrier.allocate_mbarrier(batch=2)
    for i in gl.static_range(2):
        mbarrier.init(full.index(i), count=1)
        mbarrier.init(empty.index(i), count=1)
    gl.warp_specialize(
        [(summer, (y_ptr, full, empty, buffers, rows, layout)), (reader, (x, full, empty, buffers, rows))], [1], [24]
    )


@gluon.jit
def picks(x_ptr, i_ptr, y_ptr, M: gl.constexpr, N: gl.constexpr, layout: gl.constexpr, shared: gl.constexpr):
    """Rows of a buffer reordered element by element, and back into other places."""
    rows = gl.arange(0, M, gl.SliceLayout(1, layout))[:, None]
    columns = gl.arange(0, N, gl.SliceLayout(0, layout))[None, :]
    offsets = rows * N + columns
    buffer = gl.allocate_shared_memory(gl.float32, [M, N], shared)
    buffer.store(gl.load(x_ptr + offsets))
    index = gl.load(i_ptr + offsets)
    picked = buffer.gather(index, 1)
    buffer.scatter(picked, M - 1 - rows, 0)
    gl.store(y_ptr + offsets, buffer.load(layout))


@gluon.jit
def counts(x_ptr, old_ptr, y_ptr, N: gl.constexpr, BINS: gl.constexpr, layout: gl.constexpr, shared: gl.constexpr):
    """How often each bin is named, with what each element found there."""
    offsets = gl.arange(0, N, layout)
    bins = gl.arange(0, BINS, layout)
    buffer = gl.allocate_shared_memory(gl.int32, [BINS], shared)
    buffer.store(gl.zeros([BINS], gl.int32, layout))
    named = gl.load(x_ptr + offsets)
    ones = gl.full([N], 1, gl.int32, layout)
    gl.store(old_ptr + offsets, buffer.atomic_scatter_add(ones, named, 0, named < BINS - 1))
    gl.store(y_ptr + bins, buffer.load(layout))


@gluon.jit
def extremes(x_ptr, i_ptr, y_ptr, N: gl.constexpr, layout: gl.constexpr, shared: gl.constexpr):
    """Every kind of atomic on a buffer of their own, of 16 elements."""
    offsets = gl.arange(0, N, layout)
    small = gl.arange(0, 16, layout)
    x, named = gl.load(x_ptr + offsets), gl.load(i_ptr + offsets)
    buffer = gl.allocate_shared_memory(gl.int32, [8, 16], shared)
    for i in gl.static_range(8):
        buffer.index(i).store(gl.full([16], 12, gl.int32, layout))
    buffer.index(0).atomic_scatter_max(x, named, 0)
    buffer.index(1).atomic_scatter_min(x, named, 0)
    buffer.index(2).atomic_scatter_and(x, named, 0)
    buffer.index(3).atomic_scatter_or(x, named, 0)
    buffer.index(4).atomic_scatter_xor(x, named, 0)
    buffer.index(5).atomic_scatter_xchg(named, named, 0)
    buffer.index(6).atomic_scatter_add(x, named, 0)
    for i in gl.static_range(8):
        gl.store(y_ptr + i * 16 + small, buffer.index(i).load(layout))


@dataclass(frozen=True)
class Case:
    """A kernel with the types and constants that it is compiled for."""

    kernel: Any
    signature: dict[str, str]
    constants: dict[str, Any] = field(default_factory=dict[str, Any])

    @property
    def name(self) -> str:
        return self.kernel.__name__


ROW = gl.BlockedLayout([1], [32], [4], [0])
WIDE = gl.BlockedLayout([4], [32], [4], [0])
TILE = gl.BlockedLayout([1, 4], [2, 16], [4, 1], [1, 0])
TURNED = gl.BlockedLayout([4, 1], [16, 2], [1, 4], [0, 1])
LINE = gl.BlockedLayout([1, 1], [1, 32], [1, 4], [1, 0])
PLAIN = gl.SwizzledSharedLayout(1, 1, 1, [0])
SWIZZLED = gl.SwizzledSharedLayout(4, 2, 4, [1, 0])
PADDED = gl.PaddedSharedLayout.with_identity_for([[64, 4]], [32, 64], [1, 0])


def described(shape: list[int], dtype: str, layout: Any) -> str:
    """The type of a descriptor."""
    return f"tensordesc<{dtype}[{','.join(map(str, shape))}],{layout!r}>"


def box(shape: list[int], dtype: Any) -> Any:
    """The layout of boxes."""
    return gl.NVMMASharedLayout.get_default_for(shape, dtype)


F32 = "*fp32"
TWO = {"x_ptr": F32, "y_ptr": F32}
COUNTS = {"x_ptr": "*i32", "old_ptr": "*i32", "y_ptr": "*i32"}
EXTREMES = {"x_ptr": "*i32", "i_ptr": "*i32", "y_ptr": "*i32"}
TILES = {
    name: described(shape, "fp16", box(shape, gl.float16))
    for name, shape in (("a", [64, 64]), ("b", [64, 64]), ("c", [64, 64]))
}
BOX = described([32, 64], "fp32", box([32, 64], gl.float32))
LONG = described([1, 128], "fp32", box([1, 128], gl.float32))
CASES = [
    Case(scale, {**TWO, "n": "i32"}, {"BLOCK": 256, "layout": ROW}),
    Case(scale_coalesced, {**TWO, "n": "i32"}, {"BLOCK": 1024}),
    Case(centre_rows, TWO, {"ROWS": 16, "COLUMNS": 64, "layout": TILE}),
    Case(running_sums, TWO, {"N": 256, "layout": ROW}),
    Case(interleave, TWO, {"N": 256, "layout": ROW}),
    Case(transpose, TWO, {"M": 32, "N": 64, "read": TILE, "write": TURNED}),
    Case(transpose_in_memory, TWO, {"N": 32, "layout": TILE, "shared": SWIZZLED}),
    Case(halves, TWO, {"N": 256, "layout": ROW, "shared": PLAIN}),
    Case(rows_ahead, {**TWO, "rows": "i32"}, {"N": 256, "layout": WIDE, "shared": PLAIN}),
    Case(picks, {**TWO, "i_ptr": "*i32"}, {"M": 32, "N": 64, "layout": TILE, "shared": SWIZZLED}),
    Case(counts, COUNTS, {"N": 512, "BINS": 32, "layout": ROW, "shared": PLAIN}),
    Case(extremes, EXTREMES, {"N": 128, "layout": ROW, "shared": PLAIN}),
    Case(product_v2, {"a_ptr": "*fp16", "b_ptr": "*fp16", "c_ptr": F32}, {"N": 64, "layout": TILE}),
    Case(add_one_by_tma, {"x": BOX, "y": BOX}, {"layout": TILE}),
    Case(product_v3, {**TILES, "K": "i32"}),
    Case(roles, {"x": LONG, "y_ptr": F32, "rows": "i32"}, {"layout": LINE}),
]
