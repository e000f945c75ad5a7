"""arith on vectors and scalars against NumPy, including the cases where LLVM alone would be undefined."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from loops_kernels import run_loops  # pyright: ignore[reportMissingImports]

from suite.arrays import Array
from tilewright.targets.cpu.facts import CpuFacts, host_facts, named_facts

TYPES = {
    "f64": np.float64,
    "f32": np.float32,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
    "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
    "i64": np.int64,
    "i32": np.int32,
    "i16": np.int16,
    "i8": np.int8,
}


def machines() -> list[CpuFacts]:
    host = host_facts()
    return [host, named_facts("x86-64-v3")] if host.is_x86 and host.has("avx2") else [host]


def elementwise(body: str, source: str, target: str, lanes: int) -> str:
    """A kernel out[i] = body(a[i], b[i]) on vectors (or scalars, with 0 lanes); body binds %r from %a and %b."""
    step = max(lanes, 1)
    vector = f"vector<{lanes}x{source}>" if lanes else source
    result = f"vector<{lanes}x{target}>" if lanes else target
    view = "memref<?x{}>"
    if lanes:
        load = "%{0} = vector.load %{1}[%i] : memref<?x" + source + ">, " + vector
        store = f"vector.store %r, %os[%i] : memref<?x{target}>, {result}"
    else:
        load = "%{0} = memref.load %{1}[%i] : memref<?x" + source + ">"
        store = f"memref.store %r, %os[%i] : memref<?x{target}>"
    cast = "memref.reinterpret_cast %{0} to offset: [0], sizes: [%n], strides: [1] : memref<*x{1}> to memref<?x{1}>"
    return f"""
func.func @k(%x: memref<*x{source}>, %y: memref<*x{source}>, %o: memref<*x{target}>, %n32: i32, $GRID) {{
  %n = arith.index_cast %n32 : i32 to index
  %c0 = arith.constant 0 : index
  %step = arith.constant {step} : index
  %xs = {cast.format("x", source)}
  %ys = {cast.format("y", source)}
  %os = {cast.format("o", target)}
  scf.for %i = %c0 to %n step %step {{
    {load.format("a", "xs")}
    {load.format("b", "ys")}
    {body.replace("$V", vector).replace("$R", result)}
    {store}
  }}
  return
}}
""".replace(view.format(""), view.format(""))


def apply(body: str, a: Array, b: Array, source: str, target: str, lanes: int, facts: CpuFacts) -> Array:
    out = np.zeros(a.size, TYPES[target])
    run_loops(elementwise(body, source, target, lanes), a, b, out, a.size, facts=facts)
    return out


def random_floats(type: str, count: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(count).astype(TYPES[type])


def same(result: Array, expected: Array) -> bool:
    """Equal bit for bit, any NaN equal to any NaN."""
    nans = np.isnan(expected.astype(np.float64))
    unsigned = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}[result.itemsize]
    bits = result.view(unsigned) == expected.astype(result.dtype).view(unsigned)
    return bool(np.all(np.isnan(result.astype(np.float64)) == nans) and np.all(bits | nans))


FLOAT_TYPES = ["f64", "f32", "f16", "bf16", "f8E4M3FN", "f8E5M2"]


@pytest.mark.parametrize("type", FLOAT_TYPES)
@pytest.mark.parametrize("name", ["addf", "subf", "mulf"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_float_arithmetic_rounds_once(name: str, type: str) -> None:
    a, b = random_floats(type, 512), random_floats(type, 512, 1)
    wide = np.float64 if type == "f64" else np.float32
    operation = {"addf": np.add, "subf": np.subtract, "mulf": np.multiply}[name]
    expected = operation(a.astype(wide), b.astype(wide)).astype(TYPES[type])
    for facts in machines():
        for lanes in (0, 16):
            assert same(apply(f"%r = arith.{name} %a, %b : $V", a, b, type, type, lanes, facts), expected)


@pytest.mark.parametrize("form", ["math.fma %a, %b, %a", "vector.fma %a, %b, %a"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_fused_halves_round_once(form: str) -> None:
    """LLVM's own way calls a function of libgcc, which not every process has loaded."""
    a, b = random_floats("f16", 512), random_floats("f16", 512, 1)
    expected = (a.astype(np.float64) * b.astype(np.float64) + a.astype(np.float64)).astype(np.float16)
    for facts in machines():
        for lanes in (0, 16) if form.startswith("math") else (16,):
            assert same(apply(f"%r = {form} : $V", a, b, "f16", "f16", lanes, facts), expected)


SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 2.5, -3.5, 1e-30, -1e30]


@pytest.mark.parametrize("type", ["f64", "f32", "f16", "bf16"])
@pytest.mark.parametrize("name", ["maximumf", "minimumf", "maxnumf", "minnumf"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_maxima_and_nan(name: str, type: str) -> None:
    a = np.repeat(np.array(SPECIAL), len(SPECIAL))
    b = np.tile(np.array(SPECIAL), len(SPECIAL))
    a, b = (np.resize(v, 128).astype(TYPES[type]) for v in (a, b))
    operations = {"maximumf": np.maximum, "minimumf": np.minimum, "maxnumf": np.fmax, "minnumf": np.fmin}
    expected = operations[name](a.astype(np.float64), b.astype(np.float64))
    for facts in machines():
        for lanes in (0, 16):
            result = apply(f"%r = arith.{name} %a, %b : $V", a, b, type, type, lanes, facts).astype(np.float64)
            assert np.array_equal(result, expected, equal_nan=True)


@pytest.mark.parametrize("target", ["f16", "bf16", "f8E4M3FN", "f8E5M2", "f8E4M3FNUZ", "f8E5M2FNUZ"])
@pytest.mark.parametrize("source", ["f32", "f64"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_narrowing_is_nearest_even(source: str, target: str) -> None:
    codes = np.arange(1 << 14, dtype=np.uint64) * np.uint64((1 << 32) // (1 << 14)) + np.uint64(0x8000)
    wide = codes.astype(np.uint32).view(np.float32).astype(TYPES[source])
    near = np.random.default_rng(2).standard_normal(1 << 14).astype(TYPES[source]) * 2.0 ** np.random.default_rng(
        3
    ).integers(-20, 12, 1 << 14)
    values = np.concatenate([wide, near.astype(TYPES[source]), np.array(SPECIAL + [0.0] * 5).astype(TYPES[source])])
    expected = values.astype(TYPES[target])
    body = "%r = arith.truncf %a : $V to $R"
    for facts in machines():
        for lanes in (0, 16):
            assert same(apply(body, values, values, source, target, lanes, facts), expected)


@pytest.mark.parametrize(("type", "lanes"), [("f32", 16), ("f32", 8), ("f64", 8), ("f32", 0), ("bf16", 16)])
@pytest.mark.parametrize(("name", "function"), [("maxnumf", np.fmax), ("minnumf", np.fmin)])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_extremes_of_arithmetic_drop_nans(name: str, function: np.ufunc, type: str, lanes: int) -> None:
    """One instruction where the machine has it; operands straight from memory may be signalling NaNs."""
    random = np.random.default_rng(3)
    special = np.array([np.nan, np.inf, -np.inf, 0.0, 1.5, -2.0, 3e38, -3e38])
    a, b = (random.choice(special, 256).astype(TYPES[type]) for _ in range(2))
    a[:32].view(np.dtype(f"u{a.itemsize}"))[::2] = {2: 0x7F81, 4: 0x7F800001, 8: 0x7FF0000000000001}[a.itemsize]
    arithmetic = f"%s = arith.addf %a, %b : $V\n%d = arith.subf %a, %b : $V\n%r = arith.{name} %s, %d : $V"
    for facts in machines():
        assert same(apply(arithmetic, a, b, type, type, lanes, facts), function(a + b, a - b))
        assert same(apply(f"%r = arith.{name} %a, %b : $V", a, b, type, type, lanes, facts), function(a, b))


@pytest.mark.parametrize("lanes", [8, 16])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_vectors_with_subnormals_and_nans_are_narrowed_lane_by_lane(lanes: int) -> None:
    """Where an instruction rounds, it flushes subnormals, and lanes beside one must not change when that is mended."""
    random = np.random.default_rng(5)
    tiny = random.integers(0, 0x00810000, 2048).astype(np.uint32) | (
        random.integers(0, 2, 2048).astype(np.uint32) << 31
    )
    ties = (random.integers(0, 1 << 15, 1024) << 16) + random.integers(0x7FFF, 0x8002, 1024)
    nans = np.array([0x7F800001, 0x7FFFFFFF, 0xFF800001, 0xFFFFFFFF, 0x7FC00000, 0x7F800000, 0xFF800000] * 16)
    codes = np.concatenate([random.integers(0, 1 << 32, 4096), tiny, ties, nans]).astype(np.uint32)
    values = random.permutation(codes)[: len(codes) // 16 * 16].view(np.float32)
    expected = values.astype(ml_dtypes.bfloat16)
    for facts in machines():
        result = apply("%r = arith.truncf %a : $V to $R", values, values, "f32", "bf16", lanes, facts)
        assert same(result, expected)
        numbers = ~np.isnan(values)
        assert np.array_equal(result.view(np.uint16)[numbers], expected.view(np.uint16)[numbers])


def test_narrowing_from_f64_does_not_round_twice() -> None:
    tie = np.float64(1 + 2**-8)  # halfway between two bf16
    values = np.array([tie, tie + 2**-40, tie - 2**-40, -tie - 2**-40] * 4)
    expected = np.array([1.0, 1 + 2**-7, 1.0, -1 - 2**-7] * 4).astype(ml_dtypes.bfloat16)
    result = apply("%r = arith.truncf %a : $V to $R", values, values, "f64", "bf16", 16, host_facts())
    assert same(result, expected)


@pytest.mark.parametrize("source", ["f16", "bf16", "f8E4M3FN", "f8E5M2", "f8E4M3FNUZ", "f8E5M2FNUZ"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_widening_is_exact_for_every_code(source: str) -> None:
    unsigned, count = (np.uint8, 256) if np.dtype(TYPES[source]).itemsize == 1 else (np.uint16, 1 << 16)
    values = np.arange(count).astype(unsigned).view(TYPES[source])
    for facts in machines():
        result = apply("%r = arith.extf %a : $V to $R", values, values, source, "f32", 16, facts)
        assert same(result, values.astype(np.float32))


def test_narrowing_towards_zero() -> None:
    values = np.array([1.999, -1.999, 1e9, -1e9, 2**-20, 0.3, 65519.9, 65536.0] * 2, np.float32)
    result = apply(
        "%r = arith.truncf %a to_nearest_even : $V to $R".replace("to_nearest_even", "toward_zero"),
        values,
        values,
        "f32",
        "f16",
        16,
        host_facts(),
    )
    assert np.all(np.abs(result.astype(np.float64)) <= np.abs(values.astype(np.float64)))
    assert float(result[2]) == 65504.0 and float(result[0]) == float(np.float16(1.998046875))


INTEGER_TYPES = ["i64", "i32", "i16", "i8"]


@pytest.mark.parametrize("type", INTEGER_TYPES)
@pytest.mark.parametrize("name", ["divsi", "remsi", "floordivsi", "ceildivsi", "divui", "remui", "ceildivui"])
def test_division(name: str, type: str) -> None:
    info = np.iinfo(TYPES[type])
    random = np.random.default_rng(5)
    a = random.integers(info.min, info.max, 256, TYPES[type], endpoint=True)
    b = random.integers(info.min, info.max, 256, TYPES[type], endpoint=True)
    b[::3] = random.integers(-9, 10, b[::3].size)
    a[:4], b[:4] = (info.min, info.max, -1, 7), (3, -2, info.max, -2)
    b[b == 0] = 5
    b[b == -1] = 3
    x, y = [int(v) for v in a], [int(v) for v in b]
    if name.endswith("ui"):
        mask = (1 << info.bits) - 1
        x, y = [v & mask for v in x], [v & mask for v in y]
    formulas = {
        "divsi": lambda p, q: abs(p) // abs(q) * (1 if (p < 0) == (q < 0) else -1),
        "remsi": lambda p, q: p - q * (abs(p) // abs(q) * (1 if (p < 0) == (q < 0) else -1)),
        "floordivsi": lambda p, q: p // q,
        "ceildivsi": lambda p, q: -(-p // q),
        "divui": lambda p, q: p // q,
        "remui": lambda p, q: p % q,
        "ceildivui": lambda p, q: -(-p // q),
    }
    expected = [formulas[name](p, q) & ((1 << info.bits) - 1) for p, q in zip(x, y, strict=True)]
    unsigned = np.dtype(TYPES[type]).str.replace("i", "u")
    for facts in machines():
        for lanes in (0, 16):
            result = apply(f"%r = arith.{name} %a, %b : $V", a, b, type, type, lanes, facts)
            assert [int(v) for v in result.view(unsigned)] == expected, (facts.cpu, lanes)


@pytest.mark.parametrize("name", ["divsi", "remsi", "divui", "remui", "floordivsi"])
@pytest.mark.parametrize("type", INTEGER_TYPES)
def test_division_by_zero_and_of_the_least_integer_do_not_trap(name: str, type: str) -> None:
    info = np.iinfo(TYPES[type])
    a = np.full(32, info.min, TYPES[type])
    b = np.resize(np.array([0, -1, 2, 1], TYPES[type]), 32)
    for lanes in (0, 16):
        result = apply(f"%r = arith.{name} %a, %b : $V", a, b, type, type, lanes, host_facts())
        if name == "divsi":
            assert result[2] == info.min // 2 and result[3] == info.min


@pytest.mark.parametrize("target", ["i64", "i32", "i8"])
def test_float_to_integer_saturates(target: str) -> None:
    values = np.array([1.9, -1.9, 1e30, -1e30, np.nan, np.inf, -np.inf, 100.5] * 2, np.float32)
    result = apply("%r = arith.fptosi %a : $V to $R", values, values, "f32", target, 16, host_facts())
    bits = 32 if target == "i8" else int(target[1:])
    limits = (1 << (bits - 1)) - 1, -(1 << (bits - 1))
    wide = np.array([1, -1, limits[0], limits[1], 0, limits[0], limits[1], 100] * 2, dtype=object)
    assert (
        [int(v) for v in result] == [int(v) for v in np.array([w & 0xFF for w in wide]).astype(np.uint8).view(np.int8)]
        if target == "i8"
        else [int(v) for v in result] == list(wide)
    )


@pytest.mark.pairwise
@pytest.mark.parametrize("cpu", ["", "x86-64-v3"])
@pytest.mark.parametrize("opcode", ["fptosi", "fptoui"])
@pytest.mark.parametrize(
    ("source", "target"), [("f32", "i32"), ("f32", "i64"), ("f64", "i64"), ("f64", "i32"), ("f16", "i32")]
)
def test_lanes_saturate_as_scalars_do(source: str, target: str, opcode: str, cpu: str) -> None:
    if cpu and not host_facts().is_x86:
        pytest.skip("code for another architecture cannot run here")
    limits = [np.nextafter(2.0**bits, toward) for bits in (31, 32, 63, 64) for toward in (0, np.inf)]
    numbers = [0.0, 0.9, 1.5, 65504.0, np.inf, np.nan, *limits, *(2.0**bits for bits in (31, 32, 63, 64)), 1e30]
    with np.errstate(over="ignore"):
        values = np.array([*numbers, *(-x for x in numbers), -1.0, -0.99], TYPES[source])[: len(numbers) * 2]
    values = np.resize(values, 48)
    facts = named_facts(cpu) if cpu else host_facts()
    body = f"%r = arith.{opcode} %a : $V to $R"
    lanes, scalars = (apply(body, values, values, source, target, count, facts) for count in (16, 0))
    np.testing.assert_array_equal(lanes, scalars)


def test_negation_and_selection_of_bf16() -> None:
    a, b = random_floats("bf16", 64), random_floats("bf16", 64, 1)
    body = """%m = arith.cmpf ogt, %a, %b : $V
    %na = arith.negf %a : $V
    %r = arith.select %m, %na, %b : vector<16xi1>, $V"""
    assert same(apply(body, a, b, "bf16", "bf16", 16, host_facts()), np.where(a > b, -a, b))


@pytest.mark.parametrize("name", ["exp", "tanh", "rsqrt", "erf", "absf", "floor"])
@pytest.mark.parametrize("type", ["f64", "f16", "bf16"])
def test_math_on_other_float_types(name: str, type: str) -> None:
    import math

    a = np.abs(random_floats(type, 64)) + TYPES[type](0.5)
    functions = {"exp": np.exp, "tanh": np.tanh, "rsqrt": lambda x: 1 / np.sqrt(x), "absf": np.abs, "floor": np.floor}
    wide = a.astype(np.float64)
    exact = np.array([math.erf(v) for v in wide]) if name == "erf" else functions[name](wide)
    tolerance = {"f64": 1e-15, "f16": 2**-10, "bf16": 2**-7}[type]
    for lanes in (0, 16):
        result = apply(f"%r = math.{name} %a : $V", a, a, type, type, lanes, host_facts()).astype(np.float64)
        assert np.all(np.abs(result - exact) <= tolerance * np.abs(exact))


def test_products_and_sums_are_fused_unless_the_module_forbids_it() -> None:
    """x * x - rounded(x * x) is the rounding error when fused, and 0 when not."""
    body = """%p = arith.mulf %a, %a : $V
    %r = arith.subf %p, %b : $V"""
    a = (1 + np.random.default_rng(0).random(64)).astype(np.float32)
    kernel = elementwise(body, "f32", "f32", 16)
    if not host_facts().has("fma"):
        pytest.skip("this processor has no fused operations")
    for text, is_fused in ((kernel, True), ("module attributes {tilewright.no_fp_fusion} {" + kernel + "}", False)):
        out = np.zeros(64, np.float32)
        run_loops(text, a, a * a, out, a.size)
        assert np.any(out != 0) == is_fused


@pytest.mark.parametrize("type", ["i64", "i32", "i16", "i8"])
@pytest.mark.parametrize("name", ["shli", "shrui", "shrsi"])
def test_shifts_by_the_width_or_more_give_zero(name: str, type: str) -> None:
    dtype = TYPES[type]
    bits = np.dtype(dtype).itemsize * 8
    unsigned = np.dtype(f"uint{bits}")
    amounts = np.resize(np.array([0, 1, bits - 1, bits, bits + 1, -1, 100]), 64).astype(dtype)
    values = np.random.default_rng(0).integers(np.iinfo(dtype).min, np.iinfo(dtype).max, 64, dtype)
    inside = amounts.astype(unsigned) < bits
    held = np.where(inside, amounts, 0)
    if name == "shrsi":
        shifted = values >> held
    else:
        operation = np.left_shift if name == "shli" else np.right_shift
        shifted = operation(values.view(unsigned), held.view(unsigned)).view(dtype)
    expected = np.where(inside, shifted, 0).astype(dtype)
    for facts in machines():
        for lanes in (0, 16):
            result = apply(f"%r = arith.{name} %a, %b : $V", values, amounts, type, type, lanes, facts)
            assert np.array_equal(result, expected)
