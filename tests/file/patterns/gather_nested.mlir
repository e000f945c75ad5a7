// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @gather_nested(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<i32>, %arg2: !tt.ptr<f32>) attributes {noinline = false} {
    %0 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %1 = tt.splat %arg2 : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %2 = tt.addptr %1, %0 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %3 = tt.splat %arg1 : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
    %4 = tt.addptr %3, %0 : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
    %5 = tt.load %4 : tensor<16x!tt.ptr<i32>>
    %6 = tt.addptr %3, %5 : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
    %7 = tt.load %6 : tensor<16x!tt.ptr<i32>>
    %8 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %9 = tt.addptr %8, %7 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %10 = tt.load %9 : tensor<16x!tt.ptr<f32>>
    tt.store %2, %10 : tensor<16x!tt.ptr<f32>>
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @gather_nested(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<i32>, %arg2: !tt.ptr<f32>) attributes {noinline = false} {
//     %0 = tts.make_tptr %arg1 to sizes: [16], strides: [1], offsets: [0], shape: [0], order: [] : <i32> to tensor<16x!tt.ptr<i32>>
//     %1 = tts.make_tptr %arg2 to sizes: [16], strides: [1], offsets: [0], shape: [0], order: [] : <f32> to tensor<16x!tt.ptr<f32>>
//     %2 = "tts.load"(%0) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (tensor<16x!tt.ptr<i32>>) -> tensor<16xi32>
//     %3 = tts.make_gather_scatter_tptr %arg1 to sizes: [16] gather_scatter_dim: 0 gather_scatter_offset: %2, strides: [1], offsets: [0] : tensor<16xi32> <i32> to !tt.ptr<tensor<16xi32>>
//     %4 = "tts.load"(%3) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (!tt.ptr<tensor<16xi32>>) -> tensor<16xi32>
//     %5 = tts.make_gather_scatter_tptr %arg0 to sizes: [16] gather_scatter_dim: 0 gather_scatter_offset: %4, strides: [1], offsets: [0] : tensor<16xi32> <f32> to !tt.ptr<tensor<16xf32>>
//     %6 = "tts.load"(%5) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (!tt.ptr<tensor<16xf32>>) -> tensor<16xf32>
//     "tts.store"(%1, %6) <{static_mask_dims = array<i64>}> : (tensor<16x!tt.ptr<f32>>, tensor<16xf32>) -> ()
//     tt.return
//   }
// }
