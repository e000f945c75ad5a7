"""Atomic operations: every kind on every type, masks, contended and scalar places, semantics and scopes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl
from suite.arrays import Array
from tilewright.support.errors import TilewrightError

pytestmark = pytest.mark.usefixtures("every_target")

Meaning = Callable[[Array, Array], Array]


@triton.jit
def update(x_ptr, y_ptr, old_ptr, n, OP: tl.constexpr, SEM: tl.constexpr, SCOPE: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    y = tl.load(y_ptr + i)
    old = OP(x_ptr + i, y, mask=i < n, sem=SEM, scope=SCOPE)
    tl.store(old_ptr + i, old, mask=i < n)


@triton.jit
def update_contended(x_ptr, place_ptr, y_ptr, OP: tl.constexpr, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    OP(x_ptr + tl.load(place_ptr + i), tl.load(y_ptr + i))


@triton.jit
def update_scalar(x_ptr, old_ptr, OP: tl.constexpr, SEM: tl.constexpr, N: tl.constexpr):
    old = OP(x_ptr, tl.program_id(0) + 1, sem=SEM)
    tl.store(old_ptr + tl.program_id(0) * N + tl.arange(0, N), old + tl.zeros([N], x_ptr.dtype.element_ty))


@triton.jit
def swap_if(x_ptr, compare_ptr, y_ptr, old_ptr, SEM: tl.constexpr, SCOPE: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    old = tl.atomic_cas(x_ptr + i, tl.load(compare_ptr + i), tl.load(y_ptr + i), sem=SEM, scope=SCOPE)
    tl.store(old_ptr + i, old)


@triton.jit
def add_rows(x_ptr, y_ptr, m, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    i, j = tl.arange(0, ROWS)[:, None], tl.arange(0, COLUMNS)[None, :]
    at = i * COLUMNS + j
    tl.atomic_add(x_ptr + at, tl.load(y_ptr + at), mask=(i < m) & (j < COLUMNS), sem="relaxed")


@triton.jit
def count_up_in_turn(lock_ptr, x_ptr, N: tl.constexpr):
    """Programs take a lock one after the other and change what it guards."""
    i = tl.arange(0, N)
    while tl.atomic_cas(lock_ptr, 0, 1, sem="acquire") == 1:
        pass
    tl.store(x_ptr + i, tl.load(x_ptr + i, volatile=True) * 2 + 1)
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr, 0, sem="release")


@triton.jit
def add_to_what_the_program_before_left(flag_ptr, x_ptr, work):
    """Each program waits until the one before it is done. It has enough to do for others to begin meanwhile."""
    program = tl.program_id(0)
    while tl.atomic_add(flag_ptr, 0, sem="acquire") != program:
        pass
    found = 0
    for _ in range(work):
        found += tl.load(x_ptr + program, volatile=True)
    tl.store(x_ptr + program + 1, found // work + program)
    tl.debug_barrier()
    tl.atomic_xchg(flag_ptr, program + 1, sem="release")


def numbers(dtype: Any, count: int, seed: int) -> Array:
    """Small whole numbers of either sign: their sums are exact in any order."""
    kind = np.dtype(dtype).kind
    low = 0 if kind == "u" else -20
    return np.random.default_rng(seed).integers(low, 20, count).astype(dtype)


INTEGERS = [np.int32, np.uint32, np.int64, np.uint64]
WIDE_FLOATS = [np.float32, np.float64]
FLOATS = [np.float16, ml_dtypes.bfloat16, *WIDE_FLOATS]
OPERATIONS: list[tuple[str, Any, Meaning, list[Any]]] = [
    ("add", tl.atomic_add, lambda x, y: x + y, [*INTEGERS, *FLOATS]),
    ("max", tl.atomic_max, np.maximum, [*INTEGERS, *WIDE_FLOATS]),
    ("min", tl.atomic_min, np.minimum, [*INTEGERS, *WIDE_FLOATS]),
    ("and", tl.atomic_and, np.bitwise_and, INTEGERS),
    ("or", tl.atomic_or, np.bitwise_or, INTEGERS),
    ("xor", tl.atomic_xor, np.bitwise_xor, INTEGERS),
    ("xchg", tl.atomic_xchg, lambda x, y: y, [*INTEGERS, *FLOATS]),
]
CASES = [
    pytest.param(op, meaning, dtype, id=f"{name}-{np.dtype(dtype).name}")
    for name, op, meaning, dtypes in OPERATIONS
    for dtype in dtypes
]
SEMANTICS = ["relaxed", "acquire", "release", "acq_rel"]
SCOPES = ["gpu", "cta", "sys"]


@pytest.mark.pairwise
@pytest.mark.parametrize(("op", "meaning", "dtype"), CASES)
def test_each_element_of_its_own(op: Any, meaning: Meaning, dtype: Any) -> None:
    x, y = numbers(dtype, 256, 1), numbers(dtype, 256, 2)
    before, old = x.copy(), np.zeros_like(x)
    update[(1,)](x, y, old, 200, OP=op, SEM="acq_rel", SCOPE="gpu", N=256)
    expected = before.copy()
    expected[:200] = meaning(before, y)[:200].astype(dtype)
    np.testing.assert_array_equal(x, expected)
    np.testing.assert_array_equal(old[:200], before[:200])


@pytest.mark.pairwise
@pytest.mark.parametrize(("op", "meaning", "dtype"), [case for case in CASES if "xchg" not in str(case.id)])
def test_many_to_a_few_places(op: Any, meaning: Meaning, dtype: Any) -> None:
    """Several elements of one program, and of several, meet in one place: none is lost."""
    x, y = numbers(dtype, 7, 3), numbers(dtype, 2 * 128, 4)
    place = np.random.default_rng(5).integers(0, 7, y.size).astype(np.int32)
    expected = x.copy()
    for at, value in zip(place, y, strict=True):
        expected[at] = meaning(expected[at], value)
    update_contended[(2,)](x, place, y, OP=op, N=128)
    np.testing.assert_array_equal(x, expected)


@triton.jit
def add_at_places(x_ptr, place_ptr, y_ptr, n, columns, COLUMNS: tl.constexpr, SCOPE: tl.constexpr):
    i, j = tl.program_id(0), tl.arange(0, COLUMNS)
    row = tl.load(place_ptr + i)
    y = tl.load(y_ptr + i * columns + j, mask=(i < n) & (j < columns))
    tl.atomic_add(x_ptr + row * columns + j, y, mask=(i < n) & (j < columns), scope=SCOPE)


@pytest.mark.pairwise
@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("columns", [5, 64, 1000])
def test_rows_that_meet(columns: int, scope: str) -> None:
    """Rows of whole numbers, many to a few; rows of 1000 floats start anywhere and cross pages."""
    y = numbers(np.float32, 96 * columns, 12).reshape(96, columns)
    place = np.random.default_rng(13).integers(0, 6, 96)
    x = np.zeros((6, columns), np.float32)
    add_at_places[(100,)](
        x, np.append(place, [0] * 4), y, 96, columns, COLUMNS=max(8, 1 << (columns - 1).bit_length()), SCOPE=scope
    )
    expected = np.zeros_like(x)
    np.add.at(expected, place, y)
    np.testing.assert_array_equal(x, expected)


@pytest.mark.pairwise
@pytest.mark.parametrize("sem", SEMANTICS)
@pytest.mark.parametrize("dtype", [np.int32, np.float32, np.int64], ids=lambda dtype: np.dtype(dtype).name)
def test_scalars_reach_every_element(dtype: Any, sem: str) -> None:
    """Each program does it once, and all of its threads see what was there."""
    x, old = np.zeros(1, dtype), np.full((5, 64), -1, dtype)
    update_scalar[(5,)](x, old, OP=tl.atomic_add, SEM=sem, N=64)
    assert x[0] == 15
    assert np.all(old == old[:, :1])
    order = np.argsort(old[:, 0])
    np.testing.assert_array_equal(old[order, 0], np.cumsum([0, *(order + 1)])[:-1])


@pytest.mark.parametrize("dtype", [np.int16, np.float16, *INTEGERS, *WIDE_FLOATS], ids=lambda t: np.dtype(t).name)
def test_compare_and_swap(dtype: Any) -> None:
    x, y = numbers(dtype, 128, 6), numbers(dtype, 128, 7)
    compare = np.where(np.arange(128) % 3 == 0, x, x + 1).astype(dtype)
    before, old = x.copy(), np.zeros_like(x)
    swap_if[(1,)](x, compare, y, old, SEM="acq_rel", SCOPE="gpu", N=128)
    np.testing.assert_array_equal(x, np.where(before == compare, y, before))
    np.testing.assert_array_equal(old, before)


@pytest.mark.pairwise
@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("sem", SEMANTICS)
def test_semantics_and_scopes(sem: str, scope: str, every_target: str) -> None:
    x, y, old = numbers(np.int32, 64, 8), numbers(np.int32, 64, 9), np.zeros(64, np.int32)
    before = x.copy()
    kernel = update[(1,)](x, y, old, 64, OP=tl.atomic_add, SEM=sem, SCOPE=scope, N=64)
    np.testing.assert_array_equal(x, before + y)
    if every_target != "cpu":
        assert f"atom.{sem}.{scope}.global.add.u32" in kernel.asm["ptx"]
    kernel = swap_if[(1,)](x, x.copy(), y, old, SEM=sem, SCOPE=scope, N=64)
    np.testing.assert_array_equal(x, y)
    if every_target != "cpu":
        assert f"atom.{sem}.{scope}.global.cas.b32" in kernel.asm["ptx"]


@pytest.mark.only_on("cuda_sim", "cuda")
@pytest.mark.parametrize("arch", ["sm80", "sm90"])
@pytest.mark.parametrize("dtype", FLOATS, ids=lambda dtype: np.dtype(dtype).name)
def test_rows_in_pieces(dtype: Any, arch: str, every_target: str) -> None:
    """Neighbouring floats go together where the GPU can, 8 halves or 4 singles at a time on Hopper."""
    x, y = numbers(dtype, 16 * 64, 10), numbers(dtype, 16 * 64, 11)
    expected = x.copy()
    expected[: 13 * 64] += y[: 13 * 64]
    options = {} if every_target == "cuda" else {"arch": arch}
    kernel = add_rows[(1,)](x, y, 13, ROWS=16, COLUMNS=64, **options)
    np.testing.assert_array_equal(x, expected)
    if every_target == "cuda":
        return
    name = np.dtype(dtype).name
    on_ampere = {
        "float16": ".noftz.f16x2",
        "float32": ".f32",
        "float64": ".f64",
        "bfloat16": "atom.relaxed.gpu.global.cas.b32",
    }
    on_hopper = {"float16": "v4.f16x2", "float32": ".v4.f32", "float64": ".f64", "bfloat16": ".v4.bf16x2"}
    assert (on_hopper if arch == "sm90" else on_ampere)[name] in kernel.asm["ptx"]


@triton.jit
def add_and_wait(x_ptr, flag_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.atomic_add(x_ptr + i, 1.0)
    while tl.load(flag_ptr, volatile=True) == 0:
        pass
    tl.atomic_add(x_ptr + i, 1.0)


@triton.jit
def add_and_signal(x_ptr, flag_ptr, N: tl.constexpr):
    tl.atomic_add(x_ptr + tl.arange(0, N), 1.0)
    tl.atomic_add(flag_ptr + tl.arange(0, N), 1)


@pytest.mark.only_on("cpu")
def test_a_launch_that_waits_for_another() -> None:
    """A program may wait for what another launch does, also where it has been the only one with atomics."""
    x, flag = np.zeros(64, np.float32), np.zeros(64, np.int32)
    add_and_signal[(1,)](x, flag, N=64)
    flag[:] = 0
    waiting = threading.Thread(target=lambda: add_and_wait[(1,)](x, flag, N=64), daemon=True)
    waiting.start()
    while x[0] < 2 and waiting.is_alive():
        time.sleep(0.001)
    add_and_signal[(1,)](x, flag, N=64)
    waiting.join(30)
    assert not waiting.is_alive()
    assert np.all(x == 4) and np.all(flag == 1)


def test_a_lock() -> None:
    lock, x = np.zeros(1, np.int32), np.zeros(64, np.int32)
    count_up_in_turn[(4,)](lock, x, N=64)
    assert not lock.any()
    np.testing.assert_array_equal(x, 15)


@pytest.mark.only_on("cpu")
@pytest.mark.parametrize("threads", [1, 2, 3, 7])
def test_programs_may_wait_for_those_before_them(threads: int) -> None:
    """However many threads there are, and whichever of them are late: nobody waits for a program that is not begun."""
    programs = 50
    expected = np.zeros(programs + 1, np.int32)
    for program in range(programs):
        expected[program + 1] = expected[program] + program
    before = triton.get_num_threads()
    triton.set_num_threads(threads)
    try:
        for _ in range(20):
            flag, x = np.zeros(1, np.int32), np.zeros(programs + 1, np.int32)
            add_to_what_the_program_before_left[(programs,)](flag, x, 5000)
            np.testing.assert_array_equal(x, expected)
    finally:
        triton.set_num_threads(before)


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.uint8], ids=lambda dtype: np.dtype(dtype).name)
def test_types_without_atomics(dtype: Any) -> None:
    x = np.zeros(16, dtype)
    with pytest.raises(TilewrightError, match="atomic_add does not support"):
        update[(1,)](x, x.copy(), x.copy(), 16, OP=tl.atomic_add, SEM="relaxed", SCOPE="gpu", N=16)


@triton.jit
def copy_atomically(x_ptr, y_ptr, n, LOAD: tl.constexpr, STORE: tl.constexpr, SCOPE: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.atomic_load(x_ptr + i, mask=i < n, sem=LOAD, scope=SCOPE)
    tl.atomic_store(y_ptr + i, x, mask=i < n, sem=STORE, scope=SCOPE)


@triton.jit
def copy_one(x_ptr, y_ptr):
    tl.atomic_store(y_ptr, tl.atomic_load(x_ptr))


@pytest.mark.parametrize(
    "dtype", ["bool", "i1", "u1", "i2", "u2", "i4", "i8", "f2", "f4", "f8", ml_dtypes.bfloat16, ml_dtypes.float8_e5m2]
)
def test_reads_and_writes(dtype: Any) -> None:
    x = (np.arange(64) % 2 if dtype == "bool" else np.arange(64)).astype(dtype)
    for load, store, scope in ((None, None, None), ("relaxed", "relaxed", "cta"), ("acquire", "release", "sys")):
        y = np.zeros_like(x)
        copy_atomically[(1,)](x, y, 50, load, store, scope, 64)
        np.testing.assert_array_equal(y[:50], x[:50])
        assert not y[50:].any()
    y = np.zeros_like(x)
    copy_one[(1,)](x[1:], y)
    np.testing.assert_array_equal(y, np.where(np.arange(64) == 0, x[1], np.zeros_like(x)))


def test_reading_needs_no_writable_array() -> None:
    x, y = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    x.flags.writeable = False
    copy_atomically[(1,)](x, y, 4, None, None, None, 4)
    np.testing.assert_array_equal(y, x)


def test_writing_needs_a_writable_array(every_target: str) -> None:
    if every_target == "cuda":
        pytest.skip("nothing in a GPU's memory is read-only")
    x, y = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    y.flags.writeable = False
    with pytest.raises(TilewrightError, match="y_ptr"):
        copy_atomically[(1,)](x, y, 4, None, None, None, 4)


@triton.jit
def poll_lanes(x_ptr, expected_ptr, y_ptr, timeout, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(y_ptr + i, tl.atomic_poll(x_ptr + i, tl.load(expected_ptr + i), timeout_ns=timeout))


@triton.jit
def poll_one(x_ptr, y_ptr, value, timeout, SEM: tl.constexpr):
    tl.store(y_ptr, tl.atomic_poll(x_ptr, value, sem=SEM, timeout_ns=timeout))


@pytest.mark.pairwise
@pytest.mark.parametrize("dtype", [np.int16, np.uint32, np.int64])
@pytest.mark.parametrize("timeout", [0, 1000])
def test_polls_tell_which_values_came(dtype: Any, timeout: int) -> None:
    expected = np.arange(64, dtype=dtype)
    x, y = np.where(expected % 3 == 0, 99, expected).astype(dtype), np.zeros(64, np.bool_)
    poll_lanes[(1,)](x, expected, y, timeout, 64)
    np.testing.assert_array_equal(y, x == expected)


@pytest.mark.parametrize("sem", ["acquire", "relaxed"])
def test_polls_of_one_value(sem: str) -> None:
    x, y = np.array([7, 1], np.int32), np.zeros(1, np.bool_)
    poll_one[(1,)](x, y, 7, None, sem)
    assert y[0]
    poll_one[(1,)](x, y, 1, 100_000, sem)
    assert not y[0]


@triton.jit
def divide_roughly(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x, y = tl.load(x_ptr + i), tl.load(y_ptr + i)
    tl.store(out_ptr + i, tl.fdiv(x, y, approx=True))
    tl.store(out_ptr + N + i, tl.fdiv(x, y, ieee_rounding=True))


def test_approximate_division() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal(256).astype(np.float32), rng.standard_normal(256).astype(np.float32)
    out = np.zeros(512, np.float32)
    divide_roughly[(1,)](x, y, out, 256)
    np.testing.assert_allclose(out[:256], x / y, rtol=2.5e-7)
    np.testing.assert_array_equal(out[256:], x / y)
