// Operands of mma.sync that are transposed loads, and reshaped ones of wgmma: views of shared memory.
// RUN: tilewright-opt %s --tritongpu-optimize-dot-operands --canonicalize --verify-each | filecheck %s

#b = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#c = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#b3 = #ttg.blocked<{sizePerThread = [1, 1, 8], threadsPerWarp = [1, 4, 8], warpsPerCTA = [1, 4, 1], order = [2, 1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#db = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @transposed_load
  // CHECK-NOT: tt.trans
  // CHECK: %[[X:.*]] = tt.load
  // CHECK: %[[M:.*]] = ttg.local_alloc %[[X]]
  // CHECK: %[[T:.*]] = ttg.memdesc_trans %[[M]] {order = array<i32: 1, 0>}
  // CHECK: ttg.local_load %[[T]] {{.*}} -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>
  tt.func @transposed_load(%p: tensor<64x64x!tt.ptr<f16>, #b>) -> tensor<64x64xf16, #db> {
    %0 = tt.load %p : tensor<64x64x!tt.ptr<f16>, #b>
    %1 = tt.trans %0 {order = array<i32: 1, 0>} : tensor<64x64xf16, #b> -> tensor<64x64xf16, #c>
    %2 = ttg.convert_layout %1 : tensor<64x64xf16, #c> -> tensor<64x64xf16, #db>
    tt.return %2 : tensor<64x64xf16, #db>
  }

  // What is computed is transposed in registers, and so is what does not become an operand.
  // CHECK-LABEL: @others
  // CHECK-NOT: ttg.memdesc_trans
  // CHECK-COUNT-2: tt.trans
  // CHECK: tt.return
  tt.func @others(%p: tensor<64x64x!tt.ptr<f16>, #b>) -> (tensor<64x64xf16, #db>, tensor<64x64xf16, #b>) {
    %0 = tt.load %p : tensor<64x64x!tt.ptr<f16>, #b>
    %1 = arith.addf %0, %0 : tensor<64x64xf16, #b>
    %2 = tt.trans %1 {order = array<i32: 1, 0>} : tensor<64x64xf16, #b> -> tensor<64x64xf16, #c>
    %3 = ttg.convert_layout %2 : tensor<64x64xf16, #c> -> tensor<64x64xf16, #db>
    %4 = tt.trans %0 {order = array<i32: 1, 0>} : tensor<64x64xf16, #b> -> tensor<64x64xf16, #c>
    %5 = ttg.convert_layout %4 : tensor<64x64xf16, #c> -> tensor<64x64xf16, #b>
    tt.return %3, %5 : tensor<64x64xf16, #db>, tensor<64x64xf16, #b>
  }

  // Rows of tiles that were loaded as one more dimension: the buffer is reshaped.
  // CHECK-LABEL: @reshaped
  // CHECK-NOT: tt.reshape
  // CHECK: %[[M:.*]] = ttg.local_alloc %arg0 : (tensor<2x64x64xf16, #blocked{{[0-9]*}}>)
  // CHECK: ttg.memdesc_reshape %[[M]]
  tt.func @reshaped(%x: tensor<2x64x64xf16, #b3>) -> !ttg.memdesc<128x64xf16, #shared, #smem> {
    %0 = tt.reshape %x : tensor<2x64x64xf16, #b3> -> tensor<128x64xf16, #b>
    %1 = ttg.local_alloc %0 : (tensor<128x64xf16, #b>) -> !ttg.memdesc<128x64xf16, #shared, #smem>
    tt.return %1 : !ttg.memdesc<128x64xf16, #shared, #smem>
  }
}
