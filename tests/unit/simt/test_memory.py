"""Loads, stores and atomics in every state space."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from ptx_kernels import by_thread, run

from suite.arrays import Array
from tilewright.reference.address_space import AddressSpace
from tilewright.reference.memory import ByteRange
from tilewright.reference.simt import MemoryAccessError, SimulationError

random = np.random.default_rng(4)
PLACE = "mov.u32 %r1, %tid.x; mul.wide.u32 %d1, %r1, SIZE; add.u64 %d2, %d1, %d16; add.u64 %d3, %d1, %d17;\n"


def place(size: int) -> str:
    """`%d2` and `%d3`: the thread's element of `size` bytes of the first and second argument."""
    return PLACE.replace("SIZE", str(size))


def aligned(size: int) -> Array:
    """Bytes at a multiple of 64."""
    whole = np.zeros(size + 64, np.uint8)
    start = -whole.ctypes.data % 64
    return whole[start : start + size]


@pytest.mark.parametrize(
    ("suffix", "size"), [("v2.b16", 4), ("v4.b32", 16), ("v2.b64", 16), ("v4.b8", 4), ("v8.b32", 32)]
)
def test_vectors(suffix: str, size: int) -> None:
    count = int(suffix[1])
    kind = {"8": "h", "6": "h", "2": "r", "4": "d"}[suffix[-1]]
    registers = "{" + ", ".join(f"%{kind}{n + 4}" for n in range(count)) + "}"
    x, out = aligned(64 * size), aligned(64 * size)
    x[:] = random.integers(0, 256, x.size)
    run(
        place(size) + f"ld.global.{suffix} {registers}, [%d2]; st.global.{suffix} [%d3], {registers};",
        x,
        out,
        threads=64,
    )
    np.testing.assert_array_equal(out, x)


def test_hints_mean_nothing() -> None:
    x, out = random.integers(0, 9, 32).astype(np.uint32), np.zeros(32, np.uint32)
    body = (
        place(4)
        + """
    createpolicy.fractional.L2::evict_first.b64 %d5, 1.0;
    ld.global.nc.L1::evict_last.L2::cache_hint.b32 %r4, [ %d2 + 0 ], %d5;
    st.global.wt.L1::no_allocate.b32 [%d3+0], { %r4 };
    prefetch.global.L2 [%d2]; membar.gl; fence.acq_rel.gpu;"""
    )
    run(body, x, out)
    np.testing.assert_array_equal(out, x)


def test_signs_are_extended() -> None:
    x = random.integers(-128, 128, 32).astype(np.int8)
    out = np.zeros(32, np.int32)
    run(
        place(1)
        + "ld.global.s8 %r4, [%d2]; mul.wide.u32 %d1, %r1, 4; add.u64 %d3, %d1, %d17; st.global.b32 [%d3], %r4;",
        x,
        out,
    )
    np.testing.assert_array_equal(out, x)


def test_masked_lanes_touch_nothing() -> None:
    x, out = np.arange(1, 6, dtype=np.uint32), np.full(32, 7, np.uint32)
    body = (
        place(4)
        + "setp.lt.u32 %p1, %r1, 5; mov.u32 %r4, 0; @%p1 ld.global.b32 { %r4 }, [ %d2 + 0 ]; st.global.b32 [%d3], %r4;"
    )
    run(body, x, out)
    np.testing.assert_array_equal(out, [1, 2, 3, 4, 5] + [0] * 27)


def test_generic_addresses_reach_every_space() -> None:
    """Threads of one warp read global, shared and local memory, and a variable, by one instruction."""
    x, out = np.full(8, 11, np.uint32), np.zeros(32, np.uint32)
    variables = ".global .align 4 .b8 table[8] = {44, 0, 0, 0, 5, 0, 0, 0};\n.const .align 4 .u32 fixed = 9;\n"
    body = (
        place(4)
        + """
    .local .align 8 .b8 depot[16];
    mov.u64 %d4, depot; cvta.local.u64 %d5, %d4; st.local.u32 [%d4+8], %r1; add.u64 %d5, %d5, 8;
    mov.u64 %d6, smem; cvta.shared.u64 %d7, %d6; st.shared.u32 [%d6], 22;
    mov.u64 %d8, table; cvta.global.u64 %d9, %d8;
    and.b32 %r2, %r1, 3; setp.eq.u32 %p1, %r2, 0; setp.eq.u32 %p2, %r2, 1; setp.eq.u32 %p3, %r2, 2;
    selp.b64 %d10, %d16, %d9, %p1; selp.b64 %d10, %d7, %d10, %p2; selp.b64 %d10, %d5, %d10, %p3;
    isspacep.shared %p4, %d10; ld.b32 %r3, [%d10]; selp.b32 %r5, 1000, 0, %p4; add.u32 %r3, %r3, %r5;
    ld.const.u32 %r6, [fixed]; sub.u32 %r3, %r3, %r6; add.u32 %r3, %r3, 9; st.b32 [%d3], %r3;"""
    )
    run(body, x, out, variables=variables, race_detection=False)
    lanes = np.arange(32)
    np.testing.assert_array_equal(out, np.choose(lanes % 4, [11, 1022, lanes, 44]))


def test_tables_of_addresses() -> None:
    arrays = [np.full(4, n + 5, np.float32) for n in range(3)]
    table, out = np.array([array.ctypes.data for array in arrays], np.uint64), np.zeros(3, np.float32)
    body = """
    mov.u32 %r1, %tid.x; setp.gt.u32 %p1, %r1, 2; @%p1 exit;
    mul.wide.u32 %d1, %r1, 8; add.u64 %d2, %d1, %d16; ld.global.u64 %d3, [%d2];
    ld.global.b32 %r2, [%d3+12]; mul.wide.u32 %d1, %r1, 4; add.u64 %d2, %d1, %d17; st.global.b32 [%d2], %r2;"""
    run(body, table, out, reachable=arrays)
    np.testing.assert_array_equal(out, [5, 6, 7])


def test_windows_null_pointers_and_spaces_of_the_caller() -> None:
    memory, space = np.arange(8, dtype=np.uint32), AddressSpace()
    address = int(space.add(memory))
    run(
        "ld.global.u32 %r1, [%d16-4]; st.global.u32 [%d17], %r1;",
        ByteRange(memory.view(np.uint8), 8),
        address,
        memory=space,
    )
    np.testing.assert_array_equal(memory, [1, 1, 2, 3, 4, 5, 6, 7])
    with pytest.raises(MemoryAccessError, match="a null pointer points into no argument"):
        run("ld.global.u32 %r1, [%d16];", None)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            "ld.global.u32 %r2, [%d2+4];",
            r"program \(0, 0, 0\), thread 31: element 32 is outside of argument 'a0' of 32",
        ),
        ("st.global.u32 [%d2+128], 1;", "thread 0: element 32 is outside of argument 'a0'"),
        ("setp.eq.u32 %p1, %r1, 9; @%p1 ld.global.u32 %r2, [%d2+400];", "thread 9: element 109 is outside"),
        ("ld.global.u64 %d5, [%d2];", "thread 1: address 0x[0-9a-f]+ is not a multiple of the 8 bytes accessed"),
        ("st.shared.u32 [1024], 1;", "byte 1024 is outside of the 1024 bytes of shared memory"),
        ("st.shared.v2.u32 [4], {%r1, %r1};", "address 0x4 is not a multiple of the 8 bytes accessed"),
        ("ld.shared.u32 %r2, [16];", "thread 0: shared memory is read before it is written"),
    ],
)
def test_wrong_accesses_are_reported_with_their_thread(body: str, message: str) -> None:
    with pytest.raises(MemoryAccessError, match=message):
        run(place(4) + body, np.zeros(32, np.uint32), np.zeros(32, np.uint32))


def test_what_a_parameter_can_be() -> None:
    out = np.zeros(4, np.uint64)
    run("st.global.v2.u64 [%d16], {%d17, %d18}; st.global.u64 [%d16+16], %d19;", out, -1, True, np.float32(1.0))
    np.testing.assert_array_equal(out, [0xFFFFFFFFFFFFFFFF, 1, 0x3F800000, 0])
    with pytest.raises(SimulationError, match="parameter 'a0' cannot be str"):
        run("", "text")
    with pytest.raises(SimulationError, match="parameter 'a0' has 8 bytes, got 3"):
        run("", b"123")


def atomics(op: str, values: Array, places: Array, memory: Array, type_: str, space: str = "global") -> Array:
    """What threads got back from `atom` on the element of memory that each names."""
    size, kind = values.dtype.itemsize, "r" if values.dtype.itemsize <= 4 else "d"
    before = np.zeros_like(values)
    body = f"""
    mov.u32 %r1, %tid.x; mul.wide.u32 %d1, %r1, {size}; add.u64 %d2, %d1, %d16; add.u64 %d3, %d1, %d18;
    mul.wide.u32 %d4, %r1, 4; add.u64 %d4, %d4, %d17; ld.global.u32 %r2, [%d4]; mul.wide.u32 %d5, %r2, {size};
    add.u64 %d5, %d5, %d19; ld.global.b{8 * size} %{kind}10, [%d2];
    atom.{space}.{op}.{type_} %{kind}11, [%d5], %{kind}10; st.global.b{8 * size} [%d3], %{kind}11;"""
    run(body, values, places, before, memory, threads=values.size)
    return before


@pytest.mark.parametrize("type_", ["u32", "s32", "u64", "s64"])
@pytest.mark.parametrize("op", ["add", "min", "max", "exch"])
def test_atomics_on_integers(op: str, type_: str) -> None:
    dtype = np.dtype(f"{'i' if type_[0] == 's' else 'u'}{int(type_[1:]) // 8}")
    limits = np.iinfo(dtype)
    values = random.integers(limits.min, limits.max, 96, dtype=dtype)
    places, memory = random.integers(0, 5, 96).astype(np.uint32), random.integers(0, 9, 8).astype(dtype)
    expected, seen = memory.copy(), []
    with np.errstate(over="ignore"):
        for place_, value in zip(places, values, strict=True):
            old = expected[place_]
            seen.append(old)
            expected[place_] = {"add": old + value, "min": min(old, value), "max": max(old, value), "exch": value}[op]
    name = f"b{type_[1:]}" if op == "exch" else type_
    before = atomics(op, values, places, memory, name)
    np.testing.assert_array_equal(memory, expected)
    np.testing.assert_array_equal(before, seen)


@pytest.mark.parametrize("op", ["and", "or", "xor", "inc", "dec"])
def test_atomics_on_bits_and_counters(op: str) -> None:
    values, places = random.integers(0, 9, 64).astype(np.uint32), random.integers(0, 3, 64).astype(np.uint32)
    memory = random.integers(0, 9, 3).astype(np.uint32)
    expected = [int(value) for value in memory]
    for place_, value in zip(places, map(int, values), strict=True):
        old = expected[place_]
        expected[place_] = {
            "and": old & value,
            "or": old | value,
            "xor": old ^ value,
            "inc": 0 if old >= value else old + 1,
            "dec": value if old == 0 or old > value else old - 1,
        }[op]
    atomics(op, values, places, memory, "b32" if op in ("and", "or", "xor") else "u32")
    np.testing.assert_array_equal(memory, expected)


@pytest.mark.parametrize("type_", ["f32", "f64"])
def test_atomic_sums_of_floats_go_in_order(type_: str) -> None:
    dtype = np.dtype(np.float32 if type_ == "f32" else np.float64)
    values, places = random.standard_normal(64).astype(dtype), random.integers(0, 3, 64).astype(np.uint32)
    memory = np.ones(3, dtype)
    expected = memory.copy()
    for place_, value in zip(places, values, strict=True):
        expected[place_] += value
    atomics("add", values, places, memory, type_)
    np.testing.assert_array_equal(memory, expected)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_atomic_sums_of_halves(dtype: type) -> None:
    name = "f16" if dtype is np.float16 else "bf16"
    memory = np.zeros(2, dtype)
    half = np.array(0.5, dtype).view(np.uint16)
    run(f"mov.b16 %h1, {half}; atom.global.gpu.relaxed.add.noftz.{name} %h2, [%d16], %h1;", memory)
    np.testing.assert_array_equal(memory.astype(np.float32), [16, 0])
    pair = int(np.array([1.0, 2.0], dtype).view(np.uint32)[0])
    run(f"mov.b32 %r1, {pair}; red.global.add.noftz.{name}x2 [%d16], %r1;", memory)
    np.testing.assert_array_equal(memory.astype(np.float32), [48, 64])


def test_comparing_and_swapping() -> None:
    memory, out = np.array([5], np.uint32), np.zeros(32, np.uint32)
    body = place(4) + "add.u32 %r2, %r1, 5; add.u32 %r3, %r1, 6; atom.global.acq_rel.gpu.cas.b32 %r4, [%d16], %r2, %r3;"
    run(body + "st.global.u32 [%d3], %r4;", memory, out)
    assert memory[0] == 37
    np.testing.assert_array_equal(out, np.arange(32) + 5)


def test_atomics_in_shared_memory() -> None:
    out = np.zeros(1, np.uint32)
    body = """
    mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.u32 [64], 100; bar.sync 0;
    atom.shared.add.u32 %r2, [64], %r1; red.shared.max.u32 [64], 7; bar.sync 0;
    ld.shared.u32 %r3, [64]; @%p1 st.global.u32 [%d16], %r3;"""
    run(body, out, threads=64)
    assert out[0] == 100 + 63 * 32


def test_every_thread_has_its_own_local_memory() -> None:
    x = random.integers(0, 99, 64).astype(np.uint32)
    body = """
    .local .align 16 .b8 depot[64];
    mov.u64 %d3, depot; and.b32 %r2, %r1, 3; mul.wide.u32 %d4, %r2, 4; add.u64 %d4, %d4, %d3;
    st.local.v4.u32 [%d3], {1, 2, 3, 4}; st.local.u32 [%d4], %r1; ld.local.v4.u32 {%r3, %r4, %r5, %r6}, [%d3];
    add.u32 %r0, %r3, %r4; add.u32 %r0, %r0, %r5; add.u32 %r0, %r0, %r6;"""
    np.testing.assert_array_equal(by_thread(body, [x], np.uint32), 10 - (x % 4 + 1) + x)
