"""Accesses to global memory that nothing orders, of one program and of several."""

from __future__ import annotations

import numpy as np
import pytest
from ptx_kernels import run

from tilewright.reference.simt import RaceError

OWN = "mov.u32 %r1, %tid.x; mov.u32 %r3, %ctaid.x; mul.wide.u32 %d1, %r1, 4; add.u64 %d2, %d16, %d1;\n"
"""`%d2`: an element of its own for every thread of a program."""
OTHER = "xor.b32 %r4, %r1, MASK; mul.wide.u32 %d3, %r4, 4; add.u64 %d4, %d16, %d3;\n"
"""`%d4`: that of another thread."""


def data(count: int = 64) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
    return np.zeros(count, np.uint32)


def test_a_barrier_orders_what_threads_of_a_program_do() -> None:
    body = OWN + OTHER.replace("MASK", "32") + "st.global.u32 [%d2], 7; BARRIER ld.global.u32 %r5, [%d4];"
    run(body.replace("BARRIER", "bar.sync 0;"), data(), threads=64)
    for nothing in ("", "bar.warp.sync -1;"):
        with pytest.raises(RaceError, match=r"thread 0: reads what thread 32 wrote at byte 128 of argument 'a0'"):
            run(body.replace("BARRIER", nothing), data(), threads=64)


def test_a_barrier_of_the_warp_orders_its_threads() -> None:
    body = OWN + OTHER.replace("MASK", "8") + "st.global.u32 [%d2], 7; BARRIER ld.global.u32 %r5, [%d4];"
    run(body.replace("BARRIER", "bar.warp.sync -1;"), data())
    with pytest.raises(RaceError, match="reads what thread 8 wrote"):
        run(body.replace("BARRIER", ""), data())


def test_overwriting_what_another_thread_reads() -> None:
    body = OWN + OTHER.replace("MASK", "32") + "ld.global.u32 %r5, [%d4]; BARRIER st.global.u32 [%d2], 9;"
    run(body.replace("BARRIER", "bar.sync 0;"), data(), threads=64)
    with pytest.raises(RaceError, match="overwrites what thread 32 reads"):
        run(body.replace("BARRIER", ""), data(), threads=64)
    run(body.replace("BARRIER", "").replace("9", "0"), data(), threads=64)  # what is there already


def test_copies_of_one_element_are_one_access() -> None:
    """All threads load a scalar; one stores its new value."""
    body = OWN + "ld.global.u32 %r5, [%d16]; setp.eq.u32 %p1, %r1, 0; @%p1 st.global.u32 [%d16], 9;"
    run(body, data(), threads=64)


def test_two_programs_write_one_element() -> None:
    with pytest.raises(RaceError, match="two programs write different values to one address at once"):
        run(OWN + "st.global.u32 [%d16], %r3;", data(), grid=(2,))
    run(OWN + "st.global.u32 [%d16], 5;", data(), grid=(2,))
    run(OWN + "st.global.u32 [%d16], %r1;", data())  # of one program


def test_nothing_orders_programs() -> None:
    for at_once in (32, 1 << 15):  # simulated one after the other, and together
        with pytest.raises(RaceError, match=r"program \(1, 0, 0\).* program number 0 wrote|different values"):
            run(OWN + "add.u32 %r3, %r3, 1; st.global.u32 [%d2], %r3;", data(), grid=(2,), threads_at_once=at_once)
    run(OWN + "st.global.u32 [%d2], 3;", data(), grid=(2,))
    body = "mad.lo.u32 %r4, %r3, 32, %r1; mul.wide.u32 %d3, %r4, 4; add.u64 %d4, %d16, %d3; st.global.u32 [%d4], %r3;"
    run(OWN + body, data(), grid=(2,))


def test_one_program_reads_what_another_wrote() -> None:
    body = OWN + "setp.eq.u32 %p1, %r3, 0; @%p1 st.global.u32 [%d2], 5; bar.sync 0; ld.global.u32 %r5, [%d2];"
    with pytest.raises(RaceError, match="program number 0 wrote"):
        run(body, data(), grid=(2,), threads_at_once=32)


def test_two_arguments_may_be_one_array() -> None:
    shared = data()
    body = OWN + "sub.u64 %d3, %d17, %d16; add.u64 %d3, %d3, %d16; xor.b32 %r4, %r1, 32; mul.wide.u32 %d5, %r4, 4;"
    body += "add.u64 %d6, %d17, %d5; st.global.u32 [%d2], 7; BARRIER ld.global.u32 %r5, [%d6];"
    run(body.replace("BARRIER", "bar.sync 0;"), shared, shared, threads=64)
    with pytest.raises(RaceError, match="reads what thread 32 wrote"):
        run(body.replace("BARRIER", ""), shared, shared, threads=64)


def test_atomics_do_not_race_with_each_other() -> None:
    out = data(1)
    run(OWN + "red.global.add.u32 [%d16], 1; atom.global.add.u32 %r5, [%d16], 1;", out, threads=64, grid=(3,))
    assert out[0] == 2 * 64 * 3
    with pytest.raises(RaceError, match="reads what"):
        run(OWN + "red.global.add.u32 [%d16], 1; ld.global.u32 %r5, [%d16];", out, threads=64, grid=(3,))


COUNTER = (
    OWN
    + """
    add.u32 %r6, %r3, 1; mul.wide.u32 %d7, %r3, 4; add.u64 %d8, %d17, %d7;
    setp.eq.u32 %p1, %r1, 32; @%p1 st.global.u32 [%d8], %r6;
    BEFORE
    setp.eq.u32 %p2, %r1, 0; mov.u32 %r7, 0; @%p2 atom.global.gpu.ORDER.add.u32 %r7, [%d16], 1;
    @%p2 st.shared.u32 [smem], %r7; bar.sync 0; ld.shared.u32 %r7, [smem];
    setp.ne.u32 %p3, %r7, 3; @%p3 bra END;
    ld.global.u32 %r8, [%d17]; ld.global.u32 %r9, [%d17+4]; ld.global.u32 %r10, [%d17+8];
    END:"""
)
"""Each of four programs writes a part; the last to arrive at a counter reads all of them."""


@pytest.mark.parametrize("at_once", [64, 1 << 15])
def test_acquire_and_release_order_programs(at_once: int) -> None:
    body = COUNTER.replace("BEFORE", "bar.sync 0;")
    run(body.replace("ORDER", "acq_rel"), data(), data(), threads=64, grid=(4,), threads_at_once=at_once)
    for order in ("relaxed", "release", "acquire"):
        with pytest.raises(RaceError, match="program number"):
            run(body.replace("ORDER", order), data(), data(), threads=64, grid=(4,), threads_at_once=at_once)


def test_a_release_speaks_for_the_others_after_a_barrier_only() -> None:
    with pytest.raises(RaceError, match="reads what program number 0 wrote"):
        run(COUNTER.replace("BEFORE", "").replace("ORDER", "acq_rel"), data(), data(), threads=64, grid=(4,))


def test_without_detection_races_run() -> None:
    run(OWN + "st.global.u32 [%d16], %r3;", data(), grid=(2,), race_detection=False)
