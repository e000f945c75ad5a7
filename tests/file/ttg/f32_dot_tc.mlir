// Products of f32 as sums of products of parts: the small ones first, then what is no number of them as zero, then the
// largest, then the accumulator.
// RUN: tilewright-opt %s --tritongpu-F32DotTC="emu-tf32=true" --verify-each | filecheck %s
// RUN: tilewright-opt %s --tritongpu-F32DotTC --verify-each | filecheck %s --check-prefix=PLAIN

#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @tf32x3
  // CHECK-SAME: ([[A:%[a-z0-9_]+]]: {{.*}}, [[B:%[a-z0-9_]+]]: {{.*}}, [[C:%[a-z0-9_]+]]: {{.*}})
  // CHECK-NEXT: [[A0:%[a-z0-9_]+]] = tt.elementwise_inline_asm "cvt.rna.tf32.f32 $0, $1;" {constraints = "=r,r", packed_element = 1 : i32, pure = true} [[A]]
  // CHECK-NEXT: [[A1:%[a-z0-9_]+]] = arith.subf [[A]], [[A0]]
  // CHECK-NEXT: [[B0:%[a-z0-9_]+]] = tt.elementwise_inline_asm {{.*}} [[B]]
  // CHECK-NEXT: [[B1:%[a-z0-9_]+]] = arith.subf [[B]], [[B0]]
  // CHECK-NEXT: [[ZERO:%[a-z0-9_]+]] = arith.constant dense<0.000000e+00>
  // CHECK-NEXT: [[S0:%[a-z0-9_]+]] = tt.dot [[A1]], [[B0]], [[ZERO]], inputPrecision = tf32
  // CHECK-NEXT: [[S1:%[a-z0-9_]+]] = tt.dot [[A0]], [[B1]], [[S0]], inputPrecision = tf32
  // CHECK-NEXT: [[NAN:%[a-z0-9_]+]] = arith.cmpf uno, [[S1]], [[S1]]
  // CHECK-NEXT: [[S2:%[a-z0-9_]+]] = arith.select [[NAN]], [[ZERO]], [[S1]]
  // CHECK-NEXT: [[S3:%[a-z0-9_]+]] = tt.dot [[A0]], [[B0]], [[S2]], inputPrecision = tf32
  // CHECK-NEXT: arith.addf [[S3]], [[C]]
  // PLAIN-LABEL: @tf32x3
  // PLAIN: tt.dot {{.*}} inputPrecision = tf32x3
  tt.func @tf32x3(%x: tensor<64x32xf32, #a>, %y: tensor<32x64xf32, #b>, %c: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
    %0 = tt.dot %x, %y, %c, inputPrecision = tf32x3 : tensor<64x32xf32, #a> * tensor<32x64xf32, #b> -> tensor<64x64xf32, #blocked>
    tt.return %0 : tensor<64x64xf32, #blocked>
  }

  // CHECK-LABEL: @bf16x3
  // CHECK-SAME: ([[A:%[a-z0-9_]+]]: {{.*}}, [[B:%[a-z0-9_]+]]: {{.*}}, [[C:%[a-z0-9_]+]]: {{.*}})
  // CHECK-NEXT: [[A0:%[a-z0-9_]+]] = arith.truncf [[A]]
  // CHECK-NEXT: [[WIDE:%[a-z0-9_]+]] = arith.extf [[A0]]
  // CHECK-NEXT: [[REST:%[a-z0-9_]+]] = arith.subf [[A]], [[WIDE]]
  // CHECK-NEXT: [[A1:%[a-z0-9_]+]] = arith.truncf [[REST]]
  // CHECK-NEXT: [[B0:%[a-z0-9_]+]] = arith.truncf [[B]]
  // CHECK: [[B1:%[a-z0-9_]+]] = arith.truncf
  // CHECK: tt.dot [[A1]], [[B0]]
  // CHECK-SAME: tensor<64x32xbf16, #ttg.dot_op<{opIdx = 0, parent = #blocked}>>
  // CHECK-NEXT: tt.dot [[A0]], [[B1]]
  // CHECK: tt.dot [[A0]], [[B0]]
  // CHECK-NEXT: arith.addf {{.*}}, [[C]]
  // PLAIN-LABEL: @bf16x3
  // PLAIN-COUNT-3: tt.dot {{.*}} -> tensor<64x64xf32, #blocked>
  tt.func @bf16x3(%x: tensor<64x32xf32, #a>, %y: tensor<32x64xf32, #b>, %c: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
    %0 = tt.dot %x, %y, %c, inputPrecision = bf16x3 : tensor<64x32xf32, #a> * tensor<32x64xf32, #b> -> tensor<64x64xf32, #blocked>
    tt.return %0 : tensor<64x64xf32, #blocked>
  }

  // CHECK-LABEL: @bf16x6
  // CHECK: [[A0:%[a-z0-9_]+]] = arith.truncf
  // CHECK: [[A1:%[a-z0-9_]+]] = arith.truncf
  // CHECK: [[A2:%[a-z0-9_]+]] = arith.truncf
  // CHECK: [[B0:%[a-z0-9_]+]] = arith.truncf
  // CHECK: [[B1:%[a-z0-9_]+]] = arith.truncf
  // CHECK: [[B2:%[a-z0-9_]+]] = arith.truncf
  // CHECK: tt.dot [[A1]], [[B1]]
  // CHECK-NEXT: tt.dot [[A2]], [[B0]]
  // CHECK-NEXT: tt.dot [[A0]], [[B2]]
  // CHECK-NEXT: tt.dot [[A1]], [[B0]]
  // CHECK-NEXT: tt.dot [[A0]], [[B1]]
  // CHECK: tt.dot [[A0]], [[B0]]
  tt.func @bf16x6(%x: tensor<64x32xf32, #a>, %y: tensor<32x64xf32, #b>, %c: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
    %0 = tt.dot %x, %y, %c, inputPrecision = bf16x6 : tensor<64x32xf32, #a> * tensor<32x64xf32, #b> -> tensor<64x64xf32, #blocked>
    tt.return %0 : tensor<64x64xf32, #blocked>
  }

  // Other precisions and types stay.
  // CHECK-LABEL: @others
  // CHECK-NEXT: tt.dot {{.*}} inputPrecision = tf32 :
  // CHECK-NEXT: tt.dot {{.*}} : tensor<64x32xf32
  // CHECK-NEXT: tt.dot {{.*}} inputPrecision = tf32x3 : tensor<64x32xf16
  // CHECK-NEXT: tt.return
  tt.func @others(%x: tensor<64x32xf32, #a>, %y: tensor<32x64xf32, #b>, %u: tensor<64x32xf16, #a>, %v: tensor<32x64xf16, #b>, %c: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
    %0 = tt.dot %x, %y, %c, inputPrecision = tf32 : tensor<64x32xf32, #a> * tensor<32x64xf32, #b> -> tensor<64x64xf32, #blocked>
    %1 = tt.dot %x, %y, %0 : tensor<64x32xf32, #a> * tensor<32x64xf32, #b> -> tensor<64x64xf32, #blocked>
    %2 = tt.dot %u, %v, %1, inputPrecision = tf32x3 : tensor<64x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<64x64xf32, #blocked>
    tt.return %2 : tensor<64x64xf32, #blocked>
  }
}
