"""Views that hide their allocation are not taken for disjoint: kernels may go beyond what they show."""

from __future__ import annotations

import mmap
from collections.abc import Callable
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

import tilewright as triton
import tilewright.language as tl
from suite.arrays import Array
from suite.foreign_arrays import ByDlpack, ByInterface
from tilewright.runtime.allocations import extent_of_array, has_known_storages
from tilewright.runtime.reading import are_apart
from tilewright.runtime.storage import Storage, find_sharing, find_storage

BLOCK = 256
FIRST, SECOND = 256, 511
"""Where the two views of the tests begin: what the kernel stores through the second meets what it reads."""


@triton.jit
def double_twice(p, q, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(q + i, tl.load(p + i) * 2)
    tl.store(q + BLOCK + i, tl.load(p + i))


def _strided(buffer: Array, start: int) -> Any:
    return as_strided(buffer[start:], (4,), (4,))


def _from_buffer(buffer: Array, start: int) -> Any:
    return np.frombuffer(buffer.data, np.int32, 1, 4 * start)


def _torch(function: str) -> Callable[[Array, int], Any]:
    def show(buffer: Array, start: int) -> Any:
        torch = pytest.importorskip("torch", reason="needs PyTorch")
        view = buffer[start : start + 1]
        return (
            torch.frombuffer(view.data, dtype=torch.int32, count=1)
            if function == "frombuffer"
            else getattr(torch, function)(view)
        )

    return show


VIEWS: dict[str, Callable[[Array, int], Any]] = {
    "slice": lambda buffer, start: buffer[start:],
    "as_strided": _strided,
    "frombuffer": _from_buffer,
    "from_dlpack": lambda buffer, start: np.from_dlpack(buffer[start : start + 1]),
    "interface": lambda buffer, start: ByInterface(buffer[start : start + 1]),
    "capsule": lambda buffer, start: ByDlpack(buffer[start : start + 1]),
    "torch.from_numpy": _torch("from_numpy"),
    "torch.from_dlpack": _torch("from_dlpack"),
    "torch.frombuffer": _torch("frombuffer"),
}


@pytest.mark.parametrize(("first", "second"), list(product(VIEWS, repeat=2)))
def test_kernels_that_go_beyond_views_are_right(first: str, second: str) -> None:
    expected = np.arange(1024, dtype=np.int32)
    expected[SECOND : SECOND + BLOCK] = expected[FIRST : FIRST + BLOCK] * 2
    expected[SECOND + BLOCK : SECOND + 2 * BLOCK] = expected[FIRST : FIRST + BLOCK].copy()
    for _ in range(4):  # the slow path, the fast path in Python, native code
        buffer = np.arange(1024, dtype=np.int32)
        double_twice[(1,)](VIEWS[first](buffer, FIRST), VIEWS[second](buffer, SECOND), BLOCK=BLOCK)
        np.testing.assert_array_equal(buffer, expected)


def _storages(*values: Any) -> dict[int, Any]:
    return dict(enumerate(map(find_storage, values)))


def test_sharing_is_by_groups() -> None:
    first, second, third = np.zeros(16), np.zeros(16), np.zeros(16)
    assert find_sharing(_storages(first[8:], second, first[:8], third, second[1:])) == ((), ((0, 2), (1, 4)))
    assert find_sharing(_storages(first, ByDlpack(second), third, ByInterface(first))) == ((), ((0, 1, 3),))
    assert find_sharing(_storages(first, second, first[:2], second[:1], second)) == (((0, 2), (1, 3, 4)), ())
    assert find_sharing(_storages(first, first.view(np.int64), second, third[:0])) == ((), ((0, 1),))


def _are_disjoint(*values: Any) -> bool:
    return not any(find_sharing(_storages(*values)))


def test_what_owns_its_memory_keeps_the_claim() -> None:
    first, second = np.zeros(16), np.zeros((4, 4), order="F")
    assert _are_disjoint(first[3:], second[1:].T, np.zeros(8))
    assert _are_disjoint(as_strided(first, (4,), (8,)), as_strided(second, (4,), (8,)))
    assert _are_disjoint(np.frombuffer(bytes(8)), np.frombuffer(bytearray(8)), np.frombuffer(mmap.mmap(-1, 8)))
    assert not _are_disjoint(first[:4], first[8:])
    whole = bytearray(64)
    assert not _are_disjoint(np.frombuffer(whole, count=1), np.frombuffer(memoryview(whole)[8:], count=1))


@pytest.mark.parametrize("seed", range(4))
def test_sorting_finds_what_pairs_do(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(250):
        count = int(rng.integers(2, 7))
        lows = [int(low) for low in rng.integers(1, 40, count)]
        extents = [
            (low, low + int(rng.integers(0, 12)), bool(rng.random() < 0.7), bool(rng.random() < 0.6)) for low in lows
        ]
        shared = [
            {m, n}
            for m, n in combinations(range(count), 2)
            if (extents[m][0] < extents[n][1] and extents[n][0] < extents[m][1]) or not (extents[m][2] or extents[n][2])
        ]
        storages = {n: Storage(low, "i8", low, high, is_whole=whole) for n, (low, high, whole, _) in enumerate(extents)}
        groups = [group for groups in find_sharing(storages) for group in groups]
        assert set().union(*groups) == set().union(*shared)
        assert all(any(pair <= set(group) for group in groups) for pair in shared)
        written = {n for n, extent in enumerate(extents) if not extent[3]}
        assert are_apart(extents) == all(pair.isdisjoint(written) for pair in shared)


def test_one_hidden_allocation_is_apart_from_known_ones() -> None:
    owner, other = np.zeros(16), np.zeros(16)
    assert _are_disjoint(ByDlpack(other), owner)
    assert not _are_disjoint(ByDlpack(other), owner, ByInterface(np.zeros(16)))
    assert not _are_disjoint(ByDlpack(other[3:4]), other)


def test_tensors_that_own_their_memory_keep_the_claim() -> None:
    torch = pytest.importorskip("torch", reason="needs PyTorch")
    first, second, third = torch.zeros(16), torch.nn.Parameter(torch.zeros(4, 4)), torch.zeros(8).share_memory_()
    array = first.numpy()  # which makes its storage one that cannot be resized
    assert has_known_storages(type(first.untyped_storage())), "PyTorch lays storages out in another way"
    assert _are_disjoint(first[3:], second.T, third)
    assert extent_of_array(array[3:]) == (first.data_ptr(), first.data_ptr() + 64, True)
    assert not _are_disjoint(first[:4], torch.as_strided(first, (4,), (1,), 8))
    assert not _are_disjoint(torch.from_dlpack(first[:4]), torch.from_dlpack(third[1:]))
