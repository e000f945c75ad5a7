// What Triton 3.9 says of barriers and copies and 3.6 does not: complete waits, arrivals for other CTAs.
// RUN: tilewright-opt %s | exact %s

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#shared1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[1]]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%arg0: !ttg.memdesc<2xi64, #shared1, #smem, mutable>, %arg1: i1) {
    ttng.init_barrier %arg0, 1 : !ttg.memdesc<2xi64, #shared1, #smem, mutable>
    ttng.barrier_expect %arg0, 16 {fromCTA = 0 : i32}, %arg1 : !ttg.memdesc<2xi64, #shared1, #smem, mutable>
    ttng.arrive_barrier %arg0, 1 {fromCTA = 0 : i32} : !ttg.memdesc<2xi64, #shared1, #smem, mutable>
    ttng.async_tma_store_wait {pendings = 1 : i32, read_only}
    ttng.async_tma_store_wait {pendings = 0 : i32}
    tt.return
  }
}

// EXACT:
// #shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[1]]}>
// #smem = #ttg.shared_memory
// module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
//   tt.func public @k(%arg0: !ttg.memdesc<2xi64, #shared, #smem, mutable>, %arg1: i1) {
//     ttng.init_barrier %arg0, 1 : !ttg.memdesc<2xi64, #shared, #smem, mutable>
//     ttng.barrier_expect %arg0, 16 {fromCTA = 0 : i32}, %arg1 : !ttg.memdesc<2xi64, #shared, #smem, mutable>
//     ttng.arrive_barrier %arg0, 1 {fromCTA = 0 : i32} : !ttg.memdesc<2xi64, #shared, #smem, mutable>
//     ttng.async_tma_store_wait {pendings = 1 : i32, read_only}
//     ttng.async_tma_store_wait {pendings = 0 : i32}
//     tt.return
//   }
// }
