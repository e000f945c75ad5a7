// RUN: tilewright-opt %s --triton-to-linalg | filecheck %s
// RUN: tilewright-opt %s --triton-to-linalg | mlir-opt

// The middle layer knows inline PTX as ops: one loop, no assembly.
// CHECK-LABEL: func.func @dequantise
// CHECK-NOT: inline_asm
// CHECK: arith.extui
// CHECK: arith.ori
// CHECK: arith.subf
tt.func public @dequantise(%x: !tt.ptr<i8>, %out: !tt.ptr<f16>) {
  %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %xs = tt.splat %x : !tt.ptr<i8> -> tensor<64x!tt.ptr<i8>>
  %xp = tt.addptr %xs, %i : tensor<64x!tt.ptr<i8>>, tensor<64xi32>
  %v = tt.load %xp : tensor<64x!tt.ptr<i8>>
  %r = tt.elementwise_inline_asm "{ .reg .b32 r; prmt.b32 r, $2, 0x64646464, 0x5150; sub.f16x2 $0, r, 0x64006400; prmt.b32 r, $2, 0x64646464, 0x5352; sub.f16x2 $1, r, 0x64006400; }" {constraints = "=r,=r,r", packed_element = 4 : i32, pure = true} %v : tensor<64xi8> -> tensor<64xf16>
  %os = tt.splat %out : !tt.ptr<f16> -> tensor<64x!tt.ptr<f16>>
  %op = tt.addptr %os, %i : tensor<64x!tt.ptr<f16>>, tensor<64xi32>
  tt.store %op, %r : tensor<64x!tt.ptr<f16>>
  tt.return
}
