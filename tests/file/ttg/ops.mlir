// RUN: tilewright-opt %s | exact %s

#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#blocked2 = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#shared1 = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [0, 1]}>
#shared2 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#shared3 = #ttg.shared_linear<{offset = [[1], [2], [4], [8], [16], [32], [64], [128], [256]]}, alignment = 16>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f(%arg0: tensor<16x32xf16, #blocked>, %arg1: i32, %arg2: tensor<16x32x!tt.ptr<f16>, #blocked>, %arg3: tensor<16x32xi1, #blocked>, %arg4: tensor<16x32xi8, #blocked>, %arg5: i1) {
    %0 = ttg.convert_layout %arg0 : tensor<16x32xf16, #blocked> -> tensor<16x32xf16, #blocked1>
    %1 = ttg.local_alloc : () -> !ttg.memdesc<2x16x32xf16, #shared, #smem, mutable>
    %2 = ttg.local_alloc %arg0 {allocation.offset = 0 : i32} : (tensor<16x32xf16, #blocked>) -> !ttg.memdesc<16x32xf16, #shared, #smem>
    %3 = ttg.memdesc_index %1[%arg1] : !ttg.memdesc<2x16x32xf16, #shared, #smem, mutable> -> !ttg.memdesc<16x32xf16, #shared, #smem, mutable>
    %4 = ttg.async_copy_global_to_local %arg2, %3 mask %arg3 other %arg0 {cachePolicy = #tt.cache_policy<cache_modifier = cg, eviction_policy = evict_last>, contiguity = 8 : i32, isVolatile = true} : tensor<16x32x!tt.ptr<f16>, #blocked> -> <16x32xf16, #shared, #smem, mutable>
    %5 = ttg.async_commit_group tokens %4
    %6 = ttg.async_commit_group
    %7 = ttg.async_wait %5, %6 {num = 0 : i32}
    %8 = ttg.async_wait {num = 2 : i32}
    %9 = ttg.local_load %3 token %7 : !ttg.memdesc<16x32xf16, #shared, #smem, mutable> -> tensor<16x32xf16, #blocked>
    %10 = ttg.local_load %2 : !ttg.memdesc<16x32xf16, #shared, #smem> -> tensor<16x32xf16, #blocked>
    ttg.local_store %arg0, %3 : tensor<16x32xf16, #blocked> -> !ttg.memdesc<16x32xf16, #shared, #smem, mutable>
    %11 = ttg.memdesc_trans %3 {order = array<i32: 1, 0>} : !ttg.memdesc<16x32xf16, #shared, #smem, mutable> -> !ttg.memdesc<32x16xf16, #shared1, #smem, mutable>
    %12 = ttg.local_alloc : () -> !ttg.memdesc<16x32xf16, #shared2, #smem, mutable>
    %13 = ttg.memdesc_subslice %12[0, 16] : !ttg.memdesc<16x32xf16, #shared2, #smem, mutable> -> !ttg.memdesc<16x16xf16, #shared2, #smem, mutable, 16x32>
    %14 = ttg.memdesc_reinterpret %12 : !ttg.memdesc<16x32xf16, #shared2, #smem, mutable> -> !ttg.memdesc<16x16xf32, #shared2, #smem, mutable>
    %15 = ttg.local_alloc %arg0 {alignment = 32 : i32} : (tensor<16x32xf16, #blocked>) -> !ttg.memdesc<16x32xf16, #shared2, #smem>
    %16 = ttg.memdesc_reshape %15 : !ttg.memdesc<16x32xf16, #shared2, #smem> -> !ttg.memdesc<512xf16, #shared3, #smem>
    ttg.local_dealloc %12 : !ttg.memdesc<16x32xf16, #shared2, #smem, mutable>
    %17 = ttg.fp4_to_fp %arg4 {axis = 1 : i32} : tensor<16x32xi8, #blocked> -> tensor<16x64xbf16, #blocked2>
    %18 = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 128 : i32} : !tt.ptr<i8>
    %19 = ttg.predicate_stage %arg1, %arg1, %arg1 maxStage 2 stage 1 : i32 -> i1
    %20 = "ttg.mask"(%19) ({
      %c1_i32 = arith.constant 1 : i32
      ttg.mask.return %c1_i32 : i32
    }) : (i1) -> i32
    ttg.barrier local
    ttg.barrier all
    %21 = ttg.warp_specialize(%arg1, %20) attributes {requestedRegisters = array<i32: 24, 168>}
    default {
      ttg.warp_yield %arg1 : i32
    }
    partition0(%arg6: i32, %arg7: i32) num_warps(4) {
      ttg.warp_return
    }
    partition1(%arg6: i32, %arg7: i32) num_warps(1) {
      %22 = arith.addi %arg6, %arg7 : i32
      ttg.warp_return
    } : (i32, i32) -> i32
    ttg.warp_specialize()
    default {
      ttg.warp_yield
    } : () -> ()
    tt.return
  }
}

// EXACT:
// #blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
// #blocked1 = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
// #blocked2 = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
// #shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
// #shared1 = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [0, 1]}>
// #shared2 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
// #shared3 = #ttg.shared_linear<{offset = [[1], [2], [4], [8], [16], [32], [64], [128], [256]]}, alignment = 16>
// #smem = #ttg.shared_memory
// module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
//   tt.func @f(%arg0: tensor<16x32xf16, #blocked>, %arg1: i32, %arg2: tensor<16x32x!tt.ptr<f16>, #blocked>, %arg3: tensor<16x32xi1, #blocked>, %arg4: tensor<16x32xi8, #blocked>, %arg5: i1) {
//     %0 = ttg.convert_layout %arg0 : tensor<16x32xf16, #blocked> -> tensor<16x32xf16, #blocked1>
//     %1 = ttg.local_alloc : () -> !ttg.memdesc<2x16x32xf16, #shared, #smem, mutable>
//     %2 = ttg.local_alloc %arg0 {allocation.offset = 0 : i32} : (tensor<16x32xf16, #blocked>) -> !ttg.memdesc<16x32xf16, #shared, #smem>
//     %3 = ttg.memdesc_index %1[%arg1] : !ttg.memdesc<2x16x32xf16, #shared, #smem, mutable> -> !ttg.memdesc<16x32xf16, #shared, #smem, mutable>
//     %4 = ttg.async_copy_global_to_local %arg2, %3 mask %arg3 other %arg0 {cachePolicy = #tt.cache_policy<cache_modifier = cg, eviction_policy = evict_last>, contiguity = 8 : i32, isVolatile = true} : tensor<16x32x!tt.ptr<f16>, #blocked> -> <16x32xf16, #shared, #smem, mutable>
//     %5 = ttg.async_commit_group tokens %4
//     %6 = ttg.async_commit_group
//     %7 = ttg.async_wait %5, %6 {num = 0 : i32}
//     %8 = ttg.async_wait {num = 2 : i32}
//     %9 = ttg.local_load %3 token %7 : !ttg.memdesc<16x32xf16, #shared, #smem, mutable> -> tensor<16x32xf16, #blocked>
//     %10 = ttg.local_load %2 : !ttg.memdesc<16x32xf16, #shared, #smem> -> tensor<16x32xf16, #blocked>
//     ttg.local_store %arg0, %3 : tensor<16x32xf16, #blocked> -> !ttg.memdesc<16x32xf16, #shared, #smem, mutable>
//     %11 = ttg.memdesc_trans %3 {order = array<i32: 1, 0>} : !ttg.memdesc<16x32xf16, #shared, #smem, mutable> -> !ttg.memdesc<32x16xf16, #shared1, #smem, mutable>
//     %12 = ttg.local_alloc : () -> !ttg.memdesc<16x32xf16, #shared2, #smem, mutable>
//     %13 = ttg.memdesc_subslice %12[0, 16] : !ttg.memdesc<16x32xf16, #shared2, #smem, mutable> -> !ttg.memdesc<16x16xf16, #shared2, #smem, mutable, 16x32>
//     %14 = ttg.memdesc_reinterpret %12 : !ttg.memdesc<16x32xf16, #shared2, #smem, mutable> -> !ttg.memdesc<16x16xf32, #shared2, #smem, mutable>
//     %15 = ttg.local_alloc %arg0 {alignment = 32 : i32} : (tensor<16x32xf16, #blocked>) -> !ttg.memdesc<16x32xf16, #shared2, #smem>
//     %16 = ttg.memdesc_reshape %15 : !ttg.memdesc<16x32xf16, #shared2, #smem> -> !ttg.memdesc<512xf16, #shared3, #smem>
//     ttg.local_dealloc %12 : !ttg.memdesc<16x32xf16, #shared2, #smem, mutable>
//     %17 = ttg.fp4_to_fp %arg4 {axis = 1 : i32} : tensor<16x32xi8, #blocked> -> tensor<16x64xbf16, #blocked2>
//     %18 = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 128 : i32} : !tt.ptr<i8>
//     %19 = ttg.predicate_stage %arg1, %arg1, %arg1 maxStage 2 stage 1 : i32 -> i1
//     %20 = "ttg.mask"(%19) ({
//       %c1_i32 = arith.constant 1 : i32
//       ttg.mask.return %c1_i32 : i32
//     }) : (i1) -> i32
//     ttg.barrier local
//     ttg.barrier all
//     %21 = ttg.warp_specialize(%arg1, %20) attributes {requestedRegisters = array<i32: 24, 168>}
//     default {
//       ttg.warp_yield %arg1 : i32
//     }
//     partition0(%arg6: i32, %arg7: i32) num_warps(4) {
//       ttg.warp_return
//     }
//     partition1(%arg6: i32, %arg7: i32) num_warps(1) {
//       %22 = arith.addi %arg6, %arg7 : i32
//       ttg.warp_return
//     } : (i32, i32) -> i32
//     ttg.warp_specialize()
//     default {
//       ttg.warp_yield
//     } : () -> ()
//     tt.return
//   }
// }
