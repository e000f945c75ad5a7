// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @addptr_scalar_nested(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: i32, %arg3: i32) attributes {noinline = false} {
    %0 = tt.addptr %arg0, %arg2 : !tt.ptr<f32>, i32
    %1 = tt.addptr %0, %arg3 : !tt.ptr<f32>, i32
    %2 = arith.muli %arg2, %arg3 : i32
    %3 = tt.addptr %1, %2 : !tt.ptr<f32>, i32
    %4 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %5 = tt.splat %arg1 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %6 = tt.addptr %5, %4 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %7 = tt.splat %3 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %8 = tt.addptr %7, %4 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %9 = tt.load %8 : tensor<64x!tt.ptr<f32>>
    tt.store %6, %9 : tensor<64x!tt.ptr<f32>>
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @addptr_scalar_nested(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: i32, %arg3: i32) attributes {noinline = false} {
//     %0 = arith.index_cast %arg3 : i32 to index
//     %1 = arith.index_cast %arg2 : i32 to index
//     %2 = arith.addi %0, %1 : index
//     %3 = tts.make_tptr %arg1 to sizes: [64], strides: [1], offsets: [0], shape: [0], order: [] : <f32> to tensor<64x!tt.ptr<f32>>
//     %4 = arith.muli %arg2, %arg3 : i32
//     %5 = arith.index_cast %4 : i32 to index
//     %6 = arith.addi %2, %5 : index
//     %7 = tts.make_tptr %arg0 to sizes: [64], strides: [1], offsets: [%6], shape: [0], order: [] : <f32> to tensor<64x!tt.ptr<f32>>
//     %8 = "tts.load"(%7) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (tensor<64x!tt.ptr<f32>>) -> tensor<64xf32>
//     "tts.store"(%3, %8) <{static_mask_dims = array<i64>}> : (tensor<64x!tt.ptr<f32>>, tensor<64xf32>) -> ()
//     tt.return
//   }
// }
