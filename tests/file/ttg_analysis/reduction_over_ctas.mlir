// RUN: not tilewright-opt %s --test-print-allocation 2>&1 | filecheck %s
// RUN: not tilewright-opt %s --test-print-membar 2>&1 | filecheck %s

// CHECK: error: pass test-print-{{allocation|membar}}, 'tt.reduce': a reduction along a dimension that several CTAs share is not supported

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0], CGALayout = [[1]]}>
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%x: tensor<256xf32, #blocked>) {
    %0 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      tt.reduce.return %s : f32
    }) : (tensor<256xf32, #blocked>) -> f32
    tt.return
  }
}
