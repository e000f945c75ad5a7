// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @gather_scatter_double_mod(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>) attributes {noinline = false} {
    %cst = arith.constant dense<16> : tensor<8x1xi32>
    %cst_0 = arith.constant dense<4> : tensor<8xi32>
    %cst_1 = arith.constant dense<6> : tensor<8xi32>
    %0 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    %1 = arith.remsi %0, %cst_1 : tensor<8xi32>
    %2 = arith.remsi %1, %cst_0 : tensor<8xi32>
    %3 = tt.expand_dims %0 {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
    %4 = arith.muli %3, %cst : tensor<8x1xi32>
    %5 = tt.splat %arg1 : !tt.ptr<f32> -> tensor<8x1x!tt.ptr<f32>>
    %6 = tt.addptr %5, %4 : tensor<8x1x!tt.ptr<f32>>, tensor<8x1xi32>
    %7 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %8 = tt.expand_dims %7 {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
    %9 = tt.broadcast %6 : tensor<8x1x!tt.ptr<f32>> -> tensor<8x16x!tt.ptr<f32>>
    %10 = tt.broadcast %8 : tensor<1x16xi32> -> tensor<8x16xi32>
    %11 = tt.addptr %9, %10 : tensor<8x16x!tt.ptr<f32>>, tensor<8x16xi32>
    %12 = tt.expand_dims %2 {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
    %13 = arith.muli %12, %cst : tensor<8x1xi32>
    %14 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<8x1x!tt.ptr<f32>>
    %15 = tt.addptr %14, %13 : tensor<8x1x!tt.ptr<f32>>, tensor<8x1xi32>
    %16 = tt.broadcast %15 : tensor<8x1x!tt.ptr<f32>> -> tensor<8x16x!tt.ptr<f32>>
    %17 = tt.addptr %16, %10 : tensor<8x16x!tt.ptr<f32>>, tensor<8x16xi32>
    %18 = tt.load %17 : tensor<8x16x!tt.ptr<f32>>
    tt.store %11, %18 : tensor<8x16x!tt.ptr<f32>>
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @gather_scatter_double_mod(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>) attributes {noinline = false} {
//     %cst = arith.constant dense<6> : tensor<8xi32>
//     %cst_0 = arith.constant dense<4> : tensor<8xi32>
//     %0 = tts.make_tptr %arg1 to sizes: [8, 16], strides: [16, 1], offsets: [0, 0], shape: [0, 0], order: [] : <f32> to tensor<8x16x!tt.ptr<f32>>
//     %1 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
//     %2 = arith.remsi %1, %cst : tensor<8xi32>
//     %3 = arith.remsi %2, %cst_0 : tensor<8xi32>
//     %4 = tts.make_gather_scatter_tptr %arg0 to sizes: [8, 16] gather_scatter_dim: 0 gather_scatter_offset: %3, strides: [16, 1], offsets: [0, 0] : tensor<8xi32> <f32> to !tt.ptr<tensor<8x16xf32>>
//     %5 = "tts.load"(%4) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (!tt.ptr<tensor<8x16xf32>>) -> tensor<8x16xf32>
//     "tts.store"(%0, %5) <{static_mask_dims = array<i64>}> : (tensor<8x16x!tt.ptr<f32>>, tensor<8x16xf32>) -> ()
//     tt.return
//   }
// }
