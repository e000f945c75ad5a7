"""Programs of a grid that wait for others, begun or not: a thread stands in for a program that waits, so that all of them
run at the same time as far as they need to, however few threads there are."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl
from suite.arrays import Array
from suite.children import Children
from tilewright import DeviceAssertionError
from tilewright.support import knobs


@pytest.fixture(params=[1, 2, 3, 7], ids=lambda count: f"{count}_threads")
def threads(request: pytest.FixtureRequest) -> Iterator[int]:
    if knobs.get("target") not in ("", "cpu"):
        pytest.skip("these are threads of the CPU")
    before = triton.get_num_threads()
    triton.set_num_threads(request.param)
    yield request.param
    triton.set_num_threads(before)


def in_time(job: Callable[[], object], seconds: int = 60) -> None:
    """Run a job on a thread of its own; fails if it does not end."""
    thread = threading.Thread(target=job, daemon=True)
    thread.start()
    thread.join(seconds)
    assert not thread.is_alive(), "waits for ever"


@triton.jit
def sums_from_the_back(flags_ptr, x_ptr):
    """Each program but the last takes over what the program behind it has summed up."""
    program, last = tl.program_id(0), tl.num_programs(0) - 1
    total = tl.load(x_ptr + program)
    if program != last:
        while tl.atomic_add(flags_ptr + program + 1, 0, sem="acquire") == 0:
            pass
        total += tl.load(x_ptr + program + 1, volatile=True)
    tl.store(x_ptr + program, total)
    tl.debug_barrier()
    tl.atomic_xchg(flags_ptr + program, 1, sem="release")


@pytest.mark.parametrize("programs", [2, 5, 150])
def test_for_those_behind_them(threads: int, programs: int) -> None:
    def check() -> None:
        for _ in range(3):
            flags, x = np.zeros(programs, np.int32), np.arange(programs, dtype=np.int32)
            sums_from_the_back[(programs,)](flags, x)
            np.testing.assert_array_equal(x, np.arange(programs)[::-1].cumsum()[::-1])

    in_time(check)


@triton.jit
def in_step(count_ptr, x_ptr, y_ptr, rounds, N: tl.constexpr):
    """A barrier of the whole grid in each round, between a row of one's own and the row of a neighbour."""
    program, programs, i = tl.program_id(0), tl.num_programs(0), tl.arange(0, N)
    for k in range(rounds):
        tl.store(x_ptr + program * N + i, tl.load(y_ptr + program * N + i, volatile=True) + 1)
        tl.debug_barrier()
        tl.atomic_add(count_ptr, 1, sem="acq_rel")
        while tl.load(count_ptr, volatile=True) < (2 * k + 1) * programs:
            pass
        tl.store(y_ptr + program * N + i, tl.load(x_ptr + (program + 1) % programs * N + i, volatile=True))
        tl.debug_barrier()
        tl.atomic_add(count_ptr, 1, sem="acq_rel")
        while tl.load(count_ptr, volatile=True) < (2 * k + 2) * programs:
            pass


def test_for_the_whole_grid(threads: int) -> None:
    programs, rounds, n = 24, 6, 32

    def check() -> None:
        count, x, y = np.zeros(1, np.int32), np.zeros((programs, n), np.int32), np.arange(programs * n, dtype=np.int32)
        y = y.reshape(programs, n)
        expected = np.roll(y, -rounds, axis=0) + rounds
        in_step[(programs,)](count, x, y, rounds, N=n)
        np.testing.assert_array_equal(y, expected)

    in_time(check)


@triton.jit
def after_all_others(flags_ptr, out_ptr, N: tl.constexpr):
    """The first program waits for a tile of flags, with several in a word."""
    program, i = tl.program_id(0), tl.arange(0, N)
    if program == 0:
        missing = 1
        while missing != 0:
            flags = tl.load(flags_ptr + 1 + i, mask=i < tl.num_programs(0) - 1, other=1, volatile=True)
            missing = tl.sum((flags == 0).to(tl.int32), axis=0)
        tl.store(out_ptr + i, tl.load(flags_ptr + i, volatile=True))
    else:
        tl.store(flags_ptr + program, program.to(tl.int8))


def test_for_a_tile_of_flags(threads: int) -> None:
    flags, out = np.zeros(64, np.int8), np.zeros(64, np.int8)
    in_time(lambda: after_all_others[(50,)](flags, out, N=64))
    np.testing.assert_array_equal(out[:50], np.arange(50))


@triton.jit
def after_a_block_of_others(flags_ptr, out_ptr, N: tl.constexpr):
    """The same by a block pointer, without anything else in the loop that others see."""
    program = tl.program_id(0)
    if program == 0:
        block = tl.make_block_ptr(flags_ptr, (N,), (1,), (0,), (N,), (0,))
        present = 0
        while present < N:
            present = tl.sum(tl.load(block, boundary_check=(0,), volatile=True), axis=0)
        tl.store(out_ptr, present)
    else:
        tl.store(flags_ptr + program - 1, 1)


def test_for_a_block_of_flags(threads: int) -> None:
    flags, out = np.zeros(32, np.int32), np.zeros(1, np.int32)
    in_time(lambda: after_a_block_of_others[(33,)](flags, out, N=32))
    assert out == 32


@triton.jit
def sums_of_all(cells_ptr, out_ptr):
    """Each program looks back over what all of them have published, from the last one on."""
    program, at = tl.program_id(0), tl.num_programs(0) - 1
    tl.store(cells_ptr + 2 * program, program * program)
    tl.debug_barrier()
    tl.atomic_xchg(cells_ptr + 2 * program + 1, 1, sem="release")
    total = 0
    while at >= 0:
        if tl.load(cells_ptr + 2 * at + 1, volatile=True) == 1:
            total += tl.load(cells_ptr + 2 * at, volatile=True)
            at -= 1
    tl.store(out_ptr + program, total)


def test_for_each_in_turn(threads: int) -> None:
    cells, out = np.zeros(120, np.int32), np.zeros(60, np.int32)
    in_time(lambda: sums_of_all[(60,)](cells, out))
    np.testing.assert_array_equal(out, (np.arange(60) ** 2).sum())


@triton.jit
def one_place_on(x_ptr, count_ptr, BY_LOADS: tl.constexpr, PLACES: tl.constexpr, N: tl.constexpr):
    """All read, then all write: what was loaded in front of the barrier is not what others have stored behind it."""
    program, programs, i = tl.program_id(0), tl.num_programs(0), tl.arange(0, N)
    at = (i * 5) % N if PLACES else i
    row = tl.load(x_ptr + program * N + at)
    tl.atomic_add(count_ptr, 1, sem="acq_rel")
    if BY_LOADS:
        while tl.load(count_ptr, volatile=True) < programs:
            pass
    else:
        while tl.atomic_add(count_ptr, 0, sem="acquire") < programs:
            pass
    tl.store(x_ptr + (program + 1) % programs * N + at, row)


@pytest.mark.pairwise
@pytest.mark.parametrize("n", [1, 16, 512])
@pytest.mark.parametrize(("by_loads", "places"), [(False, False), (True, False), (True, True)])
def test_what_is_read_before_the_others_write(threads: int, by_loads: bool, places: bool, n: int) -> None:
    x = np.arange(9 * n, dtype=np.float32).reshape(9, n)
    expected = np.roll(x, 1, axis=0)
    in_time(lambda: one_place_on[(9,)](x, np.zeros(1, np.int32), BY_LOADS=by_loads, PLACES=places, N=n))
    np.testing.assert_array_equal(x, expected)


@triton.jit(noinline=True)
def value_at(x_ptr):
    return tl.load(x_ptr)


@triton.jit
def by_plain_loads(flags_ptr, out_ptr):
    """Nothing says that others change what is read, but that the loops would never end."""
    program = tl.program_id(0)
    if program == 0:
        while tl.load(flags_ptr) == 0:
            pass
        value = tl.load(flags_ptr + 1, volatile=True)
        while value == 0:
            value = tl.load(flags_ptr + 1)
        while value_at(flags_ptr + 2) != value:
            pass
        tl.store(out_ptr, value)
    else:
        tl.store(flags_ptr + 3 - program, 4 * (program < 3).to(tl.int32) + 1)


def test_by_plain_loads(every_target: str) -> None:
    flags, out = np.zeros(3, np.int32), np.zeros(1, np.int32)
    in_time(lambda: by_plain_loads[(4,)](flags, out))
    assert out == 5


@triton.jit(noinline=True)
def is_set(flag_ptr):
    return tl.atomic_or(flag_ptr, 0, sem="acquire") != 0


@triton.jit(noinline=True)
def wait_until_set(flag_ptr):
    while not is_set(flag_ptr):
        pass
    return 7


@triton.jit
def through_functions(flags_ptr, out_ptr):
    program = tl.program_id(0)
    if program + 1 < tl.num_programs(0):
        tl.store(out_ptr + program, wait_until_set(flags_ptr + program + 1) + program)
    tl.atomic_or(flags_ptr + program, 1, sem="release")


def test_in_functions_that_are_called(threads: int) -> None:
    flags, out = np.zeros(20, np.int32), np.zeros(20, np.int32)
    in_time(lambda: through_functions[(20,)](flags, out))
    np.testing.assert_array_equal(out[:-1], np.arange(19) + 7)


def test_in_launches_at_the_same_time(threads: int) -> None:
    """One of them has the pool; the others' programs need no less."""
    wrong: list[Array] = []

    def check() -> None:
        for _ in range(5):
            flags, x = np.zeros(12, np.int32), np.ones(12, np.int32)
            sums_from_the_back[(12,)](flags, x)
            if not np.array_equal(x, np.arange(12, 0, -1)):
                wrong.append(x)

    workers = [threading.Thread(target=check, daemon=True) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert not wrong and not any(worker.is_alive() for worker in workers)


@triton.jit
def fail_instead_of_saying_so(flag_ptr, out_ptr, culprit):
    program = tl.program_id(0)
    if program == culprit:
        tl.device_assert(program < 0, "never says that it is done")
    while tl.load(flag_ptr, volatile=True) == 0:
        pass
    tl.store(out_ptr + program, 1)


@pytest.mark.parametrize("culprit", [0, 5, 11])
def test_a_grid_that_is_stopped(threads: int, culprit: int) -> None:
    """Programs that wait for one that failed an assertion end with it, and the launch tells why."""
    caught: list[DeviceAssertionError] = []
    out = np.zeros(12, np.int32)

    def launch() -> None:
        try:
            fail_instead_of_saying_so[(12,)](np.zeros(1, np.int32), out, culprit, debug=True)
        except DeviceAssertionError as error:
            caught.append(error)

    in_time(launch)
    assert len(caught) == 1 and "never says that it is done" in str(caught[0])
    assert not out.any()


FOREVER = """
import os, signal, sys, threading
sys.path[:0] = {folders!r}
import numpy as np
from test_waiting import add_when_set
signal.signal(signal.SIGINT, signal.default_int_handler)
out = np.zeros(3, np.int32)
add_when_set[(3,)](np.ones(1, np.int32), out)
threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    add_when_set[(3,)](np.zeros(1, np.int32), out)
except KeyboardInterrupt:
    print("interrupted", out.tolist())
add_when_set[(3,)](np.ones(1, np.int32), out)
print(out.tolist())
"""


@triton.jit
def add_when_set(flag_ptr, out_ptr):
    while tl.atomic_add(flag_ptr, 0) == 0:
        pass
    tl.atomic_add(out_ptr + tl.program_id(0), 1)


@pytest.mark.costly
def test_what_nobody_ends_can_be_interrupted(tmp_path: Path, compiler_children: Children) -> None:
    script = FOREVER.format(folders=[str(Path(__file__).parents[n]) for n in (0, 1)])
    done = compiler_children.run_text(script, {"TILEWRIGHT_TARGET": "cpu"}, tmp_path)
    assert done.stdout.split("\n")[:2] == ["interrupted [1, 1, 1]", "[2, 2, 2]"], done.stdout + done.stderr


@triton.jit
def sums_by_polls(flags_ptr, x_ptr):
    """As `sums_from_the_back`, by polls."""
    program, last = tl.program_id(0), tl.num_programs(0) - 1
    total = tl.load(x_ptr + program)
    if program != last:
        tl.atomic_poll(flags_ptr + program + 1, 1)
        total += tl.load(x_ptr + program + 1, volatile=True)
    tl.store(x_ptr + program, total)
    tl.atomic_store(flags_ptr + program, 1)


@triton.jit
def polls_for_ever(flag_ptr, out_ptr, timeout):
    tl.store(out_ptr, tl.atomic_poll(flag_ptr, 1, timeout_ns=timeout))


@pytest.mark.parametrize("programs", [2, 150])
def test_polls_for_those_behind_them(threads: int, programs: int) -> None:
    def check() -> None:
        flags, x = np.zeros(programs, np.int32), np.arange(programs, dtype=np.int32)
        sums_by_polls[(programs,)](flags, x)
        np.testing.assert_array_equal(x, np.arange(programs)[::-1].cumsum()[::-1])

    in_time(check)


def test_a_poll_ends_when_its_time_is_over(threads: int) -> None:
    def check() -> None:
        flag, out = np.zeros(1, np.int32), np.ones(1, np.bool_)
        began = time.monotonic()
        polls_for_ever[(1,)](flag, out, 50_000_000)
        assert not out[0] and time.monotonic() - began >= 0.05

    in_time(check)
