"""Views, copies, masks, gathers, atomics and shuffles against NumPy."""

from __future__ import annotations

import re
import threading

import ml_dtypes
import numpy as np
import pytest
from loops_kernels import parse_loops, run_loops  # pyright: ignore[reportMissingImports]

from suite.arrays import Array
from tilewright.codegen.llvm_backend import emit_assembly
from tilewright.lowering.loops_to_llvm import lower, lower_to_llvm
from tilewright.targets.cpu.facts import CpuFacts, host_facts, named_facts


def machines() -> list[CpuFacts]:
    host = host_facts()
    return [host, named_facts("x86-64-v3")] if host.is_x86 and host.has("avx2") else [host]


def test_subviews_collapse_and_expand() -> None:
    """out = x[1:3, ::2] of a 4 x 8 array, seen as 8 elements and back as 2 x 4."""
    kernel = """
func.func @k(%x: memref<*xf32>, %o: memref<*xf32>, %row32: i32, $GRID) {
  %row = arith.index_cast %row32 : i32 to index
  %xs = memref.reinterpret_cast %x to offset: [0], sizes: [4, 8], strides: [8, 1] : memref<*xf32> to memref<4x8xf32>
  %s = memref.subview %xs[%row, 0] [2, 4] [1, 2] : memref<4x8xf32> to memref<2x4xf32, strided<[8, 2], offset: ?>>
  %t = memref.alloca() : memref<2x4xf32>
  memref.copy %s, %t : memref<2x4xf32, strided<[8, 2], offset: ?>> to memref<2x4xf32>
  %flat = memref.collapse_shape %t [[0, 1]] : memref<2x4xf32> into memref<8xf32>
  %back = memref.expand_shape %flat [[0, 1]] output_shape [4, 2] : memref<8xf32> into memref<4x2xf32>
  %os = memref.reinterpret_cast %o to offset: [0], sizes: [4, 2], strides: [2, 1] : memref<*xf32> to memref<4x2xf32>
  memref.copy %back, %os : memref<4x2xf32> to memref<4x2xf32>
  return
}
"""
    x = np.arange(32, dtype=np.float32)
    out = np.zeros(8, np.float32)
    run_loops(kernel, x, out, 1)
    assert np.array_equal(out, x.reshape(4, 8)[1:3, ::2].ravel())


def test_memory_of_arguments_has_no_dimensions() -> None:
    """out = x[rank(x) - 2 :][:4], and the rank of a view, which is one."""
    kernel = """
func.func @k(%x: memref<*xf32>, %o: memref<*xf32>, %r: memref<*xi64>, $GRID) {
  %m2 = arith.constant -2 : index
  %c0 = arith.constant 0 : index
  %none = memref.rank %x : memref<*xf32>
  %start = arith.addi %none, %m2 : index
  %xs = memref.reinterpret_cast %x to offset: [%start], sizes: [4], strides: [1] : memref<*xf32> to $MOVED
  %os = memref.reinterpret_cast %o to offset: [0], sizes: [4], strides: [1] : memref<*xf32> to memref<4xf32>
  memref.copy %xs, %os : $MOVED to memref<4xf32>
  %one = memref.rank %os : memref<4xf32>
  %rank = arith.index_cast %one : index to i64
  %rs = memref.reinterpret_cast %r to offset: [0], sizes: [1], strides: [1] : memref<*xi64> to memref<1xi64>
  memref.store %rank, %rs[%c0] : memref<1xi64>
  return
}
""".replace("$MOVED", "memref<4xf32, strided<[1], offset: ?>>")
    x = np.arange(8, dtype=np.float32)
    out, rank = np.zeros(4, np.float32), np.zeros(1, np.int64)
    run_loops(kernel, x[3:], out, rank)
    assert np.array_equal(out, x[1:5])
    assert rank == 1


MASKED = """
func.func @k(%x: memref<*x$T>, %o: memref<*x$T>, %n32: i32, $GRID) {
  %n = arith.index_cast %n32 : i32 to index
  %c0 = arith.constant 0 : index
  %fill = arith.constant dense<$Z> : vector<16x$T>
  %m = vector.create_mask %n : vector<16xi1>
  %xs = memref.reinterpret_cast %x to offset: [0], sizes: [%n], strides: [1] : memref<*x$T> to memref<?x$T>
  %os = memref.reinterpret_cast %o to offset: [0], sizes: [16], strides: [1] : memref<*x$T> to memref<?x$T>
  %v = vector.maskedload %xs[%c0], %m, %fill : memref<?x$T>, vector<16xi1>, vector<16x$T> into vector<16x$T>
  vector.store %v, %os[%c0] : memref<?x$T>, vector<16x$T>
  %c16 = arith.constant 16 : index
  vector.maskedstore %os[%c16], %m, %v : memref<?x$T>, vector<16xi1>, vector<16x$T>
  return
}
""".replace(
    "sizes: [16], strides: [1] : memref<*x$T> to memref<?x$T>",
    "sizes: [%n], strides: [1] : memref<*x$T> to memref<?x$T>",
)

DTYPES = {
    "f32": np.float32,
    "f64": np.float64,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "i64": np.int64,
    "i32": np.int32,
    "i16": np.int16,
    "i8": np.int8,
}


@pytest.mark.parametrize("type", DTYPES)
@pytest.mark.parametrize("count", [-5, 0, 1, 7, 16, 2**20])
def test_masked_lanes_are_not_touched(type: str, count: int) -> None:
    for facts in machines():
        check_masked_lanes(MASKED, type, count, facts)


@pytest.mark.parametrize("type", DTYPES)
@pytest.mark.parametrize("count", [-5, 0, 1, 7, 16, 2**20])
def test_masked_lanes_that_functions_test_are_not_touched(
    type: str, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lower, "MOST_TESTED_LANES", 0)
    for facts in [*machines(), *([named_facts("x86-64")] if host_facts().is_x86 else [])]:
        check_masked_lanes(f"// by calls{MASKED}", type, count, facts)


def check_masked_lanes(kernel: str, type: str, count: int, facts: CpuFacts) -> None:
    """The input ends where the mask does, right before an unmapped page."""
    kernel = kernel.replace("$T", type).replace("$Z", "1.0" if type[0] in "fb" else "1")
    valid = min(max(count, 0), 16)
    x = _before_a_hole(DTYPES[type], valid)
    x[:] = np.arange(2, 2 + valid)
    out = np.full(32, 99, DTYPES[type])
    run_loops(kernel, x, out, count, facts=facts)
    expected = np.concatenate([np.arange(2, 2 + valid), np.full(16 - valid, 1)]).astype(DTYPES[type])
    assert np.array_equal(out[:16], expected)
    assert np.array_equal(out[16 : 16 + valid], expected[:valid]) and np.all(out[16 + valid :] == 99)


@pytest.mark.parametrize(
    ("cpu", "type", "count", "tests"),
    [
        ("x86-64-v3", "f16", 4, 8),
        ("x86-64-v3", "f16", 40, 2),
        ("x86-64-v3", "f32", 40, 80),  # there are instructions
        ("x86-64-v4", "f16", 40, 80),
        ("x86-64", "f32", 40, 2),
        ("generic-aarch64", "f32", 40, 2),
    ],
)
def test_many_masked_accesses_test_their_lanes_in_one_function(cpu: str, type: str, count: int, tests: int) -> None:
    """LLVM takes seconds for some thousands of branches, two of them for each lane."""
    start, access, end = re.split(r"(?m)^(?=  %v =|  return)", MASKED.replace("$T", type).replace("$Z", "1.0"))
    accesses = [re.sub(r"%(v|c16)\b", rf"%\1_{number}", access) for number in range(count)]
    text = str(lower_to_llvm(parse_loops("".join([start, *accesses, end])), named_facts(cpu)).text)
    assert len(re.findall(r"call .*@llvm\.masked\.(?:load|store)", text)) == tests


CHOSEN = """
func.func @k(%x: memref<*x$T>, %o: memref<*x$T>, $GRID) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : vector<8x$T>
  %xs = memref.reinterpret_cast %x to offset: [0], sizes: [8], strides: [1] : memref<*x$T> to memref<8x$T>
  %os = memref.reinterpret_cast %o to offset: [0], sizes: [8], strides: [1] : memref<*x$T> to memref<8x$T>
  %v = vector.load %xs[%c0] : memref<8x$T>, vector<8x$T>
  %m = arith.cmpf $P, %v, %zero : vector<8x$T>
  %r = arith.select %m, $A, $B : vector<8xi1>, vector<8x$T>
  vector.store %r, $M[%c0] : memref<8x$T>, vector<8x$T>
  return
}
"""


@pytest.mark.parametrize("type", ["f32", "f64"])
@pytest.mark.parametrize("predicate", ["olt", "ogt", "ule", "uno", "oeq"])
@pytest.mark.parametrize(("a", "b"), [("%zero", "%v"), ("%v", "%zero")])
def test_choices_in_place_are_blended(type: str, predicate: str, a: str, b: str) -> None:
    """x = 0 where x < 0: a masked store of the zeros is what LLVM makes of it, 18 times slower on Zen 3."""
    text = CHOSEN.replace("$T", type).replace("$P", predicate).replace("$A", a).replace("$B", b)
    in_place, apart = text.replace("$M", "%xs"), text.replace("$M", "%os")
    x = np.array([1, -1, 0, -0.0, np.nan, np.inf, -np.inf, 1e-40], DTYPES[type])
    with np.errstate(invalid="ignore"):
        chosen = {"olt": x < 0, "ogt": x > 0, "ule": ~(x > 0), "uno": np.isnan(x), "oeq": x == 0}[predicate]
    expected = np.where(chosen, 0, x) if a == "%zero" else np.where(chosen, x, 0)
    for facts in machines():
        written, out = x.copy(), np.empty_like(x)
        run_loops(in_place, written, out, facts=facts)
        run_loops(apart, x, out, facts=facts)
        for found in (written, out):
            assert np.array_equal(found, expected, equal_nan=True)
            assert np.array_equal(np.signbit(found), np.signbit(expected))


def test_llvm_makes_no_masked_stores_of_choices() -> None:
    facts = named_facts("x86-64-v3")
    text = CHOSEN.replace("$T", "f32").replace("$P", "olt").replace("$A", "%zero").replace("$B", "%v")
    for place, frozen in (("%xs", 1), ("%os", 0)):
        llir = str(lower_to_llvm(parse_loops(text.replace("$M", place)), facts).text)
        assert llir.count("freeze") == frozen
        assert "vmaskmov" not in emit_assembly(llir, facts)


def _before_a_hole(dtype: type, count: int) -> Array:
    """An array whose end is the end of mapped memory."""
    import mmap

    page = mmap.PAGESIZE
    region = mmap.mmap(-1, 2 * page)
    whole = np.frombuffer(region, np.uint8)
    _protect(whole.ctypes.data + page, page)
    size = count * np.dtype(dtype).itemsize
    return whole[page - size : page].view(dtype)


def _protect(address: int, size: int) -> None:
    import ctypes

    libc = ctypes.CDLL(None)
    assert libc.mprotect(ctypes.c_void_p(address), ctypes.c_size_t(size), 0) == 0


@pytest.mark.parametrize("index", ["i32", "i64"])
def test_gather_and_scatter(index: str) -> None:
    kernel = """
func.func @k(%x: memref<*xf32>, %i: memref<*x$I>, %o: memref<*xf32>, %limit: $I, $GRID) {
  %c0 = arith.constant 0 : index
  %xs = memref.reinterpret_cast %x to offset: [0], sizes: [64], strides: [1] : memref<*xf32> to memref<64xf32>
  %is = memref.reinterpret_cast %i to offset: [0], sizes: [16], strides: [1] : memref<*x$I> to memref<16x$I>
  %os = memref.reinterpret_cast %o to offset: [0], sizes: [64], strides: [1] : memref<*xf32> to memref<64xf32>
  %v = vector.load %is[%c0] : memref<16x$I>, vector<16x$I>
  %l = vector.broadcast %limit : $I to vector<16x$I>
  %m = arith.cmpi slt, %v, %l : vector<16x$I>
  %other = arith.constant dense<-1.0> : vector<16xf32>
  %g = vector.gather %xs[%c0] [%v], %m, %other
    : memref<64xf32>, vector<16x$I>, vector<16xi1>, vector<16xf32> into vector<16xf32>
  vector.scatter %os[%c0] [%v], %m, %g : memref<64xf32>, vector<16x$I>, vector<16xi1>, vector<16xf32>
  return
}
""".replace("$I", index)
    dtype = DTYPES[index]
    x = np.random.default_rng(0).standard_normal(64).astype(np.float32)
    i = np.array([3, 1, 4, 15, 9, 2, 6, 5, 35, 8, 97, 93, 23, 84, 62, 64], dtype)
    out = np.zeros(64, np.float32)
    run_loops(kernel, x, i, out, dtype(60))
    expected = np.zeros(64, np.float32)
    chosen = i[i < 60]
    expected[chosen] = x[chosen]
    assert np.array_equal(out, expected)


REDUCTIONS = {"add": np.sum, "mul": np.prod, "minsi": np.min, "maxsi": np.max}
FLOAT_REDUCTIONS = {"add": np.sum, "mul": np.prod, "maxnumf": np.fmax.reduce, "minimumf": np.minimum.reduce}


@pytest.mark.parametrize("kind", REDUCTIONS)
@pytest.mark.parametrize("type", ["i32", "i64"])
def test_integer_reductions(kind: str, type: str) -> None:
    assert _reduce(kind, type, np.arange(-3, 13).astype(DTYPES[type])) == REDUCTIONS[kind](np.arange(-3, 13))


@pytest.mark.parametrize("kind", FLOAT_REDUCTIONS)
@pytest.mark.parametrize("type", ["f32", "f64", "f16", "bf16"])
def test_float_reductions(kind: str, type: str) -> None:
    values = (np.arange(16) / 8 + 0.5).astype(DTYPES[type])
    if kind != "mul" and kind != "add":
        values[5] = np.nan
    expected = FLOAT_REDUCTIONS[kind](values.astype(np.float64))
    result = float(_reduce(kind, type, values))
    assert (np.isnan(expected) and np.isnan(result)) or abs(result - expected) <= 2**-7 * abs(expected)


def _reduce(kind: str, type: str, values: Array) -> np.generic:
    kernel = f"""
func.func @k(%x: memref<*x{type}>, %o: memref<*x{type}>, $GRID) {{
  %c0 = arith.constant 0 : index
  %xs = memref.reinterpret_cast %x to offset: [0], sizes: [16], strides: [1] : memref<*x{type}> to memref<16x{type}>
  %os = memref.reinterpret_cast %o to offset: [0], sizes: [1], strides: [1] : memref<*x{type}> to memref<1x{type}>
  %v = vector.load %xs[%c0] : memref<16x{type}>, vector<16x{type}>
  %r = vector.reduction <{kind}>, %v : vector<16x{type}> into {type}
  memref.store %r, %os[%c0] : memref<1x{type}>
  return
}}
"""
    out = np.zeros(1, values.dtype)
    run_loops(kernel, values, out)
    return out[0]


ATOMIC = """
func.func @k(%x: memref<*x$T>, %o: memref<*x$T>, $GRID) {
  %c0 = arith.constant 0 : index
  %p = arith.index_cast %px : i32 to index
  %xs = memref.reinterpret_cast %x to offset: [%p], sizes: [1], strides: [1]
    : memref<*x$T> to memref<1x$T, strided<[1], offset: ?>>
  %os = memref.reinterpret_cast %o to offset: [0], sizes: [1], strides: [1] : memref<*x$T> to memref<1x$T>
  %v = memref.load %xs[%c0] : memref<1x$T, strided<[1], offset: ?>>
  %old = memref.atomic_rmw $KIND %v, %os[%c0] : ($T, memref<1x$T>) -> $T
  return
}
"""

ATOMIC_CASES = [
    ("addi", "i32", np.add),
    ("addi", "i64", np.add),
    ("maxs", "i32", np.maximum),
    ("minu", "i32", None),
    ("ori", "i32", np.bitwise_or),
    ("xori", "i64", np.bitwise_xor),
    ("addf", "f32", np.add),
    ("addf", "f64", np.add),
    ("addf", "f16", np.add),
    ("addf", "bf16", np.add),
    ("maxnumf", "f32", np.fmax),
    ("minimumf", "f32", np.minimum),
    ("mulf", "f32", np.multiply),
    ("muli", "i32", np.multiply),
]


@pytest.mark.parametrize(("kind", "type", "operation"), ATOMIC_CASES)
def test_atomics_from_two_threads(kind: str, type: str, operation: np.ufunc | None) -> None:
    """Values are small integers, so that every order of additions gives the same float."""
    count = 64 if type in ("f16", "bf16", "f32") or kind.startswith("mul") else 4000
    values = np.random.default_rng(1).integers(1, 3, count).astype(DTYPES[type])
    if kind.startswith("mul"):
        values[:] = 1
        values[:10] = 2
    start = np.array([3], DTYPES[type])
    out = start.copy()
    run_loops(ATOMIC.replace("$T", type).replace("$KIND", kind), values, out, grid=(count, 1, 1), num_threads=2)
    everything = np.concatenate([start, values]).astype(np.float64 if type[0] in "fb" else values.dtype)
    expected = everything.min() if operation is None else operation.reduce(everything)
    assert out[0] == expected


SCATTER = """
func.func @k(%x: memref<*x$T>, %i: memref<*x$I>, %m: memref<*xi1>, %o: memref<*x$T>, $GRID) {
  %lanes = arith.constant $N : index
  %c0 = arith.constant 0 : index
  %c1000 = arith.constant 1000 : index
  %c5000 = arith.constant 5000 : index
  %p = arith.index_cast %px : i32 to index
  %at = arith.muli %p, %lanes : index
  %some = arith.constant 1000000 : index
  %xs = memref.reinterpret_cast %x to offset: [0], sizes: [%some], strides: [1] : memref<*x$T> to memref<?x$T>
  %is = memref.reinterpret_cast %i to offset: [0], sizes: [%some], strides: [1] : memref<*x$I> to memref<?x$I>
  %ms = memref.reinterpret_cast %m to offset: [0], sizes: [%some], strides: [1] : memref<*xi1> to memref<?xi1>
  %os = memref.reinterpret_cast %o to offset: [0], sizes: [%some], strides: [1] : memref<*x$T> to memref<?x$T>
  %v = vector.load %xs[%at] : memref<?x$T>, vector<$Nx$T>
  %places = vector.load %is[%at] : memref<?x$I>, vector<$Nx$I>
  %live = vector.load %ms[%at] : memref<?xi1>, vector<$Nxi1>
  func.call @tw_atomic_addf_$Nx$T_at_$I(%os, %c1000, %places, %live, %v)
    : (memref<?x$T>, index, vector<$Nx$I>, vector<$Nxi1>, vector<$Nx$T>) -> ()
  %first = vector.extract %places[0] : $I from vector<$Nx$I>
  %run = arith.index_cast %first : $I to index
  %behind = arith.addi %run, %c5000 : index
  func.call @tw_atomic_addf_$Nx$T_row(%os, %behind, %live, %v)
    : (memref<?x$T>, index, vector<$Nxi1>, vector<$Nx$T>) -> ()
  func.call @tw_atomics_end() : () -> ()
  return
}
func.func private @tw_atomic_addf_$Nx$T_at_$I(memref<?x$T>, index, vector<$Nx$I>, vector<$Nxi1>, vector<$Nx$T>)
func.func private @tw_atomic_addf_$Nx$T_row(memref<?x$T>, index, vector<$Nxi1>, vector<$Nx$T>)
func.func private @tw_atomics_end()
"""


def places_of_lanes(lanes: int, rows: int) -> Array:
    """Neighbours, also across a page; equal places; places anywhere, also below the base."""
    chance = np.random.default_rng(2)
    steps = np.arange(lanes)
    kinds = [
        lambda: chance.integers(-900, 3000) + steps,
        lambda: np.full(lanes, chance.integers(-900, 3000)),
        lambda: chance.integers(-900, 3000, lanes),
        lambda: np.sort(chance.integers(0, 16, lanes)) + 500,
    ]
    return np.stack([kinds[row % len(kinds)]() for row in range(rows)])


SCATTER_CASES = [
    ("addf", "f32", "i32", np.add),
    ("addf", "f32", "i64", np.add),
    ("addf", "f64", "i64", np.add),
    ("addf", "f16", "i32", np.add),
    ("addf", "bf16", "i32", np.add),
    ("addi", "i32", "i32", np.add),
    ("xori", "i64", "i64", np.bitwise_xor),
    ("maxs", "i32", "i64", np.maximum),
    ("minu", "i64", "i32", np.minimum),
]


@pytest.mark.pairwise
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("lanes", [2, 4, 16])
@pytest.mark.parametrize(("kind", "type", "index", "operation"), SCATTER_CASES)
def test_atomic_scatter(kind: str, type: str, index: str, operation: np.ufunc, lanes: int, threads: int) -> None:
    """Whole numbers, few enough that every order gives the same; masked-off lanes touch nothing."""
    rows = 256
    chance = np.random.default_rng(3)
    places = places_of_lanes(lanes, rows)
    values = chance.integers(1, 3, places.shape).astype(DTYPES[type])
    live = chance.random(places.shape) < np.where(np.arange(rows) % 3 == 0, 0.6, 1.0)[:, None]
    live[5] = False
    expected = np.full(8100, 2 if kind == "minu" else 0, np.float64 if type[0] in "fb" else DTYPES[type])
    start = expected.astype(DTYPES[type])
    operation.at(expected, places[live] + 1000, values[live].astype(expected.dtype))
    runs = places[:, :1] + np.arange(lanes) + 5000
    operation.at(expected, runs[live], values[live].astype(expected.dtype))
    places[5, 1:] = 1 << 30
    kernel = SCATTER.replace("$T", type).replace("$I", index).replace("$N", str(lanes)).replace("addf", kind)
    at = places.astype(DTYPES[index])
    for facts in machines():
        out = start.copy()
        run_loops(kernel, values, at, live, out, grid=(rows, 1, 1), num_threads=threads, facts=facts)
        np.testing.assert_array_equal(out.astype(expected.dtype), expected)


@pytest.mark.parametrize("type", ["f32", "i32"])
def test_atomics_of_launches_at_a_time(type: str) -> None:
    """Launches on one thread, which take no locks when they are alone, and on two, from several threads of Python."""
    kernel = SCATTER.replace("$T", type).replace("$I", "i32").replace("$N", "16")
    kernel = kernel.replace("addf", "addf" if type == "f32" else "addi")
    rows, times = 64, 40
    places = places_of_lanes(16, rows)
    places[:, :] = places[:1]
    values, live = np.ones((rows, 16), DTYPES[type]), np.ones((rows, 16), np.bool_)
    out = np.zeros(8100, DTYPES[type])
    at = places.astype(np.int32)

    def work(num_threads: int) -> None:
        for _ in range(times):
            run_loops(kernel, values, at, live, out, grid=(rows, 1, 1), num_threads=num_threads)

    work(1)
    others = [threading.Thread(target=work, args=(number,)) for number in (1, 1, 2)]
    for other in others:
        other.start()
    for other in others:
        other.join()
    assert out[places[0] + 1000].tolist() == [4 * times * rows] * 16
    assert out.sum() == 2 * 4 * times * rows * 16


def test_compare_and_swap_body() -> None:
    """Each program replaces n by n + 1 when it is even, n + 3 when odd, in one indivisible step."""
    kernel = """
func.func @k(%o: memref<*xi32>, $GRID) {
  %c0 = arith.constant 0 : index
  %os = memref.reinterpret_cast %o to offset: [0], sizes: [1], strides: [1] : memref<*xi32> to memref<1xi32>
  %old = memref.generic_atomic_rmw %os[%c0] : memref<1xi32> {
  ^bb0(%now: i32):
    %c1 = arith.constant 1 : i32
    %c3 = arith.constant 3 : i32
    %low = arith.andi %now, %c1 : i32
    %zero = arith.constant 0 : i32
    %even = arith.cmpi eq, %low, %zero : i32
    %step = arith.select %even, %c1, %c3 : i32
    %new = arith.addi %now, %step : i32
    memref.atomic_yield %new : i32
  }
  return
}
"""
    out = np.zeros(1, np.int32)
    run_loops(kernel, out, grid=(5000, 1, 1), num_threads=2)
    expected = 0
    for _ in range(5000):
        expected += 3 if expected % 2 else 1
    assert out[0] == expected


def test_shuffles_slices_and_lanes() -> None:
    kernel = """
func.func @k(%x: memref<*xi32>, %o: memref<*xi32>, %lane32: i32, $GRID) {
  %lane = arith.index_cast %lane32 : i32 to index
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %xs = memref.reinterpret_cast %x to offset: [0], sizes: [8], strides: [1] : memref<*xi32> to memref<8xi32>
  %os = memref.reinterpret_cast %o to offset: [0], sizes: [24], strides: [1] : memref<*xi32> to memref<24xi32>
  %v = vector.load %xs[%c0] : memref<8xi32>, vector<8xi32>
  %r = vector.shuffle %v, %v [7, 6, 5, 4, 11, 10, 9, 8] : vector<8xi32>, vector<8xi32>
  vector.store %r, %os[%c0] : memref<24xi32>, vector<8xi32>
  %e = vector.extract %v[%lane] : i32 from vector<8xi32>
  %i = vector.insert %e, %r [0] : i32 into vector<8xi32>
  vector.store %i, %os[%c8] : memref<24xi32>, vector<8xi32>
  %s = vector.extract_strided_slice %v {offsets = [2], sizes = [4], strides = [1]} : vector<8xi32> to vector<4xi32>
  %w = vector.insert_strided_slice %s, %r {offsets = [1], strides = [1]} : vector<4xi32> into vector<8xi32>
  %c16 = arith.constant 16 : index
  vector.store %w, %os[%c16] : memref<24xi32>, vector<8xi32>
  return
}
"""
    x = np.arange(10, 18, dtype=np.int32)
    out = np.zeros(24, np.int32)
    run_loops(kernel, x, out, 5)
    shuffled = x[[7, 6, 5, 4, 3, 2, 1, 0]]
    assert np.array_equal(out[:8], shuffled)
    assert np.array_equal(out[8:16], [15, *shuffled[1:]])
    assert np.array_equal(out[16:], [shuffled[0], *x[2:6], *shuffled[5:]])


def test_booleans_are_bytes_in_memory() -> None:
    kernel = """
func.func @k(%x: memref<*xi1>, %o: memref<*xi1>, $GRID) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %xs = memref.reinterpret_cast %x to offset: [0], sizes: [16], strides: [1] : memref<*xi1> to memref<16xi1>
  %os = memref.reinterpret_cast %o to offset: [0], sizes: [16], strides: [1] : memref<*xi1> to memref<16xi1>
  %v = vector.load %xs[%c0] : memref<16xi1>, vector<16xi1>
  %t = arith.constant dense<true> : vector<16xi1>
  %w = arith.xori %v, %t : vector<16xi1>
  vector.store %w, %os[%c0] : memref<16xi1>, vector<16xi1>
  %b = memref.load %xs[%c3] : memref<16xi1>
  memref.store %b, %os[%c3] : memref<16xi1>
  return
}
"""
    x = np.array([1, 0, 1, 1, 0, 0, 1, 0] * 2, np.bool_)
    out = np.zeros(16, np.bool_)
    run_loops(kernel, x, out)
    expected = ~x
    expected[3] = x[3]
    assert np.array_equal(out, expected)
