// RUN: tilewright-opt %s --triton-nvidia-gpu-proxy-fence-insertion | filecheck %s

#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[1, 0]]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16, CGALayout = [[1, 0]]}>
#line = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[1]]}>
#smem = #ttg.shared_memory
!box = !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
!bar = !ttg.memdesc<2xi64, #line, #smem, mutable>
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {

// What is stored asynchronously arrives later, but by way of the threads' proxy.
// CHECK-LABEL: @stores_later
// CHECK: ttng.async_shared_store
// CHECK: ttng.fence_async_shared
// CHECK-NEXT: ttng.async_tma_copy_local_to_global
tt.func @stores_later(%d: !tt.tensordesc<64x64xf16, #shared>, %x: tensor<64x64xf16, #rows>, %i: i32) {
  %m = ttg.local_alloc : () -> !box
  %b = ttg.local_alloc : () -> !bar
  ttng.async_shared_store %x, %m, %b : tensor<64x64xf16, #rows> -> !box, !bar
  ttng.wait_barrier %b, %i : !bar
  ttng.async_tma_copy_local_to_global %d[%i, %i] %m : !tt.tensordesc<64x64xf16, #shared>, !box
  tt.return
}

}
