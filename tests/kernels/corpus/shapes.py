"""Functions that change the shape of blocks."""

import triton
import triton.language as tl


@triton.jit
def grid2d(N: tl.constexpr, M: tl.constexpr):
    return tl.arange(0, N)[:, None] * M + tl.arange(0, M)[None, :]


@triton.jit
def dims(x_ptr, out_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    a = tl.expand_dims(x, 0)
    b = tl.expand_dims(x, [0, 2])
    c = x.expand_dims(-1)
    d = tl.broadcast_to(a, (4, N)) + c.broadcast_to(N, 4).trans()
    tl.store(out_ptr + grid2d(4, N), d)
    tl.store(out_ptr + tl.arange(0, N)[None, :, None], b)


@triton.jit
def reshapes(x_ptr, out_ptr, N: tl.constexpr, M: tl.constexpr):
    x = tl.load(x_ptr + grid2d(N, M))
    flat = tl.reshape(x, [N * M])
    again = flat.reshape(M, N)
    viewed = tl.view(x, (N // 2, M * 2))
    free = tl.reshape(x, (M, N), can_reorder=True)
    line = tl.ravel(x)
    tl.store(out_ptr + tl.arange(0, N * M), flat + line)
    tl.store(out_ptr + grid2d(M, N), again + free)
    tl.store(out_ptr + grid2d(N // 2, M * 2), viewed)


@triton.jit
def transposes(x_ptr, out_ptr, N: tl.constexpr, M: tl.constexpr):
    x = tl.load(x_ptr + grid2d(N, M))
    y = tl.trans(x) + x.T + tl.permute(x, (1, 0)) + tl.trans(x, 1, 0) + x.permute(1, 0)
    tl.store(out_ptr + grid2d(M, N), y)
    z = tl.reshape(x, (2, N // 2, M))
    tl.store(out_ptr + tl.arange(0, 8), tl.sum(tl.sum(tl.permute(z, 2, 0, 1), 2), 1))


@triton.jit
def joining(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    y = tl.load(y_ptr + i)
    pair = tl.join(x, y)
    left, right = tl.split(pair)
    tl.store(out_ptr + i, left - right)
    tl.store(out_ptr + tl.arange(0, 2 * N), tl.interleave(x, y))
    tl.store(out_ptr + tl.arange(0, 2 * N), tl.cat(x, y, can_reorder=True))
    tl.store(out_ptr + tl.arange(0, 2), tl.join(tl.sum(x, 0), tl.sum(y, 0)))


@triton.jit
def scalars_from_blocks(x_ptr, out_ptr):
    x = tl.load(x_ptr + tl.arange(0, 2))
    a, b = tl.split(x)
    tl.store(out_ptr, a * b)
    one = tl.load(x_ptr + tl.arange(0, 1))
    tl.store(out_ptr + 1, one.item())


@triton.jit
def creation(out_ptr, n, value, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.zeros((N,), tl.float32))
    tl.store(out_ptr + i, tl.full((N,), 3, dtype=tl.int64))
    tl.store(out_ptr + i, tl.full([N], value, tl.float32))
    tl.store(out_ptr + i, tl.full([N], n, tl.float32))
    tl.store(out_ptr + i, tl.zeros_like(i) + tl.arange(N, 2 * N))
    tl.store(out_ptr + i, tl.full((), 7, tl.int32))


@triton.jit
def gathers(x_ptr, index_ptr, out_ptr, N: tl.constexpr, M: tl.constexpr):
    x = tl.load(x_ptr + grid2d(N, M))
    rows = tl.load(index_ptr + grid2d(N, M))
    tl.store(out_ptr + grid2d(N, M), tl.gather(x, rows, 0))
    tl.store(out_ptr + grid2d(N, M), x.gather(rows, axis=-1))


@triton.jit
def gathers_in_turn(x_ptr, index_ptr, out_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    places = tl.load(index_ptr + tl.arange(0, N))
    for _ in tl.static_range(3):
        x = tl.gather(x, places, 0)
    tl.store(out_ptr + tl.arange(0, N), x)


@triton.jit
def histograms(x_ptr, out_ptr, n, N: tl.constexpr, BINS: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + tl.arange(0, BINS), tl.histogram(x, BINS))
    tl.store(out_ptr + tl.arange(0, BINS), x.histogram(BINS, i < n))


@triton.jit
def swizzled(out_ptr, rows, cols, group):
    i = tl.program_id(0)
    j = tl.program_id(1)
    i, j = tl.swizzle2d(i, j, rows, cols, group)
    tl.store(out_ptr, i + j)


@triton.jit
def shape_attributes(x_ptr, out_ptr, N: tl.constexpr, M: tl.constexpr):
    x = tl.load(x_ptr + grid2d(N, M))
    rows: tl.constexpr = x.shape[0]
    tl.static_assert(len(x.shape) == 2)
    tl.static_assert(x.shape[1] == M)
    tl.static_assert(x.dtype == tl.float32)
    tl.static_assert(x.numel == N * M)
    tl.store(out_ptr + tl.arange(0, rows), tl.sum(x, 1))


CASES = [
    (dims, "*fp32 *fp32 =16"),
    (reshapes, "*fp32 *fp32 =8 =16"),
    (transposes, "*fp16 *fp16 =16 =8"),
    (joining, "*fp32 *fp32 *fp32 =32"),
    (scalars_from_blocks, "*fp32 *fp32"),
    (creation, "*fp32 i32 fp32 =16"),
    (gathers, "*fp32 *i32 *fp32 =8 =16"),
    (histograms, "*i32 *i32 i32 =64 =16"),
    (swizzled, "*i32 i32 i32 i32"),
    (shape_attributes, "*fp32 *fp32 =8 =4"),
    (gathers_in_turn, "*fp32 *i32 *fp32 =16"),
]
