"""An error's traceback shows the user's frames alone: the line that launched, and the user's functions in between."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilewright
import tilewright.language as tl
from tilewright.codegen.llvm_backend import LlvmError
from tilewright.compiler.source import ASTSource
from tilewright.support import knobs
from tilewright.support.errors import CompilationError, PassError, TilewrightError
from tilewright.support.tracebacks import ends_tracebacks

X = np.zeros(128, np.float32)


@tilewright.jit
def helper(x):
    return x.nothing()


@tilewright.jit
def wrong(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK), helper(BLOCK))


@tilewright.jit
def asserts(x_ptr, limit, BLOCK: tl.constexpr):
    tl.device_assert(tl.load(x_ptr + tl.arange(0, BLOCK)) > limit, "too small")


tuned = tilewright.autotune([tilewright.Config({"BLOCK": 64}), tilewright.Config({"BLOCK": 128})], key=[])(wrong)
ruled = tilewright.heuristics({"BLOCK": lambda given: 128})(wrong)


def launch_by_hook() -> None:
    """The user's function stands between two frames of ours."""
    hooked = tilewright.jit(asserts.fn)
    hooked.add_pre_run_hook(lambda *args, **keywords: launch_wrong())
    hooked[(1,)](X, 1.0, BLOCK=128)


def launch_wrong() -> None:
    wrong[(1,)](X, BLOCK=128)


LAUNCHES: dict[str, tuple[Callable[[], Any], list[str]]] = {
    "kernel that is wrong": (launch_wrong, ["launch_wrong"]),
    "by run": (lambda: wrong.run(X, BLOCK=128, grid=(1,)), ["<lambda>"]),
    "by warmup": (lambda: wrong.warmup(X, BLOCK=128, grid=(1,)), ["<lambda>"]),
    "by autotune": (lambda: tuned[(1,)](X), ["<lambda>"]),
    "by heuristics": (lambda: ruled[(1,)](X), ["<lambda>"]),
    "by a hook": (launch_by_hook, ["launch_by_hook", "<lambda>", "launch_wrong"]),
    "by compile": (
        lambda: tilewright.compile(ASTSource(wrong, {"x_ptr": "*fp32", "BLOCK": "constexpr"}, {"BLOCK": 128})),
        ["<lambda>"],
    ),
    "assertion": (lambda: asserts[(1,)](X, 1.0, BLOCK=128, debug=True), ["<lambda>"]),
    "missing argument": (lambda: wrong[(1,)](BLOCK=128), ["<lambda>"]),
    "grid": (lambda: asserts[(1, 1, 1, 1)](X, 1.0, BLOCK=128), ["<lambda>"]),
    "option": (lambda: asserts[(1,)](X, 1.0, BLOCK=128, num_warps=3), ["<lambda>"]),
    "no grid": (lambda: wrong(X, BLOCK=128), ["<lambda>"]),
    "outside of a kernel": (lambda: tl.arange(0, 16), ["<lambda>"]),
    "an array outside of a kernel": (lambda: tl.load(X), ["<lambda>"]),
    "not a kernel": (lambda: tilewright.jit(print), ["<lambda>"]),
    "unknown option": (lambda: asserts[(1,)](X, 1.0, BLOCK=128, num_wraps=4), ["<lambda>"]),
}


def names_of(error: BaseException) -> list[str]:
    """The functions in a traceback below the test that caught it."""
    return [frame.name for frame in traceback.extract_tb(error.__traceback__)][1:]


@pytest.mark.parametrize("launched", LAUNCHES)
def test_frames(launched: str) -> None:
    launch, expected = LAUNCHES[launched]
    with pytest.raises(TilewrightError) as caught:
        launch()
    assert names_of(caught.value) == expected
    assert len(traceback.format_exception(caught.value)) == len(expected) + 3, "no chain of other errors"


def test_a_launch_that_was_made_before() -> None:
    asserts[(1,)](X, -1.0, BLOCK=128, debug=True)
    with pytest.raises(TilewrightError) as caught:
        asserts[(1,)](X, 2.0, BLOCK=128, debug=True)
    assert names_of(caught.value) == []


def test_a_kernel_that_was_kept() -> None:
    kernel = asserts[(1,)](X, -1.0, BLOCK=128, debug=True)
    assert kernel is not None
    with pytest.raises(TilewrightError) as caught:
        kernel[(1,)](X, 1.0)
    assert names_of(caught.value) == []


def test_the_switch_keeps_all_frames() -> None:
    with knobs.scope(tracebacks=True), pytest.raises(TilewrightError) as caught:
        launch_wrong()
    files = {Path(frame.filename).name for frame in traceback.extract_tb(caught.value.__traceback__)}
    assert {"jit.py", "compile.py", "expressions.py"} <= files


@pytest.mark.parametrize("error", [PassError("reason", pass_name="p", internal=True), LlvmError("rejected")])
def test_defects_keep_all_frames(error: TilewrightError) -> None:
    @ends_tracebacks
    def fail() -> None:
        exec("raise error", {"__name__": "tilewright.somewhere", "error": error})

    with pytest.raises(TilewrightError) as caught:
        fail()
    assert names_of(caught.value) == ["border", "fail", "<module>"]


def test_the_error_inside_that_it_came_from_is_shown_to_who_asks() -> None:
    scope: dict[str, Any] = {}
    exec(compile("def typed(x):\n    pass\n", "<made>", "exec"), scope)
    kernel = tilewright.jit(scope["typed"])
    with pytest.raises(TilewrightError) as caught:
        kernel[(1,)](X)
    assert caught.value.__cause__ is None and caught.value.__suppress_context__
    with knobs.scope(tracebacks=True), pytest.raises(TilewrightError) as caught:
        kernel[(1,)](X)
    assert isinstance(caught.value.__cause__, OSError)


@tilewright.jit
def wrong_inside(x_ptr):
    tl.store(x_ptr + tl.arange(0, 100), 0.0)


@tilewright.jit
def calls_wrong(x_ptr):
    wrong_inside(x_ptr)


@tilewright.jit
def asserts_wrong(x_ptr):
    tl.static_assert(1 == 2, "never")


@pytest.mark.parametrize("kernel", [wrong_inside, calls_wrong])
def test_the_cause_of_a_compilation_error_is_what_the_language_raised(kernel: Any) -> None:
    """Official Triton's tests read its text."""
    with pytest.raises(CompilationError) as caught:
        kernel[(1,)](X)
    cause = caught.value.__cause__
    assert isinstance(cause, ValueError) and str(cause) == "arange's range must be a power of 2"
    assert cause.__traceback__ is None and cause.__cause__ is None and cause.__suppress_context__


def test_what_a_static_assertion_says_has_no_further_cause() -> None:
    with pytest.raises(CompilationError) as caught:
        asserts_wrong[(1,)](X)
    assert caught.value.__cause__ is None
