// What CTAs of a cluster do together, and copies that go to several of them or gather pixels.
// RUN: tilewright-opt %s | exact %s

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0], CGALayout = [[0]]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16, CGALayout = [[0, 0]]}>
#shared1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[1]]}>
#shared2 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[0]]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%arg0: !tt.tensordesc<64x64xf16, #shared>, %arg1: !ttng.tensordesc_im2col<64x64xf16, #shared>, %arg2: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, %arg3: !ttg.memdesc<2xi64, #shared1, #smem, mutable>, %arg4: !ttg.memdesc<128xi32, #shared2, #smem, mutable>, %arg5: tensor<128xi32, #blocked>, %arg6: i32, %arg7: i16, %arg8: i1) {
    ttng.fence_mbarrier_init_release_cluster
    ttng.cluster_barrier {relaxed = true}
    ttng.cluster_barrier
    ttng.arrive_barrier %arg3, 1, %arg8 {multicastCTA = 1 : i32} : !ttg.memdesc<2xi64, #shared1, #smem, mutable>
    ttng.async_shared_store %arg5, %arg4, %arg3 : tensor<128xi32, #blocked> -> !ttg.memdesc<128xi32, #shared2, #smem, mutable>, !ttg.memdesc<2xi64, #shared1, #smem, mutable>
    ttng.async_tma_copy_global_to_local %arg0[%arg6, %arg6] %arg2, %arg3, %arg8 {multicast} : !tt.tensordesc<64x64xf16, #shared>, !ttg.memdesc<2xi64, #shared1, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    ttng.async_tma_copy_global_to_local %arg1[%arg6, %arg6, %arg6, %arg6] offsets = [%arg7, %arg7] %arg2, %arg3, %arg8 : !ttng.tensordesc_im2col<64x64xf16, #shared>, !ttg.memdesc<2xi64, #shared1, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    tt.return
  }
}

// EXACT:
// #blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0], CGALayout = [[0]]}>
// #shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16, CGALayout = [[0, 0]]}>
// #shared1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[1]]}>
// #shared2 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[0]]}>
// #smem = #ttg.shared_memory
// module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
//   tt.func public @k(%arg0: !tt.tensordesc<64x64xf16, #shared>, %arg1: !ttng.tensordesc_im2col<64x64xf16, #shared>, %arg2: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, %arg3: !ttg.memdesc<2xi64, #shared1, #smem, mutable>, %arg4: !ttg.memdesc<128xi32, #shared2, #smem, mutable>, %arg5: tensor<128xi32, #blocked>, %arg6: i32, %arg7: i16, %arg8: i1) {
//     ttng.fence_mbarrier_init_release_cluster
//     ttng.cluster_barrier {relaxed = true}
//     ttng.cluster_barrier
//     ttng.arrive_barrier %arg3, 1, %arg8 {multicastCTA = 1 : i32} : !ttg.memdesc<2xi64, #shared1, #smem, mutable>
//     ttng.async_shared_store %arg5, %arg4, %arg3 : tensor<128xi32, #blocked> -> !ttg.memdesc<128xi32, #shared2, #smem, mutable>, !ttg.memdesc<2xi64, #shared1, #smem, mutable>
//     ttng.async_tma_copy_global_to_local %arg0[%arg6, %arg6] %arg2, %arg3, %arg8 {multicast} : !tt.tensordesc<64x64xf16, #shared>, !ttg.memdesc<2xi64, #shared1, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
//     ttng.async_tma_copy_global_to_local %arg1[%arg6, %arg6, %arg6, %arg6] offsets = [%arg7, %arg7] %arg2, %arg3, %arg8 : !ttng.tensordesc_im2col<64x64xf16, #shared>, !ttg.memdesc<2xi64, #shared1, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
//     tt.return
//   }
// }
