// Conversions to operands of matrix products go through buffers, unless registers or shuffles do.
// RUN: tilewright-opt %s --tritongpu-reduce-data-duplication --verify-each | filecheck %s

// A with K fastest, B with N fastest: both swizzled for ldmatrix. Transposed A: the other order. Plain products: no swizzle.
// CHECK-DAG: [[A:#shared[0-9]*]] = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>
// CHECK-DAG: [[B:#shared[0-9]*]] = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
// CHECK-DAG: [[T:#shared[0-9]*]] = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [0, 1]}>
// CHECK-DAG: [[PLAIN:#shared[0-9]*]] = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
// CHECK-DAG: [[BATCH:#shared[0-9]*]] = #ttg.swizzled_shared<{vec = {{[0-9]}}, perPhase = {{[0-9]}}, maxPhase = {{[0-9]}}, order = [2, 1, 0]}>
#b = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#c = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#b3 = #ttg.blocked<{sizePerThread = [1, 1, 8], threadsPerWarp = [1, 8, 4], warpsPerCTA = [4, 1, 1], order = [2, 1, 0]}>
#fma = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#mma3 = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1, 1], instrShape = [1, 16, 8]}>
#da = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#db = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#da3 = #ttg.dot_op<{opIdx = 0, parent = #mma3, kWidth = 2}>
#fa = #ttg.dot_op<{opIdx = 0, parent = #fma}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @operands
  // CHECK: %[[M:.*]] = ttg.local_alloc %arg0 : (tensor<64x32xf16, #blocked{{[0-9]*}}>) -> !ttg.memdesc<64x32xf16, [[A]], #smem>
  // CHECK-NEXT: ttg.local_load %[[M]] : {{.*}} -> tensor<64x32xf16, #ttg.dot_op<{opIdx = 0
  // CHECK: %[[N:.*]] = ttg.local_alloc %arg1 : (tensor<32x64xf16, #blocked{{[0-9]*}}>) -> !ttg.memdesc<32x64xf16, [[B]], #smem>
  // CHECK-NEXT: ttg.local_load %[[N]]
  // CHECK: ttg.local_alloc %arg2 {{.*}} !ttg.memdesc<64x32xf16, [[T]], #smem>
  tt.func @operands(%x: tensor<64x32xf16, #b>, %y: tensor<32x64xf16, #b>, %z: tensor<64x32xf16, #c>) -> (tensor<64x32xf16, #da>, tensor<32x64xf16, #db>, tensor<64x32xf16, #da>) {
    %0 = ttg.convert_layout %x : tensor<64x32xf16, #b> -> tensor<64x32xf16, #da>
    %1 = ttg.convert_layout %y : tensor<32x64xf16, #b> -> tensor<32x64xf16, #db>
    %2 = ttg.convert_layout %z : tensor<64x32xf16, #c> -> tensor<64x32xf16, #da>
    tt.return %0, %1, %2 : tensor<64x32xf16, #da>, tensor<32x64xf16, #db>, tensor<64x32xf16, #da>
  }

  // CHECK-LABEL: @without_tensor_cores
  // CHECK: ttg.local_alloc {{.*}} !ttg.memdesc<64x32xf32, [[PLAIN]], #smem>
  tt.func @without_tensor_cores(%x: tensor<64x32xf32, #b>) -> tensor<64x32xf32, #fa> {
    %0 = ttg.convert_layout %x : tensor<64x32xf32, #b> -> tensor<64x32xf32, #fa>
    tt.return %0 : tensor<64x32xf32, #fa>
  }

  // Batches lie apart.
  // CHECK-LABEL: @batches
  // CHECK: ttg.local_alloc {{.*}} !ttg.memdesc<8x64x32xf16, [[BATCH]], #smem>
  tt.func @batches(%x: tensor<8x64x32xf16, #b3>) -> tensor<8x64x32xf16, #da3> {
    %0 = ttg.convert_layout %x : tensor<8x64x32xf16, #b3> -> tensor<8x64x32xf16, #da3>
    tt.return %0 : tensor<8x64x32xf16, #da3>
  }

  // An accumulator becomes the operand of the next product in its registers; other conversions are none of this pass.
  // CHECK-LABEL: @others
  // CHECK-NOT: ttg.local_alloc
  // CHECK-COUNT-2: ttg.convert_layout
  // CHECK: tt.return
  tt.func @others(%x: tensor<64x64xf16, #mma>, %y: tensor<64x64xf16, #b>) -> (tensor<64x64xf16, #da>, tensor<64x64xf16, #c>) {
    %0 = ttg.convert_layout %x : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #da>
    %1 = ttg.convert_layout %y : tensor<64x64xf16, #b> -> tensor<64x64xf16, #c>
    tt.return %0, %1 : tensor<64x64xf16, #da>, tensor<64x64xf16, #c>
  }
}
