// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @sign_extend_i32_to_i64(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: i32) attributes {noinline = false} {
    %0 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %1 = tt.splat %arg2 : i32 -> tensor<16xi32>
    %2 = arith.addi %1, %0 : tensor<16xi32>
    %3 = arith.extsi %2 : tensor<16xi32> to tensor<16xi64>
    %4 = tt.splat %arg1 : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %5 = tt.addptr %4, %0 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %6 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %7 = tt.addptr %6, %3 : tensor<16x!tt.ptr<f32>>, tensor<16xi64>
    %8 = tt.load %7 : tensor<16x!tt.ptr<f32>>
    tt.store %5, %8 : tensor<16x!tt.ptr<f32>>
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @sign_extend_i32_to_i64(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: i32) attributes {noinline = false} {
//     %0 = arith.index_cast %arg2 : i32 to index
//     %1 = tts.make_tptr %arg0 to sizes: [16], strides: [1], offsets: [%0], shape: [0], order: [] : <f32> to tensor<16x!tt.ptr<f32>>
//     %2 = tts.make_tptr %arg1 to sizes: [16], strides: [1], offsets: [0], shape: [0], order: [] : <f32> to tensor<16x!tt.ptr<f32>>
//     %3 = "tts.load"(%1) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (tensor<16x!tt.ptr<f32>>) -> tensor<16xf32>
//     "tts.store"(%2, %3) <{static_mask_dims = array<i64>}> : (tensor<16x!tt.ptr<f32>>, tensor<16xf32>) -> ()
//     tt.return
//   }
// }
