"""Which arguments the accesses of a kernel may come from, and what programs that walk Triton's modules see of it."""

from __future__ import annotations

import pytest

from tilewright.analysis.accessed_arguments import find_accesses
from tilewright.analysis.written_arguments import find_written_arguments
from tilewright.compiler.access_summary import Operation, summarise
from tilewright.dialects import make_context
from tilewright.ir.parsing import parse_module

POINTER = "!tt.ptr<f32>"
HEAD = f"tt.func public @kernel(%x: {POINTER}, %y: {POINTER}, %n: i32, %v: f32, %a: i64, %c: i1) "
DESCRIPTOR = "!tt.tensordesc<4x4xf32>"

BODIES = [
    (f"tt.store %y, %v : {POINTER}", [("tt.store", 1)]),
    (
        f"%0 = tt.atomic_rmw fadd, relaxed, gpu, %x, %v, %c : ({POINTER}, f32, i1) -> f32",
        [("tt.load", 0), ("tt.store", 0)],
    ),
    (  # a value that is stored is no address
        f"%0 = tt.load %x : {POINTER}\n %1 = tt.addptr %y, %n : {POINTER}, i32\n tt.store %1, %0 : {POINTER}",
        [("tt.load", 0), ("tt.store", 1)],
    ),
    (  # what was loaded points to where nobody knows
        f"%0 = tt.bitcast %x : {POINTER} -> !tt.ptr<{POINTER}>\n %1 = tt.load %0 : !tt.ptr<{POINTER}>\n"
        f" tt.store %1, %v : {POINTER}",
        [("tt.load", 0)],
    ),
    (
        f"%0 = tt.ptr_to_int %y : {POINTER} -> i64\n %1 = arith.addi %0, %a : i64\n"
        f" %2 = tt.int_to_ptr %1 : i64 -> {POINTER}\n tt.store %2, %v : {POINTER}",
        [("tt.store", 1)],
    ),
    (
        f"%0 = arith.select %c, %x, %y : {POINTER}\n tt.store %0, %v : {POINTER}",
        [("tt.store", 0), ("tt.store", 1)],
    ),
]


@pytest.mark.parametrize(("body", "expected"), BODIES)
def test_the_arguments_of_accesses(body: str, expected: list[tuple[str, int]]) -> None:
    text = f"{HEAD}{{\n {body}\n tt.return\n}}"
    seen: list[Operation] = []
    summary = summarise(parse_module(text, make_context()))
    summary.walk(seen.append)
    accesses = [(op.get_name(), op.get_operand(0).id()) for op in seen if op.get_num_operands()]
    assert accesses == expected
    assert [op.get_str_attr("sym_name") for op in seen if op.get_name() == "tt.func"] == ["kernel"]
    assert all(f"{name} %arg{number}\n" in str(summary) for name, number in accesses)
    written = find_written_arguments(parse_module(text, make_context()))
    assert written <= {number for name, number in accesses if name == "tt.store"}


def test_descriptors_of_the_host_are_arguments() -> None:
    text = (
        f"tt.func public @kernel(%x: {DESCRIPTOR}, %m: i32, %n: i32, %s: i64, %t: i64, %y: {DESCRIPTOR}) {{\n"
        f" %0 = tt.descriptor_load %x[%m, %n] : {DESCRIPTOR} -> tensor<4x4xf32>\n"
        f" tt.descriptor_reduce add, %y[%m, %n], %0 : {DESCRIPTOR}, tensor<4x4xf32>\n tt.return\n}}"
    )
    found = find_accesses(parse_module(text, make_context()))
    assert [(access.reads, access.writes, access.arguments) for access in found] == [
        (True, False, (0,)),
        (True, True, (5,)),
    ]


def test_a_module_without_a_kernel_has_no_accesses() -> None:
    text = f"tt.func private @helper(%x: {POINTER}, %v: f32) {{\n tt.store %x, %v : {POINTER}\n tt.return\n}}"
    assert find_accesses(parse_module(text, make_context())) == []


def test_assembly_with_effects_is_shown() -> None:
    """PyTorch gives up at it, and takes all arguments for written."""
    options = 'constraints = "=f,f", packed_element = 1 : i32, pure = false'
    asm = f'tt.elementwise_inline_asm "nop;" {{{options}}} %v : f32 -> f32'
    seen: list[Operation] = []
    summarise(parse_module(f"{HEAD}{{\n %0 = {asm}\n tt.return\n}}", make_context())).walk(seen.append)
    (shown,) = [op for op in seen if op.get_name() == "tt.elementwise_inline_asm"]
    assert not shown.get_bool_attr("pure")
