"""Every mistake in a kernel is an error at the right place, in the user's words, with advice where there is any."""

# ruff: noqa: B007, F821, F841, RUF059, SIM105, SIM108
# The kernels here are wrong on purpose.
# pyright: reportUndefinedVariable=false, reportUnusedExpression=false, reportUnusedVariable=false
# pyright: reportConstantRedefinition=false, reportPossiblyUnboundVariable=false

from __future__ import annotations

import inspect
import math
from typing import Any

import numpy as np
import pytest

import tilewright.language as tl
from tilewright.frontend import JITCallable, compile_to_tt
from tilewright.frontend import language_function as jit
from tilewright.language.aggregates import aggregate
from tilewright.support.errors import (
    ArgumentError,
    CompilationError,
    CompileTimeAssertionFailure,
    MissingFieldError,
    NoSourceError,
    UnsupportedLanguageConstruct,
)

# The functions below are wrong on purpose.

GLOBAL = 5


def plain(x):
    return x


@jit
def exponential(x):
    return tl.exp(x)


@jit
def recursive(n):
    return recursive(n)


@jit
def endless(N: tl.constexpr):
    return endless(N + 1)


@jit
def middle(n):
    return exponential(n)


@jit
def unknown_name(o, n):
    tl.store(o, nn)  # HERE


@jit
def unknown_attribute(o, n):
    tl.stroe(o, n)  # HERE


@jit
def type_in_loop(o, n):
    a = 0
    for _ in range(n):
        a += 1.5  # HERE


@jit
def constant_in_loop(o, n, BLOCK: tl.constexpr = 4):
    for _ in range(n):
        BLOCK = BLOCK * 2  # HERE


@jit
def type_in_branches(o, n):
    if n > 3:  # HERE
        a = 1
    else:
        a = 2.0


@jit
def one_branch_only(o, n):
    if n > 3:
        a = 1
    tl.store(o, a)  # HERE


@jit
def bound_in_loop(o, n):
    for i in range(n):
        b = i
    tl.store(o, b)  # HERE


@jit
def with_break(o, n):
    for i in range(n):
        if i > 3:
            break  # HERE


@jit
def with_continue(o, n):
    while n > 3:
        continue  # HERE


@jit
def plain_global(o, n):
    tl.store(o, n + GLOBAL)  # HERE


@jit
def plain_function(o, n):
    tl.store(o, plain(n))  # HERE


@jit
def shapes(o, n):
    tl.arange(0, 8) + tl.arange(0, 16)  # HERE


@jit
def not_a_power(o, n):
    tl.arange(0, 48)  # HERE


@jit
def runtime_shape(o, n):
    tl.arange(0, n)  # HERE


@jit
def fractional_shape(o, n):
    tl.arange(0, 16.0)  # HERE


@jit
def return_in_loop(o, n):
    for i in range(n):
        return  # HERE


@jit
def conditional_return_in_loop(o, n):
    for i in range(n):
        if i > 3:
            return  # HERE


@jit
def inconsistent_returns(n):
    if n > 3:
        return 1
    return 2.5  # HERE


@jit
def calls_inconsistent(o, n):
    inconsistent_returns(n)


@jit
def too_many_arguments(o, n):
    exponential(o, n)  # HERE


@jit
def constexpr_twice(o, n):
    X: tl.constexpr = 3
    X: tl.constexpr = 4  # HERE


@jit
def runtime_constexpr(o, n):
    X: tl.constexpr = n
    tl.store(o, X * 2)
    tl.store(o + tl.arange(0, X), n)  # HERE


@jit
def static_failure(o, n):
    tl.static_assert(3 > 4, f"three {3} is not more")  # HERE


@jit
def ambiguous(o, n):
    if tl.arange(0, 16) > 3:  # HERE
        tl.store(o, n)


@jit
def float_condition(o, n, F: tl.constexpr = 1.5):
    if F:  # HERE
        tl.store(o, n)


@jit
def set_item(o, n):
    x = tl.arange(0, 16)
    x[3] = 5  # HERE


@jit
def set_attribute(o, n):
    n.thing = 5  # HERE


@jit
def loop_else(o, n):
    for _ in range(n):
        pass
    else:
        tl.store(o, n)  # HERE


@jit
def string_variable(o, n):
    x = "abc"  # HERE


@jit
def with_try(o, n):
    try:  # HERE
        x = 3
    except ValueError:
        pass


@jit
def power(o, n):
    tl.store(o, n**2)  # HERE


@jit
def matmul_operator(o, n):
    n @ n  # HERE


@jit
def unpacking(o, n):
    a, b = n  # HERE


@jit
def wrong_count(o, n):
    a, b, c = (1, 2)  # HERE


@jit
def starred(o, n):
    a, *b = (1, 2, 3)  # HERE


@jit
def chained_assignment(o, n):
    a = b = n  # HERE


@jit
def float_floor_division(o, n):
    tl.store(o, n // 2.0)  # HERE


@jit
def integer_mask(o, n):
    i = tl.arange(0, 16)
    tl.store(o + i, i, mask=i)  # HERE


@jit
def other_without_mask(o, n):
    tl.load(o + tl.arange(0, 16), other=0)  # HERE


@jit
def load_of_number(o, n):
    tl.load(n)  # HERE


@jit
def padding_without_block(o, n):
    tl.load(o, padding_option="zero")  # HERE


@jit
def block_mask_on_scalar(o, n):
    tl.load(o, mask=tl.arange(0, 16) > 3)  # HERE


@jit
def dot_shapes(o, n):
    a = tl.full((16, 16), 1.0, tl.float32)
    b = tl.full((32, 16), 1.0, tl.float32)
    tl.dot(a, b)  # HERE


@jit
def dot_dtypes(o, n):
    a = tl.full((16, 16), 1.0, tl.float32)
    tl.dot(a, a.to(tl.float16))  # HERE


@jit
def recursion(o, n):
    recursive(n)


@jit
def endless_recursion(o, n):
    endless(1)


@jit
def different_constants(o, n):
    if n > 3:
        SIZE: tl.constexpr = 16
    else:
        SIZE: tl.constexpr = 32
    tl.store(o + tl.arange(0, SIZE), n)  # HERE


@jit
def returns_value(o, n):
    return n


@jit
def lost_advance(o, n):
    p = tl.make_block_ptr(o, (16,), (1,), (0,), (16,), (0,))
    tl.advance(p, (1,))  # HERE


@jit
def deep(o, n):
    middle(n)


@jit
def out_of_range(o, n):
    tl.store(o, n.to(tl.uint8) + 300)  # HERE


@jit
def negative_with_unsigned(o, n):
    tl.store(o, n.to(tl.uint32) * -1)  # HERE


@jit
def mixed_signs(o, n):
    tl.store(o, n // n.to(tl.uint32))  # HERE


@jit
def unknown_keyword(o, n):
    tl.store(o, n, wrong=3)  # HERE


@jit
def runtime_fstring(o, n):
    tl.static_assert(False, f"{n}")  # HERE


@jit
def element_index(o, n):
    tl.arange(0, 16)[0]  # HERE


@jit
def walrus(o, n):
    while (y := n) > 3:  # HERE
        pass


@jit
def over_tuple(o, n):
    for x in (1, 2):  # HERE
        pass


@jit
def float_range(o, n):
    for i in range(1.5):  # HERE
        pass


@jit
def zero_step(o, n):
    for i in range(0, n, 0):  # HERE
        pass


@jit
def int_of_tensor(o, n):
    x = int(n)  # HERE


@jit
def pointer_sum(o, n):
    o + o  # HERE


@jit
def pointer_times(o, n):
    o * 2  # HERE


@jit
def bits_of_floats(o, n):
    tl.full((16,), 1.0, tl.float32) & 1  # HERE


@jit
def bad_cache_modifier(o, n):
    tl.load(o, cache_modifier=".zz")  # HERE


@jit
def bad_axis(o, n):
    tl.sum(tl.arange(0, 16), 3)


@jit
def runtime_static_assert(o, n):
    tl.static_assert(n > 3)  # HERE


@jit
def double_star(o, n):
    exponential(**n)  # HERE


@jit
def unpacks_too_many(o, n):
    a, b = n, 2, 3  # HERE


@jit
def top_of_none(o, n):
    tl.topk(tl.arange(0, 8), 0)  # HERE


@jit
def top_of_more(o, n):
    tl.topk(tl.arange(0, 8), 16)  # HERE


@jit
def cat_of_two_shapes(o, n):
    tl.cat(tl.arange(0, 8), tl.arange(0, 4))  # HERE


@jit
def wide_histogram(o, n):
    tl.histogram(tl.arange(0, 8).to(tl.int64), 4)  # HERE


@jit
def loads_with_release(o, n):
    tl.atomic_load(o, sem="release")  # HERE


@jit
def stores_with_acquire(o, n):
    tl.atomic_store(o, 1, sem="acquire")  # HERE


@jit
def polls_floats(o, n):
    tl.atomic_poll(o, 1)  # HERE


@jit
def polls_in_the_past(o, n):
    tl.atomic_poll(o.to(tl.pointer_type(tl.int32)), 1, timeout_ns=-1)  # HERE


@jit
def polls_by_lanes(o, n):
    tl.atomic_poll(o.to(tl.pointer_type(tl.int32)), 1, timeout_ns=tl.arange(0, 4))  # HERE


@jit
def approximates_precisely(o, n):
    tl.fdiv(1.0, n, ieee_rounding=True, approx=True)  # HERE


@jit
def approximates_doubles(o, n):
    tl.fdiv(n.to(tl.float64), 3.0, approx=True)  # HERE


@jit
def too_many_indices(o, n):
    tl.arange(0, 4)[:, :]  # HERE


@jit
def adds_bits(o, n):
    tl.full((4,), 1, tl.float8e4b15) + 1.0  # HERE


@aggregate
class Pair:
    first: tl.tensor
    second: tl.tensor


@jit
def misses_field(o, n):
    Pair(n)  # HERE


@jit
def reads_no_field(o, n):
    tl.store(o, Pair(n, n).third)  # HERE


@jit
def sets_no_field(o, n):
    pair = Pair(n, n)
    tl.aggregate_replace(pair, third=n)  # HERE


@jit
def changes_field(o, n):
    pair = Pair(n, n)
    pair.first = n  # HERE


@jit
def no_operator(o, n):
    Pair(n, n) + n  # HERE


@jit
def squeezes_wide(o, n):
    tl.squeeze(tl.arange(0, 4), 0)  # HERE


@jit
def half_of_sqrt(o, n):
    tl.sqrt(n.to(tl.float16))  # HERE


@jit
def numpy_function(o, n):
    tl.store(o, np.tanh(n.to(tl.float32)))  # HERE


@jit
def host_function(o, n):
    tl.store(o, math.comb(n, 2))  # HERE


@jit
def sum_of_python(o, n):
    tl.store(o, sum(tl.arange(0, 16)))  # HERE


@jit
def appended(o, n):
    items = [n]
    items.append(n)  # HERE


@jit
def over_a_range(o, n):
    items = [n + i for i in range(3)]  # HERE


@jit
def foreign_type(o, n):
    tl.store(o, n.to(np.float32))  # HERE


@jit
def none_operand(o, n, missing: tl.constexpr = None):
    tl.store(o, n + missing)  # HERE


@jit
def stages_at_run_time(o, n):
    for i in tl.range(0, 4, num_stages=n):  # HERE
        pass


@jit
def flag_at_run_time(o, n):
    for i in tl.range(0, 4, flatten=n > 3):  # HERE
        pass


CASES: list[tuple[JITCallable, type[CompilationError], str, str | None]] = [
    (unknown_name, CompilationError, "nn is not defined", "did you mean `n`?"),
    (numpy_function, CompilationError, "`tanh` runs at compile time", "use tl.extra.libdevice.tanh"),
    (host_function, CompilationError, "`comb` runs at compile time", "before the launch"),
    (sum_of_python, CompilationError, "sum cannot be used in a kernel", "not allowed in a kernel: use tl.sum"),
    (appended, CompilationError, "has no attribute `append`", "items + (value,)"),
    (stages_at_run_time, CompilationError, "`num_stages` must be a compile-time integer, got a run-time scalar", None),
    (flag_at_run_time, CompilationError, "`flatten` must be known at compile time, got a run-time scalar int1", None),
    (over_a_range, CompilationError, "a comprehension runs over a tuple, not over `range`", "tl.static_range"),
    (foreign_type, CompilationError, "got the class `numpy.float32`", "use tl.float32"),
    (none_operand, CompilationError, "got the constant None", "if x is not None"),
    (unknown_attribute, CompilationError, "has no attribute `stroe`", "did you mean `store`?"),
    (
        type_in_loop,
        CompilationError,
        "Loop-carried variable a has initial type int32 but is re-assigned to fp32",
        "before the loop",
    ),
    (constant_in_loop, CompilationError, "cannot reassign BLOCK in the loop", "run-time value"),
    (
        type_in_branches,
        CompilationError,
        "Mismatched type for a between then block (int32) and else block (fp32)",
        ".to(",
    ),
    (one_branch_only, CompilationError, "a is not defined", "only one way"),
    (bound_in_loop, CompilationError, "b is not defined", "before the loop"),
    (with_break, UnsupportedLanguageConstruct, "Break", "while"),
    (with_continue, UnsupportedLanguageConstruct, "Continue", "if"),
    (plain_global, CompilationError, "Cannot access global variable GLOBAL", "tl.constexpr(5)"),
    (plain_function, CompilationError, "plain Python function `plain`", "@triton.jit"),
    (shapes, CompilationError, "incompatible dimensions at index 0: 8 and 16", None),
    (not_a_power, CompilationError, "arange's range must be a power of 2", "next_power_of_2(48)"),
    (fractional_shape, CompilationError, "arange's arguments must be integers, got the constant 16.0", None),
    (runtime_shape, CompilationError, "arange's arguments must be of type tl.constexpr", "annotate"),
    (return_in_loop, UnsupportedLanguageConstruct, "Cannot have `return` statements inside", "afterwards"),
    (conditional_return_in_loop, UnsupportedLanguageConstruct, "Cannot have `return` statements inside", "afterwards"),
    (too_many_arguments, CompilationError, "too many positional arguments", "exponential(x)"),
    (different_constants, CompilationError, "SIZE is not defined", "the constant 16 on one way through the `if`"),
    (constexpr_twice, CompilationError, "X is already defined. constexpr cannot be reassigned.", None),
    (runtime_constexpr, CompilationError, "arange's arguments must be of type tl.constexpr", "annotate"),
    (static_failure, CompileTimeAssertionFailure, "three 3 is not more", None),
    (
        ambiguous,
        UnsupportedLanguageConstruct,
        "Boolean value of Tensor with more than one value is ambiguous",
        "tl.where",
    ),
    (float_condition, UnsupportedLanguageConstruct, "{bool, int, NoneType}, not objects of type float", None),
    (set_item, UnsupportedLanguageConstruct, "__setitem__ is not supported", "tl.where"),
    (set_attribute, UnsupportedLanguageConstruct, "Attribute assignment", None),
    (loop_else, UnsupportedLanguageConstruct, "`else` after a `for` loop", "after the loop"),
    (string_variable, CompilationError, "cannot assign the constant 'abc'", "tl.constexpr"),
    (with_try, UnsupportedLanguageConstruct, "Try", "exceptions"),
    (power, UnsupportedLanguageConstruct, "`**` is not defined", "multiply"),
    (matmul_operator, UnsupportedLanguageConstruct, "`@` is not defined", "tl.dot"),
    (unpacking, CompilationError, "cannot unpack a run-time scalar int32 into 2 names", None),
    (wrong_count, CompilationError, "not enough values to unpack (expected 3, got 2)", None),
    (starred, UnsupportedLanguageConstruct, "starred assignment", "one name per element"),
    (chained_assignment, UnsupportedLanguageConstruct, "simultaneous multiple assignment", "one name"),
    (float_floor_division, CompilationError, "`//` is defined for integers only", "tl.floor"),
    (integer_mask, CompilationError, "Mask must have boolean scalar type", "mask != 0"),
    (other_without_mask, CompilationError, "`other` cannot be provided without `mask`", None),
    (load_of_number, CompilationError, "Unsupported ptr type int32 in `tl.load`", "expected a pointer"),
    (padding_without_block, CompilationError, "`padding_option` or `boundary_check`", None),
    (block_mask_on_scalar, CompilationError, "Mask argument cannot be block type", None),
    (dot_shapes, CompilationError, "not compatible for matmul", "tl.trans"),
    (dot_dtypes, CompilationError, "Both operands must be same dtype", "cast one"),
    (lost_advance, CompilationError, "The result of tl.advance is not being used", None),
    (out_of_range, CompilationError, "Scalar 300 is out of range for type uint8", None),
    (negative_with_unsigned, CompilationError, "unsigned tensor and a negative scalar", "signed"),
    (mixed_signs, CompilationError, "different signedness", "cast"),
    (unknown_keyword, CompilationError, "unexpected keyword argument 'wrong'", None),
    (runtime_fstring, UnsupportedLanguageConstruct, "Cannot evaluate f-string", "tl.device_print"),
    (element_index, CompilationError, "unsupported tensor index", None),
    (walrus, UnsupportedLanguageConstruct, "`:=` in the condition of a `while`", "before the loop"),
    (
        over_tuple,
        UnsupportedLanguageConstruct,
        "Only `range`, `tl.range` and `tl.static_range`",
        "static_range(len(t))",
    ),
    (float_range, CompilationError, "For loop bounds and step must all be ints", None),
    (zero_step, CompilationError, "must not be zero", None),
    (int_of_tensor, CompilationError, "int() needs a compile-time value", ".to(tl.int32)"),
    (pointer_sum, CompilationError, "cannot add pointers together", None),
    (pointer_times, CompilationError, "invalid operands of type pointer<fp32>", None),
    (bits_of_floats, CompilationError, "invalid operands of type fp32", None),
    (bad_cache_modifier, CompilationError, "Cache modifier '.zz' not supported", None),
    (runtime_static_assert, CompilationError, "static_assert needs a compile-time condition", "tl.device_assert"),
    (double_star, UnsupportedLanguageConstruct, "`**` arguments", None),
    (unpacks_too_many, CompilationError, "too many values to unpack (expected 2, got 3)", "a, _ = f()"),
    (top_of_none, CompileTimeAssertionFailure, "topk: k must be greater than 0", None),
    (top_of_more, CompileTimeAssertionFailure, "topk: k must not exceed", None),
    (cat_of_two_shapes, CompilationError, "tl.cat requires tensors of the same shape", None),
    (wide_histogram, CompilationError, "histogram only supports 32-bit integer input, but got int64", ".to(tl.int32)"),
    (loads_with_release, CompilationError, "atomic_load only supports acquire and relaxed", None),
    (stores_with_acquire, CompilationError, "atomic_store only supports release and relaxed", None),
    (polls_floats, CompilationError, "atomic_poll only supports integer elements", None),
    (polls_in_the_past, CompilationError, "timeout_ns must be non-negative", None),
    (polls_by_lanes, CompilationError, "timeout_ns must be a scalar integer", None),
    (approximates_precisely, CompilationError, "approx and ieee_rounding cannot both be True", None),
    (approximates_doubles, CompilationError, "approx division requires float32 operands", None),
    (too_many_indices, CompilationError, "too many indices for tensor of rank 1", None),
    (adds_bits, CompilationError, "fp8e4b15 has no arithmetic", ".to(tl.float16)"),
    (misses_field, CompilationError, "Pair() missing required argument: 'second'", None),
    (reads_no_field, MissingFieldError, "Pair has no field 'third'", "its fields are first, second"),
    (sets_no_field, MissingFieldError, "Pair has no field 'third'", "first, second"),
    (changes_field, UnsupportedLanguageConstruct, "Attribute assignment", "aggregate_replace(..., first=...)"),
    (no_operator, UnsupportedLanguageConstruct, "the operator `+` is not defined for", None),
    (squeezes_wide, CompilationError, "squeeze: dimension 0 must have extent 1", None),
    (half_of_sqrt, CompilationError, "Expected dtype ['fp32', 'fp64'] but got fp16", ".to(tl.float32)"),
]


def failure(kernel: JITCallable, **signature: Any) -> CompilationError:
    types = {"o": "*fp32", "n": "i32", **signature}
    with pytest.raises(CompilationError) as info:
        compile_to_tt(kernel, {name: types[name] for name in kernel.arg_names if name in types})
    return info.value


@pytest.mark.parametrize(("kernel", "kind", "message", "hint"), CASES, ids=lambda v: getattr(v, "__name__", None))
def test_error(kernel: JITCallable, kind: type[CompilationError], message: str, hint: str | None) -> None:
    error = failure(kernel)
    assert type(error) is kind
    assert message in error.message
    assert hint is None or (error.hint is not None and hint in error.hint)
    lines, first = inspect.getsourcelines(kernel.fn)
    expected = next(first + number for number, line in enumerate(lines) if line.rstrip().endswith("# HERE"))
    assert (error.filename, error.line) == (__file__, expected)
    assert error.col > 0
    assert "^" in str(error)
    assert error.__cause__ is None or error.__cause__.__traceback__ is None


def test_error_in_callee_names_every_call_site() -> None:
    error = failure(deep)
    text = str(error)
    assert error.source_line is not None and "tl.exp(x)" in error.source_line
    assert [note.source_line and note.source_line.strip() for note in error.notes] == [
        "return exponential(n)",
        "middle(n)",
    ]
    assert text.index("tl.exp(x)") < text.index("return exponential(n)") < text.index("    middle(n)")


def test_inconsistent_returns() -> None:
    assert "Return type mismatch: the constant 1 and the constant 2.5" in failure(calls_inconsistent).message


@jit
def beyond_ascii(o, n):
    größe = n * 2
    tl.store(o + größe + größen_die_es_nicht_gibt, n)


def test_columns_are_characters() -> None:
    error = failure(beyond_ascii)
    line, carets = str(error).splitlines()[1:3]
    assert line[carets.index("^") :][: carets.count("^")] == "größen_die_es_nicht_gibt"
    assert error.col == line.index("größen_") - 3


def test_recursion_is_refused() -> None:
    assert failure(recursion).message == "recursion is not supported: `recursive` calls itself"
    endless_one = failure(endless_recursion)
    assert "`endless` calls itself 100 times" in endless_one.message
    assert len(str(endless_one).splitlines()) < 50 and "more notes)" in str(endless_one)


def test_kernel_that_returns_a_value() -> None:
    error = failure(returns_value)
    assert "returns a value" in error.message and error.hint is not None and "tl.store" in error.hint


def test_reduction_axis_out_of_range() -> None:
    assert "invalid axis 3" in failure(bad_axis).message


@jit
def shape_at_run_time(o, n):
    tl.store(o, tl.sum(tl.zeros([n], tl.int32)))


@jit
def sort_of_rows(o, n):
    tl.store(o, tl.max(tl.sort(tl.zeros([4, 4], tl.int32), dim=0)))


@pytest.mark.parametrize(
    ("kernel", "call"), [(shape_at_run_time, "tl.zeros"), (sort_of_rows, "tl.sort"), (bad_axis, "tl.")]
)
def test_errors_in_functions_of_the_language_stand_at_the_call(kernel: JITCallable, call: str) -> None:
    """Many functions of the language are written in it; where they call each other is no news for users."""
    error = failure(kernel)
    assert error.filename == __file__ and not error.notes
    assert error.source_line is not None and error.source_line[error.col - 1 :].startswith(call)


def test_unknown_argument_type() -> None:
    with pytest.raises(ArgumentError, match="argument 'n': unknown type 'i33'"):
        compile_to_tt(deep, {"o": "*fp32", "n": "i33"})


def test_function_outside_of_a_kernel() -> None:
    with pytest.raises(RuntimeError, match="Cannot call @jit'd function `exponential` outside"):
        exponential(1.0)
    with pytest.raises(RuntimeError, match="outside of a kernel"):
        tl.arange(0, 16)


def test_function_without_source() -> None:
    namespace: dict[str, Any] = {}
    exec("def typed_in(x):\n    pass\n", namespace)
    with pytest.raises(NoSourceError, match="should be defined in a Python file"):
        compile_to_tt(jit(namespace["typed_in"]), {"x": "i32"})


def test_traceback_can_be_asked_for() -> None:
    from tilewright.support import knobs

    with knobs.scope(tracebacks=True):
        assert isinstance(failure(unknown_name).__cause__, NameError)
