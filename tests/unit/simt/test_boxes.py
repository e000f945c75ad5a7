"""mbarriers, and copies of boxes by the tensor memory accelerator."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from ptx_kernels import run

from suite.arrays import Array
from tilewright.layouts.shared import NvmmaSharedLayout
from tilewright.reference.simt import DeadlockError, MemoryAccessError, RaceError, SimulationError, TensorMap
from tilewright.reference.simt.run import run_ptx

random = np.random.default_rng(6)
F16, F32, S32 = 6, 7, 3
SWIZZLE = {0: 0, 32: 1, 64: 2, 128: 3}

HEADER = """.version 8.7
.target sm_90a
.address_size 64
.extern .shared .align 1024 .b8 smem[];
.visible .entry k(.param .align 64 .b8 map[128], .param .align 64 .b8 other[128], .param .u64 out)
{
.reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %d<16>;
mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; mov.u32 %r2, BARRIER; ld.param.u64 %d3, [out];
mov.b64 %d1, map; cvta.param.u64 %d1, %d1; mov.b64 %d2, other; cvta.param.u64 %d2, %d2;
"""
INIT = "@%p1 mbarrier.init.shared::cta.b64 [%r2], 1; bar.sync 0;\n"
EXPECT = "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r2], BYTES;\n"
LOAD = "@%p1 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [0], [%d1, {X, Y}], [%r2];\n"
WAIT = """
{ .reg .pred complete;
  waitLoop: mbarrier.try_wait.parity.shared.b64 complete, [%r2], 0; @!complete bra.uni waitLoop; }
"""
DUMP = """
    mov.u32 %r3, %r1;
    DUMP: shl.b32 %r4, %r3, 2; ld.shared.b32 %r5, [%r4]; mul.wide.u32 %d4, %r3, 4; add.u64 %d4, %d4, %d3;
    st.global.b32 [%d4], %r5; add.u32 %r3, %r3, 64; setp.lt.u32 %p2, %r3, WORDS; @%p2 bra DUMP;
"""
STORE = "@%p1 cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%d2, {X, Y}], [0];\n"
FINISH = "cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;\n"


def launch(body: str, first: TensorMap, second: TensorMap | None, out: Any, size: int, **replaced: int) -> None:
    """A body with `%d1` and `%d2` the tensor maps, `%d3` the output, `%r2` a barrier behind `size` bytes."""
    text = HEADER + body + "ret;\n}\n"
    for name, value in {"BARRIER": size, "BYTES": size, "WORDS": size // 4, **replaced}.items():
        text = text.replace(name, str(value))
    run_ptx(text, "k", grid=(1,), num_threads=64, shared_bytes=size + 8, args=[first, second or first, out])


def map_of(tensor: Array, box: tuple[int, int], element: int, swizzle: int = 0, **options: bool) -> TensorMap:
    """The map of a matrix; the box is given as rows and columns."""
    extents, strides = tensor.shape[::-1], tensor.strides[:1]
    return TensorMap(tensor, extents, strides, box[::-1], element, SWIZZLE[swizzle], **options)


@pytest.mark.parametrize("swizzle", [0, 32, 64, 128])
def test_boxes_lie_as_the_layouts_have_it(swizzle: int) -> None:
    columns = swizzle // 2 or 64
    tensor = random.standard_normal((40, 96)).astype(np.float16)
    out = np.zeros(16 * columns, np.float16)
    launch(
        INIT + EXPECT + LOAD + WAIT + DUMP, map_of(tensor, (16, columns), F16, swizzle), None, out, out.nbytes, X=8, Y=5
    )
    layout = NvmmaSharedLayout(swizzle, False, 16)
    np.testing.assert_array_equal(out[layout.offsets((16, columns))], tensor[5:21, 8 : 8 + columns])


@pytest.mark.parametrize("fills_nan", [False, True])
def test_what_lies_outside_is_filled_and_not_written(fills_nan: bool) -> None:
    tensor, copy = random.standard_normal((20, 24)).astype(np.float32), np.zeros((20, 24), np.float32)
    out = np.zeros((16, 16), np.float32)
    maps = [map_of(array, (16, 16), F32, fills_nan=fills_nan) for array in (tensor, copy)]
    body = INIT + EXPECT + LOAD.replace("X", "-3").replace("Y", "10") + WAIT + DUMP + STORE + FINISH
    launch(body, maps[0], maps[1], out, 1024, X=12, Y=-2)
    expected = np.full((16, 16), np.nan if fills_nan else 0, np.float32)
    expected[:10, 3:] = tensor[10:, :13]
    np.testing.assert_array_equal(out, expected)
    stored = np.zeros_like(copy)
    stored[:14, 12:] = expected[2:, :12]
    np.testing.assert_array_equal(copy, stored)


@pytest.mark.parametrize("columns", [12, 13, 16])
@pytest.mark.parametrize("adds", [False, True])
def test_rows_are_written_to_the_end_of_a_piece(columns: int, adds: bool) -> None:
    """As an H100 does: 16 bytes at once, past the end of a row, and none that begin there."""
    tensor, target = np.ones((8, 16), np.int32), np.full((8, 16), 5, np.int32)
    out = np.zeros((8, 16), np.int32)
    store = STORE.replace("cp.async", "cp.reduce.async").replace("cta.bulk", "cta.add.bulk") if adds else STORE
    first, second = map_of(tensor, (8, 16), S32), replace(map_of(target, (8, 16), S32), extents=(columns, 8))
    launch(INIT + EXPECT + LOAD + WAIT + DUMP + store + FINISH, first, second, out, 512, X=0, Y=0)
    expected = np.full_like(target, 5)
    expected[:, : 12 if columns == 12 else 16] = 6 if adds else 1
    np.testing.assert_array_equal(target, expected)


@pytest.mark.parametrize(
    ("op", "ufunc"), [("add", np.add), ("min", np.minimum), ("max", np.maximum), ("xor", np.bitwise_xor)]
)
def test_reductions(op: str, ufunc: np.ufunc) -> None:
    tensor, target = (random.integers(-9, 9, (16, 16)).astype(np.int32) for _ in range(2))
    before, out = target.copy(), np.zeros((16, 16), np.int32)
    reduce = STORE.replace("cp.async", "cp.reduce.async").replace("shared::cta.bulk", f"shared::cta.{op}.bulk")
    body = INIT + EXPECT + LOAD + WAIT + DUMP + reduce + FINISH
    launch(body, map_of(tensor, (16, 16), S32), map_of(target, (16, 16), S32), out, 1024, X=0, Y=0)
    np.testing.assert_array_equal(target, ufunc(before, tensor))


TENSOR = np.arange(256, dtype=np.float32).reshape(16, 16)


@pytest.mark.parametrize(
    ("body", "kind", "message"),
    [
        (INIT + EXPECT + LOAD + DUMP, RaceError, "touched while an asynchronous copy into it has not been waited for"),
        (EXPECT + LOAD, SimulationError, "there is no mbarrier here: it was not initialised"),
        (INIT.replace("bar.sync 0;", "") + WAIT, RaceError, "reads what thread 0 wrote"),
        (INIT.replace("bar.sync 0;", "") + EXPECT + WAIT, RaceError, "reads what thread 0 wrote"),
        (
            INIT + EXPECT + LOAD + WAIT + "@%p1 mbarrier.inval.shared::cta.b64 [%r2];",
            RaceError,
            "overwrites what another thread reads",
        ),
        (INIT + EXPECT + LOAD, RaceError, "the program ends while this copy may still use its shared memory"),
        (INIT + EXPECT + LOAD + WAIT + STORE, RaceError, "the program ends while this copy"),
        (INIT + EXPECT.replace("BYTES", "2000") + LOAD + WAIT, DeadlockError, "misses 0 arrivals and 976 bytes"),
        (INIT + LOAD + WAIT, DeadlockError, "misses 1 arrivals and -1024 bytes"),
        (INIT + EXPECT + EXPECT, SimulationError, "1 arrivals at an mbarrier that expects 0 more"),
        (
            INIT + EXPECT + LOAD + WAIT + DUMP + "shl.b32 %r4, %r1, 2; st.shared.b32 [%r4], 5; bar.sync 0;" + STORE,
            RaceError,
            r"overwrites what another thread|no fence\.proxy\.async in between",
        ),
        (
            INIT + EXPECT + LOAD + WAIT + STORE + "bar.sync 0; shl.b32 %r4, %r1, 2; st.shared.b32 [%r4], 5;",
            RaceError,
            "written while an asynchronous unit still reads it",
        ),
        (INIT + EXPECT + LOAD.replace("[0]", "[64]"), MemoryAccessError, "not a multiple of the 128 bytes"),
    ],
)
def test_mistakes(body: str, kind: type[SimulationError], message: str) -> None:
    with pytest.raises(kind, match=message):
        launch(body, map_of(TENSOR, (16, 16), F32), None, np.zeros(256, np.float32), 1024, X=0, Y=0)


def test_a_fence_lets_stores_see_what_threads_wrote() -> None:
    target = np.zeros((16, 16), np.float32)
    body = """
    mov.u32 %r3, %r1;
    FILL: shl.b32 %r4, %r3, 2; cvt.rn.f32.u32 %r5, %r3; st.shared.b32 [%r4], %r5;
    add.u32 %r3, %r3, 64; setp.lt.u32 %p2, %r3, WORDS; @%p2 bra FILL;
    fence.proxy.async.shared::cta; bar.sync 0;
    """
    launch(body + STORE + FINISH, map_of(target, (16, 16), F32), None, None, 1024, X=0, Y=0)
    np.testing.assert_array_equal(target, TENSOR)


def test_barriers_hand_data_from_warp_to_warp() -> None:
    """A producer and a consumer, two phases; each would race without the barriers."""
    out = np.zeros(64, np.uint32)
    poll = "{{ .reg .pred done; L: mbarrier.try_wait.parity.shared.b64 done, [{0}], {1}; @!done bra.uni L; }}"
    body = f"""
    mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; setp.eq.u32 %p1, %r1, 0;
    @%p1 mbarrier.init.shared::cta.b64 [512], 32; @%p1 mbarrier.init.shared::cta.b64 [520], 32; bar.sync 0;
    setp.ge.u32 %p2, %r1, 32; @%p2 bra CONSUME;
    st.shared.b32 [%r2], %r1; mbarrier.arrive.shared.b64 %d1, [512];
    {poll.format(520, 0)}
    add.u32 %r3, %r1, 100; st.shared.b32 [%r2], %r3; mbarrier.arrive.shared.b64 %d1, [512]; bra END;
    CONSUME:
    {poll.format(512, 0)}
    xor.b32 %r4, %r2, 124; sub.u32 %r4, %r4, 128; ld.shared.b32 %r5, [%r4]; mbarrier.arrive.shared.b64 _, [520];
    {poll.format(512, 1)}
    ld.shared.b32 %r6, [%r4]; mul.wide.u32 %d2, %r1, 8; add.u64 %d2, %d2, %d16;
    st.global.v2.b32 [%d2+-256], {{%r5, %r6}};
    END:"""
    run(body, out, threads=64)
    lanes = np.arange(32)[::-1]
    np.testing.assert_array_equal(out.reshape(-1, 2), np.stack([lanes, lanes + 100], 1))


def test_copies_by_threads_can_report_to_a_barrier() -> None:
    x, out = np.arange(32, dtype=np.uint32), np.zeros(32, np.uint32)
    body = """
    mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; setp.eq.u32 %p1, %r1, 0; mul.wide.u32 %d1, %r1, 4;
    @%p1 mbarrier.init.shared::cta.b64 [512], 32; bar.sync 0;
    add.u64 %d2, %d1, %d16; cp.async.ca.shared.global [%r2], [%d2], 4;
    cp.async.mbarrier.arrive.noinc.shared.b64 [512];
    { .reg .pred done; L: mbarrier.test_wait.parity.shared.b64 done, [512], 0; @!done bra.uni L; }
    bar.sync 0; xor.b32 %r3, %r2, 4; ld.shared.b32 %r4, [%r3]; add.u64 %d2, %d1, %d17; st.global.b32 [%d2], %r4;"""
    run(body, x, out)
    np.testing.assert_array_equal(out, x ^ 1)


def test_tensor_maps_made_on_the_device() -> None:
    """Field by field in shared memory, copied to global memory by a warp, and used."""
    tensor, scratch = np.arange(512, dtype=np.float32).reshape(16, 32), np.zeros(256, np.uint8)
    out = np.zeros((4, 16), np.float32)
    fields = [
        ("global_address", "b64", "", "%d16"),
        ("rank", "b32", "", "1"),
        ("box_dim", "b32", "0, ", "16"),
        ("box_dim", "b32", "1, ", "4"),
        ("global_dim", "b32", "0, ", "32"),
        ("global_dim", "b32", "1, ", "16"),
        ("global_stride", "b64", "0, ", "128"),
        ("element_stride", "b32", "0, ", "1"),
        ("element_stride", "b32", "1, ", "1"),
        ("elemtype", "b32", "", "7"),
        ("interleave_layout", "b32", "", "0"),
        ("swizzle_mode", "b32", "", "0"),
        ("fill_mode", "b32", "", "0"),
    ]
    lines = [
        f"@%p1 tensormap.replace.tile.{name}.shared::cta.b1024.{kind} [1024], {index}{value};"
        for name, kind, index, value in fields
    ]
    body = (
        """
    mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; shl.b32 %r2, %r1, 2; st.shared.b32 [%r2+1024], 0; bar.sync 0;
    """
        + "\n".join(lines)
        + """
    bar.warp.sync -1;
    tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%d17], [1024], 0x80;
    fence.proxy.tensormap::generic.acquire.gpu [%d17], 0x80;
    @%p1 mbarrier.init.shared::cta.b64 [512], 1; bar.sync 0;
    @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [512], 256;
    @%p1 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [0], [%d17, {8, 2}], [512];
    { .reg .pred done; L: mbarrier.try_wait.parity.shared.b64 done, [512], 0; @!done bra.uni L; }
    shl.b32 %r3, %r1, 3; ld.shared.v2.b32 {%r4, %r5}, [%r3]; mul.wide.u32 %d1, %r1, 8; add.u64 %d1, %d1, %d18;
    st.global.v2.b32 [%d1], {%r4, %r5};"""
    )
    run(body, tensor, scratch, out, shared=2048)
    np.testing.assert_array_equal(out, tensor[2:6, 8:24])


def test_plain_bulk_copies() -> None:
    x, out = np.arange(64, dtype=np.uint32), np.zeros(64, np.uint32)
    body = """
    mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; @%p1 mbarrier.init.shared::cta.b64 [512], 1; bar.sync 0;
    @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [512], 256;
    @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [0], [%d16], 256, [512];
    { .reg .pred done; L: mbarrier.try_wait.parity.shared.b64 done, [512], 0; @!done bra.uni L; }
    shl.b32 %r3, %r1, 2; ld.shared.b32 %r4, [%r3]; mul.wide.u32 %d1, %r1, 4; add.u64 %d1, %d1, %d17;
    st.global.b32 [%d1], %r4;"""
    run(body, x, out, threads=64)
    np.testing.assert_array_equal(out, x)
