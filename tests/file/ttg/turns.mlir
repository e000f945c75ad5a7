// RUN: tilewright-opt %s | exact %s

// Turns of warp groups: ops of our own.
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @turns(%arg0: i1, %arg1: tensor<64x64xf32, #mma>) {
    ttng.await_turn after %arg1 : tensor<64x64xf32, #mma>
    ttng.await_turn
    ttng.pass_turn %arg0 after %arg1 : tensor<64x64xf32, #mma>
    ttng.pass_turn %arg0 {opens}
    tt.return
  }
}

// EXACT:
// #mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
// module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
//   tt.func @turns(%arg0: i1, %arg1: tensor<64x64xf32, #mma>) {
//     ttng.await_turn after %arg1 : tensor<64x64xf32, #mma>
//     ttng.await_turn
//     ttng.pass_turn %arg0 after %arg1 : tensor<64x64xf32, #mma>
//     ttng.pass_turn %arg0 {opens}
//     tt.return
//   }
// }
