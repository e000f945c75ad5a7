"""What a user's signal handler raises in the midst of a compilation reaches the user as it is: it is no defect of ours,
and no reason to compile again, or without optimisation."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Generator
from types import FrameType
from typing import Any

import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl
from tilewright.analysis import written_arguments
from tilewright.codegen import llvm_backend
from tilewright.frontend import statements
from tilewright.ir import instruments
from tilewright.lowering.linalg_to_loops import function_lowering as to_loops
from tilewright.support import knobs
from tilewright.support.errors import PassError
from tilewright.support.interruptions import find_interruption
from tilewright.targets.base import find_target

CPU = find_target("cpu")
STAGES = dict(CPU.stages())
FIRST, LAST = type(STAGES["ttir"][0]), type(STAGES["loops"][-1])
"""A pass before the linalg stage, and one after it, whose failure has the kernel compiled by the baseline."""

SIGNAL = signal.SIGUSR1 if sys.platform != "win32" else signal.SIGBREAK


class OutOfTimeError(Exception):
    """As users' alarms raise it."""


raised: list[OutOfTimeError] = []


def raise_now(*arguments: Any) -> None:
    raised.append(OutOfTimeError("stop"))
    raise raised[-1]


def raise_it(number: int, frame: FrameType | None) -> None:
    raise_now()


def raise_after_clean_up(*arguments: Any) -> None:
    """As handlers of one alarm do, which take themselves away."""
    signal.signal(SIGNAL, signal.SIG_DFL)
    raise_now()


class Handler:
    def __call__(self, number: int, frame: FrameType | None) -> None:
        raise_now()


@pytest.fixture
def handler() -> Generator[None]:
    before = signal.signal(SIGNAL, raise_it)
    yield
    signal.signal(SIGNAL, before)


def make_kernel() -> Any:
    @triton.jit
    def summed(x_ptr, n):
        i = tl.arange(0, 16)
        x = tl.load(x_ptr + i, mask=i < n, other=0.0)
        tl.store(x_ptr + i, tl.sum(x) + x, mask=i < n)

    return summed


def run() -> np.ndarray[Any, Any]:
    x = np.ones(16, np.float32)
    with knobs.scope(target="cpu", always_compile=True):
        make_kernel()[(1,)](x, 10)
    return x


WANTED = np.where(np.arange(16) < 10, 11, 1)


def interrupted(*args: Any, **keywords: Any) -> Any:
    """Any function of ours, in which the signal comes."""
    signal.raise_signal(SIGNAL)


PLACES: dict[str, tuple[Any, str]] = {
    "front end": (statements, "materialize"),
    "a pass": (FIRST, "run"),
    "a verifier": (instruments, "verify_module"),
    "an analysis": (written_arguments, "find_written_arguments"),
    "an optimising pass": (LAST, "run"),
    "a lowering": (to_loops.FunctionLowering, "lower_op"),
    "LLVM's text": (type(CPU), "emit"),
    "LLVM": (llvm_backend, "compile_parts"),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("opt", ["1", "strict"])
def test_exceptions_of_signal_handlers_pass(
    place: str, opt: str, handler: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner, name = PLACES[place]
    monkeypatch.setattr(owner, name, interrupted)
    with knobs.scope(opt=opt), pytest.raises(OutOfTimeError) as caught:
        run()
    assert caught.value is raised[-1]
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


@pytest.mark.parametrize("kind", [raise_after_clean_up, Handler()], ids=["any arguments", "object"])
def test_kinds_of_handlers(kind: Any, handler: None, monkeypatch: pytest.MonkeyPatch) -> None:
    signal.signal(SIGNAL, kind)
    monkeypatch.setattr(FIRST, "run", interrupted)
    with pytest.raises(OutOfTimeError):
        run()


def test_the_next_compilation_is_right(handler: None, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(LAST, "run", interrupted)
        with pytest.raises(OutOfTimeError):
            run()
    np.testing.assert_array_equal(run(), WANTED)


def test_trace_functions_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """A debugger that its user leaves raises an exception in whatever is traced."""

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        if frame.f_code is interrupted.__code__:
            raise_now()
        return None

    monkeypatch.setattr(FIRST, "run", interrupted)
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        with pytest.raises(OutOfTimeError):
            run()
    finally:
        sys.settrace(before)


def test_what_a_pass_calls_is_not_taken_for_a_handler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FIRST, "run", raise_now)
    with pytest.raises(PassError, match="internal error: OutOfTimeError: stop"):
        run()


def test_the_exception_is_found_whatever_was_made_of_it(handler: None) -> None:
    def translated(translate: Callable[[Exception], None]) -> BaseException | None:
        try:
            try:
                interrupted()
            except OutOfTimeError as error:
                translate(error)
        except ValueError as error:
            return find_interruption(error)
        return None

    def with_cause(error: Exception) -> None:
        raise ValueError from error

    def without_cause(error: Exception) -> None:
        raise ValueError from None

    assert translated(with_cause) is raised[-1]
    assert find_interruption(ValueError("other")) is None
    signal.signal(SIGNAL, raise_it)
    assert translated(without_cause) is raised[-1]
