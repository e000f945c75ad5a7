// CTAs meet before they reach into each other, before a copy overwrites what others read, and before they end.
// RUN: tilewright-opt %s --tritongpu-sync-clusters --split-input-file | filecheck %s

// CHECK-LABEL: @copies
// CHECK: ttng.init_barrier
// CHECK-NEXT: ttng.init_barrier
// CHECK-NEXT: ttng.fence_mbarrier_init_release_cluster
// CHECK-NEXT: ttng.cluster_barrier {relaxed = true}
// CHECK-NEXT: ttng.barrier_expect
// CHECK-NEXT: ttng.async_tma_copy_global_to_local
// CHECK: ttng.wait_barrier
// CHECK-NEXT: ttg.local_load
// CHECK-NEXT: ttng.barrier_expect
// CHECK-NEXT: ttng.cluster_barrier
// CHECK-NOT: relaxed
// CHECK-NEXT: ttng.async_tma_copy_global_to_local
// CHECK-NEXT: ttng.async_tma_copy_global_to_local
// CHECK: ttng.cluster_barrier
// CHECK-NEXT: tt.return
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[0, 0]]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16, CGALayout = [[0, 0]]}>
#shared1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[1]]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @copies(%d: !tt.tensordesc<64x64xf16, #shared>, %zero: i32, %true: i1) -> tensor<64x64xf16, #blocked> {
    %a = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %c = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %b = ttg.local_alloc : () -> !ttg.memdesc<2xi64, #shared1, #smem, mutable>
    %e = ttg.local_alloc : () -> !ttg.memdesc<2xi64, #shared1, #smem, mutable>
    ttng.init_barrier %b, 1 : !ttg.memdesc<2xi64, #shared1, #smem, mutable>
    ttng.init_barrier %e, 1 : !ttg.memdesc<2xi64, #shared1, #smem, mutable>
    ttng.barrier_expect %b, 8192, %true : !ttg.memdesc<2xi64, #shared1, #smem, mutable>
    ttng.async_tma_copy_global_to_local %d[%zero, %zero] %a, %b, %true {multicast} : !tt.tensordesc<64x64xf16, #shared>, !ttg.memdesc<2xi64, #shared1, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    ttng.wait_barrier %b, %zero, %true : !ttg.memdesc<2xi64, #shared1, #smem, mutable>
    %x = ttg.local_load %a : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #blocked>
    ttng.barrier_expect %b, 16384, %true : !ttg.memdesc<2xi64, #shared1, #smem, mutable>
    ttng.async_tma_copy_global_to_local %d[%zero, %zero] %a, %b, %true {multicast} : !tt.tensordesc<64x64xf16, #shared>, !ttg.memdesc<2xi64, #shared1, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    ttng.async_tma_copy_global_to_local %d[%zero, %zero] %c, %b, %true {multicast} : !tt.tensordesc<64x64xf16, #shared>, !ttg.memdesc<2xi64, #shared1, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    tt.return %x : tensor<64x64xf16, #blocked>
  }
}

// -----

// A CTA that keeps to itself meets nobody.
// CHECK-LABEL: @own
// CHECK-NOT: cluster
// CHECK: tt.return
#shared1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[1]]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @own(%zero: i32, %true: i1) {
    %b = ttg.local_alloc : () -> !ttg.memdesc<2xi64, #shared1, #smem, mutable>
    ttng.init_barrier %b, 1 : !ttg.memdesc<2xi64, #shared1, #smem, mutable>
    ttng.arrive_barrier %b, 1, %true {fromCTA = 1 : i32} : !ttg.memdesc<2xi64, #shared1, #smem, mutable>
    ttng.wait_barrier %b, %zero, %true : !ttg.memdesc<2xi64, #shared1, #smem, mutable>
    tt.return
  }
}
