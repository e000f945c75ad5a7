// RUN: tilewright-opt %s | exact %s

#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#shared1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f(%arg0: !tt.tensordesc<64x64xf16, #shared>, %arg1: !tt.tensordesc<1x64xf16, #shared>, %arg2: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, %arg3: !ttg.memdesc<1xi64, #shared1, #smem, mutable>, %arg4: i32, %arg5: i32, %arg6: i1, %arg7: tensor<32xi32, #ttg.slice<{dim = 0, parent = #blocked}>>, %arg8: !ttg.memdesc<32x64xf16, #shared, #smem, mutable>, %arg9: tensor<64x64xf32, #mma>, %arg10: tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>, %arg11: !tt.ptr<i8>, %arg12: i64) {
    ttng.init_barrier %arg3, 1 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    ttng.barrier_expect %arg3, 8192, %arg6 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    ttng.wait_barrier %arg3, %arg4 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    ttng.wait_barrier %arg3, %arg4, %arg6 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    ttng.wait_barrier %arg3, %arg4 deps %arg2, %arg8 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>, !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, !ttg.memdesc<32x64xf16, #shared, #smem, mutable>
    ttng.wait_barrier %arg3, %arg4, %arg6 deps %arg2 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>, !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    ttng.arrive_barrier %arg3, 1 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    ttng.arrive_barrier %arg3, 2, %arg6 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    ttng.arrive_barrier %arg3, 1 {perWarp} : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    ttng.async_copy_mbarrier_arrive %arg3 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    ttng.async_copy_mbarrier_arrive %arg3 {noIncrement} : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    ttng.inval_barrier %arg3 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    ttng.async_tma_copy_global_to_local %arg0[%arg4, %arg5] %arg2, %arg3, %arg6 : !tt.tensordesc<64x64xf16, #shared>, !ttg.memdesc<1xi64, #shared1, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    ttng.async_tma_copy_global_to_local %arg0[%arg4, %arg5] %arg2, %arg3, %arg6 {isVolatile = true} : !tt.tensordesc<64x64xf16, #shared>, !ttg.memdesc<1xi64, #shared1, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    ttng.async_tma_copy_local_to_global %arg0[%arg4, %arg5] %arg2 : !tt.tensordesc<64x64xf16, #shared>, !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    ttng.async_tma_reduce add, %arg0[%arg4, %arg5] %arg2 : !tt.tensordesc<64x64xf16, #shared>, !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    ttng.async_tma_gather %arg1[%arg7, %arg4] %arg8, %arg3, %arg6 : !tt.tensordesc<1x64xf16, #shared>, tensor<32xi32, #ttg.slice<{dim = 0, parent = #blocked}>>, i32, !ttg.memdesc<1xi64, #shared1, #smem, mutable>, !ttg.memdesc<32x64xf16, #shared, #smem, mutable>, i1
    ttng.async_tma_scatter %arg1[%arg7, %arg4] %arg8 : !tt.tensordesc<1x64xf16, #shared>, tensor<32xi32, #ttg.slice<{dim = 0, parent = #blocked}>>, i32, !ttg.memdesc<32x64xf16, #shared, #smem, mutable>
    ttng.async_tma_store_wait {pendings = 0 : i32}
    ttng.fence_async_shared {bCluster = false}
    ttng.tensormap_create %arg11, %arg11, [%arg4, %arg5], [%arg4, %arg5], [%arg12], [%arg4, %arg5] {elem_type = 6 : i32, fill_mode = 0 : i32, interleave_layout = 0 : i32, swizzle_mode = 3 : i32} : (!tt.ptr<i8>, !tt.ptr<i8>, i32, i32, i32, i32, i64, i32, i32) -> ()
    ttng.tensormap_fenceproxy_acquire %arg11 : !tt.ptr<i8>
    %0 = ttng.reinterpret_tensor_descriptor %arg11 : !tt.ptr<i8> to !tt.tensordesc<64x64xf16, #shared>
    %1 = ttng.warp_group_dot %arg2, %arg2, %arg9, %arg6 {inputPrecision = 0 : i32, isAsync = true, maxNumImpreciseAcc = 32 : i32} : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> * !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf32, #mma>
    %2 = ttng.warp_group_dot %arg10, %arg2, %arg9 {inputPrecision = 0 : i32} : tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>> * !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf32, #mma>
    %3:2 = ttng.warp_group_dot_wait %1, %arg2 {pendings = 0 : i32} : tensor<64x64xf32, #mma>, !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    ttng.cluster_arrive {relaxed = false}
    ttng.cluster_wait
    tt.return
  }
}

// EXACT:
// #blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [1, 0]}>
// #mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
// #shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
// #shared1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
// #smem = #ttg.shared_memory
// module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
//   tt.func @f(%arg0: !tt.tensordesc<64x64xf16, #shared>, %arg1: !tt.tensordesc<1x64xf16, #shared>, %arg2: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, %arg3: !ttg.memdesc<1xi64, #shared1, #smem, mutable>, %arg4: i32, %arg5: i32, %arg6: i1, %arg7: tensor<32xi32, #ttg.slice<{dim = 0, parent = #blocked}>>, %arg8: !ttg.memdesc<32x64xf16, #shared, #smem, mutable>, %arg9: tensor<64x64xf32, #mma>, %arg10: tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>, %arg11: !tt.ptr<i8>, %arg12: i64) {
//     ttng.init_barrier %arg3, 1 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
//     ttng.barrier_expect %arg3, 8192, %arg6 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
//     ttng.wait_barrier %arg3, %arg4 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
//     ttng.wait_barrier %arg3, %arg4, %arg6 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
//     ttng.wait_barrier %arg3, %arg4 deps %arg2, %arg8 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>, !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, !ttg.memdesc<32x64xf16, #shared, #smem, mutable>
//     ttng.wait_barrier %arg3, %arg4, %arg6 deps %arg2 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>, !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
//     ttng.arrive_barrier %arg3, 1 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
//     ttng.arrive_barrier %arg3, 2, %arg6 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
//     ttng.arrive_barrier %arg3, 1 {perWarp} : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
//     ttng.async_copy_mbarrier_arrive %arg3 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
//     ttng.async_copy_mbarrier_arrive %arg3 {noIncrement} : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
//     ttng.inval_barrier %arg3 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
//     ttng.async_tma_copy_global_to_local %arg0[%arg4, %arg5] %arg2, %arg3, %arg6 : !tt.tensordesc<64x64xf16, #shared>, !ttg.memdesc<1xi64, #shared1, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
//     ttng.async_tma_copy_global_to_local %arg0[%arg4, %arg5] %arg2, %arg3, %arg6 {isVolatile = true} : !tt.tensordesc<64x64xf16, #shared>, !ttg.memdesc<1xi64, #shared1, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
//     ttng.async_tma_copy_local_to_global %arg0[%arg4, %arg5] %arg2 : !tt.tensordesc<64x64xf16, #shared>, !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
//     ttng.async_tma_reduce add, %arg0[%arg4, %arg5] %arg2 : !tt.tensordesc<64x64xf16, #shared>, !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
//     ttng.async_tma_gather %arg1[%arg7, %arg4] %arg8, %arg3, %arg6 : !tt.tensordesc<1x64xf16, #shared>, tensor<32xi32, #ttg.slice<{dim = 0, parent = #blocked}>>, i32, !ttg.memdesc<1xi64, #shared1, #smem, mutable>, !ttg.memdesc<32x64xf16, #shared, #smem, mutable>, i1
//     ttng.async_tma_scatter %arg1[%arg7, %arg4] %arg8 : !tt.tensordesc<1x64xf16, #shared>, tensor<32xi32, #ttg.slice<{dim = 0, parent = #blocked}>>, i32, !ttg.memdesc<32x64xf16, #shared, #smem, mutable>
//     ttng.async_tma_store_wait {pendings = 0 : i32}
//     ttng.fence_async_shared {bCluster = false}
//     ttng.tensormap_create %arg11, %arg11, [%arg4, %arg5], [%arg4, %arg5], [%arg12], [%arg4, %arg5] {elem_type = 6 : i32, fill_mode = 0 : i32, interleave_layout = 0 : i32, swizzle_mode = 3 : i32} : (!tt.ptr<i8>, !tt.ptr<i8>, i32, i32, i32, i32, i64, i32, i32) -> ()
//     ttng.tensormap_fenceproxy_acquire %arg11 : !tt.ptr<i8>
//     %0 = ttng.reinterpret_tensor_descriptor %arg11 : !tt.ptr<i8> to !tt.tensordesc<64x64xf16, #shared>
//     %1 = ttng.warp_group_dot %arg2, %arg2, %arg9, %arg6 {inputPrecision = 0 : i32, isAsync = true, maxNumImpreciseAcc = 32 : i32} : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> * !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf32, #mma>
//     %2 = ttng.warp_group_dot %arg10, %arg2, %arg9 {inputPrecision = 0 : i32} : tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>> * !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf32, #mma>
//     %3:2 = ttng.warp_group_dot_wait %1, %arg2 {pendings = 0 : i32} : tensor<64x64xf32, #mma>, !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
//     ttng.cluster_arrive {relaxed = false}
//     ttng.cluster_wait
//     tt.return
//   }
// }
