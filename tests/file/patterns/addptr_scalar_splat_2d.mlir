// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @addptr_scalar_splat_2d(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: i32) attributes {noinline = false} {
    %cst = arith.constant dense<16> : tensor<8x1xi32>
    %0 = tt.addptr %arg0, %arg2 : !tt.ptr<f32>, i32
    %1 = tt.splat %0 : !tt.ptr<f32> -> tensor<8x16x!tt.ptr<f32>>
    %2 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    %3 = tt.expand_dims %2 {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
    %4 = arith.muli %3, %cst : tensor<8x1xi32>
    %5 = tt.splat %arg1 : !tt.ptr<f32> -> tensor<8x1x!tt.ptr<f32>>
    %6 = tt.addptr %5, %4 : tensor<8x1x!tt.ptr<f32>>, tensor<8x1xi32>
    %7 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %8 = tt.expand_dims %7 {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
    %9 = tt.broadcast %6 : tensor<8x1x!tt.ptr<f32>> -> tensor<8x16x!tt.ptr<f32>>
    %10 = tt.broadcast %8 : tensor<1x16xi32> -> tensor<8x16xi32>
    %11 = tt.addptr %9, %10 : tensor<8x16x!tt.ptr<f32>>, tensor<8x16xi32>
    %12 = tt.load %1 : tensor<8x16x!tt.ptr<f32>>
    tt.store %11, %12 : tensor<8x16x!tt.ptr<f32>>
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @addptr_scalar_splat_2d(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: i32) attributes {noinline = false} {
//     %0 = arith.index_cast %arg2 : i32 to index
//     %1 = tts.make_tptr %arg0 to sizes: [8, 16], strides: [0, 0], offsets: [%0, 0], shape: [0, 0], order: [] : <f32> to tensor<8x16x!tt.ptr<f32>>
//     %2 = tts.make_tptr %arg1 to sizes: [8, 16], strides: [16, 1], offsets: [0, 0], shape: [0, 0], order: [] : <f32> to tensor<8x16x!tt.ptr<f32>>
//     %3 = "tts.load"(%1) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (tensor<8x16x!tt.ptr<f32>>) -> tensor<8x16xf32>
//     "tts.store"(%2, %3) <{static_mask_dims = array<i64>}> : (tensor<8x16x!tt.ptr<f32>>, tensor<8x16xf32>) -> ()
//     tt.return
//   }
// }
