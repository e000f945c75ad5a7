"""Atomics of launches that run at the same time, and of programs that wait for each other: nothing is lost, nobody
waits for ever."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl
from suite.arrays import Array
from suite.children import Children

LANES, ROUNDS = 16, 4000


@triton.jit
def sums(x_ptr, old_ptr, rounds, N: tl.constexpr):
    """Rows, all lanes in one place, lanes in places that meet, and a single element."""
    i = tl.arange(0, N)
    for _ in range(rounds):
        tl.atomic_add(x_ptr + i, 1)
        tl.atomic_add(x_ptr + tl.zeros([N], tl.int32), 1, mask=i < 4)
        tl.atomic_add(x_ptr + (i // 2 * 5) % N, 1)
        tl.atomic_add(x_ptr, 1)


@triton.jit
def sums_with_results(x_ptr, old_ptr, rounds, N: tl.constexpr):
    i = tl.arange(0, N)
    seen = tl.zeros([N], x_ptr.dtype.element_ty)
    for _ in range(rounds):
        seen = tl.maximum(seen, tl.atomic_add(x_ptr + i, 1))
    tl.store(old_ptr + i, seen)


@triton.jit
def swaps(x_ptr, old_ptr, rounds, N: tl.constexpr):
    for k in range(rounds):
        done = 0
        while done == 0:
            old = tl.load(x_ptr + k % N, volatile=True)
            done = (tl.atomic_cas(x_ptr + k % N, old, old + 1) == old).to(tl.int32)


@triton.jit
def largest(x_ptr, old_ptr, rounds, N: tl.constexpr):
    """Swaps that give back what they took, beside maxima of lanes that change nothing."""
    i = tl.arange(0, N)
    for _ in range(rounds):
        tl.atomic_max(x_ptr + i, 0)
        tl.atomic_add(x_ptr + i, tl.atomic_xchg(old_ptr + i, 0) + 1)


KERNELS = {kernel.fn.__name__: kernel for kernel in (sums, sums_with_results, swaps, largest)}


def effect(name: str) -> Array:
    """What one launch of N rounds adds up to."""
    i = np.arange(LANES)
    match name:
        case "sums":
            added = np.ones(LANES) + np.bincount(i // 2 * 5 % LANES, minlength=LANES)
            added[0] += 5
            return added * ROUNDS
        case "swaps":
            return np.bincount(np.arange(ROUNDS) % LANES, minlength=LANES)
        case _:
            return np.full(LANES, ROUNDS)


def at_the_same_time(jobs: Sequence[Callable[[], object]]) -> None:
    """Run jobs on threads of their own; fails if one does not end."""
    threads = [threading.Thread(target=job, daemon=True) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads), "waits for ever"


PAIRS = [
    ("sums", "sums"),
    ("sums", "sums_with_results"),
    ("sums_with_results", "sums_with_results"),
]
INTEGER_PAIRS = [("sums", "swaps"), ("sums_with_results", "swaps"), ("sums", "largest"), ("swaps", "largest")]
CASES = [
    *((dtype, pair) for dtype in ("int32", "int64", "float32", "float64") for pair in PAIRS),
    *((dtype, pair) for dtype in ("int32", "int64") for pair in INTEGER_PAIRS),
]


@pytest.mark.sampled
@pytest.mark.parametrize(("dtype", "pair"), CASES, ids=str)
def test_nothing_is_lost(dtype: str, pair: tuple[str, str]) -> None:
    """Two kinds of launches on two Python threads each, on one thread of the pool and on two."""
    x = np.zeros(LANES, dtype)

    def launch(name: str) -> None:
        # Places in which nothing is kept: exchanges take a zero from them and leave one.
        old = np.zeros(LANES, dtype)
        for _ in range(2):
            KERNELS[name][(2,)](x, old, ROUNDS, N=LANES)

    for name in pair:
        launch(name)
    x[:] = 0
    at_the_same_time([lambda name=name: launch(name) for name in pair * 2])
    np.testing.assert_array_equal(x, sum(8 * effect(name) for name in pair))


@pytest.mark.costly
@pytest.mark.parametrize("num_threads", [3, 12])
def test_launches_on_several_threads(num_threads: int) -> None:
    """Few threads take turns, many exclude each other; and both beside launches on one thread."""
    x, old = np.zeros(LANES, np.int32), np.zeros(LANES, np.int32)
    y = np.zeros(LANES, np.float32)
    before = triton.get_num_threads()
    triton.set_num_threads(num_threads)
    try:
        at_the_same_time(
            [lambda: sums[(96,)](x, old, 100, N=LANES), lambda: sums[(96,)](y, old, 100, N=LANES)]
            + [lambda: sums[(1,)](x, old, ROUNDS, N=LANES)] * 10
        )
    finally:
        triton.set_num_threads(before)
    np.testing.assert_array_equal(x, effect("sums") / ROUNDS * 9600 + effect("sums") * 10)
    np.testing.assert_array_equal(y, effect("sums") / ROUNDS * 9600)


@triton.jit
def one_after_another(flag_ptr, x_ptr, N: tl.constexpr):
    """A program waits for the one before, between sums that all of them have, and says that it is done."""
    i, me = tl.arange(0, N), tl.program_id(0)
    tl.atomic_add(x_ptr + i, 1)
    while tl.atomic_add(flag_ptr, 0) < me:
        pass
    tl.atomic_add(x_ptr + (i * 3) % N, 1)
    tl.atomic_add(flag_ptr, 1)


@pytest.mark.parametrize("dtype", [np.int32, np.float32])
def test_programs_that_wait_for_those_before(dtype: Any) -> None:
    flags, xs = np.zeros((4, 1), np.int32), np.zeros(LANES, dtype)
    at_the_same_time([lambda flag=flag: one_after_another[(500,)](flag, xs, N=LANES) for flag in flags])
    assert np.all(flags == 500)
    np.testing.assert_array_equal(xs, 4 * 500 * 2)


@triton.jit
def meet(mine_ptr, other_ptr, x_ptr, rounds, N: tl.constexpr):
    """Two launches that wait for each other in each round, with sums on both sides of it."""
    i = tl.arange(0, N)
    for k in range(rounds):
        tl.atomic_add(x_ptr + i, 1.0)
        tl.atomic_xchg(mine_ptr, k + 1)
        while tl.load(other_ptr, volatile=True) <= k:
            tl.atomic_add(x_ptr + N + i, 0.0)


def test_launches_that_wait_for_each_other() -> None:
    flags, x = np.zeros((2, 64), np.int32), np.zeros(2 * LANES, np.float32)
    meet[(1,)](flags[0], np.full(1, 99, np.int32), x, 2, N=LANES)
    flags[:], x[:] = 0, 0
    at_the_same_time(
        [
            lambda: meet[(1,)](flags[0], flags[1], x, 100, N=LANES),
            lambda: meet[(1,)](flags[1], flags[0], x, 100, N=LANES),
        ]
    )
    np.testing.assert_array_equal(x[:LANES], 200)


FORKED = """
import os, signal, sys, threading
sys.path[:0] = {folders!r}
import numpy as np
from test_concurrent_atomics import LANES, ROUNDS, effect, sums, sums_with_results

def launch(kernel, x):
    kernel[(4,)](x, np.zeros_like(x), ROUNDS, N=LANES)

arrays = [np.zeros(LANES, np.int32), np.zeros(LANES, np.float32)]
for array in arrays:
    launch(sums, array)
stop = threading.Event()

def busy(array):
    while not stop.is_set():
        launch(sums, array)
        launch(sums_with_results, array)

threads = [threading.Thread(target=busy, args=(array,)) for array in arrays]
for thread in threads:
    thread.start()
codes = []
for _ in range(6):
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        for dtype in (np.int32, np.float32):
            x = np.zeros(LANES, dtype)
            launch(sums, x)
            if not np.array_equal(x, effect("sums") * 4):
                os._exit(1)
        os._exit(0)
    codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
stop.set()
for thread in threads:
    thread.join()
print(codes)
"""


@pytest.mark.costly
def test_the_child_of_a_fork_has_atomics_of_its_own(tmp_path: Path, compiler_children: Children) -> None:
    """Also where threads of the parent are in the middle of some."""
    script = FORKED.format(folders=[str(Path(__file__).parents[n]) for n in (0, 2)])
    result = compiler_children.run_text("import warnings; warnings.simplefilter('ignore')\n" + script, {}, tmp_path)
    assert result.stdout.strip() == str([0] * 6), result.stdout + result.stderr
