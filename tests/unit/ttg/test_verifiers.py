"""Wrong IR is refused, with the reason."""

from __future__ import annotations

import pytest

from tilewright.dialects import make_context
from tilewright.ir.parsing import parse_module
from tilewright.ir.verify import verify_module
from tilewright.support.errors import ParseError, VerifyError

MODULE = """
#a = #ttg.blocked<{{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}}>
#v = #ttg.blocked<{{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}}>
#half = #ttg.blocked<{{sizePerThread = [1], threadsPerWarp = [16], warpsPerCTA = [4], order = [0]}}>
#eight = #ttg.blocked<{{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [8], order = [0]}}>
#pad = #ttg.padded_shared<[64:+8] {{order = [1, 0], shape = [64, 64]}}>
#pad32 = #ttg.padded_shared<[32:+8] {{order = [1, 0], shape = [64, 64]}}>
#rows = #ttg.swizzled_shared<{{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}}>
#halves = #ttg.swizzled_shared<{{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0], CGALayout = [[1, 0]]}}>
#two = #ttg.blocked<{{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0], CGALayout = [[1]]}}>
#mma = #ttg.nvidia_mma<{{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}}>
#A = #ttg.dot_op<{{opIdx = 0, parent = #mma, kWidth = 2}}>
#B = #ttg.dot_op<{{opIdx = 1, parent = #mma, kWidth = 2}}>
#B4 = #ttg.dot_op<{{opIdx = 1, parent = #mma, kWidth = 4}}>
#s = #ttg.swizzled_shared<{{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}}>
#sT = #ttg.swizzled_shared<{{vec = 8, perPhase = 1, maxPhase = 8, order = [0, 1]}}>
#n = #ttg.nvmma_shared<{{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}}>
#nT = #ttg.nvmma_shared<{{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}}>
#n32 = #ttg.nvmma_shared<{{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}}>
#wgmma = #ttg.nvidia_mma<{{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}}>
#half_width = #ttg.dot_op<{{opIdx = 0, parent = #wgmma, kWidth = 1}}>
#bar = #ttg.swizzled_shared<{{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}}>
#smem = #ttg.shared_memory
module attributes {{"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32}} {{
  tt.func @f({arguments}) {{
    {op}
    tt.return
  }}
}}
"""

BUFFER = "!ttg.memdesc<64x64xf16, #s, #smem, mutable>"
CONSTANT = "!ttg.memdesc<64x64xf16, #s, #smem>"
STACK = "!ttg.memdesc<2x64x64xf16, #s, #smem, mutable>"
TENSOR = "tensor<64x64xf16, #a>"


def check(arguments: str, op: str) -> None:
    verify_module(parse_module(MODULE.format(arguments=arguments, op=op), make_context()))


BARRIER = "!ttg.memdesc<1xi64, #bar, #smem, mutable>"
TILE = "!ttg.memdesc<64x64xf16, #n, #smem, mutable>"
DESCRIPTOR = "!tt.tensordesc<64x64xf16, #n>"
PIXELS = DESCRIPTOR.replace("!tt.tensordesc", "!ttng.tensordesc_im2col")

PADDED = "!ttg.memdesc<64x64xf16, #pad, #smem, mutable>"
ROWS = "!ttg.memdesc<64x64xf16, #rows, #smem, mutable>"

REFUSED: list[tuple[str, str, str]] = [
    (
        "",
        "%0 = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #halves, #smem, mutable>",
        "Layout has 2 CTAs per CGA, but the context requires 1 CTAs per CGA",
    ),
    ("", "%0 = ttg.local_alloc : () -> !ttg.memdesc<64xi1, #bar, #smem, mutable>", "must be a multiple of 8"),
    (
        "%m: !ttg.memdesc<64x!tt.ptr<i32>, #bar, #smem, mutable>, %i: tensor<64xi32, #v>, "
        "%v: tensor<64x!tt.ptr<i32>, #v>",
        "%0 = ttg.local_atomic_scatter_rmw exch, %m[%i], %v {axis = 0 : i32} : "
        "(!ttg.memdesc<64x!tt.ptr<i32>, #bar, #smem, mutable>, tensor<64x!tt.ptr<i32>, #v>, tensor<64xi32, #v>) -> "
        "tensor<64x!tt.ptr<i32>, #v>",
        "values must have integer or floating element type",
    ),
    (
        f"%m: {STACK}, %i: i32",
        f"%0 = ttg.memdesc_index %m[%i] : {STACK} -> !ttg.memdesc<64x64xf16, #s, #smem, mutable, 128x64>",
        "alloc shape must match shape for the result",
    ),
    (
        "%m: !ttg.memdesc<2x64x64xf16, #pad, #smem, mutable>",
        "%0 = ttg.memdesc_subslice %m[0, 32, 0] : !ttg.memdesc<2x64x64xf16, #pad, #smem, mutable> -> "
        "!ttg.memdesc<2x32x64xf16, #pad, #smem, mutable, 2x64x64>",
        "SubSlice of low rank PaddedSharedEncoding",
    ),
    (
        f"%m: {PADDED}",
        f"%0 = ttg.memdesc_reinterpret %m : {PADDED} -> {ROWS}",
        "between padded and non-padded layouts",
    ),
    (
        f"%m: {PADDED}",
        f"%0 = ttg.memdesc_reinterpret %m : {PADDED} -> {PADDED.replace('#pad', '#pad32')}",
        "with different padding pattern",
    ),
    (
        "%m: !ttg.memdesc<32x64xf16, #pad, #smem, mutable, 64x64>",
        f"%0 = ttg.memdesc_reinterpret %m : !ttg.memdesc<32x64xf16, #pad, #smem, mutable, 64x64> -> {PADDED}",
        "cannot reinterpret a padded source subview",
    ),
    (
        f"%m: {ROWS}",
        f"%0 = ttg.memdesc_reinterpret %m : {ROWS} -> !ttg.memdesc<32x64xf16, #rows, #smem, mutable, 64x64>",
        "result must not be a subview",
    ),
    (
        "%m: !ttg.memdesc<64x32xf16, #rows, #smem, mutable, 64x64>",
        "%0 = ttg.memdesc_reinterpret %m : !ttg.memdesc<64x32xf16, #rows, #smem, mutable, 64x64> -> "
        "!ttg.memdesc<4x16xf16, #rows, #smem, mutable>",
        r"not owned by the source subview \(128 bytes requested; 64 contiguous bytes available\)",
    ),
    (
        "%x: tensor<64x64xf32, #a>",
        "%0 = ttg.convert_layout %x {force_warp_shuffle} : tensor<64x64xf32, #a> -> tensor<64x64xf32, #mma>",
        "requires a conversion within one warp",
    ),
    (
        "%a: tensor<64x64xf16, #A>, %b: tensor<64x64xf16, #B>, %c: tensor<64x64xf32>",
        "%0 = tt.dot %a, %b, %c : tensor<64x64xf16, #A> * tensor<64x64xf16, #B> -> tensor<64x64xf32>",
        "miss encoding of C operand",
    ),
    (
        "",
        "ttg.warp_specialize() attributes {warpGroupStartIds = array<i32: 4, 6>}\n"
        "default { ttg.warp_yield }\npartition0() num_warps(2) { ttg.warp_return } : () -> ()",
        "has 2 warp group start IDs but expected 1",
    ),
    (
        "%d: !tt.tensordesc<64x64xf32, #n32>, %m: !ttg.memdesc<64x64xf32, #n32, #smem, mutable>, %i: i32",
        "ttng.async_tma_reduce max, %d[%i, %i] %m : !tt.tensordesc<64x64xf32, #n32>, "
        "!ttg.memdesc<64x64xf32, #n32, #smem, mutable>",
        "unsupported reduce kind max for element type f32",
    ),
    (
        "%d: !tt.tensordesc<64x64xi32, #n32>, %m: !ttg.memdesc<64x64xi32, #n32, #smem, mutable>, %i: i32",
        "ttng.async_tma_reduce inc, %d[%i, %i] %m : !tt.tensordesc<64x64xi32, #n32>, "
        "!ttg.memdesc<64x64xi32, #n32, #smem, mutable>",
        "unsupported reduce kind inc for element type i32",
    ),
    (
        "%a: tensor<64x64xf16, #half_width>, %c: tensor<64x64xf32, #wgmma>, %m: "
        "!ttg.memdesc<64x64xf16, #n, #smem, mutable>",
        "%0 = ttng.warp_group_dot %a, %m, %c : tensor<64x64xf16, #half_width> * "
        "!ttg.memdesc<64x64xf16, #n, #smem, mutable> -> tensor<64x64xf32, #wgmma>",
        "in-register LHS operand must have a kWidth of 2 but got 1",
    ),
    (
        "%x: tensor<64xf16, #a>",
        "%0 = arith.negf %x : tensor<64xf16, #a>",
        "Operand 0 .* has an invalid layout: Layout has rank 2, but the tensor it's attached to has rank 1.",
    ),
    (
        "%x: tensor<64xf16, #half>",
        "%0 = arith.negf %x : tensor<64xf16, #half>",
        "Layout has 16 threads per warp, but the context requires 32 threads per warp",
    ),
    (
        "%x: f16",
        "%0 = tt.splat %x : f16 -> tensor<64xf16, #eight>",
        "Result 0 .* Layout has 8 warps per CTA, but the context requires 4 warps per CTA",
    ),
    ("%x: f16", "%0 = tt.splat %x : f16 -> tensor<64xf16, #two>", "Layout has 2 CTAs per CGA"),
    (
        "%x: f16",
        "%0 = tt.splat %x : f16 -> tensor<64x64xf16, #s>",
        "Non-distributed layout is not allowed in tensor type.",
    ),
    (
        f"%x: {TENSOR}",
        f"%0 = ttg.convert_layout %x : {TENSOR} -> tensor<64x64xf32, #a>",
        "same element type for all operands and results",
    ),
    (
        f"%x: {TENSOR}",
        f"%0 = ttg.convert_layout %x : {TENSOR} -> tensor<32x64xf16, #a>",
        "same shape for all operands and results",
    ),
    ("", f"%0 = ttg.local_alloc : () -> {CONSTANT}", "uninitialized alloc must have a mutable memdesc type"),
    ("", f"%0 = ttg.local_alloc : () -> {STACK[:-1]}, 4x64x64>", "result shape and its alloc shape must match"),
    (f"%x: {TENSOR}, %m: {CONSTANT}", f"ttg.local_store %x, %m : {TENSOR} -> {CONSTANT}", "immutable memory"),
    (
        f"%m: {BUFFER}",
        f"%0 = ttg.local_load %m : {BUFFER} -> tensor<64x32xf16, #a>",
        r"shapes differ, tensor \[64, 32\] and buffer \[64, 64\]",
    ),
    (
        f"%m: {BUFFER}, %i: tensor<64xi32, #ttg.slice<{{dim = 1, parent = #a}}>>",
        f"%0 = ttg.local_gather %m[%i] {{axis = 0 : i32}} : {BUFFER}, "
        "tensor<64xi32, #ttg.slice<{dim = 1, parent = #a}>> -> tensor<64xf16, #ttg.slice<{dim = 1, parent = #a}>>",
        "indices of rank 1 for a buffer of rank 2",
    ),
    (
        f"%m: {BUFFER}, %i: tensor<64x64xi32, #a>",
        f"%0 = ttg.local_gather %m[%i] {{axis = 2 : i32}} : {BUFFER}, tensor<64x64xi32, #a> -> {TENSOR}",
        "axis 2 is out of range for a buffer of rank 2",
    ),
    (
        f"%m: {BUFFER}, %i: tensor<64x64xi32, #a>",
        f"%0 = ttg.local_gather %m[%i] {{axis = 0 : i32}} : {BUFFER}, tensor<64x64xi32, #a> -> tensor<64x32xf16, #a>",
        "values and indices must have one shape and layout",
    ),
    (
        f"%m: {BUFFER}, %i: tensor<128x64xi32, #a>, %v: tensor<128x64xf16, #a>",
        f"ttg.local_scatter %m[%i], %v {{axis = 1 : i32}} : {BUFFER}, tensor<128x64xi32, #a>, tensor<128x64xf16, #a>",
        "indices have 128 elements along dimension 0, the buffer 64",
    ),
    (
        f"%m: {CONSTANT}, %i: tensor<64x64xi32, #a>, %v: {TENSOR}",
        f"ttg.local_scatter %m[%i], %v {{axis = 1 : i32}} : {CONSTANT}, tensor<64x64xi32, #a>, {TENSOR}",
        "immutable memory",
    ),
    (
        f"%m: {BUFFER}, %i: {TENSOR}",
        f"%0 = ttg.local_gather %m[%i] {{axis = 0 : i32}} : {BUFFER}, {TENSOR} -> {TENSOR}",
        "indices must be integers",
    ),
    (
        f"%m: {STACK}, %i: i32",
        f"%0 = ttg.memdesc_index %m[%i] : {STACK} -> !ttg.memdesc<64x32xf16, #s, #smem, mutable>",
        r"result shape must equal srcShape\[1:\]",
    ),
    (
        f"%m: {STACK}, %i: i32",
        f"%0 = ttg.memdesc_index %m[%i] : {STACK} -> {CONSTANT}",
        "have the same mutability",
    ),
    (
        f"%m: {BUFFER}",
        f"%0 = ttg.memdesc_subslice %m[4, 0] : {BUFFER} -> !ttg.memdesc<4x64xf16, #s, #smem, mutable, 64x64>",
        "splitting along the swizzling pattern",
    ),
    (
        f"%m: {BUFFER}",
        f"%0 = ttg.memdesc_subslice %m[48, 0] : {BUFFER} -> !ttg.memdesc<32x64xf16, #s, #smem, mutable, 64x64>",
        "The split offset may not exceed the source shape: 32 elements at 48 of 64",
    ),
    (
        f"%m: {BUFFER}",
        f"%0 = ttg.memdesc_subslice %m[16, 0] : {BUFFER} -> !ttg.memdesc<16x64xf16, #s, #smem, mutable>",
        "source and result must have the same allocation shape",
    ),
    (
        f"%m: {BUFFER}",
        f"%0 = ttg.memdesc_subslice %m[8, 0] : {BUFFER} -> !ttg.memdesc<16x64xf16, #s, #smem, mutable, 64x64>",
        "The split offset may not touch the tile",
    ),
    (
        f"%m: {BUFFER}",
        f"%0 = ttg.memdesc_trans %m {{order = array<i32: 1, 0>}} : {BUFFER} -> {BUFFER}",
        "result of the permutation",
    ),
    (
        f"%m: {BUFFER}",
        f"%0 = ttg.memdesc_reinterpret %m : {BUFFER} -> !ttg.memdesc<64x64xf32, #s, #smem, mutable>",
        r"footprint \(16384 bytes\) exceeds the source view \(8192 bytes\)",
    ),
    (
        f"%m: {BUFFER}",
        f"%0 = ttg.memdesc_reshape %m : {BUFFER} -> !ttg.memdesc<32x128xf16, #s, #smem, mutable>",
        "result of the reshape",
    ),
    (
        "%x: tensor<64x64xf16, #a>",
        "%0 = ttg.fp4_to_fp %x {axis = 1 : i32} : tensor<64x64xf16, #a> -> tensor<64x128xf16, #a>",
        "source must have i8 elements",
    ),
    (
        "%x: tensor<64x64xf16, #A>, %y: tensor<64x64xf16, #B4>, %z: tensor<64x64xf32, #mma>",
        "%0 = tt.dot %x, %y, %z : tensor<64x64xf16, #A> * tensor<64x64xf16, #B4> -> tensor<64x64xf32, #mma>",
        "mismatching kWidth between A and B operands",
    ),
    (
        "%x: tensor<64x64xf16, #B>, %y: tensor<64x64xf16, #B>, %z: tensor<64x64xf32, #mma>",
        "%0 = tt.dot %x, %y, %z : tensor<64x64xf16, #B> * tensor<64x64xf16, #B> -> tensor<64x64xf32, #mma>",
        "Wrong opIdx: operand A has opIdx = 1",
    ),
    (
        "%i: i32",
        "ttg.warp_specialize(%i)\ndefault {\nttg.warp_yield\n}\npartition0(%p: i32) num_warps(3) {\n"
        "ttg.warp_return\n} : (i32) -> ()",
        r"partition #0 number of warps \(3\) must be a power of 2",
    ),
    (
        "%i: i32",
        "ttg.warp_specialize(%i)\ndefault {\nttg.warp_yield\n}\npartition0() num_warps(4) {\n"
        "ttg.warp_return\n} : (i32) -> ()",
        "one argument per capture",
    ),
    (
        "%x: f16",
        "ttg.warp_specialize(%x)\ndefault {\nttg.warp_yield\n}\npartition0(%p: f16) num_warps(2) {\n"
        "%0 = tt.splat %p : f16 -> tensor<64xf16, #v>\nttg.warp_return\n} : (f16) -> ()",
        "Layout has 4 warps per CTA, but the context requires 2 warps per CTA",
    ),
    ("", "ttng.cluster_barrier", "requires ttg.num-ctas > 1"),
    ("", "ttng.fence_mbarrier_init_release_cluster", "requires ttg.num-ctas > 1"),
    (
        f"%b: {BARRIER}",
        f"ttng.arrive_barrier %b, 1 {{multicastCTA = 1 : i32}} : {BARRIER}",
        "multicast arrive requires num_ctas > 1",
    ),
    (
        f"%b: {BARRIER}",
        f"ttng.arrive_barrier %b, 1 {{fromCTA = 1 : i32}} : {BARRIER}",
        r"fromCTA must be in the range \[0, num_ctas - 1\]",
    ),
    (
        f"%d: {DESCRIPTOR}, %i: i32, %w: i16, %p: i1, %b: {BARRIER}, %m: {TILE}",
        f"ttng.async_tma_copy_global_to_local %d[%i, %i] offsets = [%w] %m, %b, %p : {DESCRIPTOR}, {BARRIER} -> {TILE}",
        "TILED mode does not support offsets",
    ),
    (
        f"%d: {DESCRIPTOR}, %i: i32, %p: i1, %b: {BARRIER}, %m: {TILE}",
        f"ttng.async_tma_copy_global_to_local %d[%i, %i] %m, %b, %p {{roundToTf32}} : "
        f"{DESCRIPTOR}, {BARRIER} -> {TILE}",
        "only elements of f32 are rounded to tf32",
    ),
    (
        f"%d: {DESCRIPTOR}, %i: i32, %p: i1, %b: {BARRIER}, %m: {TILE}",
        f"ttng.async_tma_copy_global_to_local %d[%i, %i] %m, %b, %p {{multicast}} : {DESCRIPTOR}, {BARRIER} -> {TILE}",
        "multicast requires the shared layout to broadcast across CTAs",
    ),
    (
        f"%d: {PIXELS}, %i: i32, %w: i16, %p: i1, %b: {BARRIER}, %m: {TILE}",
        f"ttng.async_tma_copy_global_to_local %d[%i, %i, %i, %i] offsets = [%w] %m, %b, %p : "
        f"{PIXELS}, {BARRIER} -> {TILE}",
        "IM2COL mode with 4D coordinates requires 2 offsets, but got 1",
    ),
    (
        f"%d: {PIXELS}, %i: i32, %p: i1, %b: {BARRIER}, %m: {TILE}",
        f"ttng.async_tma_copy_global_to_local %d[%i, %i, %i] %m, %b, %p : {PIXELS}, {BARRIER} -> {TILE}",
        "IM2COL mode requires offsets to be provided",
    ),
    (f"%b: {BARRIER}", f"ttng.init_barrier %b, 0 : {BARRIER}", "count must be greater than or equal to 1"),
    (f"%b: {TILE}", f"ttng.init_barrier %b, 1 : {TILE}", "barrier allocation must be a descriptor of Nxi64"),
    (
        f"%d: {DESCRIPTOR}, %i: i32, %m: {TILE}",
        f"ttng.async_tma_copy_local_to_global %d[%i] %m : {DESCRIPTOR}, {TILE}",
        "expected 2 coordinates, but got 1",
    ),
    (
        f"%d: {DESCRIPTOR}, %i: i32, %m: {TILE.replace('#n', '#nT')}",
        f"ttng.async_tma_copy_local_to_global %d[%i, %i] %m : {DESCRIPTOR}, {TILE.replace('#n', '#nT')}",
        "TMA does not support transposed layouts",
    ),
    (
        f"%d: {DESCRIPTOR}, %i: i32, %m: {BUFFER}",
        f"ttng.async_tma_copy_local_to_global %d[%i, %i] %m : {DESCRIPTOR}, {BUFFER}",
        "TMA descriptor layout must match shared layout",
    ),
    (
        f"%m: {TILE}, %c: tensor<64x64xf32, #mma>",
        f"%0 = ttng.warp_group_dot %m, %m, %c : {TILE} * {TILE} -> tensor<64x64xf32, #mma>",
        "WGMMA result layout must be Hopper NVMMA",
    ),
    (
        "%p: !tt.ptr<i8>, %i: i32",
        "ttng.tensormap_create %p, %p, [%i, %i], [%i, %i], [], [%i, %i] {elem_type = 6 : i32, fill_mode = 0 : i32, "
        "interleave_layout = 0 : i32, swizzle_mode = 3 : i32} : (!tt.ptr<i8>, !tt.ptr<i8>, i32, i32, i32, i32, i32, "
        "i32) -> ()",
        "Rank mismatch for global stride: expected 1, got 0",
    ),
]


@pytest.mark.parametrize("arguments, op, message", REFUSED, ids=[message[:40] for *_, message in REFUSED])
def test_wrong_ops(arguments: str, op: str, message: str) -> None:
    with pytest.raises(VerifyError, match=message):
        check(arguments, op)


WRONG_ATTRIBUTES = [
    ("#ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4]}>", "missing order"),
    ("#ttg.blocked<{sizePerThread = [3], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>", "powers of two"),
    ("#ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [1]}>", "permutation"),
    ("#ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>", "the same rank"),
    (
        "#ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0], CTAsPerCGA = [2]}>",
        "CTAsPerCGA of more than one CTA is written as CGALayout today",
    ),
    (
        "#ttg.slice<{dim = 0, parent = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], "
        "order = [0]}>}>",
        "rank 2 at least",
    ),
    (
        "#ttg.dot_op<{opIdx = 0, parent = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], "
        "instrShape = [16, 8]}>}>",
        "kWidth is mandatory",
    ),
    (
        "#ttg.dot_op<{opIdx = 1, parent = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], "
        "instrShape = [16, 64, 16]}>, kWidth = 2}>",
        "opIdx must be 0 for a Hopper parent",
    ),
    ("#ttg.linear<{register = [[0, 2]], lane = [], warp = [], block = []}>", "do not reach every element"),
    ("#ttg.linear<{register = [[1, 0]], lane = [[2, 1], [0, 1]], warp = [], block = []}>", "permutation matrix"),
    ("#ttg.linear<{register = [[1], [1]], lane = [], warp = [], block = []}>", "permutation matrix"),
    ("#ttg.generic_linear<{register = [[3], [3]], lane = [], warp = [], block = []}>", "do not reach every element"),
    (
        "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[1], [3]]}>",
        r"CGA encoding must be a permutation matrix, got \[\[1\], \[3\]\]",
    ),
    (
        "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8], "
        "CGALayout = [[0, 2]]}>",
        "CGA encoding must be a permutation matrix",
    ),
    ("#ttg.padded_shared<[] {order = [0], shape = [8]}>", "at least one pair"),
    ("#ttg.padded_shared<[4:+3] {order = [0], shape = [8]}>", "padding values must all be power of two"),
    ("#ttg.padded_shared<[4:+1, 4:+2] {order = [0], shape = [8]}>", "cannot have duplicates"),
    ("#ttg.padded_shared<[4:+1] {offset = [[1], [2], [4]]}>", "Expected basis of 'block' not found"),
    ("#ttg.padded_shared<[4:+1] {block = []}>", "Expected basis of 'offset' not found"),
    ("#ttg.padded_shared<[4:+1] {offset = [[1]], block = [], shape = [2]}>", 'Unexpected attribute "shape" found'),
    ("#ttg.padded_shared<[4:+1] {offset = [[0, 1], [1, 2]], block = []}>", "at most one dimension"),
    ("#ttg.padded_shared<[4:+1] {offset = [[0, 1], [0, 3]], block = []}>", "0 or a power of two"),
    ("#ttg.padded_shared<[4:+1] {offset = [[0, 1], [0, 1]], block = []}>", "Broadcasting in offset dimension"),
]


@pytest.mark.parametrize("attribute, message", WRONG_ATTRIBUTES, ids=[message for _, message in WRONG_ATTRIBUTES])
def test_wrong_attributes(attribute: str, message: str) -> None:
    with pytest.raises(ParseError, match=message):
        parse_module(f"module attributes {{test.layout = {attribute}}} {{}}", make_context())


WRONG_TYPES = [
    ("!ttg.memdesc<64x48xf16, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>, "
     "#ttg.shared_memory>", "power-of-2"),
    ("!ttg.memdesc<64x64xf16, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>, "
     "#ttg.shared_memory, mutable, 32x64>", "less than or equal to allocShape"),
    ("!ttg.memdesc<4x4x64x64xf16, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>, "
     "#ttg.shared_memory>", "rank must be equal to or one less than the shape size. Got 2 and 4"),
    ("!ttg.memdesc<8x16xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>, "
     "#ttg.shared_memory>", "larger than the buffer 8x16"),
    ("!ttg.memdesc<8xi4, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>, "
     "#ttg.shared_memory>", "must be 1 or at least 8; got 4"),
    ("!ttg.memdesc<3x4xf16, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>, "
     "#ttg.shared_memory>", "^(?!.*alloc).*shape must have power-of-2 and non-zero dimensions; got 3, 4"),
    ("!ttg.memdesc<2x4xf16, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>, "
     "#ttg.shared_memory, mutable, 6x4>", "alloc shape must have power-of-2 and non-zero dimensions; got 6, 4"),
    ("!ttg.memdesc<4xf16, #ttg.shared_memory>", "is not a valid encoding"),
    ("!ttg.memdesc<8x4xf16, #ttg.padded_shared<[4:+2] {order = [1, 0], shape = [4, 4]}>, #ttg.shared_memory>",
     "Mismatch in expected shape for dimension 0. Expected: 8, got: 4"),
    ("!ttg.memdesc<4x8xf16, #ttg.shared_linear<{offset = [[0, 1], [1, 0], [2, 0]]}, alignment = 16>, "
     "#ttg.shared_memory>", "Mismatch in expected shape for dimension 1. Expected: 8, got: 2"),
    ("!tt.ptr<index>", "pointer types must point to integer or floating-point types"),
]  # fmt: skip


@pytest.mark.parametrize("type, message", WRONG_TYPES, ids=[message for _, message in WRONG_TYPES])
def test_wrong_types(type: str, message: str) -> None:
    with pytest.raises(ParseError, match=message):
        parse_module(f"module attributes {{test.type = {type}}} {{}}", make_context())


def test_right_programs_pass() -> None:
    check(
        f"%x: {TENSOR}, %m: {BUFFER}",
        f"ttg.local_store %x, %m : {TENSOR} -> {BUFFER}\n"
        f"%0 = ttg.memdesc_subslice %m[32, 0] : {BUFFER} -> !ttg.memdesc<32x64xf16, #s, #smem, mutable, 64x64>",
    )
    check(
        "%m: !ttg.memdesc<32x64xf16, #rows, #smem, mutable, 64x64>, %n: !ttg.memdesc<3x64x64xf16, #rows, #smem>",
        "%0 = ttg.memdesc_reinterpret %m : !ttg.memdesc<32x64xf16, #rows, #smem, mutable, 64x64> -> "
        "!ttg.memdesc<32x32xf32, #rows, #smem, mutable>\n"
        "%1 = ttg.memdesc_reinterpret %n : !ttg.memdesc<3x64x64xf16, #rows, #smem> -> "
        "!ttg.memdesc<64x64xf32, #s, #smem>",
    )


def test_arguments_may_have_shared_encodings_until_an_op_uses_them() -> None:
    check(f"%x: {TENSOR}, %m: tensor<64x64xf16, #s>", "")
    with pytest.raises(VerifyError, match="Non-distributed layout is not allowed in tensor type"):
        check("%m: tensor<64x64xf16, #s>", "%0 = arith.negf %m : tensor<64x64xf16, #s>")
