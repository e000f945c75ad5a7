"""Pointers are printed as addresses in hexadecimal, alone, as tiles and beside other values, on every CPU engine."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl
from tilewright.support import knobs


@triton.jit
def show(x_ptr, n, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.device_print("tile", x_ptr + i)
    tl.device_print("row", x_ptr + n)
    tl.device_print("several", tl.load(x_ptr + i), x_ptr, n)


@pytest.mark.parametrize("switches", [{"opt": "strict"}, {"opt": "0"}, {"interpret": True}], ids=str)
def test_addresses(switches: dict[str, Any], capfd: pytest.CaptureFixture[str]) -> None:
    """The reference has addresses of its own; distances are the same."""
    x = np.array([1.5, 2.5], np.float32)
    with knobs.scope(num_threads=1, **switches):
        show[(1,)](x, 3, N=2)
    lines = capfd.readouterr().out.splitlines()
    base = int(lines[0].rpartition(" ")[2], 16)
    if "interpret" not in switches:
        assert base == x.ctypes.data
    at = "pid (0, 0, 0) idx "
    assert lines == [
        f"{at}(0) tile: 0x{base:016x}",
        f"{at}(1) tile: 0x{base + 4:016x}",
        f"{at}() row: 0x{base + 12:016x}",
        f"{at}(0) several: (operand 0) 1.500000",
        f"{at}(1) several: (operand 0) 2.500000",
        f"{at}() several: (operand 1) 0x{base:016x}",
        f"{at}() several: (operand 2) 3",
    ]
