"""Every mistake in a kernel is an error at the right place, in the user's words, with advice where there is any."""

# ruff: noqa: F821
# The kernels here are wrong on purpose.
# pyright: reportUndefinedVariable=false, reportUnusedExpression=false, reportUnusedVariable=false
# pyright: reportConstantRedefinition=false, reportPossiblyUnboundVariable=false

from __future__ import annotations

import inspect
import linecache
from typing import Any

import numpy as np
import pytest
from wrong_kernels import (
    CASES,
    bad_axis,
    calls_inconsistent,
    deep,
    endless_recursion,
    exponential,
    recursion,
    returns_value,
    unknown_name,
)

import tilewright.language as tl
from tilewright.frontend import JITCallable, compile_to_tt
from tilewright.frontend import language_function as jit
from tilewright.support.errors import (
    ArgumentError,
    CompilationError,
    NoSourceError,
)


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
    assert (error.filename, error.line) == (kernel.fn.__code__.co_filename, expected)
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
    assert error.filename == kernel.fn.__code__.co_filename and not error.notes
    assert error.source_line is not None and error.source_line[error.col - 1 :].startswith(call)


def test_unknown_argument_type() -> None:
    with pytest.raises(ArgumentError, match="argument 'n': unknown type 'i33'"):
        compile_to_tt(deep, {"o": "*fp32", "n": "i33"})


def test_function_outside_of_a_kernel() -> None:
    with pytest.raises(RuntimeError, match="Cannot call @jit'd function `exponential` outside"):
        exponential(1.0)
    with pytest.raises(RuntimeError, match="arange was called outside of a kernel"):
        tl.arange(0, 16)
    with pytest.raises(RuntimeError, match="sum was called outside of a kernel"):
        tl.sum(1.0)
    with pytest.raises(RuntimeError, match="load was called outside of a kernel"):
        tl.load(np.zeros(4))
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        tl.load()


def test_function_without_source() -> None:
    namespace: dict[str, Any] = {}
    exec(compile("def typed_in(x):\n    pass\n", "<made>", "exec"), namespace)
    with pytest.raises(NoSourceError, match="should be defined in a Python file"):
        compile_to_tt(jit(namespace["typed_in"]), {"x": "i32"})


@pytest.mark.parametrize("kept", ["import sys\n", "def another(x):\n    pass\n"])
def test_function_with_the_source_of_something_else(kept: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python 3.13 keeps the text of `python -c` under the name that `exec` gives what it makes, too."""
    monkeypatch.setitem(linecache.cache, "<made>", (len(kept), None, kept.splitlines(keepends=True), "<made>"))
    namespace: dict[str, Any] = {}
    exec(compile("def typed_in(x):\n    pass\n", "<made>", "exec"), namespace)
    with pytest.raises(NoSourceError, match="another text stands where it was defined"):
        compile_to_tt(jit(namespace["typed_in"]), {"x": "i32"})


def test_traceback_can_be_asked_for() -> None:
    from tilewright.support import knobs

    with knobs.scope(tracebacks=True):
        assert isinstance(failure(unknown_name).__cause__, NameError)
