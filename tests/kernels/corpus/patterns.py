"""A small kernel for each pattern of addresses, masks and loops that triton-shared has a file test for, under its name.

`tests/file/patterns` holds their `tt` text and what triton-to-structured makes of it.
"""

import triton
import triton.language as tl


@triton.jit
def addptr_2d_example(x, y, out, ld, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M), tl.arange(0, N)
    place = i[:, None] * ld + j[None, :]
    tl.store(out + place, tl.load(x + place) + tl.load(y + place))


@triton.jit
def addptr_add_value(x, out, a, b, M: tl.constexpr, N: tl.constexpr):
    place = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out + (place + a + b), tl.load(x + (place + a + b)))


@triton.jit
def addptr_chain(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    source, target = x, out
    for k in range(n):
        source += k
        target = target + k + 1
        tl.store(target + i, tl.load(source + i))


@triton.jit
def addptr_dim1(x, out, n, ld, B: tl.constexpr):
    cols = tl.arange(0, B)[None, :]
    total = tl.zeros((1, B), tl.float32)
    for row in range(n):
        total += tl.load(x + row * ld + cols)
    tl.store(out + cols, total)


@triton.jit
def addptr_for_accumulation(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    pointers, total = x + i, tl.zeros((B,), tl.float32)
    for _ in range(n):
        total += tl.load(pointers)
        pointers += B
    tl.store(out + i, total)


@triton.jit
def addptr_for_expand_ptr(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    rows = x + i * 4
    for k in range(n):
        tile = rows[:, None] + tl.arange(0, 4)[None, :]
        tl.store(out + k + i[:, None] * 4 + tl.arange(0, 4)[None, :], tl.load(tile))
        rows += 2


@triton.jit
def addptr_for_more_init_args(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    source, target, count, scale = x + i, out + i, 0, 1.0
    for _ in range(n):
        tl.store(target, tl.load(source) * scale + count)
        source, target = source + 3, target + count
        count += 2
        scale *= 0.5


@triton.jit
def addptr_for_used_after_update(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    source, target = x + i, out + i
    for _ in range(n):
        target += 3
        source += 5
        tl.store(target, tl.load(source))


@triton.jit
def addptr_for_used_before_update(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    source, target = x + i, out + i
    for _ in range(n):
        tl.store(target, tl.load(source))
        target += 3
        source += 5


@triton.jit
def addptr_loopback(x, B: tl.constexpr):
    pointers = x + 5 + tl.arange(0, B)
    tl.store(pointers, tl.load(pointers) + 1)


@triton.jit
def addptr_mul_const_const(x, out, B: tl.constexpr):
    place = tl.program_id(0) * 4 * 3 + tl.arange(0, B) + 2 * 8
    tl.store(out + place, tl.load(x + place))


@triton.jit
def addptr_mul_value_const(x, out, a, B: tl.constexpr):
    place = a * 3 + tl.arange(0, B) * 2
    tl.store(out + place, tl.load(x + place))


@triton.jit
def addptr_nested(x, out, a, B: tl.constexpr):
    pointers = x + tl.arange(0, B)
    pointers = pointers + a
    pointers = pointers + tl.arange(0, B)
    tl.store(out + tl.arange(0, B), tl.load(pointers))


@triton.jit
def addptr_reshape_broadcast(x, out, M: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, M)[:, None]
    place = tl.broadcast_to(i, (M, N)) * N + tl.arange(0, N)[None, :]
    tl.store(out + place, tl.load(x + tl.broadcast_to(i, (M, N))))


@triton.jit
def addptr_scalar_broadcast(x, out, a, M: tl.constexpr, N: tl.constexpr):
    base = tl.broadcast_to(x + a, (M, N))
    place = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out + place, tl.load(base + place))


@triton.jit
def addptr_scalar_for(x, out, n, B: tl.constexpr):
    i, base, total = tl.arange(0, B), x, tl.zeros((B,), tl.float32)
    for k in range(n):
        total += tl.load(base + i)
        base += k
    tl.store(out + i, total)


@triton.jit
def addptr_scalar_for_2d(x, out, n, M: tl.constexpr, N: tl.constexpr):
    place = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    base, total = x + 1, tl.zeros((M, N), tl.float32)
    for k in range(n):
        total += tl.load(base + place)
        base += k * 2
    tl.store(out + place, total)


@triton.jit
def addptr_scalar_loopback(x, a):
    tl.store(x + a, tl.load(x + a) + 1)


@triton.jit
def addptr_scalar_nested(x, out, a, b, B: tl.constexpr):
    base = x + a
    base = base + b
    base = base + a * b
    tl.store(out + tl.arange(0, B), tl.load(base + tl.arange(0, B)))


@triton.jit
def addptr_scalar_splat(x, out, a, B: tl.constexpr):
    same = x + a + tl.zeros((B,), tl.int32)
    tl.store(out + tl.arange(0, B), tl.load(same))


@triton.jit
def addptr_scalar_splat_2d(x, out, a, M: tl.constexpr, N: tl.constexpr):
    same = x + a + tl.zeros((M, N), tl.int32)
    tl.store(out + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :], tl.load(same))


@triton.jit
def arith_not_ptr_arith(x, y, out, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i, tl.load(x + i) + tl.load(y + i) * i)


@triton.jit
def bitcast(x, out, B: tl.constexpr):
    i = tl.arange(0, B)
    bits = tl.load(x.to(tl.pointer_type(tl.int32)) + i)
    tl.store((out + i).to(tl.pointer_type(tl.int32), bitcast=True), bits + 1)


@triton.jit
def block_ptr_advance(x, out, m, n, M: tl.constexpr, N: tl.constexpr):
    source = tl.make_block_ptr(x, (m, n), (n, 1), (0, 0), (M, N), (1, 0))
    total = tl.zeros((M, N), tl.float32)
    for _ in range(0, n, N):
        total += tl.load(source, boundary_check=(0, 1))
        source = tl.advance(source, (0, N))
    tl.store(tl.make_block_ptr(out, (M, N), (N, 1), (0, 0), (M, N), (1, 0)), total)


@triton.jit
def block_ptr_complex_offset(x, out, a, b, M: tl.constexpr, N: tl.constexpr):
    base = x + a * b + tl.program_id(0) * a
    source = tl.make_block_ptr(base, (64, 64), (64, 1), (a, b), (M, N), (1, 0))
    tl.store(tl.make_block_ptr(out, (M, N), (N, 1), (0, 0), (M, N), (1, 0)), tl.load(source))


@triton.jit
def gather_scatter_ptr(x, out, n, M: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, M)
    rows = i // 2 + (i % 2) * 3
    place = rows[:, None] * N + tl.arange(0, N)[None, :]
    mask = (i < n)[:, None] & (tl.arange(0, N) < n)[None, :]
    tl.store(out + place, tl.load(x + place, mask=mask, other=-1.0), mask=mask)


@triton.jit
def gather_scatter_double_mod(x, out, M: tl.constexpr, N: tl.constexpr):
    rows = (tl.arange(0, M) % 6) % 4
    tl.store(
        out + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :],
        tl.load(x + rows[:, None] * N + tl.arange(0, N)[None, :]),
    )


@triton.jit
def gather_scatter_ptr_1d_with_if(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    if n > 5:
        place = i // 2
    else:
        place = i * 2
    tl.store(out + i, tl.load(x + place))


@triton.jit
def gather_scatter_ptr_1d_with_loop(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    place = i // 3
    for _ in range(n):
        tl.store(out + i, tl.load(x + place) + tl.load(out + i))
        place = place + i // 4


@triton.jit
def gather_scatter_ptr_1d_with_mask(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i // 4 * 4 + i % 4, tl.load(x + i // 2, mask=i < n, other=3.0), mask=i < n)


@triton.jit
def gather_scatter_ptr_3d(x, out, n, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    i, j, k = tl.arange(0, M)[:, None, None], tl.arange(0, N)[None, :, None], tl.arange(0, K)[None, None, :]
    place = i * N * K + (j // 2 + j % 2) * K + k
    tl.store(out + i * N * K + j * K + k, tl.load(x + place, mask=k < n, other=0.0))


@triton.jit
def gather_scatter_ptr_simple(x, index, out, B: tl.constexpr, N: tl.constexpr):
    rows = tl.load(index + tl.arange(0, B))
    place = rows[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out + place, tl.load(x + place))


@triton.jit
def gather_scatter_ptr_in_loop(x, index, out, n, B: tl.constexpr, N: tl.constexpr):
    cols = tl.arange(0, N)[None, :]
    for k in range(n):
        rows = tl.load(index + k + tl.arange(0, B))[:, None]
        tl.store(out + (k * B + tl.arange(0, B))[:, None] * N + cols, tl.load(x + rows * N + cols))


@triton.jit
def index_select_row_i64_index(x, index, out, n, B: tl.constexpr, N: tl.constexpr):
    i, cols = tl.arange(0, B), tl.arange(0, N)[None, :]
    rows = tl.load(index + i, mask=i < n, other=0)
    tl.store(out + i[:, None] * N + cols, tl.load(x + rows[:, None] * N + cols), mask=(i < n)[:, None])


@triton.jit
def index_select_row_with_mod_plus_offset(x, out, n, B: tl.constexpr, N: tl.constexpr):
    i, cols = tl.arange(0, B), tl.arange(0, N)[None, :]
    rows = (tl.program_id(0) * B + i) % n + 1
    tl.store(out + i[:, None] * N + cols, tl.load(x + rows[:, None] * N + cols))


@triton.jit
def conditional_ptr_as_src(x, y, out, n, B: tl.constexpr):
    if n > 4:
        source = x + 2
    else:
        source = y
    tl.store(out + tl.arange(0, B), tl.load(source + tl.arange(0, B)))


@triton.jit
def conditional_ptr_as_src_for_yield_input(x, y, index, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    if n > 4:
        source = x + tl.load(index + i)
    else:
        source = y + i
    for _ in range(n):
        tl.store(out + i, tl.load(source) + tl.load(out + i))
        source += 1


@triton.jit
def mask_ld_st_scalar_dim(x, out, n, k, B: tl.constexpr):
    i = tl.arange(0, B)
    mask = (i < n) & (k < 10)
    tl.store(out + i, tl.load(x + i, mask=mask, other=-2.0), mask=mask)


@triton.jit
def mask_loop_iter_arg(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    for _ in range(3):
        tl.store(out + i, tl.load(x + i, mask=i < n, other=0.0), mask=i < n)
        i += B


@triton.jit
def mask_loop_iter_arg_scalar(x, out, n):
    i = tl.arange(0, 1)
    for _ in range(5):
        tl.store(out + i, tl.load(x + i, mask=i < n, other=0.0).to(tl.float8e5), mask=i < n)
        i += 1


@triton.jit
def masked_ldst_1d(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i, tl.load(x + i, mask=i < n, other=float("nan")), mask=i < n)


@triton.jit
def masked_ldst_2d(x, out, m, n, M: tl.constexpr, N: tl.constexpr):
    i, j = 2 + tl.arange(0, M)[:, None], 3 + tl.arange(0, N)[None, :]
    mask = (i < m) & (j < n)
    tl.store(out + i * 64 + j, tl.load(x + i * 64 + j, mask=mask, other=-1.0), mask=mask)


@triton.jit
def masked_ldst_sitofp_other(x, out, n, k, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i, tl.load(x + i, mask=i < n, other=k), mask=i < B)


@triton.jit
def nested_loops(x, out, m, n, B: tl.constexpr):
    i = tl.arange(0, B)
    rows, target = x + i, out + i
    for _ in range(m):
        tl.store(target, tl.load(rows))
        for _ in range(n):
            rows += 1
            target += 2
            tl.store(target, tl.load(rows))
        rows += 3


@triton.jit
def ridiculously_nested_loops(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    p, q = x + i, out + i
    for a in range(n):
        p += a
        for b in range(2):
            q += b
            for _ in range(2):
                tl.store(q, tl.load(p) + a)
                p += 1
            q += 1
    tl.store(q + 1, tl.load(p))


@triton.jit
def scalar_store_loop(out, n):
    target = out
    for k in range(n):
        target += 1
        tl.store(target, k)


@triton.jit
def scalar_store_no_iterargs(out, n):
    for k in range(n):
        tl.store(out + k, k)


@triton.jit
def scalar_store_nested_loop(out, m, n):
    target = out
    for i in range(m):
        for j in range(n):
            tl.store(target, i * j)
            target += 2
        target += 1


@triton.jit
def sign_extend_i32_to_i64(x, out, a, B: tl.constexpr):
    place = (a + tl.arange(0, B)).to(tl.int64)
    tl.store(out + tl.arange(0, B), tl.load(x + place))


@triton.jit
def tensor_indices_loop_iterarg_with_masks(x, out, n, B: tl.constexpr):
    i, j = tl.arange(0, B), tl.arange(0, B)
    for _ in range(2):
        tl.store(out + j, tl.load(x + i, mask=i < n, other=-5.0), mask=j < n + 2)
        i += 3
        j += 4


@triton.jit
def tensor_indices_loop_iterargs_nested(x, out, n, B: tl.constexpr):
    i, j = tl.arange(0, B), tl.arange(0, B)
    for _ in range(n):
        for _ in range(2):
            tl.store(out + j, tl.load(x + i))
            i += 2
            j += 3
        i += 1


@triton.jit
def tensor_indices_loop_iterargs_not_used(x, out, n, B: tl.constexpr):
    i, data = tl.arange(0, B), tl.arange(0, B)
    for _ in range(n):
        data += 2
    tl.store(out + i, tl.load(x + i) + data)


@triton.jit
def unstructured_mask_2d(x, keep, out, n, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M), tl.arange(0, N)
    rows = tl.load(keep + i) != 0
    mask = rows[:, None] & (j < n)[None, :]
    place = i[:, None] * N + j[None, :]
    tl.store(out + place, tl.load(x + place, mask=mask, other=-1.0), mask=mask)


@triton.jit
def unstructured_mask_2d_non_continuous(x, keep, index, out, n, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M), tl.arange(0, N)
    mask = (tl.load(keep + i) != 0)[:, None] & (j < n)[None, :]
    place = tl.load(index + i)[:, None] * N + j[None, :]
    tl.store(out + i[:, None] * N + j[None, :], tl.load(x + place, mask=mask, other=-1.0))
    tl.store(out + place, 9.0, mask=mask)


@triton.jit
def unstructured_mask_3d(x, keep, out, n, M: tl.constexpr, N: tl.constexpr):
    i, j, k = tl.arange(0, M), tl.arange(0, N)[None, :, None], tl.arange(0, 4)[None, None, :]
    mask = (tl.load(keep + i) != 0)[:, None, None] & (j < n) & (k < 3)
    place = i[:, None, None] * N * 4 + j * 4 + k
    tl.store(out + place, tl.load(x + place, mask=mask, other=-1.0), mask=mask)


@triton.jit
def use_dot_opc(a, b, out, M: tl.constexpr):
    place = tl.arange(0, M)[:, None] * M + tl.arange(0, M)[None, :]
    zero = tl.zeros((M, M), tl.float32)
    tl.store(out + place, tl.dot(tl.load(a + place), tl.load(b + place), zero))
    tl.store(out + M * M + place, zero)


@triton.jit
def use_end_chain(x, out, M: tl.constexpr, N: tl.constexpr):
    place = tl.arange(0, M)[:, None] * 6 + tl.arange(0, N)[None, :]
    tl.store(out + place, tl.load(x + place) + place)


@triton.jit
def use_mid_chain(x, out, M: tl.constexpr, N: tl.constexpr):
    rows = tl.arange(0, M)[:, None] * 6
    tl.store(out + rows + tl.arange(0, N)[None, :], tl.load(x + rows + tl.arange(0, N)[None, :]) + rows)


@triton.jit
def wraparound_side_by_side(x, out, n, k, M: tl.constexpr, N: tl.constexpr):
    cols = (tl.program_id(0) * N + tl.arange(0, N)) % n
    pointers = x + tl.arange(0, M)[:, None] * n + cols[None, :]
    target = out + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    for i in range(2):
        tl.store(target, tl.load(pointers, mask=tl.arange(0, M)[:, None] < k - i * M, other=-99.0))
        pointers += M * n
        target += M * N


@triton.jit
def wraparound_stacked(x, out, m, k, M: tl.constexpr, N: tl.constexpr):
    rows = (tl.program_id(0) * M + tl.arange(0, M)) % m
    pointers = x + rows[:, None] * 64 + tl.arange(0, N)[None, :]
    target = out + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    for i in range(2):
        tl.store(target, tl.load(pointers, mask=tl.arange(0, N)[None, :] < k - i * N, other=-99.0))
        pointers += N
        target += M * N


@triton.jit
def wraparound_static_shape(x, out, M: tl.constexpr, N: tl.constexpr):
    rows, cols = (5 + tl.arange(0, M)) % 7, (3 + tl.arange(0, N)) % 12
    tl.store(
        out + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :], tl.load(x + rows[:, None] * 12 + cols[None, :])
    )


@triton.jit
def wraparound_unsupported_add_offset(x, out, n, a, B: tl.constexpr):
    tl.store(out + tl.arange(0, B), tl.load(x + (a + tl.arange(0, B)) % n + a))


@triton.jit
def gather_nested(x, index, out, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i, tl.load(x + tl.load(index + tl.load(index + i))))


@triton.jit
def gather_simple_loop(x, index, out, n, B: tl.constexpr):
    place = tl.load(index + tl.arange(0, B))
    for _ in range(n):
        tl.store(out + tl.arange(0, B), tl.load(x + place))
        place += 2


@triton.jit
def gather_reuse_loop_results(x, index, out, n, B: tl.constexpr):
    source = x + tl.load(index + tl.arange(0, B))
    for _ in range(n):
        source += 1
    tl.store(out + tl.arange(0, B), tl.load(source))
    tl.store(source, 1.5)


@triton.jit
def nested_ptr_in_iterargs(x, index, out, n, B: tl.constexpr):
    source, target = x + tl.load(index + tl.arange(0, B)), out + tl.load(index + tl.arange(0, B))
    for _ in range(n):
        for _ in range(2):
            tl.store(target, tl.load(source))
            source += 1
        target += 2


@triton.jit
def gather_scatter_masks(x, index, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    place = tl.load(index + i)
    a = tl.load(x + place, mask=place < n)
    b = tl.load(x + place, mask=place > n, other=4.0)
    tl.store(out + place, a + b, mask=place != n)


CASES = [
    (addptr_2d_example, "*bf16 *bf16 *bf16 i32 =4 =64"),
    (addptr_add_value, "*bf16 *bf16 i32 i32 =4 =64"),
    (addptr_chain, "*fp32 *fp32 i32 =16"),
    (addptr_dim1, "*fp32 *fp32 i32 i32 =64"),
    (addptr_for_accumulation, "*bf16 *fp32 i32 =64"),
    (addptr_for_expand_ptr, "*fp32 *fp32 i32 =16"),
    (addptr_for_more_init_args, "*fp32 *fp32 i32 =64"),
    (addptr_for_used_after_update, "*bf16 *bf16 i32 =64"),
    (addptr_for_used_before_update, "*bf16 *bf16 i32 =64"),
    (addptr_loopback, "*fp32 =64"),
    (addptr_mul_const_const, "*bf16 *bf16 =64"),
    (addptr_mul_value_const, "*bf16 *bf16 i32 =64"),
    (addptr_nested, "*fp32 *fp32 i32 =64"),
    (addptr_reshape_broadcast, "*bf16 *bf16 =16 =8"),
    (addptr_scalar_broadcast, "*fp32 *fp32 i32 =4 =32"),
    (addptr_scalar_for, "*fp32 *fp32 i32 =64"),
    (addptr_scalar_for_2d, "*fp32 *fp32 i32 =8 =16"),
    (addptr_scalar_loopback, "*fp32 i32"),
    (addptr_scalar_nested, "*fp32 *fp32 i32 i32 =64"),
    (addptr_scalar_splat, "*fp32 *fp32 i32 =64"),
    (addptr_scalar_splat_2d, "*fp32 *fp32 i32 =8 =16"),
    (arith_not_ptr_arith, "*i32 *i32 *i32 =64"),
    (bitcast, "*fp32 *fp32 =64"),
    (block_ptr_advance, "*fp32 *fp32 i32 i32 =8 =16"),
    (block_ptr_complex_offset, "*fp32 *fp32 i32 i32 =8 =16"),
    (gather_scatter_ptr, "*fp32 *fp32 i32 =8 =16"),
    (gather_scatter_double_mod, "*fp32 *fp32 =8 =16"),
    (gather_scatter_ptr_1d_with_if, "*fp32 *fp32 i32 =16"),
    (gather_scatter_ptr_1d_with_loop, "*fp32 *fp32 i32 =16"),
    (gather_scatter_ptr_1d_with_mask, "*fp32 *fp32 i32 =16"),
    (gather_scatter_ptr_3d, "*fp32 *fp32 i32 =4 =8 =4"),
    (gather_scatter_ptr_simple, "*fp32 *i32 *fp32 =8 =16"),
    (gather_scatter_ptr_in_loop, "*fp32 *i32 *fp32 i32 =8 =16"),
    (index_select_row_i64_index, "*fp32 *i64 *fp32 i32 =8 =16"),
    (index_select_row_with_mod_plus_offset, "*fp32 *fp32 i32 =8 =16"),
    (conditional_ptr_as_src, "*fp32 *fp32 *fp32 i32 =16"),
    (conditional_ptr_as_src_for_yield_input, "*fp32 *fp32 *i32 *fp32 i32 =16"),
    (mask_ld_st_scalar_dim, "*fp32 *fp32 i32 i32 =16"),
    (mask_loop_iter_arg, "*fp32 *fp32 i32 =16"),
    (mask_loop_iter_arg_scalar, "*fp32 *fp8e5 i32"),
    (masked_ldst_1d, "*bf16 *bf16 i32 =64"),
    (masked_ldst_2d, "*bf16 *bf16 i32 i32 =16 =32"),
    (masked_ldst_sitofp_other, "*fp32 *fp32 i32 i32 =64"),
    (nested_loops, "*fp32 *fp32 i32 i32 =16"),
    (ridiculously_nested_loops, "*fp32 *fp32 i32 =16"),
    (scalar_store_loop, "*i32 i32"),
    (scalar_store_no_iterargs, "*i32 i32"),
    (scalar_store_nested_loop, "*i32 i32 i32"),
    (sign_extend_i32_to_i64, "*fp32 *fp32 i32 =16"),
    (tensor_indices_loop_iterarg_with_masks, "*fp32 *fp32 i32 =16"),
    (tensor_indices_loop_iterargs_nested, "*fp32 *fp32 i32 =16"),
    (tensor_indices_loop_iterargs_not_used, "*i32 *i32 i32 =16"),
    (unstructured_mask_2d, "*fp32 *i32 *fp32 i32 =8 =16"),
    (unstructured_mask_2d_non_continuous, "*fp32 *i32 *i32 *fp32 i32 =8 =16"),
    (unstructured_mask_3d, "*fp32 *i32 *fp32 i32 =8 =8"),
    (use_dot_opc, "*bf16 *bf16 *fp32 =16"),
    (use_end_chain, "*fp32 *fp32 =16 =4"),
    (use_mid_chain, "*fp32 *fp32 =16 =4"),
    (wraparound_side_by_side, "*fp32 *fp32 i32 i32 =4 =8"),
    (wraparound_stacked, "*fp32 *fp32 i32 i32 =8 =4"),
    (wraparound_static_shape, "*fp32 *fp32 =4 =16"),
    (wraparound_unsupported_add_offset, "*fp32 *fp32 i32 i32 =16"),
    (gather_nested, "*fp32 *i32 *fp32 =16"),
    (gather_simple_loop, "*fp32 *i32 *fp32 i32 =16"),
    (gather_reuse_loop_results, "*fp32 *i32 *fp32 i32 =16"),
    (nested_ptr_in_iterargs, "*fp32 *i32 *fp32 i32 =16"),
    (gather_scatter_masks, "*fp32 *i32 *fp32 i32 =16"),
]
