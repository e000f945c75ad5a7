"""Inline PTX as ops against the simulated GPU, which runs it: in the reference, and compiled for the CPU."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from random import Random
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from ptx_forms import FAMILIES, LETTERS, Case, case
from xdsl.dialects.builtin import ModuleOp

from suite.arrays import Array
from tilewright.compiler.compilation import compile_source
from tilewright.compiler.options import CompileOptions
from tilewright.compiler.source import TextSource
from tilewright.dialects import make_context, tt
from tilewright.ir.parsing import parse_module
from tilewright.ir.passes import PassContext
from tilewright.ir.verify import verify_module
from tilewright.reference import run_module
from tilewright.reference.errors import ReferenceError
from tilewright.targets.cpu.target import make_target
from tilewright.transforms.inline_ptx.inline_ptx_to_arith import InlinePtxToArithPass

LANES = 256
TYPES: dict[str, Any] = {
    "i1": np.bool_,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
}
NUMBERS = (
    *(0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 0.5, 1.5, 2.5, -2.5, 65504.0, 1e-40, -1e-40, 6e-8, 1e-5),
    *(127.5, -128.5, 300.0, 3e9, -3e9, 1e19, 2.0**-126, 1.0009765625),
)
INTEGERS = (0, 1, -1, 2, 5, -5, 31, 32, 33, 63, 64)


def values(type_: str, seed: int) -> Array:
    """Random bits, small numbers, and numbers that are special."""
    rng = np.random.default_rng(seed)
    dtype = np.dtype(TYPES[type_])
    if dtype == np.bool_:
        return rng.integers(0, 2, LANES).astype(np.bool_)
    found = rng.integers(0, 256, (LANES, dtype.itemsize), dtype=np.uint8).view(dtype)[:, 0].copy()
    small, special = rng.permutation(LANES)[: LANES // 2].reshape(2, -1)
    with np.errstate(all="ignore"):
        if dtype.kind == "i":
            limits = np.iinfo(dtype)
            found[small] = rng.integers(0, 40, small.size).astype(dtype)
            found[special] = rng.choice(np.array([*INTEGERS, limits.min, limits.max]).astype(dtype), special.size)
        else:
            found[small] = (rng.standard_normal(small.size) * 4).astype(dtype)
            found[special] = rng.choice(np.array(NUMBERS), special.size).astype(dtype)
    return found


def argument_types(cases: Sequence[Case]) -> list[tuple[str, int]]:
    """The arguments of a function of all cases: for each type, as many as a case has."""
    most: dict[str, int] = {}
    for each in cases:
        for type_ in each.arguments:
            most[type_] = max(most.get(type_, 0), each.arguments.count(type_))
    return [(type_, number) for type_, count in sorted(most.items()) for number in range(count)]


def asm_line(each: Case, number: int, prefix: str) -> str:
    """The op of a case, whose operands are named by type and number."""
    used: dict[str, int] = {}
    names: list[str] = []
    for type_ in each.arguments:
        names.append(f"%{prefix}{type_}_{used.setdefault(type_, 0)}")
        used[type_] += 1
    arguments, results = (
        ", ".join(f"tensor<{LANES}x{type_}>" for type_ in types) for types in (each.arguments, each.results)
    )
    asm = each.asm.replace("\n", "\\0A")
    return (
        f'  %r{number}:{len(each.results)} = tt.elementwise_inline_asm "{asm}" {{constraints = '
        f'"{each.operand_constraints}", packed_element = {each.packed} : i32, pure = true}} '
        f"{', '.join(names)} : {arguments} -> {results}"
    )


def result_types(cases: Sequence[Case]) -> list[tuple[str, str]]:
    """Names and types of all results."""
    return [(f"%r{n}#{k}", type_) for n, each in enumerate(cases) for k, type_ in enumerate(each.results)]


def function_text(cases: Sequence[Case]) -> str:
    """A function from tensors to tensors."""
    arguments = ", ".join(f"%{type_}_{n}: tensor<{LANES}x{type_}>" for type_, n in argument_types(cases))
    results = result_types(cases)
    types = ", ".join(f"tensor<{LANES}x{type_}>" for _, type_ in results)
    lines = [asm_line(each, number, "") for number, each in enumerate(cases)]
    values_ = ", ".join(name for name, _ in results)
    return "\n".join(
        [f"tt.func public @f({arguments}) -> ({types}) {{", *lines, f"  tt.return {values_} : {types}", "}"]
    )


def kernel_text(cases: Sequence[Case]) -> str:
    """A kernel that loads the arguments and stores the results. Truth values are bytes in memory."""
    lines = [f"  %range = tt.make_range {{start = 0 : i32, end = {LANES} : i32}} : tensor<{LANES}xi32>"]
    pointers: list[str] = []

    def address(name: str, type_: str) -> str:
        pointer = f"tensor<{LANES}x!tt.ptr<{type_}>>"
        pointers.append(f"%{name}: !tt.ptr<{type_}>")
        lines.append(f"  %{name}_s = tt.splat %{name} : !tt.ptr<{type_}> -> {pointer}")
        lines.append(f"  %{name}_p = tt.addptr %{name}_s, %range : {pointer}, tensor<{LANES}xi32>")
        return pointer

    for type_, number in argument_types(cases):
        name = f"a{type_}_{number}"
        stored = "i8" if type_ == "i1" else type_
        pointer = address(name, stored)
        lines.append(f"  %v{name[1:]}{'_m' if type_ == 'i1' else ''} = tt.load %{name}_p : {pointer}")
        if type_ == "i1":
            lines.append(f"  %v{name[1:]} = arith.trunci %v{name[1:]}_m : tensor<{LANES}xi8> to tensor<{LANES}xi1>")
    lines += [asm_line(each, number, "v") for number, each in enumerate(cases)]
    for number, (name, type_) in enumerate(result_types(cases)):
        pointer = address(f"o{number}", type_)
        lines.append(f"  tt.store %o{number}_p, {name} : {pointer}")
    return "\n".join([f"tt.func public @f({', '.join(pointers)}) {{", *lines, "  tt.return", "}"])


def agree(each: Case, expected: Array, found: Array) -> Any:
    """Which elements are the same: bit for bit but for what NaN consists of, or within the tolerance."""
    if each.lanes and expected.dtype.kind == "i" and expected.dtype.itemsize >= 4:
        dtype = {"f16x2": np.float16, "bf16x2": ml_dtypes.bfloat16, "f32x2": np.float32}[each.lanes]
        return agree_floats(each, expected.view(dtype), found.view(dtype)).reshape(expected.size, -1).all(1)
    return expected == found if expected.dtype.kind in "ib" else agree_floats(each, expected, found)


def agree_floats(each: Case, expected: Array, found: Array) -> Any:
    with np.errstate(all="ignore"):
        a, b = expected.astype(np.float64), found.astype(np.float64)
        equal = (a == b) & (np.signbit(a) == np.signbit(b))
        if each.tolerance:
            equal |= np.abs(a - b) <= each.tolerance * np.abs(a) + 1e-37
        return equal | (np.isnan(a) & np.isnan(b))


def check_results(
    cases: Sequence[Case], arguments: Sequence[Array], expected: Sequence[Any], found: Sequence[Any]
) -> None:
    """Fail at the first element that differs."""
    owners = [each for each in cases for _ in each.results]
    for each, wanted, given in zip(owners, expected, found, strict=True):
        same = agree(each, np.asarray(wanted), np.asarray(given))
        if not np.all(same):
            lane = int(np.flatnonzero(~same)[0])
            operands = [
                f"{type_}: {values_[lane]}"
                for (type_, _), values_ in zip(argument_types(cases), arguments, strict=True)
                if type_ in each.arguments
            ]
            raise AssertionError(f"{each.asm} of {operands}: {wanted[lane]} expected, {given[lane]} found")


def parsed(text: str) -> ModuleOp:
    return parse_module(text, make_context())


def replaced(text: str, num_left: int = 0) -> ModuleOp:
    """A module behind the pass."""
    module = parsed(text)
    context = PassContext()
    InlinePtxToArithPass().run(module, context)
    left = [op for op in module.walk() if isinstance(op, tt.ElementwiseInlineAsmOp)]
    assert len(left) == num_left, [str(remark) for remark in context.remarks]
    verify_module(module)
    return module


def arguments_of(cases: Sequence[Case]) -> list[Array]:
    return [values(type_, 7 * n + sum(map(ord, type_))) for n, (type_, _) in enumerate(argument_types(cases))]


@pytest.mark.costly
@pytest.mark.parametrize("family", FAMILIES)
def test_ops_compute_what_the_simulated_gpu_does(family: str) -> None:
    cases = list(FAMILIES[family]())
    arguments = arguments_of(cases)
    text = function_text(cases)
    expected = run_module(parsed(text), "f", arguments)
    check_results(cases, arguments, expected, run_module(replaced(text), "f", arguments))


def run_on_cpu(cases: Sequence[Case], arguments: Sequence[Array], *, fuses: bool = False) -> list[Array]:
    """The results of a kernel of all cases, products and sums unfused unless `fuses`."""
    options = CompileOptions(enable_fp_fusion=fuses)
    kernel = compile_source(TextSource(kernel_text(cases), "ttir"), options, make_target())
    results = [np.zeros(LANES, TYPES[type_]) for _, type_ in result_types(cases)]
    stored = [argument.view(np.int8) if argument.dtype == np.bool_ else argument for argument in arguments]
    slots = np.array([*(array.ctypes.data for array in (*stored, *results)), 1, 1, 1], np.uint64)
    kernel.native.launch(slots.ctypes.data, 1, 1)
    return results


@pytest.mark.costly
@pytest.mark.parametrize("family", FAMILIES)
def test_the_cpu_computes_what_the_simulated_gpu_does(family: str) -> None:
    cases = list(FAMILIES[family]())
    if family == "bits":
        cases = cases[::4]  # which are the same few ops with other constants
    arguments = arguments_of(cases)
    expected = run_module(parsed(function_text(cases)), "f", arguments)
    check_results(cases, arguments, expected, run_on_cpu(cases, arguments))


def test_what_says_how_it_rounds_is_never_fused() -> None:
    case_ = case("{ .reg .f32 t; mul.rn.f32 t, $1, $2; add.rn.f32 $0, t, $3; }", "f32 f32 f32 -> f32")
    x, y, z = (np.random.default_rng(seed).standard_normal(LANES).astype(np.float32) for seed in range(3))
    (found,) = run_on_cpu([case_], [x, y, z], fuses=True)
    assert np.array_equal(found, x * y + z)


WORDS = [
    *(f"{name}.b32 {{d}}, {{a}}, {{b}};" for name in ("and", "or", "xor")),
    *(f"{name} {{d}}, {{a}}, {{b}};" for name in ("add.s32", "sub.u32", "mul.lo.s32", "min.s32", "max.u32")),
    *("shl.b32 {d}, {a}, {n};", "shr.u32 {d}, {a}, {n};", "shr.s32 {d}, {a}, {n};", "not.b32 {d}, {a};"),
    *("lop3.b32 {d}, {a}, {b}, {c}, {n};", "prmt.b32 {d}, {a}, {b}, {n};", "and.b32 {d}, {a}, {m};"),
    *("bfe.u32 {d}, {a}, {n}, 9;", "bfe.s32 {d}, {a}, {n}, 7;", "bfi.b32 {d}, {a}, {b}, {n}, 5;"),
    *("or.b32 {d}, {a}, {m};", "xor.b32 {d}, {a}, {m};", "shf.r.wrap.b32 {d}, {a}, {b}, {n};"),
    *("setp.lt.s32 p, {a}, {b};", "@p mov.b32 {d}, {a};", "@!p add.s32 {d}, {a}, {m};", "selp.b32 {d}, {a}, {b}, p;"),
    *("add.u16x2 {d}, {a}, {b};", "mov.b32 {{l, h}}, {a};", "mov.b32 {d}, {{h, l}};", "add.u16 l, l, h;"),
    *("mov.b32 {{b0, b1, b2, b3}}, {a};", "mov.b32 {d}, {{b2, b0, b3, b1}};", "popc.b32 {d}, {a};"),
]


def random_program(random: Random, packed: int) -> Case:
    """Instructions on bits in a row, on registers of which each was written."""
    registers = ["$0", "t0", "t1", "t2"]
    lines = [f"mov.b32 {name}, {random.choice(['$1', '$2'])};" for name in registers]
    lines += ["setp.gt.s32 p, $1, 3;", "mov.b32 {l, h}, $1;", "mov.b32 {b0, b1, b2, b3}, $2;"]
    for _ in range(random.randrange(3, 14)):
        d, a, b, c = (random.choice(registers) for _ in range(4))
        mask = random.choice([0xFF, 0xF0F0F0F, 0xFFFF0000, 0x000F000F, random.getrandbits(32)])
        lines.append(random.choice(WORDS).format(d=d, a=a, b=b, c=c, n=random.randrange(32), m=mask))
    declared = ".reg .b32 t<3>; .reg .b16 l, h; .reg .b8 b<4>; .reg .pred p;"
    type_ = {1: "i32", 2: "i16", 4: "i8"}[packed]
    return case(
        f"{{ {declared} {' '.join(lines)} }}", f"{type_} {type_} -> {type_}", packed=packed, constraints="=&r,r,r"
    )


@pytest.mark.costly
def test_random_programs() -> None:
    """Fields that are moved about, logic on them and arithmetic across them, on one, two and four elements."""
    random = Random(11)
    cases = [random_program(random, random.choice([1, 2, 4])) for _ in range(150)]
    arguments = arguments_of(cases)
    text = function_text(cases)
    expected = run_module(parsed(text), "f", arguments)
    check_results(cases, arguments, expected, run_module(replaced(text), "f", arguments))
    chosen = list(islice(cases, 40))
    arguments = arguments_of(chosen)
    expected = run_module(parsed(function_text(chosen)), "f", arguments)
    check_results(chosen, arguments, expected, run_on_cpu(chosen, arguments))


LEFT = {
    "shfl.sync.bfly.b32 $0, $1, 1, 31, -1;": "'shfl.sync.bfly.b32' is not an instruction that treats every lane",
    "mov.u32 $0, %laneid;": "'mov.u32' reads '%laneid', which is not a register of the program",
    "ld.global.b32 $0, [$1];": "'ld.global.b32' is not an instruction that treats every lane by itself",
    "{ .reg .pred p; setp.eq.s32 p, $1, 0; @p bra L; L: mov.b32 $0, $1; }": "'bra' is not an instruction that treats",
    "frobnicate.b32 $0, $1;": "'frobnicate.b32' is not an instruction that treats every lane by itself",
    "add.s32.fast $0, $1, 1;": "'add.s32.fast' has a part that is not known, '.fast'",
    "cvt.rm.f16.f32 $0, $1;": "'cvt.rm.f16.f32' rounds from f32 to f16 in a way that is not known",
    "cvt.rn.ue8m0x2.f32 $0, $1, $1;": "'cvt.rn.ue8m0x2.f32' rounds in a way that ue8m0 does not have",
    "cvt.rs.satfinite.e4m3x4.f32 $0, {$1, $1, $1, $1}, $1;": "takes random bits from places that are not known",
    "add.s64 $0, $1, $1;": "'add.s64' reads 64 bits of a register of 32",
    "mov.b32 $0, $1": "the assembly cannot be read",
    "mov.b32 $0, $7;": "'mov.b32' reads '$7', which is not a register of the program",
    "add.s32 $0, $1, $2;": "the constraint 'n' needs an argument that is known",
    "addc.u32 $0, $1, $1;": "'addc.u32' reads a condition code that nothing has set",
    ".shared .b32 s; mov.b32 $0, $1;": "the assembly cannot be read: it has variables in memory",
}


@pytest.mark.parametrize("asm", LEFT)
def test_what_is_no_matter_of_single_lanes_stays(asm: str) -> None:
    needs_number = "'n'" in LEFT[asm]
    one = case(asm, "i32 i32 -> i32", constraints="=r,r,n") if needs_number else case(asm, "i32 -> i32")
    module, context = parsed(function_text([one])), PassContext()
    InlinePtxToArithPass().run(module, context)
    assert [op for op in module.walk() if isinstance(op, tt.ElementwiseInlineAsmOp)]
    assert LEFT[asm] in context.remarks[0].reason


def test_the_reference_refuses_it_too() -> None:
    text = function_text([case("shfl.sync.bfly.b32 $0, $1, 1, 31, -1;", "i32 -> i32")])
    with pytest.raises(
        ReferenceError, match=r"cannot be run lane by lane: 'shfl\.sync\.bfly\.b32' is not an instruction"
    ):
        run_module(parsed(text), "f", [values("i32", 0)])


def test_registers_have_to_be_as_many_as_constraints() -> None:
    text = function_text([case("mov.b32 $0, $1;", "f32 -> f32", packed=2)])
    module, context = parsed(text), PassContext()
    InlinePtxToArithPass().run(module, context)
    assert "constraints are of 1 results and 1 arguments, for 2 and 2 registers" in context.remarks[0].reason
    with pytest.raises(ReferenceError, match="1 registers of results, of 2"):
        run_module(parsed(text), "f", [values("f32", 0)])


@pytest.mark.parametrize("size", [1, 2, 4])
def test_fewer_elements_than_an_instance_takes(size: int) -> None:
    """The last is repeated."""
    text = function_text([case("prmt.b32 $0, $1, 0, 0x0123;", "i8 -> i8", packed=4, constraints="=r,r")])
    text = text.replace(f"tensor<{LANES}x", f"tensor<{size}x")
    value = np.arange(1, size + 1, dtype=np.int8)
    (expected,), (found,) = (run_module(module, "f", [value]) for module in (parsed(text), replaced(text)))
    assert np.array_equal(np.asarray(expected), np.asarray(found))
    assert list(np.asarray(found)) == list(reversed([*value, *[value[-1]] * (4 - size)]))[:size]


def test_letters_have_types() -> None:
    assert set(LETTERS) <= set(TYPES)
