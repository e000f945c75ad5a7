"""Sanitised kernels: what each check finds, what the report says, and that memory stays whole."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl
from suite.arrays import Array
from tilewright.runtime import sanitizer
from tilewright.support import knobs
from tilewright.support.errors import DeviceAssertionError, SanitizerError

THIS = Path(__file__).read_text().splitlines()


@pytest.fixture
def checks(request: pytest.FixtureRequest) -> Iterator[None]:
    """Compile with the checks that the test asks for, and never through the disk cache."""
    with knobs.scope(sanitize=request.param, always_compile=True):
        yield


def sanitize(*kinds: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("checks", [kinds], indirect=True, ids=["+".join(kinds)])


@triton.jit
def copy(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)  # load
    tl.store(out_ptr + offsets, x, mask=offsets < n)  # store


@triton.jit
def gathered(x_ptr, index_ptr, out_ptr, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    index = tl.load(index_ptr + lanes)
    tl.store(out_ptr + lanes, tl.load(x_ptr + index, mask=index >= 0, other=0))  # gather


@triton.jit
def wrapped_rows(x_ptr, out_ptr, rows, stride, ROWS: tl.constexpr, COLS: tl.constexpr):
    i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    r = i % rows
    c = tl.arange(0, COLS)
    x = tl.load(x_ptr + r[:, None] * stride + c[None, :])
    tl.store(out_ptr + i[:, None] * COLS + c[None, :], x)


@triton.jit
def chosen(x_ptr, y_ptr, out_ptr, flag, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    if flag > 2:  # noqa: SIM108 (pointers from two branches)
        source = x_ptr
    else:
        source = y_ptr
    tl.store(out_ptr + lanes, tl.load(source + lanes))


@triton.jit
def looped(x_ptr, out_ptr, steps, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    pointers = x_ptr + lanes
    total = tl.zeros((BLOCK,), tl.float32)
    for _ in range(steps):
        total += tl.load(pointers)
        pointers += BLOCK
    tl.store(out_ptr + lanes, total)


@triton.jit
def counted(count_ptr, place):
    tl.atomic_add(count_ptr + place, 1)


@triton.jit
def adds_and_loads(count_ptr, out_ptr, PLAIN_FIRST: tl.constexpr):
    if PLAIN_FIRST:
        tl.store(out_ptr + tl.program_id(0), tl.load(count_ptr))
    tl.atomic_add(count_ptr, 1)
    if not PLAIN_FIRST:
        tl.store(out_ptr + tl.program_id(0), tl.load(count_ptr))


@triton.jit
def clears_and_adds(count_ptr, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    if tl.program_id(0) == 0:
        tl.store(count_ptr + lanes, 0)
    tl.atomic_add(count_ptr + lanes, 1)


@triton.jit
def adds_and_the_last_one_loads(count_ptr, sum_ptr, out_ptr):
    tl.atomic_add(sum_ptr, 2)
    if tl.atomic_add(count_ptr, 1) == tl.num_programs(0) - 1:
        tl.store(out_ptr, tl.load(sum_ptr))


@triton.jit
def adds_twice(count_ptr):
    tl.atomic_add(count_ptr + tl.program_id(0), 1)
    tl.store(count_ptr + tl.program_id(0), tl.load(count_ptr + tl.program_id(0)) + 1)


@triton.jit
def all_store(out_ptr, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    tl.store(out_ptr + lanes, tl.program_id(0) + lanes)


@triton.jit
def neighbours(x_ptr, BLOCK: tl.constexpr):
    lanes = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    left = tl.load(x_ptr + lanes)
    tl.store(x_ptr + lanes + BLOCK, left)


@triton.jit
def under_lock(lock_ptr, total_ptr):
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    tl.store(total_ptr, tl.load(total_ptr) + 1.0)
    tl.atomic_xchg(lock_ptr, 0)


@triton.jit
def counts_before_storing(count_ptr, last_ptr):
    tl.atomic_add(count_ptr, 1)
    tl.store(last_ptr, tl.program_id(0))


@triton.jit
def last_one_stores(count_ptr, last_ptr):
    if tl.atomic_add(count_ptr, 1) == tl.num_programs(0) - 1:
        tl.store(last_ptr, tl.load(last_ptr) + 1)


@triton.jit
def element_of(pointer, index):
    return tl.load(pointer + index)


@triton.jit
def two_calls(x_ptr, out_ptr, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    tl.store(out_ptr + lanes, element_of(x_ptr, lanes))
    tl.store(out_ptr + lanes, element_of(x_ptr, lanes + 1))  # too far


@triton.jit
def undefined_lanes(x_ptr, out_ptr, n, CLEAN: tl.constexpr, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + lanes, mask=lanes < n)
    for _ in range(2):
        x = x * 2.0
    if CLEAN:
        x = tl.where(lanes < n, x, 0.0)
    tl.store(out_ptr + lanes, x)


@triton.jit
def undefined_sum(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + lanes, mask=lanes < n)
    tl.store(out_ptr, tl.sum(x, 0))


def arange(n: int) -> Array:
    return np.arange(n, dtype=np.float32)


def line_of(comment: str) -> int:
    return next(number for number, line in enumerate(THIS, 1) if line.endswith(f"# {comment}"))


@sanitize("bounds")
def test_a_load_past_the_end(checks: None) -> None:
    x, out = arange(100), np.full(128, 7.0, np.float32)
    with pytest.raises(SanitizerError) as caught:
        copy[(4,)](x, out, 128, BLOCK=32)
    error = caught.value
    assert (error.check, error.kernel, error.argument) == ("bounds", "copy", "x_ptr")
    assert (error.program, error.lane, error.index, error.extent) == ((3, 0, 0), (4,), 100, (0, 100))
    assert error.span is not None
    assert (Path(error.span.filename).name, error.span.line) == (Path(__file__).name, line_of("load"))
    assert "x = tl.load(x_ptr + offsets)" in str(error)
    assert "^" in str(error)
    assert isinstance(error, DeviceAssertionError)
    assert np.all(out[96:] == 7.0), "the program stored after the bad load"


@sanitize("bounds")
def test_a_store_past_the_end_touches_nothing(checks: None) -> None:
    guarded = np.full(200, 7.0, np.float32)
    out = guarded[:50].copy()
    with pytest.raises(SanitizerError) as caught:
        copy[(2,)](arange(64), out, 64, BLOCK=32)
    assert (caught.value.argument, caught.value.index, caught.value.lane) == ("out_ptr", 50, (18,))
    assert np.all(guarded == 7.0)


@sanitize("bounds")
def test_views_reach_their_whole_storage(checks: None) -> None:
    """Elements before the first of a view belong to the allocation, and may be reached."""
    storage = arange(96)
    out = np.zeros(32, np.float32)
    gathered[(1,)](storage[64:], np.arange(-40, -8, dtype=np.int32) * -1 - 33, out, BLOCK=32)
    with pytest.raises(SanitizerError) as caught:
        gathered[(1,)](storage[64:], np.full(32, 32, np.int32), out, BLOCK=32)
    assert (caught.value.index, caught.value.extent) == (32, (-64, 32))


@sanitize("bounds")
def test_masked_off_lanes_may_point_anywhere(checks: None) -> None:
    index = np.array([0, 3, -1000000, 2] * 4, np.int32)
    out = np.zeros(16, np.float32)
    gathered[(1,)](arange(4), index, out, BLOCK=16)
    np.testing.assert_array_equal(out, [0, 3, 0, 2] * 4)
    index[6] = 4
    with pytest.raises(SanitizerError) as caught:
        gathered[(1,)](arange(4), index, out, BLOCK=16)
    assert (caught.value.lane, caught.value.index) == ((6,), 4)
    assert caught.value.span is not None
    assert caught.value.span.line == line_of("gather")


@sanitize("bounds")
@pytest.mark.parametrize("flag", [2, 5])
def test_a_pointer_that_is_one_of_two(checks: None, flag: int) -> None:
    long, short, out = arange(16), arange(10), np.zeros(16, np.float32)
    sources = (long, short) if flag > 2 else (short, long)
    chosen[(1,)](*sources, out, flag, BLOCK=16)
    np.testing.assert_array_equal(out, long)
    with pytest.raises(SanitizerError, match="one of several"):
        chosen[(1,)](*reversed(sources), out, flag, BLOCK=16)


@sanitize("bounds")
def test_pointers_that_a_loop_moves(checks: None) -> None:
    out = np.zeros(16, np.float32)
    looped[(1,)](arange(48), out, 3, BLOCK=16)
    with pytest.raises(SanitizerError) as caught:
        looped[(1,)](arange(47), out, 3, BLOCK=16)
    assert (caught.value.index, caught.value.lane) == (47, (15,))


@sanitize("bounds")
def test_rows_that_wrap_around(checks: None) -> None:
    x, out = arange(5 * 12), np.zeros((16, 8), np.float32)
    wrapped_rows[(2,)](x, out, 5, 12, ROWS=8, COLS=8)
    expected = x.reshape(5, 12)[np.arange(16) % 5][:, :8]
    np.testing.assert_array_equal(out, expected)
    with pytest.raises(SanitizerError) as caught:
        wrapped_rows[(1,)](x[:55].copy(), out, 5, 12, ROWS=8, COLS=8)
    assert (caught.value.index, caught.value.lane) == (55, (4, 7))


@sanitize("bounds")
def test_calls_of_functions_are_named(checks: None) -> None:
    with pytest.raises(SanitizerError) as caught:
        two_calls[(1,)](arange(16), arange(16), BLOCK=16)
    said = str(caught.value)
    assert "return tl.load(pointer + index)" in said
    assert "note: called " in said
    assert said.index("# too far") > said.index("note:")


@sanitize("bounds")
def test_atomics(checks: None) -> None:
    count = np.zeros(4, np.int32)
    counted[(5,)](count, 3)
    assert count[3] == 5
    with pytest.raises(SanitizerError, match="atomic out of bounds: element 4"):
        counted[(5,)](count, 4)


@sanitize("race")
def test_two_programs_store_to_one_element(checks: None) -> None:
    with pytest.raises(SanitizerError) as caught:
        all_store[(3,)](np.zeros(16, np.int32), BLOCK=16)
    error = caught.value
    assert (error.check, error.program, error.other, error.index) == ("race-write", (1, 0, 0), (0, 0, 0), 0)


@sanitize("race")
def test_one_program_may_store_twice(checks: None) -> None:
    out = np.zeros(16, np.int32)
    all_store[(1,)](out, BLOCK=16)
    all_store[(1,)](out, BLOCK=16)


@sanitize("race")
def test_one_program_reads_what_another_writes(checks: None) -> None:
    with pytest.raises(SanitizerError) as caught:
        neighbours[(3,)](arange(64), BLOCK=16)
    assert (caught.value.check, caught.value.program, caught.value.index) == ("race-write", (1, 0, 0), 16)


@sanitize("race")
def test_atomics_and_locks_are_no_races(checks: None) -> None:
    count, lock, total = np.zeros(4, np.int32), np.zeros(1, np.int32), np.zeros(1, np.float32)
    counted[(5,)](count, 2)
    under_lock[(5,)](lock, total)
    assert (count[2], total[0]) == (5, 5.0)


@sanitize("race")
def test_an_atomic_whose_result_nobody_looks_at_orders_nothing(checks: None) -> None:
    count, last = np.zeros(1, np.int32), np.zeros(1, np.int32)
    last_one_stores[(3,)](count, last)
    assert last[0] == 1
    with pytest.raises(SanitizerError) as caught:
        counts_before_storing[(3,)](count, last)
    assert (caught.value.check, caught.value.argument, caught.value.program) == ("race-write", "last_ptr", (1, 0, 0))


@sanitize("race")
@pytest.mark.parametrize("plain_first", [False, True])
def test_an_atomic_against_a_plain_load_of_another_program(checks: None, plain_first: bool) -> None:
    with pytest.raises(SanitizerError) as caught:
        adds_and_loads[(3,)](np.zeros(1, np.int32), np.zeros(3, np.int32), plain_first)
    error = caught.value
    check = "race-atomic" if plain_first else "race-read"  # the second program reports
    assert (error.check, error.argument, error.program, error.index) == (check, "count_ptr", (1, 0, 0), 0)
    said = "changed it by an atomic" if plain_first else "is changed by an atomic here"
    assert said in str(error)


@sanitize("race")
def test_an_atomic_against_a_plain_store_of_another_program(checks: None) -> None:
    with pytest.raises(SanitizerError) as caught:
        clears_and_adds[(2,)](np.zeros(16, np.int32), BLOCK=16)
    error = caught.value
    assert (error.check, error.program, error.other) == ("race-write", (1, 0, 0), (0, 0, 0))
    clears_and_adds[(1,)](np.zeros(16, np.int32), BLOCK=16)


@sanitize("race")
def test_what_orders_plain_accesses_after_atomics(checks: None) -> None:
    """Another atomic whose result decides, or that the program is the same."""
    count, total, out = (np.zeros(1, np.int32) for _ in range(3))
    adds_and_the_last_one_loads[(5,)](count, total, out)
    assert out[0] == 10
    own = np.zeros(4, np.int32)
    adds_twice[(4,)](own)
    assert own.tolist() == [2] * 4


@pytest.mark.costly
@sanitize("init")
@pytest.mark.parametrize("n", [0, 15])
def test_undefined_lanes_are_not_stored(checks: None, n: int) -> None:
    out = np.zeros(16, np.float32)
    undefined_lanes[(1,)](arange(16), out, n, CLEAN=True, BLOCK=16)
    with pytest.raises(SanitizerError) as caught:
        undefined_lanes[(1,)](arange(16), out, n, CLEAN=False, BLOCK=16)
    assert (caught.value.check, caught.value.lane) == ("undefined", (n,))
    undefined_lanes[(1,)](arange(16), out, 16, CLEAN=False, BLOCK=16)


@sanitize("init")
def test_an_undefined_lane_spoils_a_sum(checks: None) -> None:
    with pytest.raises(SanitizerError, match="undefined value"):
        undefined_sum[(1,)](arange(16), np.zeros(1, np.float32), 15, BLOCK=16)


@sanitize("init")
def test_memory_that_nobody_wrote(checks: None) -> None:
    buffer, out = sanitizer.empty(32), np.zeros(32, np.float32)
    copy[(1,)](arange(32), buffer, 20, BLOCK=32)
    with pytest.raises(SanitizerError) as caught:
        copy[(1,)](buffer, out, 32, BLOCK=32)
    assert (caught.value.check, caught.value.index) == ("unwritten", 20)
    sanitizer.mark_initialized(buffer)
    copy[(1,)](buffer, out, 32, BLOCK=32)


@triton.jit
def by_address(table_ptr, out_ptr, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    source = tl.load(table_ptr).to(tl.pointer_type(tl.float32))
    tl.store(out_ptr + lanes, tl.load(source + lanes))
    each = tl.load(table_ptr + lanes).to(tl.pointer_type(tl.float32))
    tl.store(out_ptr + lanes, tl.load(out_ptr + lanes) + tl.load(each))


@pytest.mark.costly
@sanitize("bounds", "race", "init")
def test_addresses_from_memory_are_remarked_and_not_checked(checks: None, capsys: pytest.CaptureFixture[str]) -> None:
    data, out = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)
    table = data.ctypes.data + 4 * np.arange(8)
    with knobs.scope(remarks=True):
        by_address[(1,)](table, out, BLOCK=8)
    np.testing.assert_array_equal(out, 2 * data)
    said = capsys.readouterr().err
    assert said.count("not sanitised: its address is an integer, or was read from memory") == 2


@pytest.mark.costly
@sanitize("bounds", "race", "init")
def test_right_kernels_stay_right(checks: None) -> None:
    x, out = arange(100), np.zeros(100, np.float32)
    gathered[(1,)](x, np.arange(64, dtype=np.int32)[::-1].copy(), out, BLOCK=64)
    np.testing.assert_array_equal(out[:64], x[63::-1])
    sums = np.zeros(16, np.float32)
    looped[(1,)](x, sums, 6, BLOCK=16)
    np.testing.assert_allclose(sums, x[:96].reshape(6, 16).sum(axis=0))


def test_the_plan_survives_the_cache(tmp_path: Path) -> None:
    with knobs.scope(sanitize=("bounds",), cache_dir=str(tmp_path), always_compile=False):
        for _ in range(2):
            copy.cache.clear()
            with pytest.raises(SanitizerError, match="element 100 of argument 'x_ptr'"):
                copy[(4,)](arange(100), np.zeros(128, np.float32), 128, BLOCK=32)
