// Products of microscaling formats: unpacked and scaled operands on the instructions for 16-bit floats.
// RUN: tilewright-opt %s --tritongpu-accelerate-matmul --verify-each | filecheck %s

#rows = #ttg.blocked<{sizePerThread = [1, 16], threadsPerWarp = [16, 2], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#scales = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [16, 2], warpsPerCTA = [4, 1], order = [1, 0]}>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // Scales go where their groups are; one for 32 elements, which 0 and 255 are special among; what was loaded in 4
  // bits keeps eight neighbours in a thread.
  // CHECK-LABEL: @fp4
  // CHECK-SAME: ([[A:%[a-z0-9_]+]]: {{.*}}, [[S:%[a-z0-9_]+]]: {{.*}}, [[B:%[a-z0-9_]+]]: {{.*}}, [[C:%[a-z0-9_]+]]: {{.*}})
  // CHECK-NEXT: [[V:%[a-z0-9_]+]] = ttg.fp4_to_fp [[A]] {axis = 1 : i32} : tensor<128x32xi8, #blocked> -> tensor<128x64xbf16
  // CHECK-NEXT: [[SC:%[a-z0-9_]+]] = ttg.convert_layout [[S]] : {{.*}} -> tensor<128x2xi8, #ttg.slice<{dim = 2,
  // CHECK-NEXT: [[W:%[a-z0-9_]+]] = arith.extui [[SC]]
  // CHECK: arith.shli [[W]]
  // CHECK: arith.cmpi eq, [[W]]
  // CHECK: arith.cmpi eq, [[W]]
  // CHECK: tt.bitcast {{.*}} -> tensor<128x2xbf16
  // CHECK-NEXT: tt.expand_dims {{.*}} -> tensor<128x2x1xbf16
  // CHECK-NEXT: tt.broadcast {{.*}} -> tensor<128x2x32xbf16
  // CHECK-NEXT: [[R:%[a-z0-9_]+]] = tt.reshape {{.*}} -> tensor<128x64xbf16
  // CHECK-NEXT: [[P:%[a-z0-9_]+]] = arith.mulf [[V]], [[R]]
  // CHECK: tt.dot {{.*}} : tensor<128x64xbf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 8}>> * tensor<64x64xbf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 8}>>
  tt.func @fp4(%a: tensor<128x32xi8, #rows>, %s: tensor<128x2xi8, #scales>, %b: tensor<64x64xbf16, #blocked>, %c: tensor<128x64xf32, #blocked>) -> tensor<128x64xf32, #blocked> {
    %d = tt.dot_scaled %a scale %s, %b, %c lhs = e2m1 rhs = bf16 {fastMath = false} : tensor<128x32xi8, #rows>, tensor<128x2xi8, #scales> * tensor<64x64xbf16, #blocked> -> tensor<128x64xf32, #blocked>
    tt.return %d : tensor<128x64xf32, #blocked>
  }

  // B's scales lie along its columns; fast math forgets that 255 is no number.
  // CHECK-LABEL: @fast
  // CHECK: tt.fp_to_fp {{.*}} : tensor<128x64xf8E5M2, {{.*}} -> tensor<128x64xbf16
  // CHECK: ttg.fp4_to_fp {{.*}} {axis = 0 : i32} : tensor<32x64xi8
  // CHECK: tt.trans {{.*}} : tensor<64x2xi8, {{.*}} -> tensor<2x64xi8
  // CHECK: ttg.convert_layout {{.*}} -> tensor<2x64xi8, #ttg.slice<{dim = 1,
  // CHECK-COUNT-1: arith.cmpi eq
  // CHECK-NOT: arith.cmpi eq
  // CHECK: tt.reshape {{.*}} : tensor<2x32x64xbf16, {{.*}} -> tensor<64x64xbf16
  // CHECK: tt.dot {{.*}} kWidth = 8
  tt.func @fast(%a: tensor<128x64xf8E5M2, #rows>, %s: tensor<64x2xi8, #scales>, %b: tensor<32x64xi8, #blocked>, %c: tensor<128x64xf32, #blocked>) -> tensor<128x64xf32, #blocked> {
    %d = tt.dot_scaled %a, %b scale %s, %c lhs = e5m2 rhs = e2m1 {fastMath = true} : tensor<128x64xf8E5M2, #rows> * tensor<32x64xi8, #blocked>, tensor<64x2xi8, #scales> -> tensor<128x64xf32, #blocked>
    tt.return %d : tensor<128x64xf32, #blocked>
  }

  // f16 has not the range of scales: the product is rounded to it. bf16 with f16 takes f32 that rounds to tf32, which
  // has the bits of both.
  // CHECK-LABEL: @halves
  // CHECK: arith.mulf {{.*}} : tensor<128x64xf32
  // CHECK-NEXT: arith.truncf {{.*}} to tensor<128x64xf16
  // CHECK: tt.dot {{.*}} : tensor<128x64xf16
  // CHECK: tt.dot {{.*}}, inputPrecision = tf32 : tensor<128x64xf32
  tt.func @halves(%a: tensor<128x64xf8E5M2, #rows>, %s: tensor<128x2xi8, #scales>, %b: tensor<64x64xf16, #blocked>, %x: tensor<128x64xbf16, #rows>, %c: tensor<128x64xf32, #blocked>) -> tensor<128x64xf32, #blocked> {
    %0 = tt.dot_scaled %a scale %s, %b, %c lhs = e5m2 rhs = fp16 {fastMath = false} : tensor<128x64xf8E5M2, #rows>, tensor<128x2xi8, #scales> * tensor<64x64xf16, #blocked> -> tensor<128x64xf32, #blocked>
    %1 = tt.dot_scaled %x, %b, %0 lhs = bf16 rhs = fp16 {fastMath = false} : tensor<128x64xbf16, #rows> * tensor<64x64xf16, #blocked> -> tensor<128x64xf32, #blocked>
    tt.return %1 : tensor<128x64xf32, #blocked>
  }
}
