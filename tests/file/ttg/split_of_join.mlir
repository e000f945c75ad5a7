// RUN: tilewright-opt %s --canonicalize | filecheck %s

#row = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#pairs = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // Halves in another layout than what was joined are no copies of it.
  // CHECK-LABEL: @other_layout
  // CHECK: tt.split
  tt.func @other_layout(%a: tensor<256xf32, #row>, %b: tensor<256xf32, #row>) -> tensor<256xf32, #ttg.slice<{dim = 1, parent = #pairs}>> {
    %0 = tt.join %a, %b : tensor<256xf32, #row> -> tensor<256x2xf32, #pairs>
    %l, %r = tt.split %0 : tensor<256x2xf32, #pairs> -> tensor<256xf32, #ttg.slice<{dim = 1, parent = #pairs}>>
    tt.return %l : tensor<256xf32, #ttg.slice<{dim = 1, parent = #pairs}>>
  }
}
