// Transposed operands of wgmma are views of shared memory.
// RUN: tilewright-opt %s --tritongpu-optimize-dot-operands --canonicalize --verify-each | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
#groups = #ttg.blocked<{sizePerThread = [1, 1, 8], threadsPerWarp = [2, 8, 2], warpsPerCTA = [4, 1, 1], order = [2, 1, 0]}>
#joined = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#wide = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @transposed
  // CHECK-NOT: tt.trans
  // CHECK: %[[M:.*]] = ttg.local_alloc %{{.*}} : (tensor<128x64xf16, #blocked{{[0-9]*}}>) -> !ttg.memdesc<128x64xf16
  // CHECK: ttg.memdesc_trans %[[M]] {order = array<i32: 1, 0>}
  tt.func @transposed(%x: tensor<128x64xf16, #blocked>) -> !ttg.memdesc<64x128xf16, #shared, #smem> {
    %0 = tt.trans %x {order = array<i32: 1, 0>} : tensor<128x64xf16, #blocked> -> tensor<64x128xf16, #columns>
    %1 = ttg.local_alloc %0 : (tensor<64x128xf16, #columns>) -> !ttg.memdesc<64x128xf16, #shared, #smem>
    tt.return %1 : !ttg.memdesc<64x128xf16, #shared, #smem>
  }

  // A buffer that is written later stays as it is.
  // CHECK-LABEL: @mutable
  // CHECK: tt.trans
  // CHECK-NOT: ttg.memdesc_trans
  tt.func @mutable(%x: tensor<128x64xf16, #blocked>) -> !ttg.memdesc<64x128xf16, #shared, #smem, mutable> {
    %0 = tt.trans %x {order = array<i32: 1, 0>} : tensor<128x64xf16, #blocked> -> tensor<64x128xf16, #columns>
    %1 = ttg.local_alloc %0 : (tensor<64x128xf16, #columns>) -> !ttg.memdesc<64x128xf16, #shared, #smem, mutable>
    tt.return %1 : !ttg.memdesc<64x128xf16, #shared, #smem, mutable>
  }

  // A reshape whose buffer would be swizzled in another way stays, and nothing that was made to see that is left.
  // CHECK-LABEL: @reshaped_otherwise
  // CHECK: tt.reshape
  // CHECK: ttg.local_alloc
  // CHECK-NOT: ttg.memdesc_reshape
  tt.func @reshaped_otherwise(%x: tensor<128x8x16xf16, #groups>) -> !ttg.memdesc<128x128xf16, #wide, #smem> {
    %0 = tt.reshape %x : tensor<128x8x16xf16, #groups> -> tensor<128x128xf16, #joined>
    %1 = ttg.local_alloc %0 : (tensor<128x128xf16, #joined>) -> !ttg.memdesc<128x128xf16, #wide, #smem>
    tt.return %1 : !ttg.memdesc<128x128xf16, #wide, #smem>
  }
}
