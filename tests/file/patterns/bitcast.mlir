// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @bitcast(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>) attributes {noinline = false} {
    %cst = arith.constant dense<1> : tensor<64xi32>
    %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %1 = tt.bitcast %arg0 : !tt.ptr<f32> -> !tt.ptr<i32>
    %2 = tt.splat %1 : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
    %3 = tt.addptr %2, %0 : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
    %4 = tt.load %3 : tensor<64x!tt.ptr<i32>>
    %5 = tt.splat %arg1 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %6 = tt.addptr %5, %0 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %7 = tt.bitcast %6 : tensor<64x!tt.ptr<f32>> -> tensor<64x!tt.ptr<i32>>
    %8 = arith.addi %4, %cst : tensor<64xi32>
    tt.store %7, %8 : tensor<64x!tt.ptr<i32>>
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @bitcast(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>) attributes {noinline = false} {
//     %cst = arith.constant dense<1> : tensor<64xi32>
//     %0 = tt.bitcast %arg1 : !tt.ptr<f32> -> !tt.ptr<i32>
//     %1 = tts.make_tptr %0 to sizes: [64], strides: [1], offsets: [0], shape: [0], order: [] : <i32> to tensor<64x!tt.ptr<i32>>
//     %2 = tt.bitcast %arg0 : !tt.ptr<f32> -> !tt.ptr<i32>
//     %3 = tts.make_tptr %2 to sizes: [64], strides: [1], offsets: [0], shape: [0], order: [] : <i32> to tensor<64x!tt.ptr<i32>>
//     %4 = "tts.load"(%3) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (tensor<64x!tt.ptr<i32>>) -> tensor<64xi32>
//     %5 = arith.addi %4, %cst : tensor<64xi32>
//     "tts.store"(%1, %5) <{static_mask_dims = array<i64>}> : (tensor<64x!tt.ptr<i32>>, tensor<64xi32>) -> ()
//     tt.return
//   }
// }
