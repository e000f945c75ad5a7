"""Micro-kernels are attributes of the functions that a module declares; their names say nothing."""

from __future__ import annotations

import pytest
from xdsl.ir import Operation

from tilewright.codegen.microkernels import MatmulKernel, Packing, PanelRoutine, Routine
from tilewright.dialects import func, make_context
from tilewright.ir.parsing import parse_module
from tilewright.ir.printing import print_op
from tilewright.lowering.microkernel_attributes import find_routine, microkernel_attributes
from tilewright.support.errors import PassError


def declaration(attributes: str) -> Operation:
    module = parse_module(f"func.func private @f(i64) attributes {{{attributes}}}", make_context())
    return next(op for op in module.ops if isinstance(op, func.FuncOp))


@pytest.mark.parametrize(
    "routine",
    [
        MatmulKernel("bf16", "f32", 1024, 1024),
        MatmulKernel("f32", "f32", 4, 1024, for_few_rows=True, transposed_b=True),
        MatmulKernel("f32", "f32", 1024, 1024, panel_columns=64, fills_panels=True, output="f32", has_edges=False),
        MatmulKernel("i8", "i32", 1024, 1024, from_zero=True, direct_a=True, counts=(32, 64, 128), is_configured=True),
        PanelRoutine(Packing.RESERVE, "f8E4M3FN", "f32", 48, transposed_b=True),
    ],
)
def test_what_is_written_is_read(routine: Routine) -> None:
    op = declaration("")
    op.attributes.update(microkernel_attributes(routine))
    read = parse_module(print_op(op), make_context())
    assert [find_routine(op) for op in read.ops] == [routine]


def test_other_functions_have_none() -> None:
    assert find_routine(declaration("llvm.readnone")) is None


TYPES = 'element = "f32", accumulator = "f32"'


@pytest.mark.parametrize(
    ("attribute", "reason"),
    [
        ('matmul = {element = "f32", accumulator = "i32", rows = 8 : i64, columns = 32 : i64}', "micro-kernel"),
        (f"matmul = {{{TYPES}, rows = 8 : i64}}", "columns"),
        (f"matmul = {{{TYPES}, rows = 8 : i64, columns = 8 : i64, width = 1 : i64}}", "width"),
        (f"matmul = {{{TYPES}, rows = 8 : i64, columns = 8 : i64, from_zero = true}}", "forms"),
        (f'packing = {{{TYPES}, columns = 64 : i64, packing = "some"}}', "some"),
        ("matmul = f32", "dictionary"),
    ],
)
def test_what_does_not_exist_is_an_error(attribute: str, reason: str) -> None:
    with pytest.raises(PassError, match=reason):
        find_routine(declaration(f"microkernel.{attribute}"))
