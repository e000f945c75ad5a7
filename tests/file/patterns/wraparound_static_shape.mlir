// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @wraparound_static_shape(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>) attributes {noinline = false} {
    %cst = arith.constant dense<12> : tensor<4x1xi32>
    %cst_0 = arith.constant dense<16> : tensor<4x1xi32>
    %cst_1 = arith.constant dense<12> : tensor<16xi32>
    %cst_2 = arith.constant dense<3> : tensor<16xi32>
    %cst_3 = arith.constant dense<7> : tensor<4xi32>
    %cst_4 = arith.constant dense<5> : tensor<4xi32>
    %0 = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
    %1 = arith.addi %0, %cst_4 : tensor<4xi32>
    %2 = arith.remsi %1, %cst_3 : tensor<4xi32>
    %3 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %4 = arith.addi %3, %cst_2 : tensor<16xi32>
    %5 = arith.remsi %4, %cst_1 : tensor<16xi32>
    %6 = tt.expand_dims %0 {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
    %7 = arith.muli %6, %cst_0 : tensor<4x1xi32>
    %8 = tt.splat %arg1 : !tt.ptr<f32> -> tensor<4x1x!tt.ptr<f32>>
    %9 = tt.addptr %8, %7 : tensor<4x1x!tt.ptr<f32>>, tensor<4x1xi32>
    %10 = tt.expand_dims %3 {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
    %11 = tt.broadcast %9 : tensor<4x1x!tt.ptr<f32>> -> tensor<4x16x!tt.ptr<f32>>
    %12 = tt.broadcast %10 : tensor<1x16xi32> -> tensor<4x16xi32>
    %13 = tt.addptr %11, %12 : tensor<4x16x!tt.ptr<f32>>, tensor<4x16xi32>
    %14 = tt.expand_dims %2 {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
    %15 = arith.muli %14, %cst : tensor<4x1xi32>
    %16 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<4x1x!tt.ptr<f32>>
    %17 = tt.addptr %16, %15 : tensor<4x1x!tt.ptr<f32>>, tensor<4x1xi32>
    %18 = tt.expand_dims %5 {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
    %19 = tt.broadcast %17 : tensor<4x1x!tt.ptr<f32>> -> tensor<4x16x!tt.ptr<f32>>
    %20 = tt.broadcast %18 : tensor<1x16xi32> -> tensor<4x16xi32>
    %21 = tt.addptr %19, %20 : tensor<4x16x!tt.ptr<f32>>, tensor<4x16xi32>
    %22 = tt.load %21 : tensor<4x16x!tt.ptr<f32>>
    tt.store %13, %22 : tensor<4x16x!tt.ptr<f32>>
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @wraparound_static_shape(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>) attributes {noinline = false} {
//     %0 = tts.make_tptr %arg0 to sizes: [4, 16], strides: [12, 1], offsets: [60, 3], shape: [84, 12], order: [] : <f32> to tensor<4x16x!tt.ptr<f32>>
//     %1 = tts.make_tptr %arg1 to sizes: [4, 16], strides: [16, 1], offsets: [0, 0], shape: [0, 0], order: [] : <f32> to tensor<4x16x!tt.ptr<f32>>
//     %2 = "tts.load"(%0) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (tensor<4x16x!tt.ptr<f32>>) -> tensor<4x16xf32>
//     "tts.store"(%1, %2) <{static_mask_dims = array<i64>}> : (tensor<4x16x!tt.ptr<f32>>, tensor<4x16xf32>) -> ()
//     tt.return
//   }
// }
