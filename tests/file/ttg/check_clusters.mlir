// What stays within a CTA's part of a tensor passes; what needs another CTA's elements is refused.
// RUN: not tilewright-opt %s --tritongpu-check-clusters --split-input-file 2>&1 | filecheck %s

#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[1, 0]]}>
#columns = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[0, 1]]}>
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK: 'ttg.convert_layout': moves elements from CTA to CTA, which num_ctas=2 does not allow: leave num_ctas at 1
  tt.func @between(%x: tensor<64x64xf32, #rows>) -> tensor<64x64xf32, #columns> {
    %y = ttg.convert_layout %x : tensor<64x64xf32, #rows> -> tensor<64x64xf32, #columns>
    tt.return %y : tensor<64x64xf32, #columns>
  }
}

// -----

#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[1, 0]]}>
#columns = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[0, 1]]}>
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @within
  // CHECK: "tt.reduce"
  tt.func @within(%x: tensor<64x32xf32, #rows>) -> tensor<64xf32, #ttg.slice<{dim = 1, parent = #rows}>> {
    %y = arith.addf %x, %x : tensor<64x32xf32, #rows>
    %s = "tt.reduce"(%y) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<64x32xf32, #rows>) -> tensor<64xf32, #ttg.slice<{dim = 1, parent = #rows}>>
    tt.return %s : tensor<64xf32, #ttg.slice<{dim = 1, parent = #rows}>>
  }
}
