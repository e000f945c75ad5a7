"""Buffers, asynchronous copies and products, barriers and TMA, on whole tensors."""

from __future__ import annotations

import numpy as np
import pytest
from triton_text import launch

from suite.arrays import Array
from tilewright.reference import ReferenceError

HEADER = """
#b = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#bt = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [4, 8], warpsPerCTA = [1, 4], order = [0, 1]}>
#sr = #ttg.slice<{dim = 1, parent = #b}>
#sc = #ttg.slice<{dim = 0, parent = #b}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#plain = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#s = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>
#st = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [0, 1]}>
#nt = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
#n = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
tt.func public @k(ARGUMENTS) {
  %true = arith.constant true
  %false = arith.constant false
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
BODY
  tt.return
}
}
"""

ROWS, COLUMNS = 64, 64
PLACES = """
  %row = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #sr>
  %col = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #sc>
  %width = arith.constant dense<64> : tensor<64x1xi32, #b>
  %row2 = tt.expand_dims %row {axis = 1 : i32} : tensor<64xi32, #sr> -> tensor<64x1xi32, #b>
  %col2 = tt.expand_dims %col {axis = 0 : i32} : tensor<64xi32, #sc> -> tensor<1x64xi32, #b>
  %first = arith.muli %row2, %width : tensor<64x1xi32, #b>
  %row3 = tt.broadcast %row2 : tensor<64x1xi32, #b> -> tensor<64x64xi32, #b>
  %col3 = tt.broadcast %col2 : tensor<1x64xi32, #b> -> tensor<64x64xi32, #b>
  %first2 = tt.broadcast %first : tensor<64x1xi32, #b> -> tensor<64x64xi32, #b>
  %place = arith.addi %first2, %col3 : tensor<64x64xi32, #b>
"""


def run(body: str, *arguments: Array, y: str = "f16", **options: bool) -> None:
    """A body that has pointers `%x` (f16) and `%y`, and tensors `%xp` and `%yp` of 64x64 addresses, row by row."""
    lines = [PLACES]
    for name, element in (("x", "f16"), ("y", y)):
        tensor = f"tensor<64x64x!tt.ptr<{element}>, #b>"
        lines.append(f"  %{name}s = tt.splat %{name} : !tt.ptr<{element}> -> {tensor}")
        lines.append(f"  %{name}p = tt.addptr %{name}s, %place : {tensor}, tensor<64x64xi32, #b>")
    parameters = f"%x: !tt.ptr<f16>, %y: !tt.ptr<{y}>"
    launch(HEADER.replace("ARGUMENTS", parameters).replace("BODY", "\n".join(lines) + body), *arguments, **options)


def tile(seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal((ROWS, COLUMNS)).astype(np.float16)


TILE = "!ttg.memdesc<64x64xf16, #s, #smem, mutable>"
TENSOR = "tensor<64x64xf16, #b>"
POINTERS = "tensor<64x64x!tt.ptr<f16>, #b>"


def test_convert_layout_and_buffers_keep_the_tensor() -> None:
    x, y = tile(), np.zeros((ROWS, COLUMNS), np.float16)
    run(
        f"""
  %v = tt.load %xp : {POINTERS}
  %m = ttg.local_alloc : () -> {TILE}
  ttg.local_store %v, %m : {TENSOR} -> {TILE}
  ttg.local_barrier
  %w = ttg.local_load %m : {TILE} -> tensor<64x64xf16, #mma>
  %u = ttg.convert_layout %w : tensor<64x64xf16, #mma> -> {TENSOR}
  ttg.local_dealloc %m : {TILE}
  tt.store %yp, %u : {POINTERS}""",
        x,
        y,
    )
    np.testing.assert_array_equal(x, y)


def test_views_see_one_memory() -> None:
    """The second of two buffers; its upper right corner; everything transposed back and forth."""
    x, y = tile(), np.zeros((ROWS, COLUMNS), np.float16)
    run(
        f"""
  %v = tt.load %xp : {POINTERS}
  %m = ttg.local_alloc : () -> !ttg.memdesc<2x64x64xf16, #s, #smem, mutable>
  %i = ttg.memdesc_index %m[%c1] : !ttg.memdesc<2x64x64xf16, #s, #smem, mutable> -> {TILE}
  ttg.local_store %v, %i : {TENSOR} -> {TILE}
  %part = ttg.memdesc_subslice %i[32, 0] : {TILE} -> !ttg.memdesc<32x64xf16, #s, #smem, mutable, 64x64>
  %seven = arith.constant dense<7.0> : tensor<32x64xf16, #b>
  ttg.local_store %seven, %part : tensor<32x64xf16, #b> -> !ttg.memdesc<32x64xf16, #s, #smem, mutable, 64x64>
  %t = ttg.memdesc_trans %i {{order = array<i32: 1, 0>}} : {TILE} -> !ttg.memdesc<64x64xf16, #st, #smem, mutable>
  %l = ttg.local_load %t : !ttg.memdesc<64x64xf16, #st, #smem, mutable> -> tensor<64x64xf16, #b>
  %back = tt.trans %l {{order = array<i32: 1, 0>}} : tensor<64x64xf16, #b> -> tensor<64x64xf16, #bt>
  %u = ttg.convert_layout %back : tensor<64x64xf16, #bt> -> {TENSOR}
  tt.store %yp, %u : {POINTERS}""",
        x,
        y,
    )
    expected = x.copy()
    expected[32:] = 7
    np.testing.assert_array_equal(y, expected)


def test_reinterpreted_bytes_are_laid_out_as_the_new_type_says() -> None:
    """A swizzled buffer read as a flat one shows where the swizzle put each element."""
    from tilewright.layouts.shared import SwizzledSharedLayout

    x, y = tile(), np.zeros((ROWS, COLUMNS), np.float16)
    flat = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>"
    run(
        f"""
  %v = tt.load %xp : {POINTERS}
  %m = ttg.local_alloc %v : ({TENSOR}) -> {TILE}
  %r = ttg.memdesc_reinterpret %m : {TILE} -> !ttg.memdesc<64x64xf16, {flat}, #smem, mutable>
  %u = ttg.local_load %r : !ttg.memdesc<64x64xf16, {flat}, #smem, mutable> -> {TENSOR}
  tt.store %yp, %u : {POINTERS}""",
        x,
        y,
    )
    expected = np.empty(ROWS * COLUMNS, np.float16)
    expected[SwizzledSharedLayout(8, 2, 4, (1, 0)).offsets((ROWS, COLUMNS))] = x
    np.testing.assert_array_equal(y.reshape(-1), expected)
    assert not np.array_equal(x, y)


def test_buffers_with_offsets_share_memory() -> None:
    """What lies at one offset is one memory, so an allocation that overlaps what lives shows."""
    x, y = tile(), np.zeros((ROWS, COLUMNS), np.float16)
    run(
        f"""
  %v = tt.load %xp : {POINTERS}
  %seven = arith.constant dense<7.0> : {TENSOR}
  %m = ttg.local_alloc %v {{allocation.offset = 1024 : i32}} : ({TENSOR}) -> {TILE}
  %n = ttg.local_alloc %seven {{allocation.offset = 5120 : i32}} : ({TENSOR}) -> {TILE}
  %u = ttg.local_load %m : {TILE} -> {TENSOR}
  tt.store %yp, %u : {POINTERS}""",
        x,
        y,
    )
    expected = x.copy()
    expected[32:] = 7
    np.testing.assert_array_equal(y, expected)


COPY = f"""
  %m = ttg.local_alloc : () -> {TILE}
  %mask = arith.cmpi slt, %col3, %row3 : tensor<64x64xi32, #b>
  %t = ttg.async_copy_global_to_local %xp, %m mask %mask : {POINTERS} -> <64x64xf16, #s, #smem, mutable>
  %g = ttg.async_commit_group tokens %t
"""
LOAD = f"""
  %u = ttg.local_load %m token %w : {TILE} -> {TENSOR}
  tt.store %yp, %u : {POINTERS}"""


def test_async_copies_arrive_when_they_are_waited_for() -> None:
    x, y = tile(), np.zeros((ROWS, COLUMNS), np.float16)
    run(COPY + "%w = ttg.async_wait %g {num = 0 : i32}" + LOAD, x, y)
    np.testing.assert_array_equal(y, np.where(np.arange(COLUMNS) < np.arange(ROWS)[:, np.newaxis], x, 0))


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (
            COPY + "%w = ttg.async_wait %g {num = 1 : i32}" + LOAD,
            "read while an asynchronous copy into it has not been",
        ),
        (
            COPY + f"%v = tt.load %xp : {POINTERS}\n ttg.local_store %v, %m : {TENSOR} -> {TILE}",
            "written while an asynchronous copy into it is under way",
        ),
        (COPY + f"ttg.local_dealloc %m : {TILE}", "written while an asynchronous copy"),
    ],
)
def test_touching_a_buffer_that_is_being_copied_is_an_error(body: str, reason: str) -> None:
    with pytest.raises(ReferenceError, match=reason):
        run(body, tile(), tile())


def test_reading_what_nobody_wrote_is_poison_or_an_error() -> None:
    y = np.zeros((ROWS, COLUMNS), np.float16)
    body = f"""
  %m = ttg.local_alloc : () -> {TILE}
  %u = ttg.local_load %m : {TILE} -> {TENSOR}
  tt.store %yp, %u : {POINTERS}"""
    run(body, tile(), y)
    assert np.isnan(y).all()
    with pytest.raises(ReferenceError, match="is read where nothing was written"):
        run(body, tile(), y, track_initialisation=True)


N = "!ttg.memdesc<64x64xf16, #n, #smem, mutable>"
NT = "!ttg.memdesc<64x64xf16, #nt, #smem, mutable>"
SUM = "tensor<64x64xf32, #mma>"
DOTS = f"""
  %v = tt.load %xp : {POINTERS}
  %n = ttg.local_alloc %v : ({TENSOR}) -> {N}
  %t = ttg.memdesc_trans %n {{order = array<i32: 1, 0>}} : {N} -> {NT}
  %one = arith.constant dense<1.0> : {SUM}
  %d = ttng.warp_group_dot %n, %t, %one, USE {{isAsync = true}} : {N} * {NT} -> {SUM}
  %e = ttng.warp_group_dot %n, %t, %d {{isAsync = true}} : {N} * {NT} -> {SUM}
"""
STORE_F = """
  %g = ttg.convert_layout %f : tensor<64x64xf32, #mma> -> tensor<64x64xf32, #b>
  tt.store %yp, %g : tensor<64x64x!tt.ptr<f32>, #b>"""
WAIT = (
    """
  %f, %m = ttng.warp_group_dot_wait %e, %n {pendings = NUMBER : i32} : tensor<64x64xf32, #mma>, """
    + N
)


@pytest.mark.parametrize(("use", "start"), [("%true", 1), ("%false", 0)])
def test_products_add_to_each_other_before_they_are_waited_for(use: str, start: int) -> None:
    x, y = tile(), np.zeros((ROWS, COLUMNS), np.float32)
    run(DOTS.replace("USE", use) + WAIT.replace("NUMBER", "0") + STORE_F, x, y, y="f32")
    product = x.astype(np.float32) @ x.astype(np.float32).T
    np.testing.assert_allclose(y, start + 2 * product, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (WAIT.replace("NUMBER", "1") + STORE_F, "result of an asynchronous matmul is used before it was waited for"),
        (STORE_F.replace("%f", "%e"), "result of an asynchronous matmul is used before it was waited for"),
        (
            f"ttg.local_store %v, %n : {TENSOR} -> {N}",
            "written while an asynchronous op still reads it",
        ),
    ],
)
def test_products_under_way_keep_their_operands_and_result(body: str, reason: str) -> None:
    with pytest.raises(ReferenceError, match=reason):
        run(DOTS.replace("USE", "%true") + body, tile(), np.zeros((ROWS, COLUMNS), np.float32), y="f32")


BAR = "!ttg.memdesc<1xi64, #plain, #smem, mutable>"
DESC = "!tt.tensordesc<64x64xf16, #n>"
TMA = f"""
  %c48 = arith.constant 48 : i32
  %c40 = arith.constant 40 : i32
  %c64 = arith.constant 64 : i64
  %s1 = arith.constant 1 : i64
  %dx = tt.make_tensor_descriptor %x, [%c48, %c40], [%c64, %s1] : <f16>, <tensor<64x64xf16, #n>>
  %dy = tt.make_tensor_descriptor %y, [%c48, %c40], [%c64, %s1] : <f16>, <tensor<64x64xf16, #n>>
  %bar = ttg.local_alloc : () -> {BAR}
  ttng.init_barrier %bar, 1 : {BAR}
  %n = ttg.local_alloc : () -> {N}
  ttng.barrier_expect %bar, 8192, %true : {BAR}
  ttng.async_tma_copy_global_to_local %dx[%c1, %c0] %n, %bar, %true : {DESC}, {BAR} -> {N}
"""
TMA_STORE = f"""
  ttng.fence_async_shared {{bCluster = false}}
  ttng.async_tma_copy_local_to_global %dy[%c0, %c1] %n : {DESC}, {N}
"""


def test_boxes_are_padded_where_read_and_cut_where_written() -> None:
    x, y = tile(), np.zeros((ROWS, COLUMNS), np.float16)
    wait = f"ttng.wait_barrier %bar, %c0 : {BAR}\n"
    run(
        TMA + wait + f"ttng.inval_barrier %bar : {BAR}" + TMA_STORE + "ttng.async_tma_store_wait {pendings = 0 : i32}",
        x,
        y,
    )
    read = np.zeros((64, 64), np.float16)
    read[:47, :40] = x[1:48, :40]
    expected = np.zeros_like(y)
    expected[:48, 1:40] = read[:48, :39]
    np.testing.assert_array_equal(y, expected)


def test_a_reduction_adds_to_memory() -> None:
    x, y = tile(), np.ones((ROWS, COLUMNS), np.float16)
    reduce = (
        f"ttng.async_tma_reduce add, %dy[%c0, %c0] %n : {DESC}, {N}\n ttng.async_tma_store_wait {{pendings = 0 : i32}}"
    )
    run(TMA + f"ttng.wait_barrier %bar, %c0 : {BAR}\n" + reduce, x, y)
    expected = np.ones_like(y)
    expected[:47, :40] += x[1:48, :40]
    np.testing.assert_array_equal(y, expected)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (
            f"%u = ttg.local_load %n : {N} -> {TENSOR}",
            "read while an asynchronous copy into it has not been waited for",
        ),
        (f"ttng.wait_barrier %bar, %c1 : {BAR}\n %u = ttg.local_load %n : {N} -> {TENSOR}", "read while"),
        (f"ttng.barrier_expect %bar, 16, %true : {BAR}", "1 arrivals at a barrier that expects 0 more"),
        (
            f"ttng.wait_barrier %bar, %c0 : {BAR}\n ttng.wait_barrier %bar, %c1 : {BAR}",
            "waits forever: the barrier still misses 1",
        ),
        (f"ttng.inval_barrier %bar : {BAR}", "invalidated while copies that report to it are under way"),
        (
            f"ttng.wait_barrier %bar, %c0 : {BAR}\n" + TMA_STORE + f"%u = tt.load %xp : {POINTERS}\n"
            f"ttg.local_store %u, %n : {TENSOR} -> {N}",
            "written while an asynchronous op still reads it",
        ),
    ],
)
def test_misused_barriers_and_copies(body: str, reason: str) -> None:
    with pytest.raises(ReferenceError, match=reason):
        run(TMA + body, tile(), tile())


def test_pairs_of_4_bit_floats() -> None:
    x, y = np.zeros((ROWS, COLUMNS), np.float16), np.zeros((ROWS, COLUMNS), np.float16)
    layout = "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>"
    run(
        f"""
  %packed = arith.constant dense<0x72> : tensor<64x32xi8, {layout}>
  %u = ttg.fp4_to_fp %packed {{axis = 1 : i32}} : tensor<64x32xi8, {layout}> -> {TENSOR}
  tt.store %yp, %u : {POINTERS}""",
        x,
        y,
    )
    np.testing.assert_array_equal(y, np.tile([1, 6], (64, 32)))


SPECIALISED = f"""
  %bar = ttg.local_alloc : () -> {BAR}
  ttng.init_barrier %bar, 1 : {BAR}
  %n = ttg.local_alloc : () -> {N}
  ttg.warp_specialize(%n, %bar, %xp)
  default {{
    ttng.wait_barrier %bar, %c0 : {BAR}
    %u = ttg.local_load %n : {N} -> {TENSOR}
    tt.store %yp, %u : {POINTERS}
    ttg.warp_yield
  }}
  partition0(%buffer: {N}, %b: {BAR}, %p: {POINTERS}) num_warps(4) {{
    %w = tt.load %p : {POINTERS}
    ttg.local_store %w, %buffer : {TENSOR} -> {N}
    ARRIVE
    ttg.warp_return
  }} : ({N}, {BAR}, {POINTERS}) -> ()
"""


def test_partitions_wait_for_each_other() -> None:
    x, y = tile(), np.zeros((ROWS, COLUMNS), np.float16)
    run(SPECIALISED.replace("ARRIVE", f"ttng.arrive_barrier %b, 1 : {BAR}"), x, y)
    np.testing.assert_array_equal(x, y)


def test_partitions_that_wait_for_nobody_are_reported() -> None:
    with pytest.raises(ReferenceError, match="waits forever: the barrier still misses 1 arrivals"):
        run(SPECIALISED.replace("ARRIVE", ""), tile(), tile())


def test_what_the_pipeliner_leaves_for_its_last_step() -> None:
    """`mask` runs its body under a predicate; a stage exists while its iteration does."""
    x, y = tile(), np.zeros((ROWS, COLUMNS), np.float16)
    run(
        f"""
  %c8 = arith.constant 8 : i32
  %c2 = arith.constant 2 : i32
  %c4 = arith.constant 4 : i32
  %on = ttg.predicate_stage %c4, %c8, %c2 maxStage 2 stage 1 : i32 -> i1
  %off = ttg.predicate_stage %c4, %c8, %c2 maxStage 2 stage 0 : i32 -> i1
  %v = "ttg.mask"(%on) ({{
    %w = tt.load %xp : {POINTERS}
    ttg.mask.return %w : {TENSOR}
  }}) : (i1) -> {TENSOR}
  tt.store %yp, %v : {POINTERS}
  "ttg.mask"(%off) ({{
    %seven = arith.constant dense<7.0> : {TENSOR}
    tt.store %yp, %seven : {POINTERS}
    ttg.mask.return
  }}) : (i1) -> ()""",
        x,
        y,
    )
    np.testing.assert_array_equal(x, y)
