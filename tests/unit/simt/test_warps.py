"""What threads of a warp exchange."""

from __future__ import annotations

import numpy as np
import pytest
from ptx_kernels import by_thread

from suite.arrays import Array
from tilewright.reference.simt import DivergenceError, UnknownInstruction

random = np.random.default_rng(3)
LANE = np.arange(32)
X = random.integers(0, 1 << 32, 64, dtype=np.uint32)


def rows(values: Array) -> Array:
    return values.reshape(-1, 32)


@pytest.mark.parametrize("by", [1, 4, 16])
def test_shuffles(by: int) -> None:
    found = by_thread(f"shfl.sync.bfly.b32 %r0, %r1, {by}, 31, -1;", [X], np.uint32)
    np.testing.assert_array_equal(rows(found), rows(X)[:, LANE ^ by])
    found = by_thread(f"shfl.sync.idx.b32 %r0, %r1, {by}, 31, -1;", [X], np.uint32)
    np.testing.assert_array_equal(rows(found), np.repeat(rows(X)[:, by : by + 1], 32, 1))
    found = by_thread(f"shfl.sync.up.b32 %r0|%p1, %r1, {by}, 0, -1; @!%p1 mov.b32 %r0, 7;", [X], np.uint32)
    np.testing.assert_array_equal(rows(found)[:, by:], rows(X)[:, :-by])
    assert np.all(rows(found)[:, :by] == 7)
    found = by_thread(f"shfl.sync.down.b32 %r0|%p1, %r1, {by}, 31, -1; @!%p1 mov.b32 %r0, 7;", [X], np.uint32)
    np.testing.assert_array_equal(rows(found)[:, :-by], rows(X)[:, by:])
    assert np.all(rows(found)[:, 32 - by :] == 7)


def test_segments() -> None:
    """The upper byte of the bounds masks the lanes that stay: segments of 8."""
    bounds = 24 << 8 | 31
    found = by_thread(f"shfl.sync.idx.b32 %r0, %r1, 3, {bounds}, -1;", [X], np.uint32)
    np.testing.assert_array_equal(rows(found), rows(X)[:, LANE // 8 * 8 + 3])
    found = by_thread(f"shfl.sync.bfly.b32 %r0|%p0, %r1, 1, {24 << 8 | 3}, -1;", [X], np.uint32)
    inside = (LANE ^ 1) <= (LANE & 24 | 3)
    np.testing.assert_array_equal(rows(found), rows(X)[:, np.where(inside, LANE ^ 1, LANE)])


def test_votes() -> None:
    values = np.concatenate([np.arange(32), np.ones(32)]).astype(np.uint32)
    ballot = by_thread("setp.gt.u32 %p1, %r1, 3; vote.sync.ballot.b32 %r0, %p1, -1;", [values], np.uint32)
    np.testing.assert_array_equal(rows(ballot), [[0xFFFFFFF0] * 32, [0] * 32])
    for kind, expected in (("any", (True, False)), ("all", (False, False)), ("uni", (False, True))):
        found = by_thread(f"setp.gt.u32 %p1, %r1, 3; vote.sync.{kind}.pred %p0, %p1, -1;", [values], np.bool_)
        np.testing.assert_array_equal(rows(found)[:, 5], expected)


def test_matches() -> None:
    values = random.integers(0, 4, 64).astype(np.uint32)
    found = by_thread("match.any.sync.b32 %r0, %r1, -1;", [values], np.uint32)
    expected = [[sum(1 << i for i in range(32) if row[i] == value) for value in row] for row in rows(values)]
    np.testing.assert_array_equal(rows(found), expected)
    values = np.concatenate([np.full(32, 3), np.arange(32)]).astype(np.uint32)
    found = by_thread("match.all.sync.b32 %r0|%p0, %r1, -1;", [values], np.uint32)
    np.testing.assert_array_equal(rows(found)[:, 0], [0xFFFFFFFF, 0])


@pytest.mark.parametrize("op", ["add", "min", "max"])
def test_reductions(op: str) -> None:
    signed = X.view(np.int32)
    ufunc = {"add": np.add, "min": np.minimum, "max": np.maximum}[op]
    found = by_thread(f"redux.sync.{op}.s32 %r0, %r1, -1;", [signed], np.int32)
    np.testing.assert_array_equal(rows(found), np.repeat(ufunc.reduce(rows(signed), 1, np.int32)[:, None], 32, 1))


def test_logical_reductions() -> None:
    for op, ufunc in (("and", np.bitwise_and), ("or", np.bitwise_or), ("xor", np.bitwise_xor)):
        found = by_thread(f"redux.sync.{op}.b32 %r0, %r1, -1;", [X], np.uint32)
        np.testing.assert_array_equal(rows(found)[:, 9], ufunc.reduce(rows(X), 1))


def test_one_lane_is_elected() -> None:
    found = by_thread("elect.sync %r1|%p0, -1;", [X], np.bool_)
    np.testing.assert_array_equal(rows(found), [LANE == 0] * 2)


def test_parts_of_a_warp() -> None:
    """Lanes in a branch exchange values among themselves: the mask names them."""
    body = """
    mov.u32 %r9, %laneid; mov.u32 %r0, 0;
    setp.lt.u32 %p1, %r9, 16; @!%p1 bra OUT;
    shfl.sync.bfly.b32 %r0, %r1, 8, 31, 0xFFFF;
    activemask.b32 %r5; add.u32 %r0, %r0, %r5;
    OUT:"""
    found = by_thread(body, [X], np.uint32)
    expected = np.where(LANE < 16, rows(X)[:, LANE ^ 8] + np.uint32(0xFFFF), 0)
    np.testing.assert_array_equal(rows(found), expected)


def test_lanes_wait_for_each_other() -> None:
    """Threads that took different ways meet at an instruction of all of them, whatever is behind."""
    body = """
    mov.u32 %r9, %laneid; mov.u32 %r2, 0;
    setp.lt.u32 %p1, %r9, 16; @%p1 bra MEET;
    add.u32 %r1, %r1, 1; bra MEET;
    MEET: shfl.sync.bfly.b32 %r0, %r1, 16, 31, -1;"""
    found = by_thread(body, [X], np.uint32)
    changed = rows(X) + (LANE >= 16).astype(np.uint32)
    np.testing.assert_array_equal(rows(found), changed[:, LANE ^ 16])


def test_a_part_of_a_warp_cannot_stand_for_all() -> None:
    body = """
    mov.u32 %r9, %laneid; setp.lt.u32 %p1, %r9, 16; @%p1 bra ONE;
    shfl.sync.bfly.b32 %r0, %r1, 8, 31, -1; bra OUT;
    ONE: shfl.sync.bfly.b32 %r0, %r1, 4, 31, -1;
    OUT:"""
    with pytest.raises(DivergenceError, match="by some threads of a warp, and never by all"):
        by_thread(body, [X], np.uint32)


def test_unknown_modes() -> None:
    with pytest.raises(UnknownInstruction, match=r"does not know 'shfl\.sync\.left\.b32'"):
        by_thread("shfl.sync.left.b32 %r0, %r1, 1, 31, -1;", [X], np.uint32)
