// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @addptr_scalar_broadcast(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: i32) attributes {noinline = false} {
    %cst = arith.constant dense<32> : tensor<4x1xi32>
    %0 = tt.addptr %arg0, %arg2 : !tt.ptr<f32>, i32
    %1 = tt.splat %0 : !tt.ptr<f32> -> tensor<4x32x!tt.ptr<f32>>
    %2 = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
    %3 = tt.expand_dims %2 {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
    %4 = arith.muli %3, %cst : tensor<4x1xi32>
    %5 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %6 = tt.expand_dims %5 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %7 = tt.broadcast %4 : tensor<4x1xi32> -> tensor<4x32xi32>
    %8 = tt.broadcast %6 : tensor<1x32xi32> -> tensor<4x32xi32>
    %9 = arith.addi %7, %8 : tensor<4x32xi32>
    %10 = tt.splat %arg1 : !tt.ptr<f32> -> tensor<4x32x!tt.ptr<f32>>
    %11 = tt.addptr %10, %9 : tensor<4x32x!tt.ptr<f32>>, tensor<4x32xi32>
    %12 = tt.addptr %1, %9 : tensor<4x32x!tt.ptr<f32>>, tensor<4x32xi32>
    %13 = tt.load %12 : tensor<4x32x!tt.ptr<f32>>
    tt.store %11, %13 : tensor<4x32x!tt.ptr<f32>>
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @addptr_scalar_broadcast(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: i32) attributes {noinline = false} {
//     %0 = arith.index_cast %arg2 : i32 to index
//     %1 = tts.make_tptr %arg0 to sizes: [4, 32], strides: [32, 1], offsets: [%0, 0], shape: [0, 0], order: [] : <f32> to tensor<4x32x!tt.ptr<f32>>
//     %2 = tts.make_tptr %arg1 to sizes: [4, 32], strides: [32, 1], offsets: [0, 0], shape: [0, 0], order: [] : <f32> to tensor<4x32x!tt.ptr<f32>>
//     %3 = "tts.load"(%1) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (tensor<4x32x!tt.ptr<f32>>) -> tensor<4x32xf32>
//     "tts.store"(%2, %3) <{static_mask_dims = array<i64>}> : (tensor<4x32x!tt.ptr<f32>>, tensor<4x32xf32>) -> ()
//     tt.return
//   }
// }
