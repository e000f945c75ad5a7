"""Every form of control flow."""

# ruff: noqa: F821
# pyright: basic

import triton
import triton.language as tl


@triton.jit
def branch(out_ptr, n):
    if n > 10:
        x = n * 2
    else:
        x = n - 1
    tl.store(out_ptr, x)


@triton.jit
def branch_without_else(out_ptr, n):
    x = n + 1
    y = 0.5
    if n > 10:
        x = n * 2
        y = 1.5
    tl.store(out_ptr, x + y)


@triton.jit
def chain(out_ptr, n):
    if n > 100:
        x = 1
    elif n > 10:
        x = 2
    elif n == 3:
        x = 3
    else:
        x = 4
    tl.store(out_ptr, x)


@triton.jit
def early_return(out_ptr, n):
    if n < 0:
        return
    tl.store(out_ptr, n)


@triton.jit
def nested_return(out_ptr, n, m):
    x = n
    if n < 0:
        if m < 0:
            return
        x = m
    else:
        x = n * 2
    tl.store(out_ptr, x)


@triton.jit
def select(n, m):
    if n < m:
        return n
    else:
        return m


@triton.jit
def first_of(n, m):
    if n > 3:
        return n * 2
    return m


@triton.jit
def returning_callees(out_ptr, n, m):
    tl.store(out_ptr, select(n, m))
    tl.store(out_ptr + 1, first_of(n, m))


@triton.jit
def counted(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.float32)
    count = 0
    for k in range(n):
        total += tl.load(x_ptr + k * BLOCK + i)
        count += 1
        scratch = total * 2
        total = scratch - total
    tl.store(out_ptr + i, total / count)


@triton.jit
def range_forms(out_ptr, n, m):
    a = 0
    for i in range(3, n):
        a += i
    for i in range(n, m, 2):
        a += i
    for i in range(10, 0, -1):
        a += i
    for i in range(n, 0, -3):
        a += i
    for i in tl.range(0, n, 1, num_stages=3):
        a += i
    for i in tl.range(n, loop_unroll_factor=2):
        a += i
    for i in tl.range(0, n, flatten=True, disallow_acc_multi_buffer=True):
        a += i
    tl.store(out_ptr, a)


@triton.jit
def long_counter(out_ptr, n):
    a = tl.zeros((), tl.int64)
    for i in range(n):
        a += i
    tl.store(out_ptr, a)


@triton.jit
def nested_loops(out_ptr, n, m):
    total = 0
    last = 0
    for i in range(n):
        for j in range(m):
            total += i * j
            if j > 3:
                last = j
            else:
                total += 1
    tl.store(out_ptr, total)
    tl.store(out_ptr + 1, last)


@triton.jit
def unrolled(x_ptr, out_ptr, N: tl.constexpr):
    total = 0.0
    for i in tl.static_range(N):
        total += tl.load(x_ptr + i)
    for i in tl.static_range(1, 9, 3):
        total *= i
    for i in tl.static_range(4, 0, step=-2):
        total += i * 2
    tl.store(out_ptr, total)


@triton.jit
def while_loop(out_ptr, n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    tl.store(out_ptr, steps)


@triton.jit
def while_two_values(out_ptr, n):
    a = 1.0
    i = 0
    limit = n * 2
    while (i < n) and (a < 100.0):
        a = a * 1.5
        i += 1
        limit = limit
    tl.store(out_ptr, a + limit)


@triton.jit
def ternaries(out_ptr, n, FLAG: tl.constexpr):
    a = n if n > 0 else -n
    b = 1 if FLAG else 2
    c = (n * 2.0) if n > 3 else 1.0
    tl.store(out_ptr, a + b + c)


@triton.jit
def constant_conditions(out_ptr, n, FLAG: tl.constexpr, NAME: tl.constexpr, NOTHING: tl.constexpr):
    x = n
    if FLAG:
        x += 1
    if NAME == "relu":
        x += 2
    elif NAME == "gelu":
        x += not_defined_anywhere
    if NOTHING is None:
        x += 3
    if NOTHING is not None:
        x += 4
    if FLAG and NOTHING is None:
        x += 5
    if not FLAG or NAME != "relu":
        x += 6
    tl.store(out_ptr, x)


@triton.jit
def same_name_everywhere(out_ptr, n):
    i = 0
    total = 0
    for k in range(n):
        i = i + 1
        unused = k
        total += i
    for k in range(n):
        total += k
    tl.store(out_ptr, total)


@triton.jit
def tuples_in_loops(out_ptr, n):
    pair = (0, 1.0)
    for i in range(n):
        pair = (pair[0] + i, pair[1] * 2.0)
    if n > 3:
        pair = (pair[0], 1.0)
    tl.store(out_ptr, pair[0] + pair[1])


@triton.jit
def fibonacci(out_ptr, n):
    a = 0
    b = 1
    for _ in range(n):
        a, b = b, a + b
    tl.store(out_ptr, a)


@triton.jit
def pointer_carried(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    p = x_ptr + tl.arange(0, BLOCK)
    acc = tl.zeros([BLOCK], tl.float32)
    for _ in range(n):
        acc += tl.load(p)
        p += BLOCK
    tl.store(out_ptr + tl.arange(0, BLOCK), acc)


@triton.jit
def condition_object(out_ptr, n):
    i = 0
    while tl.condition(i < n, disable_licm=True):
        i += 2
    for j in tl.range(0, n, disable_licm=True):
        i += j
    tl.store(out_ptr, i)


@triton.jit
def pointer_conditions(x_ptr, bias_ptr, none_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    acc = tl.load(x_ptr + i)
    if bias_ptr:
        acc += tl.load(bias_ptr + i)
    if none_ptr:
        acc += tl.load(none_ptr + i)
    if not none_ptr:
        acc *= 3.0 if bias_ptr else 2.0
    tl.store(out_ptr + i, acc)


CASES = [
    (branch, "*i32 i32"),
    (branch_without_else, "*fp32 i32"),
    (chain, "*i32 i32"),
    (early_return, "*i32 i32"),
    (nested_return, "*i32 i32 i32"),
    (returning_callees, "*i32 i32 i32"),
    (counted, "*fp32 *fp32 i32 =64"),
    (range_forms, "*i32 i32 i32"),
    (long_counter, "*i64 i64"),
    (nested_loops, "*i32 i32 i32"),
    (unrolled, "*fp32 *fp32 =4"),
    (while_loop, "*i32 i32"),
    (while_two_values, "*fp32 i32"),
    (ternaries, "*fp32 i32 =True"),
    (constant_conditions, "*i32 i32 =True ='relu' =None"),
    (same_name_everywhere, "*i32 i32"),
    (tuples_in_loops, "*fp32 i32"),
    (fibonacci, "*i32 i32"),
    (pointer_carried, "*fp32 *fp32 i32 =64"),
    (condition_object, "*i32 i32"),
    (pointer_conditions, "*fp32 *fp32 =None *fp32 =64"),
]
