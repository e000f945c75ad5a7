// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @gather_scatter_masks(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<i32>, %arg2: !tt.ptr<f32>, %arg3: i32) attributes {noinline = false} {
    %cst = arith.constant dense<4.000000e+00> : tensor<16xf32>
    %0 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %1 = tt.splat %arg1 : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
    %2 = tt.addptr %1, %0 : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
    %3 = tt.load %2 : tensor<16x!tt.ptr<i32>>
    %4 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %5 = tt.addptr %4, %3 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %6 = tt.splat %arg3 : i32 -> tensor<16xi32>
    %7 = arith.cmpi slt, %3, %6 : tensor<16xi32>
    %8 = tt.load %5, %7 : tensor<16x!tt.ptr<f32>>
    %9 = arith.cmpi sgt, %3, %6 : tensor<16xi32>
    %10 = tt.load %5, %9, %cst : tensor<16x!tt.ptr<f32>>
    %11 = tt.splat %arg2 : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %12 = tt.addptr %11, %3 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %13 = arith.addf %8, %10 : tensor<16xf32>
    %14 = arith.cmpi ne, %3, %6 : tensor<16xi32>
    tt.store %12, %13, %14 : tensor<16x!tt.ptr<f32>>
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @gather_scatter_masks(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<i32>, %arg2: !tt.ptr<f32>, %arg3: i32) attributes {noinline = false} {
//     %cst = arith.constant 4.000000e+00 : f32
//     %0 = tts.make_tptr %arg1 to sizes: [16], strides: [1], offsets: [0], shape: [0], order: [] : <i32> to tensor<16x!tt.ptr<i32>>
//     %1 = "tts.load"(%0) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (tensor<16x!tt.ptr<i32>>) -> tensor<16xi32>
//     %2 = tts.make_gather_scatter_tptr %arg0 to sizes: [16] gather_scatter_dim: 0 gather_scatter_offset: %1, strides: [1], offsets: [0] : tensor<16xi32> <f32> to !tt.ptr<tensor<16xf32>>
//     %3 = tts.make_gather_scatter_tptr %arg2 to sizes: [16] gather_scatter_dim: 0 gather_scatter_offset: %1, strides: [1], offsets: [0] : tensor<16xi32> <f32> to !tt.ptr<tensor<16xf32>>
//     %4 = tt.splat %arg3 : i32 -> tensor<16xi32>
//     %5 = arith.cmpi slt, %1, %4 : tensor<16xi32>
//     %6 = "tts.masked_load"(%2, %5) <{operandSegmentSizes = array<i32: 1, 0, 0, 1, 0>, static_mask_dims = array<i64: 16>, static_mask_starts = array<i64: 0>}> : (!tt.ptr<tensor<16xf32>>, tensor<16xi1>) -> tensor<16xf32>
//     %7 = arith.cmpi sgt, %1, %4 : tensor<16xi32>
//     %8 = "tts.masked_load"(%2, %7, %cst) <{operandSegmentSizes = array<i32: 1, 0, 0, 1, 1>, static_mask_dims = array<i64: 16>, static_mask_starts = array<i64: 0>}> : (!tt.ptr<tensor<16xf32>>, tensor<16xi1>, f32) -> tensor<16xf32>
//     %9 = arith.addf %6, %8 : tensor<16xf32>
//     %10 = arith.cmpi ne, %1, %4 : tensor<16xi32>
//     "tts.masked_store"(%3, %9, %10) <{operandSegmentSizes = array<i32: 1, 1, 0, 0, 1>, static_mask_dims = array<i64: 16>, static_mask_starts = array<i64: 0>}> : (!tt.ptr<tensor<16xf32>>, tensor<16xf32>, tensor<16xi1>) -> ()
//     tt.return
//   }
// }
