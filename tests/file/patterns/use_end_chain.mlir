// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @use_end_chain(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>) attributes {noinline = false} {
    %cst = arith.constant dense<6> : tensor<16x1xi32>
    %0 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %1 = tt.expand_dims %0 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %2 = arith.muli %1, %cst : tensor<16x1xi32>
    %3 = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
    %4 = tt.expand_dims %3 {axis = 0 : i32} : tensor<4xi32> -> tensor<1x4xi32>
    %5 = tt.broadcast %2 : tensor<16x1xi32> -> tensor<16x4xi32>
    %6 = tt.broadcast %4 : tensor<1x4xi32> -> tensor<16x4xi32>
    %7 = arith.addi %5, %6 : tensor<16x4xi32>
    %8 = tt.splat %arg1 : !tt.ptr<f32> -> tensor<16x4x!tt.ptr<f32>>
    %9 = tt.addptr %8, %7 : tensor<16x4x!tt.ptr<f32>>, tensor<16x4xi32>
    %10 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<16x4x!tt.ptr<f32>>
    %11 = tt.addptr %10, %7 : tensor<16x4x!tt.ptr<f32>>, tensor<16x4xi32>
    %12 = tt.load %11 : tensor<16x4x!tt.ptr<f32>>
    %13 = arith.sitofp %7 : tensor<16x4xi32> to tensor<16x4xf32>
    %14 = arith.addf %12, %13 : tensor<16x4xf32>
    tt.store %9, %14 : tensor<16x4x!tt.ptr<f32>>
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @use_end_chain(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>) attributes {noinline = false} {
//     %cst = arith.constant dense<6> : tensor<16x1xi32>
//     %0 = tts.make_tptr %arg0 to sizes: [16, 4], strides: [6, 1], offsets: [0, 0], shape: [0, 0], order: [] : <f32> to tensor<16x4x!tt.ptr<f32>>
//     %1 = tts.make_tptr %arg1 to sizes: [16, 4], strides: [6, 1], offsets: [0, 0], shape: [0, 0], order: [] : <f32> to tensor<16x4x!tt.ptr<f32>>
//     %2 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
//     %3 = tt.expand_dims %2 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
//     %4 = arith.muli %3, %cst : tensor<16x1xi32>
//     %5 = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
//     %6 = tt.expand_dims %5 {axis = 0 : i32} : tensor<4xi32> -> tensor<1x4xi32>
//     %7 = tt.broadcast %4 : tensor<16x1xi32> -> tensor<16x4xi32>
//     %8 = tt.broadcast %6 : tensor<1x4xi32> -> tensor<16x4xi32>
//     %9 = arith.addi %7, %8 : tensor<16x4xi32>
//     %10 = "tts.load"(%0) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (tensor<16x4x!tt.ptr<f32>>) -> tensor<16x4xf32>
//     %11 = arith.sitofp %9 : tensor<16x4xi32> to tensor<16x4xf32>
//     %12 = arith.addf %10, %11 : tensor<16x4xf32>
//     "tts.store"(%1, %12) <{static_mask_dims = array<i64>}> : (tensor<16x4x!tt.ptr<f32>>, tensor<16x4xf32>) -> ()
//     tt.return
//   }
// }
