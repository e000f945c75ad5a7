// Matrix products on compute capability 8.0: mma.sync.
// RUN: tilewright-opt %s --tritongpu-accelerate-matmul --verify-each | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#rows = #ttg.blocked<{sizePerThread = [1, 16], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>

// The chain keeps all warps along rows, the wide product puts them along columns.
// CHECK-DAG: [[CHAIN:#mma[0-9]*]] = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
// CHECK-DAG: [[WIDE:#mma[0-9]*]] = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 4], instrShape = [16, 8]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @wide
  // CHECK: tt.dot {{.*}} -> tensor<128x256xf32, [[WIDE]]>
  tt.func @wide(%x: tensor<128x64xf16, #a>, %y: tensor<64x256xf16, #b>, %c: tensor<128x256xf32, #blocked>) -> tensor<128x256xf32, #blocked> {
    %0 = tt.dot %x, %y, %c : tensor<128x64xf16, #a> * tensor<64x256xf16, #b> -> tensor<128x256xf32, #blocked>
    tt.return %0 : tensor<128x256xf32, #blocked>
  }

  // CHECK-LABEL: @chain
  // CHECK: tt.dot {{.*}} -> tensor<64x64xf32, [[CHAIN]]>
  // CHECK: tt.dot {{.*}} -> tensor<64x64xf32, [[CHAIN]]>
  tt.func @chain(%x: tensor<64x64xf16, #a>, %y: tensor<64x64xf16, #b>, %c: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
    %0 = tt.dot %x, %y, %c : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #blocked>
    %1 = arith.truncf %0 : tensor<64x64xf32, #blocked> to tensor<64x64xf16, #blocked>
    %2 = ttg.convert_layout %1 : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #a>
    %3 = tt.dot %2, %y, %c : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #blocked>
    tt.return %3 : tensor<64x64xf32, #blocked>
  }

  // What was loaded as 8 bits keeps four neighbours in a thread.
  // CHECK-LABEL: @widened
  // CHECK: tt.dot {{.*}}opIdx = 0{{.*}}kWidth = 4{{.*}}opIdx = 1{{.*}}kWidth = 4
  tt.func @widened(%x: tensor<128x64xf16, #a>, %p: tensor<64x128x!tt.ptr<i8>, #rows>, %c: tensor<128x128xf32, #blocked>) -> tensor<128x128xf32, #blocked> {
    %0 = tt.load %p : tensor<64x128x!tt.ptr<i8>, #rows>
    %1 = arith.sitofp %0 : tensor<64x128xi8, #rows> to tensor<64x128xf16, #rows>
    %2 = ttg.convert_layout %1 : tensor<64x128xf16, #rows> -> tensor<64x128xf16, #b>
    %3 = tt.dot %x, %2, %c : tensor<128x64xf16, #a> * tensor<64x128xf16, #b> -> tensor<128x128xf32, #blocked>
    tt.return %3 : tensor<128x128xf32, #blocked>
  }

  // No 8-bit floats in this GPU's instructions: f16.
  // CHECK-LABEL: @fp8
  // CHECK-COUNT-2: tt.fp_to_fp {{.*}} -> tensor<64x64xf16
  // CHECK: tt.dot {{.*}} -> tensor<64x64xf32, #mma
  tt.func @fp8(%x: tensor<64x64xf8E5M2, #a>, %y: tensor<64x64xf8E5M2, #b>, %c: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
    %0 = tt.dot %x, %y, %c : tensor<64x64xf8E5M2, #a> * tensor<64x64xf8E5M2, #b> -> tensor<64x64xf32, #blocked>
    tt.return %0 : tensor<64x64xf32, #blocked>
  }

  // CHECK-LABEL: @integers
  // CHECK: tt.dot {{.*}}kWidth = 4{{.*}} -> tensor<64x64xi32, #mma
  tt.func @integers(%x: tensor<64x64xi8, #a>, %y: tensor<64x64xi8, #b>, %c: tensor<64x64xi32, #blocked>) -> tensor<64x64xi32, #blocked> {
    %0 = tt.dot %x, %y, %c : tensor<64x64xi8, #a> * tensor<64x64xi8, #b> -> tensor<64x64xi32, #blocked>
    tt.return %0 : tensor<64x64xi32, #blocked>
  }

  // CHECK-LABEL: @doubles
  // CHECK: tt.dot {{.*}}kWidth = 1{{.*}} -> tensor<64x64xf64, #mma
  tt.func @doubles(%x: tensor<64x16xf64, #a>, %y: tensor<16x64xf64, #b>, %c: tensor<64x64xf64, #blocked>) -> tensor<64x64xf64, #blocked> {
    %0 = tt.dot %x, %y, %c : tensor<64x16xf64, #a> * tensor<16x64xf64, #b> -> tensor<64x64xf64, #blocked>
    tt.return %0 : tensor<64x64xf64, #blocked>
  }
}
