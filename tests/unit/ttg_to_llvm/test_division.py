"""Integer division on the simulated GPU against integers of Python, at the values where signs and words end."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest
from kernel_text import KernelText
from simulated import run_kernel

from tilewright.layouts.distributed import BlockedLayout

LANES = BlockedLayout((4,), (32,), (4,), (0,))
EDGES = [0, 1, 2, 3, 7, 8, 2**31 - 2, 2**31 - 1, 2**31, 2**31 + 1, 2**32 - 8, 2**32 - 1]


def _signed(bits: int) -> int:
    return bits - (1 << 32) if bits >> 31 else bits


def _towards_zero(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


MEANINGS: dict[str, Callable[[int, int], int]] = {
    "divui": lambda a, b: a // b,
    "ceildivui": lambda a, b: -(-a // b),
    "remui": lambda a, b: a % b,
    "divsi": lambda a, b: _towards_zero(_signed(a), _signed(b)),
    "ceildivsi": lambda a, b: -(-_signed(a) // _signed(b)),
    "floordivsi": lambda a, b: _signed(a) // _signed(b),
    "remsi": lambda a, b: _signed(a) - _signed(b) * _towards_zero(_signed(a), _signed(b)),
}


def _is_defined(name: str, a: int, b: int) -> bool:
    return b != 0 and not (name.endswith("si") and (a, b) == (2**31, 2**32 - 1))


@pytest.mark.parametrize("name", MEANINGS)
def test_division_at_the_edges(name: str) -> None:
    pairs = [(a, b) for a, b in itertools.product(EDGES, EDGES) if _is_defined(name, a, b)]
    left, right = (np.array(column, dtype=np.uint32) for column in zip(*pairs, strict=True))
    count = 1 << (len(pairs) - 1).bit_length()
    padding = (0, count - len(pairs))
    k = KernelText()
    x, y = k.load("i32", (count,), LANES), k.load("i32", (count,), LANES)
    k.store(k.add(f"arith.{name} {x.name}, {y.name} : {x.type}", x))
    out = np.zeros(count, np.int32)
    inputs = [np.pad(left, padding, constant_values=1), np.pad(right, padding, constant_values=1)]
    run_kernel(k, [column.view(np.int32) for column in inputs], [out])
    expected = [MEANINGS[name](a, b) & 0xFFFFFFFF for a, b in pairs]
    np.testing.assert_array_equal(out.view(np.uint32)[: len(pairs)], np.array(expected, dtype=np.uint32))
