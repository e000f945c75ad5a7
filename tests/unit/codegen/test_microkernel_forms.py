"""Forms of the kernels for whole blocks: B with adjacent rows, C from zero, B in panels, and all of them together."""

from __future__ import annotations

import numpy as np
import pytest
from microkernel_names import kernel_of  # pyright: ignore[reportMissingImports]
from test_microkernels import TYPES, laid_out, load, machines, random_matrix  # pyright: ignore[reportMissingImports]

from suite.pairwise import pairwise
from tilewright.codegen.llvm_text import FunctionText, ModuleText
from tilewright.codegen.microkernels import (
    MatmulKernel,
    define_routine,
    direct_variant,
    exact_variant,
    plan_panels,
)
from tilewright.codegen.microkernels.panels import transpose_square
from tilewright.targets.cpu.facts import CpuFacts

SHAPES = [(1, 1, 5), (17, 69, 33), (2, 17, 0), (64, 64, 64), (33, 130, 300), (16, 32, 96), (40, 16, 31), (20, 40, 1100)]


def check(
    kind: str,
    m: int,
    n: int,
    k: int,
    facts: CpuFacts,
    *,
    nt: bool,
    zero: bool,
    panels: bool,
    out: str = "",
    layout: str = "rows",
) -> None:
    """`out`: the type of a separate output, one of those that the machine can write; `layout`: how A lies in memory."""
    dtype, wide, accumulator, tolerance = TYPES[kind]
    a, b = random_matrix(kind, m, k, 1), random_matrix(kind, k, n, 2)
    c = np.full((m, n + 3), 7, wide)
    expected = (0 if zero else 7) + a.astype(np.float64) @ b.astype(np.float64)
    operand, stride = (np.ascontiguousarray(b.T), k) if nt else (b, n)
    width = 1024
    if panels:
        plan = plan_panels(kind, accumulator, k, n, facts, transposed_b=nt)
        assert not out or out in plan.outputs, f"no kernel of {kind} writes {out}"
        memory = np.full(plan.bytes + 128, 5, np.uint8)
        start = -memory.ctypes.data % 64
        packed = memory[start : start + plan.bytes]
        load(plan.routine.symbol, facts, 5)(operand.ctypes.data, stride, packed.ctypes.data, k, n)
        assert np.all(memory[start + plan.bytes :] == 5), "memory behind the panels was written"
        operand, stride, width = packed, 0, plan.routine.columns
    form = f"{'_nt' * (nt and not panels)}{'_zero' * zero}{'_panels' * panels}"
    if out:
        form += "_out" if out == accumulator else f"_out_{out}"
        tolerance = max(tolerance, 2.0**-8) if out == "bf16" else tolerance
    general = kernel_of(f"tw_mk_{kind}_{accumulator}_1024x{width}{form}")
    assert isinstance(general, MatmulKernel)
    variants = {exact_variant(general, m, n, facts)}
    if layout == "rows":
        variants |= {direct_variant(kernel, facts) for kernel in variants} | {exact_variant(general, m, n, facts, k)}
    left, a_row_stride, a_k_stride = laid_out(a, layout)
    for variant in variants:
        c[:] = 7
        result = np.full((m, n + 5), 7, TYPES[out][0] if out in TYPES else wide) if out else c
        kernel = load(variant.symbol, facts, 12 if out else 10)
        output = (result.ctypes.data, n + 5) if out else ()
        rows = left.ctypes.data, a_row_stride, a_k_stride
        kernel(*rows, operand.ctypes.data, stride, c.ctypes.data, n + 3, k, m, n, *output)
        assert np.all(c[:, n:] == 7) and np.all(result[:, n:] == 7), "columns beyond n_count were written"
        scale = np.abs(a.astype(np.float64)) @ np.abs(b.astype(np.float64)) + 7
        difference = np.abs(result[:, :n].astype(np.float64) - expected)
        assert np.all(difference <= tolerance * scale), (variant.symbol, m, n, k, facts.cpu)
    del dtype


def outputs_of(kind: str, facts: CpuFacts) -> tuple[str, ...]:
    """The types that products write to a separate output."""
    return plan_panels(kind, TYPES[kind][2], 64, 64, facts, transposed_b=False).outputs


@pytest.mark.costly
@pytest.mark.parametrize("kind", ["f32", "f64", "f16", "bf16", "f8E4M3FN", "i8"])
def test_every_form(kind: str) -> None:
    for facts, (m, n, k), nt, zero, panels in pairwise(machines(), SHAPES, *[(False, True)] * 3):
        check(kind, m, n, k, facts, nt=nt, zero=zero, panels=panels)


@pytest.mark.costly
@pytest.mark.parametrize(
    ("kind", "out"),
    [("f32", "f32"), ("f64", "f64"), ("f16", "f32"), ("i8", "i32"), ("bf16", "f32"), ("bf16", "bf16")],
)
def test_a_separate_output(kind: str, out: str) -> None:
    able = [facts for facts in machines() if out in outputs_of(kind, facts)]
    if not able:
        pytest.skip(f"this machine writes no {out} behind products of {kind}")
    for facts, (m, n, k), zero in pairwise(able, SHAPES, (False, True)):
        check(kind, m, n, k, facts, nt=False, zero=zero, panels=True, out=out)


@pytest.mark.parametrize(("kind", "out"), [("i8", ""), ("i8", "i32"), ("bf16", ""), ("bf16", "f32"), ("bf16", "bf16")])
@pytest.mark.parametrize("k", [545, 1152])
def test_more_rows_than_are_copied_at_a_time(kind: str, out: str, k: int) -> None:
    """Rows of A that start anywhere, and such that have no whole tile of k at their end."""
    facts = machines()[0]
    check(kind, 257, 33, k, facts, nt=True, zero=False, panels=False)
    if out and out not in outputs_of(kind, facts):
        pytest.skip(f"this machine writes no {out} behind products of {kind}")
    check(kind, 290, 70, k, facts, nt=False, zero=True, panels=True, out=out)


@pytest.mark.parametrize("layout", ["columns", "neither"])
@pytest.mark.parametrize(("kind", "out"), [("f32", "f32"), ("bf16", ""), ("bf16", "bf16"), ("i8", "i32")])
def test_panels_and_a_transposed_a(kind: str, out: str, layout: str) -> None:
    facts = machines()[0]
    if out and out not in outputs_of(kind, facts):
        pytest.skip(f"this machine writes no {out} behind products of {kind}")
    for m, n, k in [*SHAPES, (290, 70, 545)]:
        check(kind, m, n, k, facts, nt=False, zero=True, panels=True, out=out, layout=layout)


@pytest.mark.costly
@pytest.mark.parametrize("nt", [False, True])
@pytest.mark.parametrize(("kind", "zero", "out"), [("f32", True, True), ("f32", False, False), ("f64", True, False)])
def test_panels_that_the_kernel_fills(kind: str, zero: bool, out: bool, nt: bool) -> None:
    """The first product fills them, the second one reads them; one without rows leaves them full, too."""
    wide = TYPES[kind][1]
    for facts in machines():
        for m, n, k in [*SHAPES, (0, 130, 300), (300, 66, 130)]:
            a, b = random_matrix(kind, m, k, 1), random_matrix(kind, k, n, 2)
            operand, stride = (np.ascontiguousarray(b.T), k) if nt else (b, n)
            plan = plan_panels(kind, kind, k, n, facts, transposed_b=nt)
            assert plan.kernels_fill
            memory = np.full(plan.bytes + 128, 0xFF, np.uint8)
            panels = memory.ctypes.data + -memory.ctypes.data % 64
            form = f"{'_nt' * nt}{'_zero' * zero}_panels_fills{'_out' * out}"
            general = kernel_of(f"tw_mk_{kind}_{kind}_1024x{plan.routine.columns}{form}")
            assert isinstance(general, MatmulKernel)
            kernel = load(exact_variant(general, m, n, facts).symbol, facts, 13 if out else 11)
            for is_empty, rows in ((1, m), (0, m), (1, 0), (0, m)):
                memory[:] = 0xFF if is_empty else memory
                c, result = np.full((rows, n), 7, wide), np.full((rows, n), 7, wide)
                more = (result.ctypes.data, n) if out else ()
                kernel(a.ctypes.data, k, 1, panels + is_empty, stride, c.ctypes.data, n, k, rows, n,
                       operand.ctypes.data, *more)  # fmt: skip
                expected = (0 if zero else 7) + a[:rows] @ b
                np.testing.assert_allclose(result if out else c, expected, rtol=1e-4, atol=1e-3)
            end = panels + plan.bytes - memory.ctypes.data
            assert np.all(memory[end:] == 0xFF), "memory behind the panels was written"


@pytest.mark.parametrize("name", ["tw_mk_f16_f32_1024x64_panels_fills", "tw_mk_f32_f32_1024x64_fills"])
def test_only_kernels_that_read_plain_panels_fill_them(name: str) -> None:
    with pytest.raises(ValueError, match="fill"):
        kernel_of(name)


@pytest.mark.parametrize("kind", ["bf16", "i8"])
def test_kernels_of_known_size_on_tiles(kind: str) -> None:
    facts = machines()[0]
    general = MatmulKernel(kind, TYPES[kind][2], 1024, 1024, panel_columns=32)
    if exact_variant(general, 64, 64, facts, 64).counts is None:
        pytest.skip("this machine has no AMX tiles")
    for m, n, k in ((16, 32, 64), (32, 64, 128), (96, 32, 192), (32, 256, 64)):
        assert exact_variant(general, m, n, facts, k).counts == (m, n, k)
        for zero in (False, True):
            check(kind, m, n, k, facts, nt=False, zero=zero, panels=True)
    for m, n, k in ((24, 32, 64), (32, 40, 64), (32, 32, 65), (32, 32, 0), (512, 512, 512)):
        assert exact_variant(general, m, n, facts, k).counts is None


def test_a_size_that_no_kernel_is_for() -> None:
    for name in ("tw_mk_f32_f32_1024x64_panels_of_32x64x64", "tw_mk_bf16_f32_1024x32_panels_of_32x64x65"):
        with pytest.raises(ValueError, match="size"):
            define_routine(kernel_of(name), ModuleText(), machines()[0])


@pytest.mark.parametrize("name", ["tw_mk_f32_f32_1024x64_out", "tw_mk_f32_f32_1024x64_zero_out_exact"])
def test_a_separate_output_needs_panels(name: str) -> None:
    with pytest.raises(ValueError, match="panels"):
        kernel_of(name)


def test_transposed_a_from_zero() -> None:
    for kind in ("f32", "bf16"):
        for facts in machines():
            m, n, k = 40, 70, 50
            a, b = random_matrix(kind, m, k, 1), random_matrix(kind, k, n, 2)
            c = np.full((m, n), 7, np.float32)
            operand = np.asfortranarray(a)
            name = f"tw_mk_{kind}_f32_1024x1024_zero"
            load(name, facts)(operand.ctypes.data, 1, m, b.ctypes.data, n, c.ctypes.data, n, k, m, n)
            np.testing.assert_allclose(c, a.astype(np.float64) @ b.astype(np.float64), atol=1e-4)


def test_short_rows_stay_in_place() -> None:
    for facts in machines():
        memory = np.zeros(64 * 64 + 32, np.float32)
        start = -memory.ctypes.data % 64 // 4
        for shift in (0, 1):
            b = memory[start + shift : start + shift + 4096].reshape(64, 64)
            b[:] = random_matrix("f32", 64, 64, 3)
            a, c = random_matrix("f32", 32, 64, 1), np.zeros((32, 64), np.float32)
            load("tw_mk_f32_f32_1024x1024", facts)(
                a.ctypes.data, 64, 1, b.ctypes.data, 64, c.ctypes.data, 64, 64, 32, 64
            )
            np.testing.assert_allclose(c, a @ b, atol=1e-4)


@pytest.mark.parametrize("form", ["_nt", "_zero", "_panels", "_exact"])
def test_only_whole_blocks_have_forms(form: str) -> None:
    with pytest.raises(ValueError, match="forms"):
        kernel_of(f"tw_mk_f32_f32_8x32{form}")


@pytest.mark.parametrize(
    ("side", "scalar", "rounds"), [(16, "float", 4), (8, "i32", 3), (4, "double", 2), (2, "double", 1)]
)
def test_no_more_than_two_rounds_of_a_transpose_are_looked_at_together(side: int, scalar: str, rounds: int) -> None:
    """LLVM takes 10 ms for the shuffles of four."""
    fn = FunctionText(ModuleText(), "f", "void", [])
    turned = transpose_square(fn, [f"%r{row}" for row in range(side)], scalar)
    fn.terminate("ret void")
    lines = [line for line in fn.text().splitlines() if "shufflevector" in line or "arithmetic.fence" in line]
    fences = [number for number, line in enumerate(lines) if "fence" in line]
    assert fences == (list(range(2 * side, 3 * side)) if rounds > 2 else [])
    assert len(turned) == side and len(lines) - len(fences) == rounds * side
