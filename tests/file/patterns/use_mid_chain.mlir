// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @use_mid_chain(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>) attributes {noinline = false} {
    %cst = arith.constant dense<6> : tensor<16x1xi32>
    %0 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %1 = tt.expand_dims %0 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %2 = arith.muli %1, %cst : tensor<16x1xi32>
    %3 = tt.splat %arg1 : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
    %4 = tt.addptr %3, %2 : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>
    %5 = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
    %6 = tt.expand_dims %5 {axis = 0 : i32} : tensor<4xi32> -> tensor<1x4xi32>
    %7 = tt.broadcast %4 : tensor<16x1x!tt.ptr<f32>> -> tensor<16x4x!tt.ptr<f32>>
    %8 = tt.broadcast %6 : tensor<1x4xi32> -> tensor<16x4xi32>
    %9 = tt.addptr %7, %8 : tensor<16x4x!tt.ptr<f32>>, tensor<16x4xi32>
    %10 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
    %11 = tt.addptr %10, %2 : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>
    %12 = tt.broadcast %11 : tensor<16x1x!tt.ptr<f32>> -> tensor<16x4x!tt.ptr<f32>>
    %13 = tt.addptr %12, %8 : tensor<16x4x!tt.ptr<f32>>, tensor<16x4xi32>
    %14 = tt.load %13 : tensor<16x4x!tt.ptr<f32>>
    %15 = arith.sitofp %2 : tensor<16x1xi32> to tensor<16x1xf32>
    %16 = tt.broadcast %15 : tensor<16x1xf32> -> tensor<16x4xf32>
    %17 = arith.addf %14, %16 : tensor<16x4xf32>
    tt.store %9, %17 : tensor<16x4x!tt.ptr<f32>>
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @use_mid_chain(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>) attributes {noinline = false} {
//     %cst = arith.constant dense<6> : tensor<16x1xi32>
//     %0 = tts.make_tptr %arg0 to sizes: [16, 4], strides: [6, 1], offsets: [0, 0], shape: [0, 0], order: [] : <f32> to tensor<16x4x!tt.ptr<f32>>
//     %1 = tts.make_tptr %arg1 to sizes: [16, 4], strides: [6, 1], offsets: [0, 0], shape: [0, 0], order: [] : <f32> to tensor<16x4x!tt.ptr<f32>>
//     %2 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
//     %3 = tt.expand_dims %2 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
//     %4 = arith.muli %3, %cst : tensor<16x1xi32>
//     %5 = "tts.load"(%0) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (tensor<16x4x!tt.ptr<f32>>) -> tensor<16x4xf32>
//     %6 = arith.sitofp %4 : tensor<16x1xi32> to tensor<16x1xf32>
//     %7 = tt.broadcast %6 : tensor<16x1xf32> -> tensor<16x4xf32>
//     %8 = arith.addf %5, %7 : tensor<16x4xf32>
//     "tts.store"(%1, %8) <{static_mask_dims = array<i64>}> : (tensor<16x4x!tt.ptr<f32>>, tensor<16x4xf32>) -> ()
//     tt.return
//   }
// }
