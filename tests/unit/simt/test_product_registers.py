"""Registers of `wgmma` are ordered by fences and waits; copies of them and constants are no accesses."""

from __future__ import annotations

import pytest
from ptx_kernels import run

from tilewright.reference.simt import RaceError

PRODUCT = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r0, %r1, %r2, %r3}, %d5, %d5, %p2, 1, 1, 0, 0;"
SMALLER = "wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {%r0, %r1}, %d5, %d5, %p2, 1, 1, 0, 0;"
FROM_REGISTERS = (
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r0, %r1, %r2, %r3}, {%r4, %r5, %r6, %r7}, %d5, %p2, 1, 1, 0;"
)
FENCE, COMMIT = "wgmma.fence.sync.aligned;", "wgmma.commit_group.sync.aligned;"
WAIT, WAIT_BUT_ONE = "wgmma.wait_group.sync.aligned 0;", "wgmma.wait_group.sync.aligned 1;"

FIRST = "no wgmma.fence before it"
ACCESSED = "accessed with no wgmma.fence in between"
PENDING = "accumulates that has not been waited for"
SHAPE = "of another shape did"
READ = "that a wgmma reads, which has not been waited for"
OF_ANOTHER = "a register of another wgmma that has not been waited for"

READ_SUM, WRITE_SUM, WRITE_A = "add.u32 %r100, %r0, 1;", "add.u32 %r0, %r150, 1;", "add.u32 %r5, %r150, 1;"

CASES = {
    "plain": ([FENCE, PRODUCT, COMMIT, WAIT, READ_SUM], ""),
    "no fence": ([PRODUCT, COMMIT, WAIT], FIRST),
    "constants need none": ([FENCE, "mov.b32 %r0, 0;", PRODUCT, COMMIT, WAIT, READ_SUM], ""),
    "a value after the fence": ([FENCE, WRITE_SUM, PRODUCT, COMMIT, WAIT], ACCESSED),
    "its copy": ([FENCE, "add.u32 %r9, %r150, 1; mov.b32 %r0, %r9;", PRODUCT, COMMIT, WAIT], ACCESSED),
    "a copy of a value before it": (["add.u32 %r9, %r150, 1;", FENCE, "mov.b32 %r0, %r9;", PRODUCT, COMMIT, WAIT], ""),
    "one after another": ([FENCE, PRODUCT, PRODUCT, COMMIT, WAIT, READ_SUM], ""),
    "another shape": ([FENCE, PRODUCT, SMALLER, COMMIT, WAIT], SHAPE),
    "another shape after a fence": ([FENCE, PRODUCT, COMMIT, WAIT, FENCE, SMALLER, COMMIT, WAIT], ""),
    "no wait": ([FENCE, PRODUCT, COMMIT, READ_SUM], PENDING),
    "not committed": ([FENCE, PRODUCT, WAIT, READ_SUM], PENDING),
    "waiting for the one before": ([FENCE, PRODUCT, COMMIT, PRODUCT, COMMIT, WAIT_BUT_ONE, READ_SUM], PENDING),
    "written too early": ([FENCE, PRODUCT, COMMIT, WRITE_SUM], PENDING),
    "a copy of a sum under way": ([FENCE, PRODUCT, COMMIT, "mov.b32 %r9, %r1; add.u32 %r100, %r9, 1;"], PENDING),
    "that copy, waited for": ([FENCE, PRODUCT, COMMIT, "mov.b32 %r9, %r1;", WAIT, "add.u32 %r100, %r9, 1;"], ""),
    "read, and no fence again": ([FENCE, PRODUCT, COMMIT, WAIT, READ_SUM, PRODUCT, COMMIT, WAIT], ACCESSED),
    "A in registers": ([WRITE_A, FENCE, FROM_REGISTERS, COMMIT, WAIT, WRITE_A], ""),
    "A after the fence": ([FENCE, WRITE_A, FROM_REGISTERS, COMMIT, WAIT], ACCESSED),
    "A is written again": ([FENCE, FROM_REGISTERS, COMMIT, WRITE_A], READ),
    "A is read again": ([FENCE, FROM_REGISTERS, COMMIT, "add.u32 %r100, %r5, 1;", WAIT], ""),
    "A is a sum under way": ([FENCE, PRODUCT, FROM_REGISTERS.replace("%r4", "%r3"), COMMIT, WAIT], OF_ANOTHER),
}


@pytest.mark.parametrize("case", CASES)
def test_order_of_registers(case: str) -> None:
    lines, message = CASES[case]
    head = "mov.u32 %r150, %tid.x; shl.b32 %r105, %r150, 4; st.shared.v4.b32 [%r105], {0, 0, 0, 0};"
    # 8 rows of 16 bytes are a tile without a swizzle; the next ones follow at 256 and 128 bytes.
    head += "fence.proxy.async; bar.sync 0; mov.b64 %d5, 0x0000001000080000; setp.eq.u32 %p2, 0, 0;"
    body = "\n".join([head, *lines])
    if not message:
        run(body, threads=128, shared=4096)
        return
    with pytest.raises(RaceError, match=message):
        run(body, threads=128, shared=4096)


def test_each_warp_group_waits_for_its_own() -> None:
    head = "mov.u32 %r150, %tid.x; shl.b32 %r105, %r150, 4; st.shared.v4.b32 [%r105], {0, 0, 0, 0};"
    head += "fence.proxy.async; bar.sync 0; mov.b64 %d5, 0x0000001000080000; setp.eq.u32 %p2, 0, 0;"
    head += f"{FENCE} {PRODUCT} {COMMIT} setp.ge.u32 %p3, %r150, 128;"
    with pytest.raises(RaceError, match=r"thread 0: .*has not been waited for"):
        run(f"{head} @!%p3 bra L; {WAIT} L: {READ_SUM}", threads=256, shared=4096)
    run(f"{head} @%p3 bra L; {WAIT} {READ_SUM} L: ", threads=256, shared=4096)
