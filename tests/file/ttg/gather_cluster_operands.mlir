// Each CTA of a cluster gets what it combines; results have the layout that they had.
// RUN: tilewright-opt %s --tritongpu-gather-cluster-operands --split-input-file | filecheck %s

// What is combined along a dimension that CTAs do not share out stays as it is.
// CHECK-LABEL: @within
// CHECK-NOT: ttg.convert_layout
// CHECK-LABEL: @rows
// CHECK: ttg.convert_layout %arg0 : tensor<64x32xf32, #blocked> -> tensor<64x32xf32, #linear>
// CHECK: (tensor<64x32xf32, #linear>) -> tensor<32xf32, #ttg.slice<{dim = 0, parent = #linear}>>
// CHECK: ttg.convert_layout {{.*}} : tensor<32xf32, #ttg.slice<{dim = 0, parent = #linear}>> -> tensor<32xf32, #ttg.slice<{dim = 0, parent = #blocked}>>
#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[1, 0]]}>
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @within(%x: tensor<64x32xf32, #rows>) -> tensor<64xf32, #ttg.slice<{dim = 1, parent = #rows}>> {
    %s = "tt.reduce"(%x) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<64x32xf32, #rows>) -> tensor<64xf32, #ttg.slice<{dim = 1, parent = #rows}>>
    tt.return %s : tensor<64xf32, #ttg.slice<{dim = 1, parent = #rows}>>
  }
  tt.func @rows(%x: tensor<64x32xf32, #rows>) -> tensor<32xf32, #ttg.slice<{dim = 0, parent = #rows}>> {
    %s = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<64x32xf32, #rows>) -> tensor<32xf32, #ttg.slice<{dim = 0, parent = #rows}>>
    tt.return %s : tensor<32xf32, #ttg.slice<{dim = 0, parent = #rows}>>
  }
}

// -----

// CHECK-LABEL: @scanned
// CHECK: ttg.convert_layout %arg0 : tensor<256xi32, #blocked> -> tensor<256xi32, #linear>
// CHECK: (tensor<256xi32, #linear>) -> tensor<256xi32, #linear>
// CHECK: ttg.convert_layout {{.*}} : tensor<256xi32, #linear> -> tensor<256xi32, #blocked>
// CHECK: tt.histogram {{.*}} : tensor<256xi32, #linear> -> tensor<64xi32, #linear
// CHECK: ttg.convert_layout {{.*}} -> tensor<64xi32, #blocked>
#line = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0], CGALayout = [[1]]}>
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @scanned(%x: tensor<256xi32, #line>) -> tensor<64xi32, #line> {
    %s = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
    ^bb0(%a: i32, %b: i32):
      %c = arith.addi %a, %b : i32
      tt.scan.return %c : i32
    }) : (tensor<256xi32, #line>) -> tensor<256xi32, #line>
    %h = tt.histogram %s : tensor<256xi32, #line> -> tensor<64xi32, #line>
    tt.return %h : tensor<64xi32, #line>
  }
}
