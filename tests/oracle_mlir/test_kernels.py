"""Whole kernels: our front end and middle layer, upstream's lowering and code generation, NumPy's results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from suite.arrays import Array
from tilewright.tools.user_files import load_file

rng = np.random.default_rng(23)
PIPELINE = "inline,canonicalize,cse,canonicalize,symbol-dce,triton-to-linalg"
TYPES = {np.float32: "*fp32", np.int32: "*i32", np.int64: "*i64"}


@pytest.fixture(scope="module")
def kernels() -> ModuleType:
    """`kernels.py` with tilewright standing in for Triton."""
    return load_file(Path(__file__).with_name("kernels.py"))


@pytest.fixture(scope="module")
def launch(mlir: Callable[..., Any], lower_ir: Callable[[Any, str], str], kernels: ModuleType) -> Callable[..., None]:
    """Compile a kernel of `kernels.py` for its arguments and run it on a grid."""
    from tilewright.frontend import compile_to_tt

    def run(name: str, grid: Sequence[int], *args: Any, **constants: Any) -> None:
        kernel = getattr(kernels, name)
        signature = dict(zip(kernel.arg_names, map(kind_of, args), strict=False))
        signature |= dict.fromkeys(constants, "constexpr")
        values = {(kernel.arg_names.index(key),): value for key, value in constants.items()}
        text = lower_ir(compile_to_tt(kernel, signature, values, {}), PIPELINE)
        mlir(text, name)(grid, *args)

    return run


def kind_of(arg: Any) -> str:
    """The signature entry of an argument."""
    if isinstance(arg, np.ndarray):
        return TYPES[arg.dtype.type]
    return "fp32" if isinstance(arg, float) else "i32"


def floats(*shape: int) -> Array:
    return rng.standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("n", [1, 64, 1000])
def test_vector_add(launch: Callable[..., None], n: int) -> None:
    x, y, out = floats(n), floats(n), np.full(n + 8, 5, np.float32)
    launch("vector_add", (-(-n // 64),), x, y, out, n, BLOCK=64)
    np.testing.assert_array_equal(out, np.concatenate([x + y, np.full(8, 5, np.float32)]))


def test_softmax(launch: Callable[..., None]) -> None:
    x, out = floats(5, 100), np.empty((5, 100), np.float32)
    launch("softmax", (5,), out, x, 100, 100, BLOCK=128)
    e = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(out, e / e.sum(1, keepdims=True), rtol=1e-5)


@pytest.mark.parametrize("layout", ["NN", "TN", "NT"])
@pytest.mark.parametrize(("m", "n", "k"), [(32, 32, 32), (37, 45, 50), (5, 70, 3)])
def test_matmul_wraps_rows_and_columns(launch: Callable[..., None], m: int, n: int, k: int, layout: str) -> None:
    a = floats(m, k) if layout[0] == "N" else floats(k, m).T
    b = floats(k, n) if layout[1] == "N" else floats(n, k).T
    c = np.zeros((m, n), np.float32)
    strides = [s // 4 for array in (a, b, c) for s in array.strides]
    grid = (-(-m // 16), -(-n // 32))
    bases = [x if x.flags.c_contiguous else x.T for x in (a, b)]
    launch("matmul", grid, *bases, c, m, n, k, *strides, BM=16, BN=32, BK=16)
    np.testing.assert_allclose(c, a @ b, rtol=1e-4, atol=1e-4)


def test_layer_norm(launch: Callable[..., None]) -> None:
    x, w, b, y = floats(4, 150), floats(150), floats(150), np.empty((4, 150), np.float32)
    launch("layer_norm", (4,), x, y, w, b, 150, 150, 1e-5, BLOCK=64)
    expected = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5) * w + b
    np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-5)


def test_causal_attention(launch: Callable[..., None]) -> None:
    q, k, v, out = floats(50, 16), floats(50, 16), floats(50, 16), np.empty((50, 16), np.float32)
    launch("attention", (4,), q, k, v, out, 0.25, 50, 16, HEAD=16, BM=16, BN=16)
    scores = np.where(np.tri(50, dtype=bool), q @ k.T * 0.25, -np.inf)
    p = np.exp(scores - scores.max(1, keepdims=True))
    np.testing.assert_allclose(out, p / p.sum(1, keepdims=True) @ v, rtol=1e-4, atol=1e-5)


def test_row_statistics(launch: Callable[..., None]) -> None:
    x = np.round(floats(4, 50) * 2).astype(np.float32)
    arg, cum, low = np.empty(4, np.int32), np.empty((4, 50), np.float32), np.empty(4, np.float32)
    launch("row_statistics", (4,), x, arg, cum, low, 50, BLOCK=64)
    np.testing.assert_array_equal(arg, x.argmax(1))
    np.testing.assert_array_equal(low, x.min(1))
    np.testing.assert_allclose(cum, x.cumsum(1), rtol=1e-5)


def test_histogram(launch: Callable[..., None]) -> None:
    x, bins = rng.integers(0, 16, 300).astype(np.int32), np.zeros(16, np.int32)
    launch("histogram", (5,), x, bins, 300, BINS=16, BLOCK=64)
    np.testing.assert_array_equal(bins, np.bincount(x, minlength=16))


def test_embedding(launch: Callable[..., None]) -> None:
    table, index, out = floats(20, 24), rng.integers(0, 20, 37).astype(np.int64), np.zeros((37, 24), np.float32)
    launch("embedding", (3,), table, index, out, 37, 24, BLOCK=16, WIDTH=32)
    np.testing.assert_array_equal(out, table[index])


def test_transpose(launch: Callable[..., None]) -> None:
    x, y = floats(37, 50), np.empty((50, 37), np.float32)
    launch("transpose", (3, 2), x, y, 37, 50, BM=16, BN=32)
    np.testing.assert_array_equal(y, x.T)


def test_causal_mask_on_memory(launch: Callable[..., None]) -> None:
    x, y = floats(10, 10), np.empty((10, 10), np.float32)
    launch("causal_copy", (1,), x, y, 10, BLOCK=16)
    np.testing.assert_array_equal(y, np.where(np.tri(10, dtype=bool), x, 7))


def test_early_return(launch: Callable[..., None]) -> None:
    x, y = floats(100), np.zeros(100, np.float32)
    launch("early_return", (6,), x, y, 100, BLOCK=32)
    np.testing.assert_array_equal(y, x * 2)


def test_reversed_copy(launch: Callable[..., None]) -> None:
    x, y = floats(100), np.empty(100, np.float32)
    launch("reversed_copy", (4,), x, y, 100, BLOCK=32)
    np.testing.assert_array_equal(y, x[::-1])


def test_pointer_chosen_by_a_branch(launch: Callable[..., None]) -> None:
    x, y, out = floats(20), floats(20), np.empty((2, 20), np.float32)
    launch("chosen_input", (2,), x, y, out, 20, BLOCK=32)
    np.testing.assert_array_equal(out, [x, y])


def test_while_loop(launch: Callable[..., None]) -> None:
    x, out = np.array([1, 2, 100, 1023], np.int32), np.empty(4, np.int32)
    launch("halving_loop", (4,), x, out)
    np.testing.assert_array_equal(out, [0, 1, 6, 9])


def test_call_passes_the_grid_on(launch: Callable[..., None]) -> None:
    x, out = np.array([5, 6, 7], np.int32), np.empty(3, np.int32)
    launch("calling", (3,), x, out)
    np.testing.assert_array_equal(out, [15, 19, 23])


def test_pointer_read_from_memory(launch: Callable[..., None]) -> None:
    rows, out = [floats(10) for _ in range(3)], np.empty((3, 10), np.float32)
    pointers = np.array([row.ctypes.data for row in rows], np.int64)
    launch("chosen_address", (3,), pointers, out, 10, BLOCK=16)
    np.testing.assert_array_equal(out, rows)


def test_memory_read_as_another_type(launch: Callable[..., None]) -> None:
    x, out = floats(16), np.empty(32, np.float32)
    launch("bits_and_values", (1,), x, out, BLOCK=16)
    bits = np.append(x.view(np.int32)[:15], 1) ^ 7
    np.testing.assert_array_equal(out[:16].view(np.int32), bits)
    np.testing.assert_array_equal(out[16:], x)


def test_float_maximum_by_integer_atomics(launch: Callable[..., None]) -> None:
    x, out = floats(100), np.full(1, -np.inf, np.float32)
    launch("largest", (4,), x, out, 100, BLOCK=32)
    assert out[0] == x.max()


def test_argument_read_as_floats_and_changed_as_integers(launch: Callable[..., None]) -> None:
    x, out = floats(100), np.array([-np.inf, 0], np.float32)
    launch("sum_and_maximum", (4,), x, out, 100, BLOCK=32)
    np.testing.assert_allclose(out, [x.max(), x.sum()], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("which", [0, 1])
def test_argument_at_several_widths(launch: Callable[..., None], which: int) -> None:
    x = rng.integers(-(2**31), 2**31, 13).astype(np.int32)
    out = rng.integers(-(2**31), 2**31, 16).astype(np.int32)
    halves, before = x.view(np.int16).reshape(-1, 2), out.copy()
    high = halves[:, 1] if which else before[:13].view(np.int16).reshape(-1, 2)[:, 1]
    launch("halves_of_words", (1,), x, out, which, 13, BLOCK=16)
    expected = x + halves[:, 0] + high.astype(np.int32) + x.view(np.int8).reshape(-1, 4)[:, 3]
    np.testing.assert_array_equal(out, np.append(expected, before[13:]))


def test_addresses_of_matrices_in_memory(launch: Callable[..., None]) -> None:
    sizes = np.array([5, 8, 1], np.int32)
    a, b, out = ([floats(n, n) for n in sizes] for _ in range(3))
    places = [np.array([m.ctypes.data for m in group], np.int64) for group in (a, b, out)]
    launch("products_of_rows", (3,), *places, sizes, BLOCK=8)
    for left, right, product in zip(a, b, out, strict=True):
        np.testing.assert_array_equal(product, left * right)
