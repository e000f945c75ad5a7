// RUN: tilewright-opt %s | exact %s

// Elements of buffers at run-time indices: the ops of Triton 3.9.
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @indexed(%arg0: !ttg.memdesc<16x32xi32, #shared, #smem, mutable>, %arg1: tensor<16x32xi32, #blocked>, %arg2: tensor<16x32xi1, #blocked>) {
    %0 = ttg.local_gather %arg0[%arg1] {axis = 1 : i32} : !ttg.memdesc<16x32xi32, #shared, #smem, mutable>, tensor<16x32xi32, #blocked> -> tensor<16x32xi32, #blocked>
    ttg.local_scatter %arg0[%arg1], %0 {axis = 0 : i32} : !ttg.memdesc<16x32xi32, #shared, #smem, mutable>, tensor<16x32xi32, #blocked>, tensor<16x32xi32, #blocked>
    %1 = ttg.local_atomic_scatter_rmw max, %arg0[%arg1], %0 {axis = 1 : i32} : (!ttg.memdesc<16x32xi32, #shared, #smem, mutable>, tensor<16x32xi32, #blocked>, tensor<16x32xi32, #blocked>) -> tensor<16x32xi32, #blocked>
    %2 = ttg.local_atomic_scatter_rmw exch, %arg0[%arg1], %0, %arg2 {axis = 1 : i32} : (!ttg.memdesc<16x32xi32, #shared, #smem, mutable>, tensor<16x32xi32, #blocked>, tensor<16x32xi32, #blocked>, tensor<16x32xi1, #blocked>) -> tensor<16x32xi32, #blocked>
    tt.return
  }
}

// EXACT:
// #blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
// #shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
// #smem = #ttg.shared_memory
// module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
//   tt.func @indexed(%arg0: !ttg.memdesc<16x32xi32, #shared, #smem, mutable>, %arg1: tensor<16x32xi32, #blocked>, %arg2: tensor<16x32xi1, #blocked>) {
//     %0 = ttg.local_gather %arg0[%arg1] {axis = 1 : i32} : !ttg.memdesc<16x32xi32, #shared, #smem, mutable>, tensor<16x32xi32, #blocked> -> tensor<16x32xi32, #blocked>
//     ttg.local_scatter %arg0[%arg1], %0 {axis = 0 : i32} : !ttg.memdesc<16x32xi32, #shared, #smem, mutable>, tensor<16x32xi32, #blocked>, tensor<16x32xi32, #blocked>
//     %1 = ttg.local_atomic_scatter_rmw max, %arg0[%arg1], %0 {axis = 1 : i32} : (!ttg.memdesc<16x32xi32, #shared, #smem, mutable>, tensor<16x32xi32, #blocked>, tensor<16x32xi32, #blocked>) -> tensor<16x32xi32, #blocked>
//     %2 = ttg.local_atomic_scatter_rmw exch, %arg0[%arg1], %0, %arg2 {axis = 1 : i32} : (!ttg.memdesc<16x32xi32, #shared, #smem, mutable>, tensor<16x32xi32, #blocked>, tensor<16x32xi32, #blocked>, tensor<16x32xi1, #blocked>) -> tensor<16x32xi32, #blocked>
//     tt.return
//   }
// }
