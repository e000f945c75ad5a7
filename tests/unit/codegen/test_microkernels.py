"""Micro-kernels against NumPy: every type, every kind of edge, transposed A; nothing is overwritten."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import lru_cache, partial

import ml_dtypes
import numpy as np
import pytest
from aarch64_machine import AArch64Machine  # pyright: ignore[reportMissingImports]
from math_harness import LOADER
from microkernel_names import kernel_of  # pyright: ignore[reportMissingImports]

from suite.arrays import Array
from tilewright.codegen.llvm_backend import compile_text, emit_assembly
from tilewright.codegen.llvm_text import ModuleText
from tilewright.codegen.microkernels import (
    MatmulKernel,
    define_routine,
    exact_variant,
)
from tilewright.targets.cpu.facts import CpuFacts, host_facts, named_facts

TYPES: dict[str, tuple[type, type, str, float]] = {
    "f32": (np.float32, np.float32, "f32", 1e-6),
    "f64": (np.float64, np.float64, "f64", 1e-14),
    "f16": (np.float16, np.float32, "f32", 1e-6),
    "bf16": (ml_dtypes.bfloat16, np.float32, "f32", 1e-6),
    "f8E4M3FN": (ml_dtypes.float8_e4m3fn, np.float32, "f32", 1e-6),
    "f8E5M2": (ml_dtypes.float8_e5m2, np.float32, "f32", 1e-6),
    "i8": (np.int8, np.int32, "i32", 0.0),
}


def machines() -> list[CpuFacts]:
    """This one and one without AVX-512; `test_word_products.py` has others."""
    host = host_facts()
    return [host, named_facts("x86-64-v3")] if host.is_x86 and host.has("avx2") else [host]


@lru_cache(maxsize=64)
def load(name: str, facts: CpuFacts, arity: int = 10) -> Callable[..., None]:
    """A micro-kernel; one for AArch64 is emulated."""
    module = ModuleText(triple=facts.triple)
    define_routine(kernel_of(name), module, facts)
    module.definitions[name] = module.definitions[name].replace("define internal", "define")
    image = compile_text(str(module), facts, verify=True)
    if not facts.is_x86 and host_facts().is_x86:
        return partial(AArch64Machine(image).call, name)
    library = LOADER.load(image, (name,))
    function = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * arity)(library.address(name))
    function.library = library  # pyright: ignore[reportFunctionMemberAccess]
    return function


def random_matrix(kind: str, rows: int, columns: int, seed: int) -> Array:
    random = np.random.default_rng(seed)
    dtype = TYPES[kind][0]
    if kind == "i8":
        return random.integers(-128, 128, (rows, columns)).astype(dtype)
    return random.standard_normal((rows, columns)).astype(dtype)


def laid_out(a: Array, layout: str) -> tuple[Array, int, int]:
    """The same matrix with contiguous rows, contiguous columns, or neither, and its strides in elements."""
    m, k = a.shape
    if layout == "rows":
        return a, k, 1
    if layout == "columns":
        return np.asfortranarray(a), 1, m
    apart = np.zeros((m, 3 * k), a.dtype)
    apart[:, ::3] = a
    return apart, 3 * k, 3


def check(name: str, kind: str, m: int, n: int, k: int, facts: CpuFacts, *, layout: str = "rows") -> None:
    _, accumulator, _, tolerance = TYPES[kind]
    a, b = random_matrix(kind, m, k, 1), random_matrix(kind, k, n, 2)
    c = np.full((m, n + 3), 7, accumulator)
    expected = 7 + a.astype(np.float64) @ b.astype(np.float64)
    left, row_stride, k_stride = laid_out(a, layout)
    operand, b_stride = b, n
    kernel = load(name, facts)
    kernel(left.ctypes.data, row_stride, k_stride, operand.ctypes.data, b_stride, c.ctypes.data, n + 3, k, m, n)
    assert np.all(c[:, n:] == 7), "columns beyond n_count were written"
    scale = np.abs(a.astype(np.float64)) @ np.abs(b.astype(np.float64)) + 7
    assert np.all(np.abs(c[:, :n] - expected) <= tolerance * scale), (name, m, n, k, facts.cpu)


SHAPES = [(1, 1, 5), (3, 32, 7), (8, 31, 9), (7, 3, 10), (17, 69, 33), (2, 17, 0), (64, 64, 64), (33, 130, 300)]


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("size", ["8x32", "4x16", "16x64", "64x64"])
def test_shapes(kind: str, size: str) -> None:
    name = f"tw_mk_{kind}_{TYPES[kind][2]}_{size}"
    for facts in machines():
        for m, n, k in SHAPES:
            check(name, kind, m, n, k, facts)


@pytest.mark.parametrize("columns", [16, 32, 48, 64])
def test_depths(columns: int) -> None:
    """Chunks of k, pairs of steps and single ones, in tiles of every width."""
    for facts in machines():
        for k in (*range(1, 40), 191, 510):
            check(f"tw_mk_f32_f32_16x{columns}", "f32", 18, columns, k, facts)


@pytest.mark.pairwise
@pytest.mark.parametrize("kind", ["f32", "bf16", "i8"])
@pytest.mark.parametrize("size", ["8x32", "16x64", "64x64"])
@pytest.mark.parametrize("layout", ["columns", "neither"])
def test_transposed_a(kind: str, size: str, layout: str) -> None:
    for facts in machines():
        for m, n, k in SHAPES:
            check(f"tw_mk_{kind}_{TYPES[kind][2]}_{size}", kind, m, n, k, facts, layout=layout)


@pytest.mark.parametrize(("kind", "instruction"), [("f32", "fmla"), ("f64", "fmla"), ("i8", "mla"), ("bf16", "fmla")])
def test_aarch64_keeps_accumulators_in_registers(kind: str, instruction: str) -> None:
    facts = named_facts("generic-aarch64")
    module = ModuleText(triple=facts.triple)
    name = f"tw_mk_{kind}_{TYPES[kind][2]}_8x16"
    define_routine(kernel_of(name), module, facts)
    module.definitions[name] = module.definitions[name].replace("define internal", "define")
    assert instruction in emit_assembly(str(module), facts)


def test_kernels_without_edges_for_counts_that_fill_tiles() -> None:
    facts = machines()[-1]
    kernel = MatmulKernel("f32", "f32", 1024, 1024)
    exact = exact_variant(kernel, 64, 128, facts).symbol
    assert exact == f"{kernel.symbol}_exact"
    assert exact_variant(kernel, 63, 128, facts) == exact_variant(kernel, 64, 100, facts) == kernel
    for m, n, k in [(64, 128, 70), (8, 32, 300), (16, 64, 0)]:
        check(exact, "f32", m, n, k, facts)
