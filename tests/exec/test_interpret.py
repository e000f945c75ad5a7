"""The `interpret` switch: launches run on the reference, with the same results and stricter checks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl
from tilewright.reference import ReferenceError
from tilewright.support import knobs
from tilewright.support.errors import DeviceAssertionError


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
    assert "lane (10): element 10 is outside of argument 'x_ptr' of 10 elements" in message
    assert "tl.store(x_ptr + tl.arange(0, BLOCK), tl.arange(0, BLOCK))" in message
    assert not x.any(), "nothing is written by an access that leaves its memory"


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
