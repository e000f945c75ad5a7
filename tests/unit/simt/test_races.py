"""Accesses to shared memory that nothing orders."""

from __future__ import annotations

import re

import numpy as np
import pytest
from ptx_kernels import run

from suite.arrays import Array
from tilewright.reference.simt import MemoryAccessError, RaceError, SimulationError

SLOT = "mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; mov.u32 %r3, smem; add.u32 %r2, %r2, %r3;\n"
"""`%r2`: a place of its own for every thread."""
OTHER = "xor.b32 %r4, %r1, MASK; shl.b32 %r4, %r4, 2; add.u32 %r4, %r4, %r3;\n"
"""`%r4`: that of another thread."""


def other(mask: int) -> str:
    return OTHER.replace("MASK", str(mask))


def test_reading_what_another_thread_wrote() -> None:
    body = SLOT + other(32) + "st.shared.u32 [%r2], %r1; BARRIER ld.shared.u32 %r5, [%r4];"
    run(body.replace("BARRIER", "bar.sync 0;"), threads=64)
    with pytest.raises(
        RaceError, match=r"thread 0: reads what thread 32 wrote at byte 128, with no barrier in between"
    ):
        run(body.replace("BARRIER", ""), threads=64)
    with pytest.raises(RaceError, match="reads what thread 32 wrote"):
        run(body.replace("BARRIER", "bar.warp.sync -1;"), threads=64)


def test_overwriting_what_another_thread_reads() -> None:
    body = (
        SLOT
        + other(32)
        + """
    st.shared.u32 [%r2], %r1; bar.sync 0; ld.shared.u32 %r5, [%r4]; BARRIER
    add.u32 %r5, %r5, 1; st.shared.u32 [%r2], %r5;"""
    )
    run(body.replace("BARRIER", "bar.sync 0;"), threads=64)
    with pytest.raises(RaceError, match=r"thread 0: overwrites what thread 32 reads at byte 0"):
        run(body.replace("BARRIER", ""), threads=64)


def test_overwriting_what_several_threads_read() -> None:
    body = (
        SLOT
        + """
    setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.u32 [%r3], 7; bar.sync 0; ld.shared.u32 %r5, [%r3]; BARRIER
    @%p1 st.shared.u32 [%r3], 8;"""
    )
    run(body.replace("BARRIER", "bar.sync 0;"), threads=64)
    with pytest.raises(RaceError, match="thread 0: overwrites what another thread reads"):
        run(body.replace("BARRIER", ""), threads=64)


def test_a_barrier_of_the_warp_is_enough_within_a_warp() -> None:
    body = (
        SLOT + other(8) + "st.shared.u32 [%r2], %r1; BARRIER ld.shared.u32 %r5, [%r4]; BARRIER st.shared.u32 [%r2], 1;"
    )
    run(body.replace("BARRIER", "bar.warp.sync -1;"), threads=64)
    with pytest.raises(RaceError, match="reads what thread 8 wrote"):
        run(body.replace("BARRIER", "", 1).replace("BARRIER", "bar.warp.sync -1;"), threads=64)
    first = body.replace("BARRIER", "bar.warp.sync -1;", 1)
    with pytest.raises(RaceError, match="overwrites what thread 8 reads"):
        run(first.replace("BARRIER", ""), threads=64)


def test_two_threads_write_one_place() -> None:
    with pytest.raises(RaceError, match="two threads write different values to one address at once"):
        run(SLOT + "st.shared.u32 [%r3], %r1;")
    run(SLOT + "st.shared.u32 [%r3], 5;")
    body = (
        SLOT + "setp.lt.u32 %p1, %r1, 32; @%p1 bra LOW; st.shared.u32 [%r3], VALUE; LOW: @%p1 st.shared.u32 [%r3], 5;"
    )
    run(body.replace("VALUE", "5"), threads=64)
    with pytest.raises(RaceError, match="overwrites what thread"):
        run(body.replace("VALUE", "6"), threads=64)


def test_bytes_of_one_word_are_different_places() -> None:
    body = """
    mov.u32 %r1, %tid.x; mov.u32 %r3, smem; add.u32 %r2, %r3, %r1; cvt.u16.u32 %h1, %r1;
    st.shared.u8 [%r2], %h1; ld.shared.u8 %h2, [%r2];"""
    run(body)


def test_named_barriers_order_those_who_meet() -> None:
    body = (
        SLOT
        + other(32)
        + """
    setp.ge.u32 %p1, %r1, 64; @%p1 bra END; st.shared.u32 [%r2], %r1; bar.sync 3, 64; ld.shared.u32 %r5, [%r4];
    END:"""
    )
    run(body, threads=128)


def test_programs_have_memory_of_their_own() -> None:
    run(SLOT + "mov.u32 %r5, %ctaid.x; setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.u32 [%r3], %r5;", grid=(7,), threads=64)


def test_without_detection_races_run() -> None:
    run(SLOT + other(32) + "st.shared.u32 [%r2], %r1; ld.shared.u32 %r5, [%r4];", threads=64, race_detection=False)


TREE = (
    SLOT
    + """
    ld.global.u32 %r10, [%d16]; add.u32 %r10, %r10, %r1; st.shared.u32 [%r2], %r10;
    bar.sync 0;
    xor.b32 %r4, %r2, 256; ld.shared.u32 %r11, [%r4]; add.u32 %r10, %r10, %r11;
    bar.sync 0;
    st.shared.u32 [%r2], %r10;
    bar.sync 0;
    xor.b32 %r4, %r2, 128; ld.shared.u32 %r11, [%r4]; add.u32 %r10, %r10, %r11;
    bar.sync 0;
    st.shared.u32 [%r2], %r10;
    bar.sync 0;
    mov.u32 %r12, 0; mov.u32 %r13, 0;
    LOOP: shl.b32 %r14, %r12, 2; add.u32 %r14, %r14, %r3; ld.shared.u32 %r15, [%r14]; add.u32 %r13, %r13, %r15;
    add.u32 %r12, %r12, 1; setp.lt.u32 %p2, %r12, 32; @%p2 bra LOOP;
    bar.sync 0;
    st.shared.u32 [%r2], %r13;
    bar.sync 0;
    ld.shared.u32 %r16, [%r3+508];
    setp.eq.u32 %p3, %r1, 0; @%p3 st.global.u32 [%d17], %r16;"""
)
"""A sum over 128 threads through shared memory, with seven barriers that are all needed."""
BARRIERS = [match.start() for match in re.finditer(r"bar\.sync 0;", TREE)]


def test_a_sum_with_all_barriers() -> None:
    out = np.zeros(1, np.uint32)
    run(TREE, np.array([3], np.uint32), out, threads=128)
    assert out[0] == 128 * 3 + 127 * 64


@pytest.mark.parametrize("removed", range(len(BARRIERS)))
def test_every_removed_barrier_is_noticed(removed: int) -> None:
    start = BARRIERS[removed]
    text = TREE[:start] + TREE[start + len("bar.sync 0;") :]
    with pytest.raises((RaceError, MemoryAccessError)):
        run(text, np.array([3], np.uint32), np.zeros(1, np.uint32), threads=128)


COPY = """
    mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 4; mov.u32 %r3, smem; add.u32 %r2, %r2, %r3;
    mul.wide.u32 %d1, %r1, 16; add.u64 %d1, %d1, %d16; sub.u64 %d2, %d1, %d16; add.u64 %d2, %d2, %d17;
    setp.ne.u32 %p1, %r1, 5; selp.b32 %r9, 16, 0, %p1;
    cp.async.cg.shared.global [ %r2 + 0 ], [ %d1 + 0 ], 0x10, %r9;
    cp.async.commit_group;
    WAIT
    BARRIER
    xor.b32 %r4, %r1, 32; shl.b32 %r4, %r4, 4; add.u32 %r4, %r4, %r3;
    ld.shared.v4.u32 {%r5, %r6, %r7, %r8}, [%r4]; st.global.v4.u32 [%d2], {%r5, %r6, %r7, %r8};"""


def copied(wait: str, barrier: str) -> Array:
    x, out = np.arange(256, dtype=np.uint32), np.zeros(256, np.uint32)
    body = COPY.replace("WAIT", wait).replace("BARRIER", barrier)
    run(body, x, out, threads=64)
    return out


def test_copies_by_threads() -> None:
    expected = np.arange(256).reshape(64, 4)
    expected[5] = 0
    for wait in ("cp.async.wait_group 0;", "cp.async.wait_all;"):
        np.testing.assert_array_equal(copied(wait, "bar.sync 0;").reshape(64, 4), expected[np.arange(64) ^ 32])


@pytest.mark.parametrize(
    ("wait", "barrier", "message"),
    [
        ("", "bar.sync 0;", "touched while an asynchronous copy into it has not been waited for"),
        ("cp.async.wait_group 1;", "bar.sync 0;", "touched while an asynchronous copy into it has not been waited for"),
        ("cp.async.wait_group 0;", "", "reads what thread 32 wrote at byte 512"),
        ("bar.sync 0;", "cp.async.wait_group 0;", "reads what thread 32 wrote"),
    ],
)
def test_copies_that_are_not_waited_for(wait: str, barrier: str, message: str) -> None:
    with pytest.raises(RaceError, match=message):
        copied(wait, barrier)


def test_groups_arrive_in_order() -> None:
    """Two groups are under way; the first may be read once one is left."""
    body = """
    mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; mul.wide.u32 %d1, %r1, 4; add.u64 %d1, %d1, %d16;
    cp.async.ca.shared.global [%r2], [%d1], 4; cp.async.commit_group;
    cp.async.ca.shared.global [%r2+256], [%d1], 4; cp.async.commit_group;
    cp.async.wait_group 1; ld.shared.u32 %r5, [%r2+PLACE];"""
    x = np.arange(32, dtype=np.uint32)
    run(body.replace("PLACE", "0"), x)
    with pytest.raises(SimulationError, match="has not been waited for"):
        run(body.replace("PLACE", "256"), x)


def test_narrow_copies_side_by_side() -> None:
    """Two copies of 4 bytes do not touch each other, whatever wider accesses there are."""
    source, target = np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
    body = """
    mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 3; mov.u32 %r3, smem; add.u32 %r2, %r2, %r3;
    mul.wide.u32 %d1, %r1, 8; add.u64 %d2, %d1, %d17; add.u64 %d1, %d1, %d16;
    cp.async.ca.shared.global [%r2], [%d1], 4; cp.async.ca.shared.global [%r2+4], [%d1+4], 4;
    cp.async.commit_group; cp.async.wait_group 0; ld.shared.v2.u32 {%r4, %r5}, [%r2];
    st.global.v2.u32 [%d2], {%r4, %r5};"""
    run(body, source, target, threads=32)
    assert np.array_equal(source, target)
