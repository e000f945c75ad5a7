// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @wraparound_unsupported_add_offset(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: i32, %arg3: i32) attributes {noinline = false} {
    %0 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %1 = tt.splat %arg1 : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %2 = tt.addptr %1, %0 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %3 = tt.splat %arg3 : i32 -> tensor<16xi32>
    %4 = arith.addi %3, %0 : tensor<16xi32>
    %5 = tt.splat %arg2 : i32 -> tensor<16xi32>
    %6 = arith.remsi %4, %5 : tensor<16xi32>
    %7 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %8 = tt.addptr %7, %6 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %9 = tt.addptr %8, %3 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %10 = tt.load %9 : tensor<16x!tt.ptr<f32>>
    tt.store %2, %10 : tensor<16x!tt.ptr<f32>>
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @wraparound_unsupported_add_offset(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: i32, %arg3: i32) attributes {noinline = false} {
//     %0 = arith.index_cast %arg3 : i32 to index
//     %1 = arith.index_cast %0 : index to i64
//     %2 = tt.addptr %arg0, %1 : !tt.ptr<f32>, i64
//     %3 = arith.index_cast %arg2 : i32 to index
//     %4 = tts.make_tptr %2 to sizes: [16], strides: [1], offsets: [%0], shape: [%3], order: [] : <f32> to tensor<16x!tt.ptr<f32>>
//     %5 = tts.make_tptr %arg1 to sizes: [16], strides: [1], offsets: [0], shape: [0], order: [] : <f32> to tensor<16x!tt.ptr<f32>>
//     %6 = "tts.load"(%4) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (tensor<16x!tt.ptr<f32>>) -> tensor<16xf32>
//     "tts.store"(%5, %6) <{static_mask_dims = array<i64>}> : (tensor<16x!tt.ptr<f32>>, tensor<16xf32>) -> ()
//     tt.return
//   }
// }
