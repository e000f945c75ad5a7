"""CTAs of a cluster: their barrier, each other's shared memory, mbarriers and copies that reach several of them."""

from __future__ import annotations

import re

import numpy as np
import pytest
from ptx_kernels import run
from test_boxes import F32, map_of

from tilewright.reference.simt import DeadlockError, MemoryAccessError, RaceError, SimulationError
from tilewright.reference.simt.errors import BarrierMisuseError
from tilewright.reference.simt.run import run_ptx

MEET = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n"
OWN = """
    mov.u32 %r1, %tid.x; mov.u32 %r2, %cluster_ctarank; mov.u32 %r3, smem; xor.b32 %r4, %r2, 1;
    shl.b32 %r5, %r1, 2; add.u32 %r5, %r5, %r3; mad.lo.u32 %r6, %r2, 100, %r1;
"""
"""`%r1` thread, `%r2` CTA, `%r4` the other CTA, `%r5` the thread's place, `%r6` a value of its own."""
MAPPED = "mapa.shared::cluster.u32 %r7, %r5, %r4;\n"
"""`%r7`: the thread's place in the other CTA."""
OUT = """
    mov.u32 %r20, %ctaid.x; mov.u32 %r21, %ntid.x; mad.lo.u32 %r20, %r20, %r21, %r1;
    mul.wide.u32 %d1, %r20, 4; add.u64 %d1, %d1, %d16; st.global.u32 [%d1], %r8;
"""


def cluster(body: str, *, threads: int = 64, clusters: int = 3, size: int = 2) -> list[int]:
    """What every thread leaves in `%r8`."""
    out = np.zeros(clusters * size * threads, np.uint32)
    run(OWN + body, out, threads=threads, grid=(clusters,), cluster=size)
    return out.tolist()


def theirs(threads: int = 64, clusters: int = 3) -> list[int]:
    return [100 * (1 - cta) + thread for _ in range(clusters) for cta in range(2) for thread in range(threads)]


EXCHANGE = "st.shared.u32 [%r5], %r6;\n" + MEET + MAPPED + "ld.shared::cluster.u32 %r8, [%r7];\n" + MEET + OUT


def test_reads_of_another_cta() -> None:
    assert cluster(EXCHANGE) == theirs()


@pytest.mark.parametrize(
    ("which", "message"), [(0, "may not have begun"), (1, "CTA 0 of the cluster ends while CTA 1")]
)
def test_each_barrier_is_needed(which: int, message: str) -> None:
    parts = EXCHANGE.split(MEET)
    with pytest.raises(RaceError, match=message):
        cluster(MEET.join(parts[: which + 1]) + MEET.join(parts[which + 1 :]))


def test_what_was_written_after_they_met() -> None:
    with pytest.raises(RaceError, match=r"reads what thread 0 of CTA 1 of the cluster wrote at byte 0"):
        cluster(MEET + "st.shared.u32 [%r5], %r6; bar.sync 0;\n" + EXCHANGE.split(MEET, 1)[1])


def test_relaxed_arrivals_order_no_accesses() -> None:
    relaxed = EXCHANGE.replace("arrive.aligned", "arrive.relaxed.aligned", 1)
    with pytest.raises(RaceError, match="reads what thread 0 of CTA 1 of the cluster wrote"):
        cluster(relaxed)
    assert cluster(EXCHANGE.replace("arrive.aligned", "arrive.release.aligned")) == theirs()


def test_overwriting_what_another_cta_reads() -> None:
    again = EXCHANGE.replace(MEET + OUT, "BARRIER st.shared.u32 [%r5], 1;" + OUT + MEET)
    with pytest.raises(RaceError, match=r"overwrites what thread 0 of CTA 1 of the cluster reads"):
        cluster(again.replace("BARRIER", "bar.sync 0;"))
    assert cluster(again.replace("BARRIER", MEET)) == theirs()


def test_overwriting_what_several_read() -> None:
    """Every thread reads one word of the other CTA."""
    body = EXCHANGE.replace(MAPPED, "mapa.shared::cluster.u32 %r7, %r3, %r4;\n").replace(
        MEET + OUT, "BARRIER st.shared.u32 [%r5], 1;" + OUT + MEET
    )
    with pytest.raises(RaceError, match="overwrites what"):
        cluster(body.replace("BARRIER", "bar.sync 0;"))
    assert cluster(body.replace("BARRIER", MEET)) == [100 * (1 - n // 64 % 2) for n in range(384)]


def test_stores_into_another_cta() -> None:
    body = MEET + MAPPED + "st.shared::cluster.u32 [%r7], %r6; BARRIER ld.shared.u32 %r8, [%r5];" + OUT
    assert cluster(body.replace("BARRIER", MEET)) == theirs()
    with pytest.raises(RaceError, match="reads what thread 0 of CTA"):
        cluster(body.replace("BARRIER", MEET.replace("arrive", "arrive.relaxed")))
    with pytest.raises(SimulationError):
        cluster(body.replace("BARRIER", "bar.sync 0;"))


def test_generic_addresses() -> None:
    body = EXCHANGE.replace(MAPPED, "cvt.u64.u32 %d2, %r5; cvta.shared.u64 %d2, %d2; mapa.u64 %d2, %d2, %r4;")
    assert cluster(body.replace("ld.shared::cluster.u32 %r8, [%r7]", "ld.u32 %r8, [%d2]")) == theirs()


def test_own_accesses_do_not_reach() -> None:
    with pytest.raises(MemoryAccessError, match="thread's own shared memory has an address in that of another CTA"):
        cluster(EXCHANGE.replace("ld.shared::cluster", "ld.shared"))


def test_ranks() -> None:
    body = MEET + MAPPED + "getctarank.shared::cluster.u32 %r8, [%r7];".replace("[%r7]", "%r7") + OUT
    assert cluster(body) == [1 - n // 64 % 2 for n in range(384)]
    with pytest.raises(MemoryAccessError, match="there is no CTA 2 in a cluster of 2"):
        cluster(MEET + "mapa.shared::cluster.u32 %r7, %r5, 2;" + OUT)


def test_arrivals_without_waits() -> None:
    arrive, wait = "barrier.cluster.arrive.aligned;", "barrier.cluster.wait.aligned;"
    with pytest.raises(BarrierMisuseError, match="again, without having waited"):
        cluster(arrive + arrive + wait)
    with pytest.raises(BarrierMisuseError, match="without having arrived"):
        cluster(wait)
    with pytest.raises(DeadlockError, match="1 of 64 threads wait at barrier 0 for others"):
        cluster("setp.eq.u32 %p1, %r1, 0; @%p1 bra SKIP;" + arrive + wait + "SKIP: bar.sync 0; bar.sync 0;" + wait)


def test_who_has_exited_is_not_waited_for() -> None:
    body = "mov.u32 %r8, 7;" + OUT + "setp.eq.u32 %p1, %r2, 0; @%p1 ret;" + MEET
    assert set(cluster(body)) == {7}


def test_work_between_arrival_and_wait() -> None:
    late = EXCHANGE.replace(
        MEET, "barrier.cluster.arrive.aligned; st.shared.u32 [%r5], %r6; barrier.cluster.wait.aligned;", 1
    )
    with pytest.raises(RaceError, match="reads what thread 0 of CTA 1 of the cluster wrote"):
        cluster(late)


WAIT = """
{ .reg .pred done; LABEL: mbarrier.try_wait.parity.shared.b64 done, [%r10], 0; @!done bra.uni LABEL; }
"""
REMOTE = (
    """
    add.u32 %r10, %r3, 512; setp.eq.u32 %p1, %r1, 0;
    @%p1 mbarrier.init.shared::cta.b64 [%r10], 64; fence.mbarrier_init.release.cluster;
    barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.aligned;
    mapa.shared::cluster.u32 %r11, %r10, %r4;
"""
    + MAPPED
    + "st.shared::cluster.u32 [%r7], %r6; mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r11];"
    + WAIT
    + "ld.shared.u32 %r8, [%r5];"
    + OUT
)


def test_arrivals_at_barriers_of_another_cta() -> None:
    assert cluster(REMOTE) == theirs()


@pytest.mark.parametrize(
    ("left_out", "message"),
    [
        ("fence.mbarrier_init.release.cluster;", "reads what thread 0 of CTA"),
        ("barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.aligned;", "may not have begun"),
        ("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r11];", "wait forever"),
        (WAIT, "with no barrier in between|before it is written|has ended|ends while"),
    ],
)
def test_each_step_of_an_arrival_is_needed(left_out: str, message: str) -> None:
    assert left_out in REMOTE
    with pytest.raises(SimulationError, match=message):
        cluster(REMOTE.replace(left_out, ""))


def test_asynchronous_stores() -> None:
    """The barrier of the CTA that is stored to counts the bytes."""
    body = REMOTE.replace("shared::cta.b64 [%r10], 64", "shared::cta.b64 [%r10], 1").replace(
        "st.shared::cluster.u32 [%r7], %r6; mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r11];",
        "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r10], 256;"
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r7], %r6, [%r11];",
    )
    assert cluster(body) == theirs()
    with pytest.raises(SimulationError, match="the mbarrier of a store is not in the CTA"):
        cluster(body.replace("%r6, [%r11];", "%r6, [%r10];"))
    with pytest.raises(SimulationError):
        cluster(re.sub(r"\{ \.reg \.pred done.*?\}", "", body, flags=re.DOTALL))


BOX = """.version 8.7
.target sm_90a
.address_size 64
.extern .shared .align 1024 .b8 smem[];
.visible .entry k(.param .align 64 .b8 map[128], .param .u64 out)
{
.reg .pred %p<8>; .reg .b16 %h<4>; .reg .b32 %r<32>; .reg .b64 %d<32>;
mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; mov.u32 %r2, %cluster_ctarank; ld.param.u64 %d16, [out];
mov.b64 %d2, map; cvta.param.u64 %d2, %d2; mov.u32 %r10, 2048; mov.u16 %h1, 3;
@%p1 mbarrier.init.shared::cta.b64 [%r10], 1; fence.mbarrier_init.release.cluster;
barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.aligned;
@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r10], 512;
shl.b32 %r5, %r2, 8; shl.b32 %r6, %r2, 3;
@%p1 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster
    [%r5], [%d2, {0, %r6}], [%r10], %h1;
WAIT
shl.b32 %r3, %r1, 2; ld.shared.u32 %r8, [%r3];
OUT
FINISH
ret;
}
"""


def multicast(text: str = BOX) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    """Each CTA copies eight rows of eight words to both, one below the other."""
    source = np.arange(128, dtype=np.float32).reshape(16, 8)
    out = np.zeros((2, 128), np.float32)
    text = text.replace("WAIT", WAIT).replace("OUT", OUT).replace("FINISH", MEET)
    run_ptx(
        text, "k", grid=(1,), cluster=2, num_threads=128, shared_bytes=2056, args=[map_of(source, (8, 8), F32), out]
    )
    return out


def test_copies_to_several_ctas() -> None:
    np.testing.assert_array_equal(multicast(), np.tile(np.arange(128), (2, 1)))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("fence.mbarrier_init.release.cluster;", "", "reads what thread 0 of CTA"),
        ("barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.aligned;", "", "may not have begun"),
        ("WAIT\n", "", "touched while an asynchronous copy"),
        ("mov.u16 %h1, 3;", "mov.u16 %h1, 1;", "wait forever"),
        ("mov.u16 %h1, 3;", "mov.u16 %h1, 7;", "there is no CTA 2"),
        ("mov.u16 %h1, 3;", "mov.u16 %h1, 0;", "none in its mask"),
        ("b64 _, [%r10], 512;", "b64 _, [%r10], 256;", "ends while|arrivals|touched while|wait forever"),
    ],
)
def test_each_step_of_a_copy_to_several_is_needed(old: str, new: str, message: str) -> None:
    assert old in BOX
    with pytest.raises(SimulationError, match=message):
        multicast(BOX.replace(old, new))


GLOBAL = """
    xor.b32 %r9, %r2, 1; mov.u32 %r20, %ctaid.x; mov.u32 %r21, %ntid.x; mad.lo.u32 %r22, %r20, %r21, %r1;
    xor.b32 %r23, %r22, 64; mul.wide.u32 %d1, %r22, 4; add.u64 %d1, %d1, %d16; mul.wide.u32 %d2, %r23, 4;
    add.u64 %d2, %d2, %d17; st.global.u32 [%d2], %r6; BARRIER
    mul.wide.u32 %d3, %r22, 4; add.u64 %d3, %d3, %d17; ld.global.u32 %r8, [%d3]; st.global.u32 [%d1], %r8;
"""


def test_global_memory_that_ctas_exchange() -> None:
    def launch(barrier: str) -> list[int]:
        out, between = np.zeros(256, np.uint32), np.zeros(256, np.uint32)
        run(OWN + GLOBAL.replace("BARRIER", barrier), out, between, threads=64, grid=(2,), cluster=2)
        return out.tolist()

    assert launch(MEET) == theirs(clusters=2)
    for barrier in ("bar.sync 0;", MEET.replace("arrive", "arrive.relaxed")):
        with pytest.raises(RaceError, match=r"overwrites what|reads what"):
            launch(barrier)
