// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @gather_scatter_ptr_simple(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<i32>, %arg2: !tt.ptr<f32>) attributes {noinline = false} {
    %cst = arith.constant dense<16> : tensor<8x1xi32>
    %0 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    %1 = tt.splat %arg1 : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
    %2 = tt.addptr %1, %0 : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
    %3 = tt.load %2 : tensor<8x!tt.ptr<i32>>
    %4 = tt.expand_dims %3 {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
    %5 = arith.muli %4, %cst : tensor<8x1xi32>
    %6 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %7 = tt.expand_dims %6 {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
    %8 = tt.broadcast %5 : tensor<8x1xi32> -> tensor<8x16xi32>
    %9 = tt.broadcast %7 : tensor<1x16xi32> -> tensor<8x16xi32>
    %10 = arith.addi %8, %9 : tensor<8x16xi32>
    %11 = tt.splat %arg2 : !tt.ptr<f32> -> tensor<8x16x!tt.ptr<f32>>
    %12 = tt.addptr %11, %10 : tensor<8x16x!tt.ptr<f32>>, tensor<8x16xi32>
    %13 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<8x16x!tt.ptr<f32>>
    %14 = tt.addptr %13, %10 : tensor<8x16x!tt.ptr<f32>>, tensor<8x16xi32>
    %15 = tt.load %14 : tensor<8x16x!tt.ptr<f32>>
    tt.store %12, %15 : tensor<8x16x!tt.ptr<f32>>
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @gather_scatter_ptr_simple(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<i32>, %arg2: !tt.ptr<f32>) attributes {noinline = false} {
//     %0 = tts.make_tptr %arg1 to sizes: [8], strides: [1], offsets: [0], shape: [0], order: [] : <i32> to tensor<8x!tt.ptr<i32>>
//     %1 = "tts.load"(%0) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (tensor<8x!tt.ptr<i32>>) -> tensor<8xi32>
//     %2 = tts.make_gather_scatter_tptr %arg0 to sizes: [8, 16] gather_scatter_dim: 0 gather_scatter_offset: %1, strides: [16, 1], offsets: [0, 0] : tensor<8xi32> <f32> to !tt.ptr<tensor<8x16xf32>>
//     %3 = tts.make_gather_scatter_tptr %arg2 to sizes: [8, 16] gather_scatter_dim: 0 gather_scatter_offset: %1, strides: [16, 1], offsets: [0, 0] : tensor<8xi32> <f32> to !tt.ptr<tensor<8x16xf32>>
//     %4 = "tts.load"(%2) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (!tt.ptr<tensor<8x16xf32>>) -> tensor<8x16xf32>
//     "tts.store"(%3, %4) <{static_mask_dims = array<i64>}> : (!tt.ptr<tensor<8x16xf32>>, tensor<8x16xf32>) -> ()
//     tt.return
//   }
// }
