"""Division by one number in all lanes equals division lane by lane, bit for bit, special values included."""

from __future__ import annotations

import numpy as np
import pytest
from loops_kernels import compile_loops, run_loops  # pyright: ignore[reportMissingImports]

KERNEL = """
func.func @k(%x: memref<*x$T>, %o: memref<*x$T>, %s: $T, %n32: i32, $GRID) {
  %n = arith.index_cast %n32 : i32 to index
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %xs = memref.reinterpret_cast %x to offset: [0], sizes: [%n], strides: [1] : memref<*x$T> to memref<?x$T>
  %os = memref.reinterpret_cast %o to offset: [0], sizes: [%n], strides: [1] : memref<*x$T> to memref<?x$T>
  %d = vector.broadcast %s : $T to vector<16x$T>
  scf.for %i = %c0 to %n step %c16 {
    %v = vector.load %xs[%i] : memref<?x$T>, vector<16x$T>
    %q = arith.divf %v, %d : vector<16x$T>
    vector.store %q, %os[%i] : memref<?x$T>, vector<16x$T>
  }
  return
}
"""
SMALL = {"f32": 2.0**-100, "f64": 2.0**-960}
"""Below these the remainder of the correction is subnormal, and the last bit may be wrong."""

TYPES = {"f32": np.float32, "f64": np.float64}
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 3.0, 1e-30, 1e30, 3e38, -3e38, 1e-38, 1e-45, 7.0, 0.1]


@pytest.mark.parametrize("type", TYPES)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_quotients_are_correctly_rounded(type: str) -> None:
    dtype = TYPES[type]
    random = np.random.default_rng(0)
    size = 1 << 14
    mantissas = random.uniform(1, 2, size) * 2.0 ** random.integers(-30, 30, size)
    x = np.concatenate([SPECIAL, mantissas]).astype(dtype)
    divisors = [*random.uniform(0.5, 2, 60), 3.0, 7.0, 1 - 2**-24, 1 + 2**-23, 2 - 2**-22, 1e-15, 1e15]
    divisors += [1e-25, 1e25, 0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40, 3e38, -3.0]
    kernel = KERNEL.replace("$T", type)
    for divisor in np.array(divisors).astype(dtype):
        out = np.zeros_like(x)
        run_loops(kernel, x, out, divisor, x.size)
        expected = x / divisor
        same = (out == expected) | (np.isnan(out) & np.isnan(expected))
        tiny = np.abs(x) < SMALL[type]
        near = np.abs(out - expected) <= np.maximum(np.spacing(np.abs(expected)), np.finfo(dtype).smallest_subnormal)
        assert np.all(same | (tiny & near)), (divisor, x[~same][:4], out[~same][:4], expected[~same][:4])


def test_the_quick_path_is_taken() -> None:
    llir = compile_loops(KERNEL.replace("$T", "f32")).llir
    assert llir.count("fdiv <16 x float>") == 1
    assert "quick" in llir
