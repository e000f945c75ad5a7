"""Loads, stores, block pointers, descriptors, atomics."""

import triton
import triton.language as tl


@triton.jit
def load_options(x_ptr, out_ptr, n, fallback, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    mask = i < n
    a = tl.load(x_ptr + i, mask, fallback)
    b = tl.load(x_ptr + i, mask=mask, other=1, cache_modifier=".ca")
    c = tl.load(x_ptr + i, cache_modifier=".cg", eviction_policy="evict_first")
    d = tl.load(x_ptr + i, volatile=True)
    e = tl.load(x_ptr + i, mask=n > 3)
    f = tl.load(x_ptr + i, mask=mask, other=0.0, eviction_policy="evict_last")
    g = tl.load(x_ptr + i, mask=True)
    tl.store(out_ptr + i, a + b + c + d + e + f + g, mask=mask)


@triton.jit
def store_options(out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, 1, cache_modifier=".wb")
    tl.store(out_ptr + i, 2.5, mask=i < n, eviction_policy="evict_first")
    tl.store(out_ptr + i, n, mask=n > 2, cache_modifier=".cs")
    tl.store(out_ptr, n, mask=n > 2)
    (out_ptr + i).store(i)
    tl.store(out_ptr + i[:, None] + i[None, :], i[None, :].to(tl.float32), mask=(i < n)[:, None])


@triton.jit
def scalar_access(x_ptr, out_ptr, n):
    x = tl.load(x_ptr + n)
    y = tl.load(x_ptr, mask=n > 0, other=2)
    tl.store(out_ptr, x * y)


@triton.jit
def booleans_in_memory(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=True)
    tl.store(out_ptr + i, x == 0)
    tl.store(out_ptr, tl.load(x_ptr + 3))


@triton.jit
def block_pointers(x_ptr, out_ptr, m, n, stride, M: tl.constexpr, N: tl.constexpr):
    src = tl.make_block_ptr(x_ptr, shape=(m, n), strides=(stride, 1), offsets=(0, 4), block_shape=(M, N), order=(1, 0))
    dst = tl.make_block_ptr(out_ptr, (m, n), (stride, 1), (0, 0), (M, N), (1, 0))
    for _ in range(0, n, N):
        tile = tl.load(src, boundary_check=(0, 1), padding_option="zero")
        tl.store(dst, (tile + 1).to(tl.float16), boundary_check=(1, 0))
        src = tl.advance(src, (0, N))
        dst = dst.advance([0, N])
    tl.store(dst, tl.load(src, boundary_check=(1,), padding_option="nan").to(tl.float16))


@triton.jit
def descriptors(x_ptr, out_ptr, m, n, M: tl.constexpr, N: tl.constexpr):
    src = tl.make_tensor_descriptor(x_ptr, shape=[m, n], strides=[n, 1], block_shape=[M, N])
    dst = tl.make_tensor_descriptor(out_ptr, [m, n], [n, 1], [M, N], padding_option="nan")
    for i in range(0, n, N):
        tile = src.load([0, i])
        dst.store([0, i], tile * 2)
    tl.store_tensor_descriptor(dst, [0, 0], tl.load_tensor_descriptor(src, [m, n]))
    tl.static_assert(src.dtype == tl.float32)
    tl.static_assert(src.block_shape[0] == M)


@triton.jit
def descriptor_rows(x_ptr, index_ptr, out_ptr, m, n, N: tl.constexpr):
    src = tl.make_tensor_descriptor(x_ptr, [m, n], [n, 1], [1, N])
    dst = tl.make_tensor_descriptor(out_ptr, [m, n], [n, 1], [1, N])
    rows = tl.load(index_ptr + tl.arange(0, 16))
    tile = src.gather(rows, 0)
    dst.scatter(tile, rows, n)


@triton.jit
def descriptor_atomics(x_ptr, m, n, M: tl.constexpr, N: tl.constexpr):
    d = tl.make_tensor_descriptor(x_ptr, [m, n], [n, 1], [M, N])
    tile = d.load([0, 0])
    d.atomic_add([0, 0], tile)
    d.atomic_max([0, 0], tile)
    d.atomic_min([0, 0], tile)
    d.atomic_and([0, 0], tile)
    d.atomic_or([0, 0], tile)
    d.atomic_xor([0, 0], tile)


@triton.jit
def descriptor_argument(src, out_ptr, N: tl.constexpr):
    tile = src.load([0, 8])
    tl.store(out_ptr + tl.arange(0, N), tl.sum(tile, 0))


@triton.jit
def atomics(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    mask = i < n
    a = tl.where(mask, tl.atomic_add(x_ptr + i, 1, mask=mask), 0)
    a += tl.where(mask, tl.atomic_max(x_ptr + i, a, mask=mask, sem="relaxed"), 0)
    a += tl.atomic_min(x_ptr + i, a, sem="acquire", scope="cta")
    a += tl.atomic_xchg(x_ptr + i, a, scope="sys")
    a += tl.atomic_add(x_ptr, n, sem="release")
    tl.store(out_ptr + i, a)


@triton.jit
def bit_atomics(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a = tl.atomic_and(x_ptr + i, n)
    b = tl.where(i < n, tl.atomic_or(x_ptr + i, 12, mask=i < n), 0)
    c = tl.atomic_xor(x_ptr + i, a)
    d = tl.atomic_cas(x_ptr + i, b, c)
    e = tl.atomic_cas(x_ptr, n.to(x_ptr.dtype.element_ty), n.to(x_ptr.dtype.element_ty), sem="acquire", scope="gpu")
    f = (x_ptr + i).atomic_add(d)
    tl.store(out_ptr + i, e + f)


@triton.jit
def add_only(x_ptr, v_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.atomic_add(x_ptr + i, tl.load(v_ptr + i))


@triton.jit
def read_only(x_ptr: tl.const, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i))


CASES = [
    (load_options, "*fp32:16 *fp32:16 i32 fp32 =64"),
    (load_options, "*fp16 *fp32 i32:16 fp32 =64"),
    (store_options, "*fp32 i32 =64"),
    (scalar_access, "*fp16 *fp32 i32"),
    (booleans_in_memory, "*i1 *i1 i32 =64"),
    (block_pointers, "*fp16 *fp16 i32 i32 i32 =16 =32"),
    (block_pointers, "*fp32 *fp16 i64 i64 i64 =16 =32"),
    (descriptors, "*fp32 *fp32 i32 i32 =16 =32"),
    (descriptor_rows, "*fp16 *i32 *fp16 i32 i32 =32"),
    (descriptor_atomics, "*u32 i32 i32 =8 =32"),
    (descriptor_argument, "tensordesc<fp16[16;32]> *fp16 =32"),
    *[(atomics, f"*{t} *{t} i32 =64") for t in ("i32", "u32", "i64", "fp32", "fp64")],
    (bit_atomics, "*i32 *i32 i32 =64"),
    (bit_atomics, "*i64 *i64 i32 =64"),
    (add_only, "*fp16 *fp16 =64"),
    (add_only, "*bf16 *fp32 =64"),
    (read_only, "*kfp32 *fp32 =64"),
]
