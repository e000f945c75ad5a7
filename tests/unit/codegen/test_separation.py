"""Modules in parts: what goes where, and that the parts link to the same functions."""

from __future__ import annotations

import ctypes
from unittest.mock import patch

from math_harness import LOADER

from tilewright.codegen import llvm_backend
from tilewright.codegen.llvm_backend import compile_parts
from tilewright.codegen.llvm_text import ModuleText
from tilewright.codegen.microkernels import MatmulKernel, define_routine
from tilewright.codegen.separation import separated
from tilewright.targets.cpu.facts import host_facts


def module_of(entry: str, **functions: str) -> ModuleText:
    """A module with a function `f` of an i64, and others by name."""
    module = ModuleText(triple=host_facts().triple)
    module.declare("declare i64 @llvm.smax.i64(i64, i64)")
    module.declare("declare i64 @llvm.smin.i64(i64, i64)")
    module.definitions.update(functions)
    module.definitions["f"] = f"define i64 @f(i64 %x) {{\n{entry}\n}}"
    return module


TWICE = "define internal i64 @twice(i64 %x) alwaysinline {\n %r = add i64 %x, %x\n ret i64 %r\n}"
LARGE = """define internal i64 @large(i64 %x) noinline nounwind {
 %a = call i64 @twice(i64 %x)
 %b = call i64 @llvm.smax.i64(i64 %a, i64 10)
 %r = call i64 @"small one"(i64 %b)
 ret i64 %r
}"""
SMALL = 'define internal i64 @"small one"(i64 %x) noinline {\n %r = add i64 %x, 1\n ret i64 %r\n}'
TABLE = "@table = internal constant [2 x i64] [i64 5, i64 7]"
ENTRY = " %a = call i64 @large(i64 %x)\n %b = call i64 @twice(i64 %a)\n ret i64 %b"


def run(texts: list[str], x: int) -> int:
    library = LOADER.load(compile_parts(texts, host_facts(), threads=2, verify=True), ("f",))
    return ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(library.address("f"))(x)


def test_a_large_function_is_a_module_by_itself_with_what_is_inlined_into_it() -> None:
    module = module_of(ENTRY, **{"twice": TWICE, "large": LARGE, "small one": SMALL})
    first, large = texts = separated(module, len(LARGE))
    assert "declare hidden i64 @large(i64 %x) noinline nounwind" in first and "@llvm.smax" not in first
    assert "define hidden i64 @large(" in large and TWICE in large and '@"small one"(i64 %x) noinline' in large
    assert 'define hidden i64 @"small one"' in first and "smin" not in "".join(texts) and "@f(" not in large
    assert [run(texts, x) for x in (3, 30)] == [run([str(module)], x) for x in (3, 30)] == [22, 122]


def test_a_module_without_large_functions_stays_as_it_is() -> None:
    module = module_of(ENTRY, **{"twice": TWICE, "large": LARGE, "small one": SMALL})
    assert separated(module, len(LARGE) + 1) == [str(module)]


def test_a_function_stays_with_the_global_that_it_reads() -> None:
    reading = LARGE.replace(" ret i64 %r", " %s = load i64, ptr @table\n %t = add i64 %r, %s\n ret i64 %t")
    module = module_of(ENTRY, **{"twice": TWICE, "large": reading, "small one": SMALL})
    module.add_global(TABLE)
    assert separated(module, 1)[0].count("define") == 3
    assert run(separated(module, 1), 3) == 32


def test_a_micro_kernel_is_the_same_module_in_every_kernel_and_compiled_once() -> None:
    facts, kernel = host_facts(), MatmulKernel("f32", "f32", 1024, 1024)
    parts: list[str] = []
    for number in range(2):
        module = module_of(f" %r = add i64 %x, {number}\n ret i64 %r")
        define_routine(kernel, module, facts)
        first, *others = separated(module, 10_000)
        assert first.count("define") == 1 + len(module.definitions) - len(others) - 1
        parts += others
    assert len(parts) == 2 * len(set(parts))
    with patch.object(llvm_backend, "compile_text", return_value=b"object") as compiled:
        llvm_backend._compiled_before.cache_clear()  # pyright: ignore[reportPrivateUsage]
        for _ in range(2):
            assert compile_parts(["kernel", *parts], facts, threads=1) == [b"object"] * (1 + len(parts))
        llvm_backend._compiled_before.cache_clear()  # pyright: ignore[reportPrivateUsage]
    assert compiled.call_count == 2 + len(set(parts))
