// RUN: tilewright-opt --allow-unregistered-dialect %s | exact %s

// Forms that the lit files of official Triton have, and official Triton does not print.
#lhs = #ttg.linear<{register = [[1, 0], [0, 1]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [2, 0]], warp = [[4, 0], [8, 0]], block = []}>
#joined = #ttg.linear<{register = [[1, 0, 0], [0, 0, 1], [0, 1, 0]], lane = [[0, 2, 0], [0, 4, 0], [0, 8, 0], [0, 16, 0], [2, 0, 0]], warp = [[4, 0, 0], [8, 0, 0]], block = []}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @forms(%arg0: f32, %arg1: i1, %arg2: tensor<16x32xf32, #lhs>) {
    %0 = tt.fp_to_fp %arg0 {rounding = 1 : i32} : f32 -> f8E5M2
    scf.if %arg1 {
      "unknown.use"(%0) : (f8E5M2) -> ()
    }
    tt.print " none: " {hex = false, isSigned = array<i32: 0>}
    %1 = tt.join %arg2, %arg2 : tensor<16x32xf32, #lhs> -> tensor<16x32x2xf32, #joined>
    ttg.local_barrier
    gpu.barrier
    ttg.barrier global_read|global_write
    tt.return
  }
}

// EXACT:
// #linear = #ttg.linear<{register = [[1, 0], [0, 1]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [2, 0]], warp = [[4, 0], [8, 0]], block = []}>
// #linear1 = #ttg.linear<{register = [[1, 0, 0], [0, 0, 1], [0, 1, 0]], lane = [[0, 2, 0], [0, 4, 0], [0, 8, 0], [0, 16, 0], [2, 0, 0]], warp = [[4, 0, 0], [8, 0, 0]], block = []}>
// module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
//   tt.func @forms(%arg0: f32, %arg1: i1, %arg2: tensor<16x32xf32, #linear>) {
//     %0 = tt.fp_to_fp %arg0, rounding = rtne : f32 -> f8E5M2
//     scf.if %arg1 {
//       "unknown.use"(%0) : (f8E5M2) -> ()
//     }
//     tt.print " none: " {hex = false, isSigned = array<i32: 0>}
//     %1 = tt.join %arg2, %arg2 : tensor<16x32xf32, #linear> -> tensor<16x32x2xf32, #linear1>
//     ttg.barrier local
//     ttg.barrier all
//     ttg.barrier all
//     tt.return
//   }
// }
