"""A failed assertion shows the line of the kernel, and the lines of those that called the function it is in."""

from __future__ import annotations

import inspect
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

import tilewright
import tilewright.language as tl
from tilewright.support import knobs
from tilewright.support.errors import DeviceAssertionError
from tilewright.targets.cpu.assertions import assertion_error


@tilewright.jit
def check_positive(v):
    tl.device_assert(v > 0, "not positive")


@tilewright.jit
def kernel(x_ptr, limit, N: tl.constexpr):
    v = tl.load(x_ptr + tl.arange(0, N))
    tl.device_assert(limit > 0, "no limit")
    check_positive(v)
    check_positive(limit - v)


def line_of(function: tilewright.JITFunction, text: str) -> int:
    lines, start = inspect.getsourcelines(function.fn)
    return start + next(number for number, line in enumerate(lines) if text in line)


def failure(limit: float) -> list[str]:
    """The message of a launch, which fails, in a process of which the kernel comes from the disk cache."""
    x = np.ones(16, np.float32)
    fresh = tilewright.jit(kernel.fn)
    with pytest.raises(DeviceAssertionError) as caught:
        fresh[(1,)](x, limit, N=16, debug=True)
    return str(caught.value).splitlines()


@pytest.mark.parametrize("is_cached", [False, True])
def test_place_and_source(is_cached: bool, tmp_path: Path) -> None:
    with knobs.scope(cache_dir=str(tmp_path)):
        if is_cached:
            failure(-1.0)
        lines = failure(-1.0)
    place = f"{__file__}:{line_of(kernel, 'no limit')}:5"
    assert lines == [
        f"{place}: error: Assertion `no limit` failed (kernel 'kernel', program 0, 0, 0)",
        '        tl.device_assert(limit > 0, "no limit")',
        "        ^",
    ]


def test_callers() -> None:
    lines = failure(0.5)
    assert lines[0].startswith(f"{__file__}:{line_of(check_positive, 'device_assert')}:5: error: Assertion `not pos")
    assert lines[3] == f"{__file__}:{line_of(kernel, 'limit - v')}:5: note: called from here"
    assert lines[4].strip() == "check_positive(limit - v)"


def test_c_programs_read_it_in_one_line() -> None:
    compiled = kernel.warmup(np.ones(16, np.float32), 1.0, N=16, grid=(1,), debug=True)
    assert compiled is not None
    callee, caller = line_of(check_positive, "device_assert"), line_of(kernel, "limit - v")
    text = f"{__file__}:{callee}:5: Assertion `not positive` failed, called from {__file__}:{caller}:5"
    assert text.encode() in compiled.asm["obj"]


def test_a_text_without_a_place() -> None:
    error = assertion_error(
        "py must not be bad", {"py must not be bad": ("py must not be bad", (), False)}, "k", (0, 3, 0)
    )
    assert str(error) == "py must not be bad (kernel 'k', program 0, 3, 0)"


@tilewright.jit(debug=False)
def asks_for_none(x_ptr):
    tl.device_assert(tl.load(x_ptr) > 0, "not positive")


@tilewright.jit(debug=True)
def asks_for_it(x_ptr):
    tl.device_assert(tl.load(x_ptr) > 0, "not positive")


@pytest.mark.parametrize("switch", [False, True])
@pytest.mark.parametrize("option", [None, False, True])
@pytest.mark.parametrize("kernel_", [asks_for_none, asks_for_it])
def test_who_asks_for_assertions(kernel_: tilewright.JITFunction, option: bool | None, switch: bool) -> None:
    """The switch whatever a launch says, a launch whatever the decorator says; programs catch a RuntimeError."""
    chosen = {} if option is None else {"debug": option}
    fails = switch or (option if option is not None else kernel_ is asks_for_it)
    x = np.zeros(1, np.float32)
    with knobs.scope(debug=switch), pytest.raises(RuntimeError, match="not positive") if fails else nullcontext():
        kernel_[(1,)](x, **chosen)
