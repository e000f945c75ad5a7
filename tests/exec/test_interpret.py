"""The `interpret` switch: launches run on the reference, with the same results and stricter checks."""

from __future__ import annotations

import io
import linecache
import mmap
import pdb
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl
from tilewright.reference import ReferenceError
from tilewright.reference.process_memory import LISTING
from tilewright.support import knobs
from tilewright.support.errors import CompilationError, DeviceAssertionError, TilewrightError


@triton.jit
def scale(x_ptr, out_ptr, n, factor, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n) * factor, mask=i < n)


@triton.jit
def store_all(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK), tl.arange(0, BLOCK))


@triton.jit
def copy_table(table_1, table_2, BLOCK: tl.constexpr):
    tl.store(table_2 + tl.arange(0, BLOCK), tl.load(table_1 + tl.arange(0, BLOCK)))


@triton.jit
def print_sum(x_ptr, BLOCK: tl.constexpr):
    tl.device_print("sum", tl.sum(tl.load(x_ptr + tl.arange(0, BLOCK))))


@triton.jit(debug=True)
def check_positive(x_ptr, BLOCK: tl.constexpr):
    tl.device_assert(tl.load(x_ptr + tl.arange(0, BLOCK)) > 0, "not positive")


@pytest.fixture(autouse=True)
def interpreted() -> Iterator[None]:
    with knobs.scope(interpret=True):
        yield


def test_results_and_target() -> None:
    x, out = np.arange(100, dtype=np.float32), np.full(100, 77, np.float32)
    kernel = scale[(2,)](x, out, 100, 0.5, BLOCK=64)
    assert kernel is not None and kernel.metadata.target.backend == "reference"
    np.testing.assert_array_equal(out, x / 2)
    assert "tt.load" in kernel.asm["ttir"]


def test_views_reach_their_whole_array() -> None:
    x, out = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    scale[(1,)](x[32:], out[32:], 32, 2.0, BLOCK=32)
    np.testing.assert_array_equal(out, np.where(np.arange(64) < 32, 0, 2 * x))


def test_the_switch_is_seen_at_every_launch() -> None:
    x, out = np.arange(16, dtype=np.float32), np.zeros(16, np.float32)
    targets = []
    for switch in (True, False, True):
        with knobs.scope(interpret=switch):
            targets.append(scale[(1,)](x, out, 16, 1.5, BLOCK=16).metadata.target.backend)
    assert targets == ["reference", "cpu", "reference"]


def test_leaving_an_argument_is_reported() -> None:
    x = np.zeros(10, np.int32)
    with pytest.raises(ReferenceError) as caught:
        store_all[(1,)](x, BLOCK=16)
    message = str(caught.value)
    assert "at [10] of the tile: element 10 is outside of argument 'x_ptr' of 10 elements" in message
    assert "tl.store(x_ptr + tl.arange(0, BLOCK), tl.arange(0, BLOCK))" in message
    assert not x.any(), "nothing is written by an access that leaves its memory"


@triton.jit
def copy_at(address, far, out_ptr):
    start = address.to(tl.pointer_type(tl.float32))
    tl.store(out_ptr, tl.load(start + far))
    tl.store(start + far, 2.0)


def mapped(*, writable: bool) -> mmap.mmap:
    """A page of memory that nothing else lies in."""
    return mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | (mmap.PROT_WRITE if writable else 0))


@pytest.mark.parametrize("target", ["reference", "cuda_sim"])
@pytest.mark.skipif(not Path(LISTING).exists(), reason="this system does not list what is mapped")
def test_addresses_of_no_memory_are_reported(target: str) -> None:
    """Where an address leads out of the process, the kernel ends, not the process."""
    out = np.zeros(1, np.float32)
    page, fixed = mapped(writable=True), mapped(writable=False)
    start = np.frombuffer(page, np.float32)
    with knobs.scope(interpret=target == "reference", target=target):
        copy_at[(1,)](start.ctypes.data, 0, out)
        assert start[0] == 2
        with pytest.raises(TilewrightError, match=r"at address 0x3ffffff\w+ this process has no memory") as caught:
            copy_at[(1,)](1 << 46, -16, out)
        assert "tl.load(start + far)" in str(caught.value)
        with pytest.raises(TilewrightError, match="memory of this process may only be read"):
            copy_at[(1,)](np.frombuffer(fixed, np.uint8).ctypes.data, 0, out)


def test_an_argument_left_by_terabytes_reaches_no_other_memory() -> None:
    x, out = np.zeros(4, np.float32), np.zeros(64, np.float32)
    with pytest.raises(ReferenceError, match=r"outside of|points into no argument"):
        copy_table[(1,)](x, out[1:], BLOCK=64)
    for far in (1 << 39, 1 << 40, 1 << 41, 3 << 39, -(1 << 40)):
        with pytest.raises(ReferenceError, match=r"outside of|points into no argument"):
            load_far[(1,)](x, out, far)


@triton.jit
def load_far(x_ptr, out_ptr, far):
    tl.store(out_ptr, tl.load(x_ptr + far))


def test_arguments_are_called_by_their_whole_names() -> None:
    x, y = np.zeros(16, np.int32), np.zeros(8, np.int32)
    with pytest.raises(ReferenceError, match=r"element 8 is outside of argument 'table_2' of 8 elements"):
        copy_table[(1,)](x, y, BLOCK=16)


def test_prints_go_to_the_standard_output(capfd: pytest.CaptureFixture[str]) -> None:
    print_sum[(1,)](np.ones(8, np.float32), BLOCK=8)
    assert "pid (0, 0, 0) idx () sum: 8.000000" in capfd.readouterr().out


def test_assertions() -> None:
    check_positive[(1,)](np.ones(8, np.float32), BLOCK=8)
    with pytest.raises(DeviceAssertionError, match="not positive"):
        check_positive[(1,)](np.array([1, 1, 0, 1], np.float32), BLOCK=4)


# -- Python's own print and breakpoint --------------------------------------------------------------------------------
@triton.jit
def show(x_ptr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    print("x", x, BLOCK, sep="|")
    print(f"sum {tl.sum(x):.2f} of {i=}", i.to(tl.uint8) - 1, (i.dtype, BLOCK), end=";\n")


@triton.jit
def stopped_helper(x):
    doubled = x * 2
    breakpoint()
    return doubled


@triton.jit
def stop(x_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    if tl.program_id(0) == 1:
        breakpoint()
    pair = (x, None)
    tl.store(x_ptr + tl.arange(0, BLOCK), stopped_helper(pair[0]))


def test_print_is_pythons(capsys: pytest.CaptureFixture[str]) -> None:
    show[(2,)](np.arange(4, dtype=np.float32), BLOCK=2)
    assert capsys.readouterr().out == (
        "x|[0. 1.]|2\nsum 1.00 of i=array([0, 1], dtype=int32) [255   0] ('triton.language.int32', 2);\n"
        "x|[2. 3.]|2\nsum 5.00 of i=array([2, 3], dtype=int32) [1 2] ('triton.language.int32', 2);\n"
    )


@pytest.fixture
def frames(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str, dict[str, Any]]]:
    """The frames that breakpoints stop in: the function, the line, and its locals."""
    seen: list[tuple[str, str, dict[str, Any]]] = []

    def stop_here() -> None:
        frame = sys._getframe(1)
        line = linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip()
        assert frame.f_globals["np"] is np, "the globals are those of the kernel's module"
        seen.append((frame.f_code.co_name, line, dict(frame.f_locals)))

    monkeypatch.setattr(sys, "breakpointhook", stop_here)
    return seen


def test_breakpoints_see_the_kernels_line_and_tiles_as_arrays(frames: list[tuple[str, str, dict[str, Any]]]) -> None:
    x = np.array([1, 2], np.float32)
    stop[(2,)](x, BLOCK=2)
    assert [(name, line) for name, line, _ in frames] == [
        ("stopped_helper", "breakpoint()"),
        ("stop", "breakpoint()"),
        ("stopped_helper", "breakpoint()"),
    ]
    np.testing.assert_array_equal(frames[1][2]["x"], np.array([2, 4], np.float32))
    assert frames[1][2]["BLOCK"] == 2
    np.testing.assert_array_equal(frames[2][2]["doubled"], np.array([4, 8], np.float32))
    np.testing.assert_array_equal(x, [4, 8])


def test_a_debugger_goes_from_one_breakpoint_to_the_next(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`next` in the kernel's frame does not walk through the compiler."""
    lines = iter(["p x.sum()", "next", "next", "p doubled", "continue"])
    debugger = pdb.Pdb(stdin=_Lines(lines), stdout=None, nosigint=True, readrc=False)
    debugger.use_rawinput = False
    monkeypatch.setattr(sys, "breakpointhook", lambda: debugger.set_trace(sys._getframe(1)))
    stop[(2,)](np.array([1, 2], np.float32), BLOCK=2)
    shown = capsys.readouterr().out
    assert "kernel 'stop', program (1, 0, 0)" in shown
    assert shown.count("kernel 'stopped_helper'") == 2
    assert "reference" not in shown, "no frame of ours"


class _Lines(io.StringIO):
    """What is typed at a debugger's prompt."""

    def __init__(self, lines: Iterator[str]) -> None:
        super().__init__()
        self._lines = lines

    def readline(self, size: int = -1, /) -> str:
        return next(self._lines, "continue") + "\n"


def test_without_the_switch_breakpoint_says_how() -> None:
    with knobs.scope(interpret=False), pytest.raises(CompilationError, match="TILEWRIGHT_INTERPRET=1"):
        stop[(2,)](np.zeros(2, np.float32), BLOCK=2)
