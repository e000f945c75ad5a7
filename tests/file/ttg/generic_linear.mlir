// RUN: tilewright-opt %s | exact %s

// Bases that are no permutation: lane 8 also moves along the rows, and the second basis of warps repeats the first.

#generic_linear = #ttg.generic_linear<{register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [1, 4], [2, 0]], warp = [[4, 1], [4, 1]], block = []}>
#linear = #ttg.linear<{register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [[4, 0], [0, 0]], block = []}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f(%arg0: tensor<8x32xf32, #generic_linear>) -> tensor<8x32xf32, #linear> {
    %0 = ttg.convert_layout %arg0 : tensor<8x32xf32, #generic_linear> -> tensor<8x32xf32, #linear>
    tt.return %0 : tensor<8x32xf32, #linear>
  }
}
// EXACT:
// #generic_linear = #ttg.generic_linear<{register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [1, 4], [2, 0]], warp = [[4, 1], [4, 1]], block = []}>
// #linear = #ttg.linear<{register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [[4, 0], [0, 0]], block = []}>
// module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
//   tt.func @f(%arg0: tensor<8x32xf32, #generic_linear>) -> tensor<8x32xf32, #linear> {
//     %0 = ttg.convert_layout %arg0 : tensor<8x32xf32, #generic_linear> -> tensor<8x32xf32, #linear>
//     tt.return %0 : tensor<8x32xf32, #linear>
//   }
// }
