"""Kernels for one to four rows of A, by themselves and through those of 16 rows that leave these to them."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from microkernel_names import kernel_of  # pyright: ignore[reportMissingImports]
from test_microkernels import TYPES, laid_out, load, machines, random_matrix  # pyright: ignore[reportMissingImports]

from suite.pairwise import pairwise
from tilewright.codegen.llvm_text import ModuleText
from tilewright.codegen.microkernels import MatmulKernel, define_routine, variant_for_rows
from tilewright.targets.cpu.facts import CpuFacts, named_facts

SHAPES = [(1, 1), (5, 0), (64, 64), (33, 130), (300, 31), (70, 1100), (16, 4200)]
"""Columns and terms."""


def check(
    name: str, kind: str, m: int, n: int, k: int, facts: CpuFacts, layout: str = "rows", direction: int = 1
) -> None:
    """`direction`: in which B is stepped through; 0: all its rows, or columns, are the same."""
    _, wide, _, tolerance = TYPES[kind]
    a, b = random_matrix(kind, m, k, 1), random_matrix(kind, k, n, 2)
    operand = np.ascontiguousarray(b.T if "_nt" in name else b)
    start, stride = operand.ctypes.data, operand.shape[1] * direction
    if direction < 0:
        start += operand.nbytes - operand.shape[1] * operand.itemsize if operand.size else 0
        operand = operand[::-1]
    elif direction == 0 and operand.size:
        operand = np.broadcast_to(operand[:1], operand.shape)
    b = operand.T if "_nt" in name else operand
    left, row_stride, k_stride = laid_out(a, layout)
    c = np.full((m + 1, n + 3), 7, wide)
    load(name, facts)(
        left.ctypes.data, row_stride, k_stride, start, stride, c.ctypes.data, n + 3, k, m, n
    )  # fmt: skip
    assert np.all(c[:, n:] == 7) and np.all(c[m:] == 7), "more was written"
    exact, beside = a.astype(np.float64) @ b.astype(np.float64), 0 if "_zero" in name else 7
    scale = np.abs(a.astype(np.float64)) @ np.abs(b.astype(np.float64)) + 7
    assert np.all(np.abs(c[:m, :n] - (exact + beside)) <= 4 * tolerance * scale), (name, m, n, k, facts.cpu)


@pytest.mark.costly
@pytest.mark.parametrize("kind", ["f32", "f64", "f16", "bf16", "f8E4M3FN"])
def test_every_form(kind: str) -> None:
    for facts, rows, nt, zero in pairwise(machines(), (1, 2, 4), ("", "_nt"), ("", "_zero")):
        for n, k in SHAPES:
            for m in range(rows + 1):
                check(f"tw_mk_{kind}_{TYPES[kind][2]}_{rows}x1024_few{nt}{zero}", kind, m, n, k, facts)


@pytest.mark.parametrize("kind", ["f32", "bf16"])
@pytest.mark.parametrize("nt", ["", "_nt"])
def test_rows_of_any_layout_and_columns_in_any_order(kind: str, nt: str) -> None:
    for facts, layout, direction in itertools.product(machines(), ("rows", "columns", "neither"), (1, -1, 0)):
        for m, (n, k) in itertools.product((1, 3), SHAPES):
            check(f"tw_mk_{kind}_f32_4x1024_few{nt}_zero", kind, m, n, k, facts, layout, direction)


def rows_for(element: str, accumulator: str, rows: int, facts: CpuFacts) -> int:
    return variant_for_rows(MatmulKernel(element, accumulator, 1024, 1024), rows, facts).rows


@pytest.mark.costly
@pytest.mark.parametrize("kind", ["f32", "f64", "f16", "bf16"])
def test_kernels_of_16_rows_turn_to_them(kind: str) -> None:
    accumulator = TYPES[kind][2]
    for facts, nt, zero in pairwise(machines(), ("", "_nt"), ("", "_zero")):
        name = f"tw_mk_{kind}_{accumulator}_16x1024{nt}{zero}"
        if rows_for(kind, accumulator, 1, facts) == 1:
            module = ModuleText(triple=facts.triple)
            define_routine(kernel_of(name), module, facts)
            assert f"tw_mk_{kind}_{accumulator}_4x1024_few{nt}{zero}" in module.definitions
        for m, (n, k) in itertools.product((0, 1, 4, 5, 13, 16), SHAPES[:5]):
            check(name, kind, m, n, k, facts)


def test_how_many_rows_have_kernels() -> None:
    facts = named_facts("x86-64-v3")
    assert [rows_for("f32", "f32", rows, facts) for rows in (1, 2, 3, 4, 5, 16, 17)] == [1, 2, 4, 4, 16, 16, 1024]
    assert rows_for("i8", "i32", 1, facts) == 1024, "words are sums of products in one instruction"
    by_tiles = replace(facts, features=(*facts.features, "amx-tile", "amx-bf16"))
    assert rows_for("bf16", "f32", 1, by_tiles) == 16, "tiles have kernels of their own"


@pytest.mark.parametrize("name", ["8x1024_few", "4x1024_few_panels", "1x1024_few_exact", "4x1024_nt"])
def test_names_that_do_not_exist(name: str) -> None:
    with pytest.raises(ValueError, match="forms"):
        kernel_of(f"tw_mk_f32_f32_{name}")
