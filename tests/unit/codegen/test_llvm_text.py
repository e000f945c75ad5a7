"""The LLVM text writer: what it prints, LLVM reads; constants are exact."""

from __future__ import annotations

import ctypes
import math

import pytest

from tilewright.codegen.instructions import OperandTypeError
from tilewright.codegen.literals import f32_constant, float_constant, half_constant, string_literal, vector_constant
from tilewright.codegen.llvm_backend import (
    Effort,
    LlvmError,
    ObjectLoader,
    compile_text,
    create_target_machine,
    emit_assembly,
    optimise,
    parse,
)
from tilewright.codegen.llvm_text import FunctionText, ModuleText, Parameter
from tilewright.targets.cpu.facts import host_facts, named_facts


def test_a_loop_with_a_phi_prints_as_llvm_wants_it() -> None:
    module = ModuleText()
    fn = FunctionText(module, "sum", "i64", [Parameter("i64", "%n")])
    loop, done = fn.new_label("loop"), fn.new_label("done")
    fn.branch(loop)
    fn.start(loop)
    i = fn.phi("i64")
    i.add("0", "entry")
    following = fn.value(f"add i64 {i.name}, 1")
    i.add(following, loop)
    fn.branch_if(fn.value(f"icmp ult i64 {following}, %n"), loop, done)
    fn.start(done)
    fn.terminate(f"ret i64 {following}")
    module.add_function(fn)
    assert "phi i64 [ 0, %entry ], [ %v4, %loop1 ]" in str(module)
    parse(str(module), verify=True)


def test_a_counted_loop_runs_its_body_for_each_step_and_not_at_all_for_none() -> None:
    module = ModuleText()
    fn = FunctionText(module, "sum", "i64", [Parameter("i64", "%first"), Parameter("i64", "%end")])
    total = fn.entry_value("alloca i64")
    fn.emit(f"store i64 0, ptr {total}")

    def add(number: str) -> None:
        odd, even = fn.new_label("odd"), fn.new_label("even")
        fn.branch_if(fn.value(f"trunc i64 {number} to i1"), odd, even)
        fn.start(odd)
        old = fn.value(f"load i64, ptr {total}")
        fn.emit(f"store i64 {fn.value(f'add i64 {old}, {number}')}, ptr {total}")
        fn.branch(even)
        fn.start(even)

    fn.loop("%first", "%end", 3, add)
    fn.terminate(f"ret i64 {fn.value(f'load i64, ptr {total}')}")
    module.add_function(fn)
    loaded = ObjectLoader().load(compile_text(str(module), host_facts(), verify=True), ("sum",))
    run = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 2)(loaded.address("sum"))
    for first, end in ((0, 10), (1, 2), (-5, 5), (4, 4), (4, 0)):
        assert run(first, end) == sum(number for number in range(first, end, 3) if number % 2)


def test_prefetches_and_opaque_values_are_what_llvm_reads() -> None:
    module = ModuleText()
    fn = FunctionText(module, "ask", "i64", [Parameter("ptr", "%p"), Parameter("i64", "%n")])
    fn.prefetch("%p", level=3)
    fn.prefetch("%p", level=2, is_written=True)
    fn.ret("i64", fn.opaque("i64", "%n"))
    module.add_function(fn)
    text = str(module)
    assert "call void @llvm.prefetch.p0(ptr %p, i32 0, i32 3, i32 1)" in text
    assert "call void @llvm.prefetch.p0(ptr %p, i32 1, i32 2, i32 1)" in text
    assert 'call i64 asm "", "=r,0"(i64 %n)' in text
    parse(text, verify=True)


def test_an_operand_of_another_type_is_an_error_where_the_instruction_is_written() -> None:
    fn = FunctionText(ModuleText(), "f", "void", [Parameter("ptr", "%p")])
    wide = fn.load("i64", "%p", align=8)
    for write in (
        lambda: fn.binary("add", "i32", wide, 1),
        lambda: fn.prefetch(wide, level=3),
        lambda: fn.opaque("ptr", wide),
    ):
        with pytest.raises(OperandTypeError):
            write()


@pytest.mark.parametrize("value", [0.0, -0.0, 1.5, 1e-45, 3.4028234663852886e38, math.inf, -math.inf, math.nan, 0.1])
def test_float_constants_survive_llvm(value: float) -> None:
    single = f"define float @f() {{\n ret float {f32_constant(value)}\n}}"
    double = f"define double @d() {{\n ret double {float_constant(value)}\n}}"
    parse(f"{single}\n{double}", verify=True)


def test_f32_constants_round_and_overflow() -> None:
    assert f32_constant(0.1) == "0x3FB99999A0000000"
    assert f32_constant(1e39) == "0x7FF0000000000000"
    assert f32_constant(-1e39) == "0xFFF0000000000000"
    assert half_constant(0x3C00) == "0xH3C00"
    assert vector_constant("i8", ["1", "2"]) == "<i8 1, i8 2>"


def test_strings_are_shared_and_escaped() -> None:
    module = ModuleText()
    assert module.string(b'say "hi"\n') == module.string(b'say "hi"\n') == "@.str.0"
    assert string_literal(b'a"\\\n') == 'c"a\\22\\5C\\0A"'
    parse(str(module), verify=True)


def test_metadata_is_shared_unless_distinct() -> None:
    module = ModuleText()
    assert module.metadata("!{i32 1}") == module.metadata("!{i32 1}") == "!0"
    assert module.metadata("!{i32 1}", distinct=True) == "!1"
    assert str(module).endswith("!0 = !{i32 1}\n!1 = distinct !{i32 1}\n")


def test_declarations_give_way_to_definitions() -> None:
    module = ModuleText()
    module.declare("declare void @f(i32)")
    module.define_once("f", lambda: "define void @f(i32 %x) {\n ret void\n}")
    assert str(module).count("@f(") == 1


def test_rejected_text_is_an_error_with_llvms_reason() -> None:
    with pytest.raises(LlvmError, match="expected"):
        parse("define nonsense")


def test_a_missing_symbol_is_an_error() -> None:
    facts = host_facts()
    text = "declare void @no_such_function()\ndefine void @f() {\n call void @no_such_function()\n ret void\n}"
    with pytest.raises(LlvmError, match="cannot link"):
        ObjectLoader().load(compile_text(text, facts), ("f",))


def test_hot_functions_alone_are_optimised() -> None:
    body = "{\n  %slot = alloca i32\n  store i32 %x, ptr %slot\n  %y = load i32, ptr %slot\n  ret i32 %y\n}\n"
    text = f"define i32 @cold(i32 %x) {body} define i32 @warm(i32 %x) hot {body}"
    module = parse(text)
    optimise(module, create_target_machine(host_facts()), Effort.HOT)
    assert "alloca" in str(module.get_function("cold"))
    assert "alloca" not in str(module.get_function("warm"))


@pytest.mark.parametrize("effort", Effort)
def test_every_effort_emits_an_object(effort: Effort) -> None:
    text = "define i32 @f(i32 %x) {\n %y = add i32 %x, 1\n ret i32 %y\n}"
    assert compile_text(text, host_facts(), effort=effort)[:4] in (b"\x7fELF", b"\xcf\xfa\xed\xfe")


def test_code_for_another_architecture() -> None:
    text = "define <4 x float> @f(<4 x float> %x) {\n %y = fadd <4 x float> %x, %x\n ret <4 x float> %y\n}"
    assert "fadd\tv0.4s" in emit_assembly(text, named_facts("generic-aarch64"))
    assert "addps" in emit_assembly(text, named_facts("x86-64"))
