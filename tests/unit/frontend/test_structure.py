"""What the front end emits, beyond the ops: symbols, attributes, locations, carried values."""

# Kernels with loops whose counters nobody reads.
# ruff: noqa: B007, F841, RET503
# pyright: reportUnusedVariable=false, reportPossiblyUnboundVariable=false

from __future__ import annotations

import importlib.util
import inspect
import warnings
from pathlib import Path
from typing import Any

import pytest
from xdsl.dialects.builtin import FileLineColLoc, ModuleOp, NameLoc

import tilewright.language as tl
from tilewright.dialects import arith, scf, tt
from tilewright.frontend import CodegenOptions, JITCallable, compile_to_tt, constexpr_function
from tilewright.frontend import language_function as jit
from tilewright.ir.locations import find_span
from tilewright.ir.passes import PassContext, parse_pipeline
from tilewright.ir.printing import print_op
from tilewright.support import knobs
from tilewright.support.errors import CompilationError


def build(kernel: JITCallable, *types: str, options: CodegenOptions | None = None, **constants: Any) -> ModuleOp:
    signature: dict[str, Any] = dict(zip(kernel.arg_names, types, strict=False))
    paths = {(kernel.arg_names.index(name),): value for name, value in constants.items()}
    module = compile_to_tt(kernel, signature, paths, options=options)
    module.verify()
    return module


def ops(module: ModuleOp, kind: type) -> list[Any]:
    return [op for op in module.walk() if isinstance(op, kind)]


@jit
def helper(x, k: tl.constexpr):
    return x + k


@jit
def calls_helper(p, n):
    tl.store(p, helper(n, 3) + helper(n, 3) + helper(n, 4) + helper(n.to(tl.float32), 4).to(tl.int32))


def test_device_functions_are_compiled_once_per_specialisation() -> None:
    module = build(calls_helper, "*i32", "i32")
    functions = [f.sym_name.data for f in ops(module, tt.FuncOp)]
    stem = f"{__name__}.helper__"
    assert functions[0] == "calls_helper"
    assert sorted(functions[1:]) == sorted([f"{stem}i32_c3", f"{stem}i32_c4", f"{stem}fp32_c4"])
    assert len(ops(module, tt.CallOp)) == 4
    assert [f.is_public for f in ops(module, tt.FuncOp)] == [True, False, False, False]


@jit
def pair_argument(p, pair, m):
    a, b = pair
    tl.store(p, a + b + m)


def test_argument_attributes_follow_paths_into_tuples() -> None:
    module = compile_to_tt(
        pair_argument,
        {"p": "*fp32", "pair": ("i32", "i64"), "m": "i32"},
        attrs={(0,): {"tt.divisibility": 16}, (1, 1): {"tt.divisibility": 16}},
        name="renamed",
    )
    header = print_op(module).splitlines()[1]
    assert (
        "tt.func public @renamed(%arg0: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg1: i32, "
        "%arg2: i64 {tt.divisibility = 16 : i32}, %arg3: i32) attributes {noinline = false}" in header
    )


@jit
def located(p, n):
    total = n + 1
    tl.store(p, total)


def test_locations_name_variables_and_lines() -> None:
    module = build(located, "*i32", "i32")
    func = ops(module, tt.FuncOp)[0]
    first = inspect.getsourcelines(located.fn)[1]
    add = next(op for op in module.walk() if op.name == "arith.addi")
    assert isinstance(add.location, NameLoc) and add.location.desc.data == "total"
    span = find_span(add.location)
    assert span is not None and (span.filename, span.line, span.col) == (__file__, first + 2, 13)
    assert [arg.name_hint for arg in func.args] == ["p", "n"]
    store = ops(module, tt.StoreOp)[0]
    assert isinstance(store.location, FileLineColLoc) and store.location.line.data == first + 3


@jit
def carries(p, n, FLAG: tl.constexpr):
    kept = n * 2
    b = 1
    a = 0
    unchanged = 5
    for i in range(n):
        a = a + b
        unchanged = unchanged
        if FLAG:
            b = b + i
        inner = a * 2
        for j in range(i):
            a += kept
    tl.store(p, a + b + unchanged)


@pytest.mark.parametrize(("flag", "names"), [(True, ["b", "a"]), (False, ["a"])])
def test_loops_carry_what_changes_in_order_of_definition(flag: bool, names: list[str]) -> None:
    outer, inner = ops(build(carries, "*i32", "i32", FLAG=flag), scf.ForOp)
    assert [arg.name_hint for arg in outer.body.block.args] == ["i", *names]
    assert [arg.name_hint for arg in inner.body.block.args] == ["j", "a"]
    assert len(outer.results) == len(names)


@jit
def unsigned_loop(p, n):
    total = n
    for i in range(n):
        total += i
    tl.store(p, total)


def test_unsigned_bounds_are_compared_unsigned() -> None:
    assert ops(build(unsigned_loop, "*u32", "u32"), scf.ForOp)[0].unsigned_cmp is not None
    assert ops(build(unsigned_loop, "*i32", "i32"), scf.ForOp)[0].unsigned_cmp is None


@jit
def unpacks_too_many(p, n):
    i, j = tl.program_id(0), n + 5, tl.program_id(2)
    tl.store(p + i, j)


def test_values_beyond_the_last_name_are_dropped_with_a_warning() -> None:
    with (
        knobs.scope(triton_version="3.8"),
        pytest.warns(UserWarning, match="too many values to unpack \\(expected 2, got 3\\): the others are dropped"),
    ):
        module = build(unpacks_too_many, "*i32", "i32")
    (store,) = ops(module, tt.StoreOp)
    assert isinstance(store.value.owner, arith.AddiOp)


@jit
def reads_loop_variable(p, n):
    for i in range(n):
        tl.store(p, i)
    tl.store(p, i)


def test_loop_variable_after_the_loop_is_poison_with_a_warning() -> None:
    with pytest.warns(UserWarning, match="loop variable `i` is undefined after its loop"):
        module = build(reads_loop_variable, "*i32", "i32")
    assert [op.name for op in module.walk()].count("ub.poison") == 1


@jit
def same_loop_variable_twice(p, n):
    for i in range(n):
        tl.store(p, i)
    for i in range(n):
        for k in range(i):
            tl.store(p, k)
        for k in range(n):
            tl.store(p, k)


def test_loop_variables_may_be_reused_without_a_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        build(same_loop_variable_twice, "*i32", "i32")


@jit
def hinted(x, p, n):
    tl.multiple_of(x, 16)
    i = tl.multiple_of(n + tl.arange(0, 8), 8)
    tl.store(p + i, tl.load(x + i))


def test_hints_reach_ops_and_arguments() -> None:
    text = print_op(build(hinted, "*fp32", "*fp32", "i32"))
    assert "%arg0: !tt.ptr<f32> {tt.divisibility = dense<16> : tensor<1xi32>}" in text
    assert "{tt.divisibility = dense<8> : tensor<1xi32>}" in text.split("tt.func")[1].split("\n", 1)[1]


@jit
def hinted_in_loops(x_ptr, n, step):
    ptrs = x_ptr + tl.arange(0, 8)
    for _ in range(n):
        for _ in range(n):
            tl.multiple_of(ptrs, 16)
            tl.store(ptrs, 1.0)
            ptrs += step
        tl.multiple_of(n, 8)


def test_hints_on_carried_values_are_hints_on_their_beginnings() -> None:
    module = build(hinted_in_loops, "*fp32", "i32", "i32")
    [first, _] = ops(module, tt.AddPtrOp)
    assert "tt.divisibility" in first.attributes
    [function] = ops(module, tt.FuncOp)
    assert "tt.divisibility = dense<8>" in print_op(function).splitlines()[0]


@jit
def sums(p, n):
    tl.store(p, n + n * 3 - 1)
    tl.store(p, tl.add(n, n, sanitize_overflow=False))


def test_overflow_checks_need_debug() -> None:
    assert not ops(build(sums, "*i32", "i32"), tt.AssertOp)
    checked = build(sums, "*i32", "i32", options=CodegenOptions(debug=True))
    assert [op.message.data for op in ops(checked, tt.AssertOp)] == [
        f"int32 overflow detected for operation {name}" for name in ("mul", "add", "sub")
    ]
    unchecked = build(sums, "*i32", "i32", options=CodegenOptions(debug=True, sanitize_overflow=False))
    assert not ops(unchecked, tt.AssertOp)


@jit
def asserts(p, n):
    assert n > 3, "n is small"
    tl.device_assert(tl.arange(0, 8) < n, "lane", mask=tl.arange(0, 8) > 2)


def test_assertions_exist_in_debug_builds_only() -> None:
    assert not ops(build(asserts, "*i32", "i32"), tt.AssertOp)
    found = ops(build(asserts, "*i32", "i32", options=CodegenOptions(debug=True)), tt.AssertOp)
    assert [op.message.data for op in found] == ["n is small", "lane"]


@jit
def between(p, n):
    if 1 < n < 3:
        tl.store(p, n)
    x = 0 <= tl.arange(0, 8) < n
    tl.store(p + tl.arange(0, 8), x)


def test_chained_comparisons() -> None:
    names = [op.name for op in build(between, "*i32", "i32").walk()]
    assert names.count("arith.cmpi") == 4 and names.count("arith.andi") == 2


@jit
def with_lambda(p, n):
    double = lambda x: x * 2  # noqa: E731
    factor: tl.constexpr = (lambda k: k + 1)(3)
    tl.static_assert(factor == 4)
    tl.store(p, double(n))


def test_lambdas() -> None:
    assert "arith.muli" in [op.name for op in build(with_lambda, "*i32", "i32").walk()]


@jit
def returns_on_one_way(n):
    if n > 3:
        return n


@jit
def uses_partial_return(p, n):
    tl.store(p, returns_on_one_way(n))


def test_missing_return_value_is_poison_with_a_warning() -> None:
    with pytest.warns(UserWarning, match="returns a value on some ways only"):
        module = build(uses_partial_return, "*i32", "i32")
    assert "ub.poison" in [op.name for op in module.walk()]


@jit
def returns_a_constant(p):
    tl.store(p, 1)
    return 5


@jit
def returns_nothing(p):
    if tl.program_id(0) > 1:
        return
    tl.store(p, 1)
    return None  # noqa: RET501


def test_constants_that_a_kernel_returns_are_lost_with_a_warning() -> None:
    with pytest.warns(UserWarning, match="the kernel `returns_a_constant` returns a value, which is lost") as caught:
        build(returns_a_constant, "*i32")
    assert caught[0].lineno == returns_a_constant.fn.__code__.co_firstlineno + 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        build(returns_nothing, "*i32")


@jit
def small_dot(p):
    a = tl.full((16, 8), 1.0, tl.float16)
    i = tl.arange(0, 16)
    tl.store(p + i[:, None] * 16 + i[None, :], tl.dot(a, a.T))


def test_minimum_dot_size_is_the_target_s() -> None:
    with pytest.raises(CompilationError, match="K >= 16"):
        build(small_dot, "*fp32")
    build(small_dot, "*fp32", options=CodegenOptions(min_dot_size=(1, 1, 1)))


@jit
def dot_of_rows(p, T: tl.constexpr, K: tl.constexpr):
    a = tl.full((16, K), 1, T)
    i = tl.arange(0, 16)
    tl.store(p + i[:, None] * 16 + i[None, :], tl.dot(a, a.T))


@pytest.mark.parametrize(("type_", "k"), [(tl.int8, 32), (tl.float16, 16), (tl.float32, 8), (tl.float64, 4)])
def test_minimum_dot_size_is_in_bytes(type_: tl.dtype, k: int) -> None:
    build(dot_of_rows, "*fp32", T=type_, K=k)
    with pytest.raises(CompilationError, match=f"K >= {k}, got M=16, N=16, K={k // 2}"):
        build(dot_of_rows, "*fp32", T=type_, K=k // 2)
    build(dot_of_rows, "*fp32", T=type_, K=1, options=CodegenOptions(min_dot_size=(1, 1, 1)))


@jit
def store_by_a_larger_mask(p):
    i = tl.arange(0, 4)
    tl.store(p + i[None, :], 1, mask=(i[:, None] + i[None, :]) < 3)


def test_masks_of_stores_are_no_larger_than_the_pointers() -> None:
    with pytest.raises(CompilationError, match=r"Expected pointer argument to have shape \[4, 4\] but got \[1, 4\]"):
        build(store_by_a_larger_mask, "*i32")


@jit
def target_dependent(p):
    if tl.target_info.is_cuda():
        tl.store(p, 1)
    if tl.target_info.cuda_capability_geq(9, 0):
        tl.store(p, 2)


def test_target_questions() -> None:
    assert len(ops(build(target_dependent, "*i32"), tt.StoreOp)) == 2
    assert len(ops(build(target_dependent, "*i32", options=CodegenOptions(arch=80)), tt.StoreOp)) == 1
    assert not ops(
        build(target_dependent, "*i32", options=CodegenOptions(target_name="cpu", arch="znver4")), tt.StoreOp
    )


@constexpr_function
def element_of(value: tl.tensor) -> tl.dtype:
    return value.dtype.element_ty if value.dtype.is_ptr() else value.dtype


@constexpr_function
def doubled(value: int) -> int:
    return value * 2


@constexpr_function
def rounded(value: float) -> int:
    return round(value)


@constexpr_function
def refuses_pointers(value: tl.tensor) -> int:
    if value.dtype.is_ptr():
        raise ValueError("no pointers, please")
    return 1


@jit
def asks_for_types(p, q):
    kind: tl.constexpr = element_of(p)
    x = tl.load(p)
    tl.static_assert(element_of(x) == kind)
    tl.store(q, x.to(tl.float32) + (1 if kind == tl.float16 else 2))


@jit
def answers_with_a_value(p):
    tl.store(p, doubled(tl.load(p)))


@jit
def is_refused(p):
    tl.store(p, refuses_pointers(p))


@jit
def computes_with_a_value(p):
    tl.store(p, rounded(tl.load(p)))


def test_constexpr_functions_may_ask_values_for_their_types() -> None:
    added = [
        ops(build(asks_for_types, pointer, "*fp32"), arith.ConstantOp)[-1].value.value.data
        for pointer in ("*fp16", "*bf16")
    ]
    assert added == [1.0, 2.0]
    for kernel, name in ((answers_with_a_value, "doubled"), (computes_with_a_value, "rounded")):
        with pytest.raises(CompilationError, match=f"`{name}` runs at compile time and cannot take a run-time"):
            build(kernel, "*i32")
    with pytest.raises(CompilationError, match="no pointers, please"):
        build(is_refused, "*i32")


TABLE = tl.constexpr({"a": 3, "b": 4})


@jit
def many_elements(p, *rest):
    total = rest[0]
    for i in tl.static_range(1, len(rest)):
        total += rest[i]
    tl.store(p, total * TABLE["b"])


@jit
def calls_with_many(p, n):
    many_elements(p, n, n * 2, 3)
    many_elements(p, n)


def test_starred_parameters_and_constant_tables() -> None:
    module = build(calls_with_many, "*i32", "i32")
    functions = ops(module, tt.FuncOp)
    assert [len(f.args) for f in functions] == [2, 3, 2]


@jit
def applies(p, x, FN: tl.constexpr):
    tl.store(p, FN(x))


NOTHING = None


@jit
def asks_for_nothing(p):
    if NOTHING is None:
        tl.store(p, 1)


def test_a_global_may_be_none() -> None:
    assert len(ops(build(asks_for_nothing, "*i32"), tt.StoreOp)) == 1


def test_functions_as_constants() -> None:
    module = build(applies, "*fp32", "fp32", FN=tl.extra.libdevice.tanh)
    (op,) = ops(module, tt.ExternElementwiseOp)
    assert op.symbol.data == "__nv_tanhf"


@pytest.mark.costly
def test_long_expressions_and_chains(tmp_path: Path) -> None:
    terms = " + ".join(["n"] * 900)
    chain = "".join(f"    elif n == {i}:\n        x = {i}\n" for i in range(150))
    path = tmp_path / "long_kernel.py"
    path.write_text(
        "import tilewright.language as tl\nfrom tilewright.frontend import language_function as jit\n\n@jit\n"
        f"def long(p, n):\n    x = {terms}\n    if n < 0:\n        x = 1\n{chain}    tl.store(p, x)\n"
    )
    spec = importlib.util.spec_from_file_location("long_kernel", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    names = [op.name for op in compile_to_tt(module.long, {"p": "*i32", "n": "i32"}).walk()]
    assert names.count("arith.addi") == 899 and names.count("scf.if") == 151


@jit
def oddly_named(ptr, é, _1):
    _0 = helper(é, 2)
    for _2 in range(_1):
        é += _0
        _0 += _2  # pyright: ignore[reportConstantRedefinition]
    tl.store(ptr, é + _0)


def test_any_name_of_a_variable_will_do() -> None:
    """Values cannot be named after variables like these, which must not matter."""
    module = build(oddly_named, "*i32", "i32", "i32")
    parse_pipeline("inline,canonicalize,cse").run(module, PassContext())
    (loop,) = ops(module, scf.ForOp)
    assert [arg.name_hint for arg in loop.body.block.args] == [None, None, None]
