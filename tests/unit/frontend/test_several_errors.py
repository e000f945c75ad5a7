"""One compilation reports the errors of several statements, and none that only follows from another."""

# ruff: noqa: B007, B018, F821, F841, SIM108
# The kernels here are wrong on purpose.
# pyright: reportUndefinedVariable=false, reportUnusedExpression=false, reportUnusedVariable=false

from __future__ import annotations

import inspect
from typing import Any

import pytest

import tilewright.language as tl
from tilewright.frontend import JITCallable, compile_to_tt
from tilewright.frontend import language_function as jit
from tilewright.support.errors import MOST_ERRORS, CompilationError, CompileTimeAssertionFailure


@jit
def wrong_twice(x):
    a = tl.exp(x)  # ERROR
    b = a + 1
    return x + missing  # ERROR


@jit
def in_sequence(o, n):
    x = unknown + 1  # ERROR
    y = x * 2
    y += n
    tl.store(o, y)
    tl.store(o + 1, n.foo)  # ERROR
    tl.store(o + 2, n)


@jit
def in_branches(o, n):
    x = n
    if n > 0:
        x = tl.exp(n)  # ERROR
        tl.store(o, x)
    else:
        other = absent  # ERROR
    tl.store(o, x)
    tl.stroe(o, n)  # ERROR


@jit
def in_loops(o, n):
    total = tl.zeros((16,), tl.float32)
    count = 0
    for i in range(n):
        step = total.nothing  # ERROR
        total += step
        count += 1
        break  # ERROR
    while count < unknown:  # ERROR
        count += 1
    tl.store(o, count)
    tl.store(o + tl.arange(0, 16), total)
    tl.store(o, absent)  # ERROR


@jit
def before_a_loop(o, n):
    x = absent  # ERROR
    for i in range(n):
        x += 1.0
        x = x * 2
    tl.store(o, x)


@jit
def of_the_condition(o, n):
    if absent > 0:  # ERROR
        x = 1
    else:
        x = 2
    tl.store(o, x)


@jit
def of_an_early_return(o, n):
    if n > 0:
        tl.store(o, absent)  # ERROR
        return
    x = n.foo  # ERROR
    if x > 0:
        return
    tl.store(o, missing)  # ERROR


@jit
def of_an_unrolled_loop(o, n):
    for i in tl.static_range(4):
        tl.store(o + i, absent)  # ERROR
    tl.store(o, n.foo)  # ERROR


@jit
def of_language_functions(o, n):
    x = tl.arange(0, 16)
    tl.store(o, tl.sum(x, axis=3))  # ERROR
    tl.store(o, tl.sum(x, axis=3))  # ERROR


@jit
def with_different_types(o, n):
    if n > 0:
        x = 1.0
    else:
        x = 1
    tl.store(o, x)
    tl.store(o, absent)


@jit
def calls_helpers(o, n):
    tl.store(o, wrong_twice(n))
    tl.store(o, wrong_twice(n))
    tl.store(o, absent)


@jit
def asserts(o, n):
    tl.store(o, absent)
    tl.static_assert(1 > 2, "guard")
    tl.store(o, missing)


@jit
def eleven(o, n):
    a0
    a1
    a2
    a3
    a4
    a5
    a6
    a7
    a8
    a9
    a10


def error_of(kernel: JITCallable) -> CompilationError:
    with pytest.raises(CompilationError) as caught:
        compile_to_tt(kernel, {"o": "*fp32", "n": "i32"})
    return caught.value


def marked(function: Any) -> list[int]:
    lines, first = inspect.getsourcelines(function)
    return [first + number for number, line in enumerate(lines) if line.rstrip().endswith("# ERROR")]


@pytest.mark.parametrize(
    "kernel",
    [
        in_sequence,
        in_branches,
        in_loops,
        before_a_loop,
        of_the_condition,
        of_an_early_return,
        of_an_unrolled_loop,
        of_language_functions,
    ],
    ids=lambda kernel: kernel.fn.__name__,
)
def test_each_wrong_statement_is_reported_once_in_order(kernel: JITCallable) -> None:
    assert [found.line for found in error_of(kernel).errors] == marked(kernel.fn)


def test_the_first_error_is_raised_and_its_text_is_first() -> None:
    error = error_of(in_sequence)
    assert error.message == "unknown is not defined"
    assert isinstance(error.__cause__, NameError)
    text = str(error)
    assert text.startswith(f"{error.filename}:{error.line}:9: error: unknown is not defined\n")
    assert text.index("unknown is not defined") < text.index("has no attribute `foo`")
    assert text.endswith("\n2 errors")


def test_one_error_reads_as_before() -> None:
    error = error_of(of_the_condition)
    assert error.others == ()
    assert not str(error).endswith("errors")


def test_an_if_with_different_types_is_an_error_among_others() -> None:
    messages = [found.message for found in error_of(with_different_types).errors]
    assert len(messages) == 2
    assert messages[0].startswith("Mismatched type for x")
    assert messages[1] == "absent is not defined"


def test_errors_of_a_function_name_its_first_call() -> None:
    error = error_of(calls_helpers)
    lines = inspect.getsourcelines(calls_helpers.fn)[1]
    assert [found.line for found in error.errors] == [*marked(wrong_twice.fn), lines + 4]
    for found in error.errors[:2]:
        assert [note.span.line for note in found.notes if note.span] == [lines + 2]


def test_what_an_assertion_guards_is_not_compiled() -> None:
    first, second = error_of(asserts).errors
    assert first.message == "absent is not defined"
    assert isinstance(second, CompileTimeAssertionFailure)


def test_a_compilation_ends_after_ten_errors() -> None:
    error = error_of(eleven)
    assert len(error.errors) == MOST_ERRORS
    assert str(error).endswith("\n10 errors; no more are looked for")
