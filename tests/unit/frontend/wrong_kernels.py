"""Kernels that are wrong on purpose, each with what its error says. The line of the error ends in `# HERE`."""

# ruff: noqa: B007, F821, F841, RUF059, SIM105, SIM108
# The kernels here are wrong on purpose.
# pyright: reportUndefinedVariable=false, reportUnusedExpression=false, reportUnusedVariable=false
# pyright: reportConstantRedefinition=false, reportPossiblyUnboundVariable=false

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import tilewright.language as tl
from tilewright.frontend import JITCallable
from tilewright.frontend import language_function as jit
from tilewright.language.aggregates import aggregate
from tilewright.support.errors import (
    CompilationError,
    CompileTimeAssertionFailure,
    MissingFieldError,
    UnsupportedLanguageConstruct,
)

CASES: list[tuple[JITCallable, type[CompilationError], str, str | None]] = []
"""Each kernel with the class of its error, a piece of its message, and one of its hint."""


def wrong(
    message: str, hint: str | None = None, *, kind: type[CompilationError] = CompilationError
) -> Callable[[Callable[..., Any]], JITCallable]:
    """A kernel that does not compile, and why."""

    def register(function: Callable[..., Any]) -> JITCallable:
        kernel = jit(function)
        CASES.append((kernel, kind, message, hint))
        return kernel

    return register


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


@wrong("nn is not defined", "did you mean `n`?")
def unknown_name(o, n):
    tl.store(o, nn)  # HERE


@wrong("has no attribute `stroe`", "did you mean `store`?")
def unknown_attribute(o, n):
    tl.stroe(o, n)  # HERE


@wrong("Loop-carried variable a has initial type int32 but is re-assigned to fp32", "before the loop")
def type_in_loop(o, n):
    a = 0
    for _ in range(n):
        a += 1.5  # HERE


@wrong("cannot reassign BLOCK in the loop", "run-time value")
def constant_in_loop(o, n, BLOCK: tl.constexpr = 4):
    for _ in range(n):
        BLOCK = BLOCK * 2  # HERE


@wrong("Mismatched type for a between then block (int32) and else block (fp32)", ".to(")
def type_in_branches(o, n):
    if n > 3:  # HERE
        a = 1
    else:
        a = 2.0


@wrong("a is not defined", "only one way")
def one_branch_only(o, n):
    if n > 3:
        a = 1
    tl.store(o, a)  # HERE


@wrong("b is not defined", "before the loop")
def bound_in_loop(o, n):
    for i in range(n):
        b = i
    tl.store(o, b)  # HERE


@wrong("Break", "while", kind=UnsupportedLanguageConstruct)
def with_break(o, n):
    for i in range(n):
        if i > 3:
            break  # HERE


@wrong("Continue", "if", kind=UnsupportedLanguageConstruct)
def with_continue(o, n):
    while n > 3:
        continue  # HERE


@wrong("Cannot access global variable GLOBAL", "tl.constexpr(5)")
def plain_global(o, n):
    tl.store(o, n + GLOBAL)  # HERE


@wrong("plain Python function `plain`", "@triton.jit")
def plain_function(o, n):
    tl.store(o, plain(n))  # HERE


@wrong("incompatible dimensions at index 0: 8 and 16")
def shapes(o, n):
    tl.arange(0, 8) + tl.arange(0, 16)  # HERE


@wrong("arange's range must be a power of 2", "next_power_of_2(48)")
def not_a_power(o, n):
    tl.arange(0, 48)  # HERE


@wrong("arange's arguments must be of type tl.constexpr", "annotate")
def runtime_shape(o, n):
    tl.arange(0, n)  # HERE


@wrong("arange's arguments must be integers, got the constant 16.0")
def fractional_shape(o, n):
    tl.arange(0, 16.0)  # HERE


@wrong("Cannot have `return` statements inside", "afterwards", kind=UnsupportedLanguageConstruct)
def return_in_loop(o, n):
    for i in range(n):
        return  # HERE


@wrong("Cannot have `return` statements inside", "afterwards", kind=UnsupportedLanguageConstruct)
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


@wrong("too many positional arguments", "exponential(x)")
def too_many_arguments(o, n):
    exponential(o, n)  # HERE


@wrong("X is already defined. constexpr cannot be reassigned.")
def constexpr_twice(o, n):
    X: tl.constexpr = 3
    X: tl.constexpr = 4  # HERE


@wrong("arange's arguments must be of type tl.constexpr", "annotate")
def runtime_constexpr(o, n):
    X: tl.constexpr = n
    tl.store(o, X * 2)
    tl.store(o + tl.arange(0, X), n)  # HERE


@wrong("three 3 is not more", kind=CompileTimeAssertionFailure)
def static_failure(o, n):
    tl.static_assert(3 > 4, f"three {3} is not more")  # HERE


@wrong("Boolean value of Tensor with more than one value is ambiguous", "tl.where", kind=UnsupportedLanguageConstruct)
def ambiguous(o, n):
    if tl.arange(0, 16) > 3:  # HERE
        tl.store(o, n)


@wrong("{bool, int, NoneType}, not objects of type float", kind=UnsupportedLanguageConstruct)
def float_condition(o, n, F: tl.constexpr = 1.5):
    if F:  # HERE
        tl.store(o, n)


@wrong("__setitem__ is not supported", "tl.where", kind=UnsupportedLanguageConstruct)
def set_item(o, n):
    x = tl.arange(0, 16)
    x[3] = 5  # HERE


@wrong("Attribute assignment", kind=UnsupportedLanguageConstruct)
def set_attribute(o, n):
    n.thing = 5  # HERE


@wrong("`else` after a `for` loop", "after the loop", kind=UnsupportedLanguageConstruct)
def loop_else(o, n):
    for _ in range(n):
        pass
    else:
        tl.store(o, n)  # HERE


@wrong("cannot assign the constant 'abc'", "tl.constexpr")
def string_variable(o, n):
    x = "abc"  # HERE


@wrong("Try", "exceptions", kind=UnsupportedLanguageConstruct)
def with_try(o, n):
    try:  # HERE
        x = 3
    except ValueError:
        pass


@wrong("`**` is not defined", "multiply", kind=UnsupportedLanguageConstruct)
def power(o, n):
    tl.store(o, n**2)  # HERE


@wrong("`@` is not defined", "tl.dot", kind=UnsupportedLanguageConstruct)
def matmul_operator(o, n):
    n @ n  # HERE


@wrong("cannot unpack a run-time scalar int32 into 2 names")
def unpacking(o, n):
    a, b = n  # HERE


@wrong("not enough values to unpack (expected 3, got 2)")
def wrong_count(o, n):
    a, b, c = (1, 2)  # HERE


@wrong("starred assignment", "one name per element", kind=UnsupportedLanguageConstruct)
def starred(o, n):
    a, *b = (1, 2, 3)  # HERE


@wrong("simultaneous multiple assignment", "one name", kind=UnsupportedLanguageConstruct)
def chained_assignment(o, n):
    a = b = n  # HERE


@wrong("`//` is defined for integers only", "tl.floor")
def float_floor_division(o, n):
    tl.store(o, n // 2.0)  # HERE


@wrong("Mask must have boolean scalar type", "mask != 0")
def integer_mask(o, n):
    i = tl.arange(0, 16)
    tl.store(o + i, i, mask=i)  # HERE


@wrong("`other` cannot be provided without `mask`")
def other_without_mask(o, n):
    tl.load(o + tl.arange(0, 16), other=0)  # HERE


@wrong("Unsupported ptr type int32 in `tl.load`", "expected a pointer")
def load_of_number(o, n):
    tl.load(n)  # HERE


@wrong("`padding_option` or `boundary_check`")
def padding_without_block(o, n):
    tl.load(o, padding_option="zero")  # HERE


@wrong("Mask argument cannot be block type")
def block_mask_on_scalar(o, n):
    tl.load(o, mask=tl.arange(0, 16) > 3)  # HERE


@wrong("not compatible for matmul", "tl.trans")
def dot_shapes(o, n):
    a = tl.full((16, 16), 1.0, tl.float32)
    b = tl.full((32, 16), 1.0, tl.float32)
    tl.dot(a, b)  # HERE


@wrong("Both operands must be same dtype", "cast one")
def dot_dtypes(o, n):
    a = tl.full((16, 16), 1.0, tl.float32)
    tl.dot(a, a.to(tl.float16))  # HERE


@jit
def recursion(o, n):
    recursive(n)


@jit
def endless_recursion(o, n):
    endless(1)


@wrong("SIZE is not defined", "the constant 16 on one way through the `if`")
def different_constants(o, n):
    if n > 3:
        SIZE: tl.constexpr = 16
    else:
        SIZE: tl.constexpr = 32
    tl.store(o + tl.arange(0, SIZE), n)  # HERE


@jit
def returns_value(o, n):
    return n


@wrong("The result of tl.advance is not being used")
def lost_advance(o, n):
    p = tl.make_block_ptr(o, (16,), (1,), (0,), (16,), (0,))
    tl.advance(p, (1,))  # HERE


@jit
def deep(o, n):
    middle(n)


@wrong("Scalar 300 is out of range for type uint8")
def out_of_range(o, n):
    tl.store(o, n.to(tl.uint8) + 300)  # HERE


@wrong("unsigned tensor and a negative scalar", "signed")
def negative_with_unsigned(o, n):
    tl.store(o, n.to(tl.uint32) * -1)  # HERE


@wrong("different signedness", "cast")
def mixed_signs(o, n):
    tl.store(o, n // n.to(tl.uint32))  # HERE


@wrong("unexpected keyword argument 'wrong'")
def unknown_keyword(o, n):
    tl.store(o, n, wrong=3)  # HERE


@wrong("Cannot evaluate f-string", "tl.device_print", kind=UnsupportedLanguageConstruct)
def runtime_fstring(o, n):
    tl.static_assert(False, f"{n}")  # HERE


@wrong("unsupported tensor index")
def element_index(o, n):
    tl.arange(0, 16)[0]  # HERE


@wrong("`:=` in the condition of a `while`", "before the loop", kind=UnsupportedLanguageConstruct)
def walrus(o, n):
    while (y := n) > 3:  # HERE
        pass


@wrong("Only `range`, `tl.range` and `tl.static_range`", "static_range(len(t))", kind=UnsupportedLanguageConstruct)
def over_tuple(o, n):
    for x in (1, 2):  # HERE
        pass


@wrong("For loop bounds and step must all be ints")
def float_range(o, n):
    for i in range(1.5):  # HERE
        pass


@wrong("must not be zero")
def zero_step(o, n):
    for i in range(0, n, 0):  # HERE
        pass


@wrong("int() needs a compile-time value", ".to(tl.int32)")
def int_of_tensor(o, n):
    x = int(n)  # HERE


@wrong("cannot add pointers together")
def pointer_sum(o, n):
    o + o  # HERE


@wrong("invalid operands of type pointer<fp32>")
def pointer_times(o, n):
    o * 2  # HERE


@wrong("invalid operands of type fp32")
def bits_of_floats(o, n):
    tl.full((16,), 1.0, tl.float32) & 1  # HERE


@wrong("Cache modifier '.zz' not supported")
def bad_cache_modifier(o, n):
    tl.load(o, cache_modifier=".zz")  # HERE


@jit
def bad_axis(o, n):
    tl.sum(tl.arange(0, 16), 3)


@wrong("static_assert needs a compile-time condition", "tl.device_assert")
def runtime_static_assert(o, n):
    tl.static_assert(n > 3)  # HERE


@wrong("`**` arguments", kind=UnsupportedLanguageConstruct)
def double_star(o, n):
    exponential(**n)  # HERE


@wrong("too many values to unpack (expected 2, got 3)", "a, _ = f()")
def unpacks_too_many(o, n):
    a, b = n, 2, 3  # HERE


@wrong("topk: k must be greater than 0", kind=CompileTimeAssertionFailure)
def top_of_none(o, n):
    tl.topk(tl.arange(0, 8), 0)  # HERE


@wrong("topk: k must not exceed", kind=CompileTimeAssertionFailure)
def top_of_more(o, n):
    tl.topk(tl.arange(0, 8), 16)  # HERE


@wrong("tl.cat requires tensors of the same shape")
def cat_of_two_shapes(o, n):
    tl.cat(tl.arange(0, 8), tl.arange(0, 4))  # HERE


@wrong("histogram only supports 32-bit integer input, but got int64", ".to(tl.int32)")
def wide_histogram(o, n):
    tl.histogram(tl.arange(0, 8).to(tl.int64), 4)  # HERE


@wrong("atomic_load only supports acquire and relaxed")
def loads_with_release(o, n):
    tl.atomic_load(o, sem="release")  # HERE


@wrong("atomic_store only supports release and relaxed")
def stores_with_acquire(o, n):
    tl.atomic_store(o, 1, sem="acquire")  # HERE


@wrong("atomic_poll only supports integer elements")
def polls_floats(o, n):
    tl.atomic_poll(o, 1)  # HERE


@wrong("timeout_ns must be non-negative")
def polls_in_the_past(o, n):
    tl.atomic_poll(o.to(tl.pointer_type(tl.int32)), 1, timeout_ns=-1)  # HERE


@wrong("timeout_ns must be a scalar integer")
def polls_by_lanes(o, n):
    tl.atomic_poll(o.to(tl.pointer_type(tl.int32)), 1, timeout_ns=tl.arange(0, 4))  # HERE


@wrong("approx and ieee_rounding cannot both be True")
def approximates_precisely(o, n):
    tl.fdiv(1.0, n, ieee_rounding=True, approx=True)  # HERE


@wrong("approx division requires float32 operands")
def approximates_doubles(o, n):
    tl.fdiv(n.to(tl.float64), 3.0, approx=True)  # HERE


@wrong("too many indices for tensor of rank 1")
def too_many_indices(o, n):
    tl.arange(0, 4)[:, :]  # HERE


@wrong("fp8e4b15 has no arithmetic", ".to(tl.float16)")
def adds_bits(o, n):
    tl.full((4,), 1, tl.float8e4b15) + 1.0  # HERE


@aggregate
class Pair:
    first: tl.tensor
    second: tl.tensor


@wrong("Pair.__init__() missing required argument: 'second'")
def misses_field(o, n):
    Pair(n)  # HERE


@wrong("Pair has no field 'third'", "its fields are first, second", kind=MissingFieldError)
def reads_no_field(o, n):
    tl.store(o, Pair(n, n).third)  # HERE


@wrong("Pair.__init__() takes 3 positional arguments but 4 were given", "its fields are first, second")
def has_too_many_fields(o, n):
    Pair(n, n, n)  # HERE


@wrong("Pair.__init__() got multiple values for argument 'first'")
def sets_a_field_twice(o, n):
    Pair(n, first=n)  # HERE


@wrong("Pair has no field 'third'", "first, second", kind=MissingFieldError)
def sets_no_field(o, n):
    pair = Pair(n, n)
    tl.aggregate_replace(pair, third=n)  # HERE


@wrong("Attribute assignment", "aggregate_replace(..., first=...)", kind=UnsupportedLanguageConstruct)
def changes_field(o, n):
    pair = Pair(n, n)
    pair.first = n  # HERE


@wrong("the operator `+` is not defined for", kind=UnsupportedLanguageConstruct)
def no_operator(o, n):
    Pair(n, n) + n  # HERE


@wrong("squeeze: dimension 0 must have extent 1")
def squeezes_wide(o, n):
    tl.squeeze(tl.arange(0, 4), 0)  # HERE


@wrong("Expected dtype ['fp32', 'fp64'] but got fp16", ".to(tl.float32)")
def half_of_sqrt(o, n):
    tl.sqrt(n.to(tl.float16))  # HERE


@wrong("`tanh` runs at compile time", "use tl.extra.libdevice.tanh")
def numpy_function(o, n):
    tl.store(o, np.tanh(n.to(tl.float32)))  # HERE


@wrong("`comb` runs at compile time", "before the launch")
def host_function(o, n):
    tl.store(o, math.comb(n, 2))  # HERE


@wrong("sum cannot be used in a kernel", "not allowed in a kernel: use tl.sum")
def sum_of_python(o, n):
    tl.store(o, sum(tl.arange(0, 16)))  # HERE


@wrong("has no attribute `append`", "items + (value,)")
def appended(o, n):
    items = [n]
    items.append(n)  # HERE


@wrong("a comprehension runs over a tuple, not over `range`", "tl.static_range")
def over_a_range(o, n):
    items = [n + i for i in range(3)]  # HERE


@wrong("got the class `numpy.float32`", "use tl.float32")
def foreign_type(o, n):
    tl.store(o, n.to(np.float32))  # HERE


@wrong("got the constant None", "if x is not None")
def none_operand(o, n, missing: tl.constexpr = None):
    tl.store(o, n + missing)  # HERE


@wrong("`num_stages` must be a compile-time integer, got a run-time scalar")
def stages_at_run_time(o, n):
    for i in tl.range(0, 4, num_stages=n):  # HERE
        pass


@wrong("`flatten` must be known at compile time, got a run-time scalar int1")
def flag_at_run_time(o, n):
    for i in tl.range(0, 4, flatten=n > 3):  # HERE
        pass
