// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @gather_scatter_ptr_1d_with_mask(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: i32) attributes {noinline = false} {
    %cst = arith.constant dense<3.000000e+00> : tensor<16xf32>
    %cst_0 = arith.constant dense<2> : tensor<16xi32>
    %cst_1 = arith.constant dense<4> : tensor<16xi32>
    %0 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %1 = arith.divsi %0, %cst_1 : tensor<16xi32>
    %2 = arith.muli %1, %cst_1 : tensor<16xi32>
    %3 = tt.splat %arg1 : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %4 = tt.addptr %3, %2 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %5 = arith.remsi %0, %cst_1 : tensor<16xi32>
    %6 = tt.addptr %4, %5 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %7 = arith.divsi %0, %cst_0 : tensor<16xi32>
    %8 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %9 = tt.addptr %8, %7 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %10 = tt.splat %arg2 : i32 -> tensor<16xi32>
    %11 = arith.cmpi slt, %0, %10 : tensor<16xi32>
    %12 = tt.load %9, %11, %cst : tensor<16x!tt.ptr<f32>>
    tt.store %6, %12, %11 : tensor<16x!tt.ptr<f32>>
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @gather_scatter_ptr_1d_with_mask(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: i32) attributes {noinline = false} {
//     %cst = arith.constant dense<4> : tensor<16xi64>
//     %cst_0 = arith.constant dense<4> : tensor<16xi32>
//     %cst_1 = arith.constant dense<2> : tensor<16xi32>
//     %cst_2 = arith.constant 3.000000e+00 : f32
//     %c0 = arith.constant 0 : index
//     %c16 = arith.constant 16 : index
//     %0 = arith.index_cast %arg2 : i32 to index
//     %1 = arith.minsi %0, %c16 : index
//     %2 = arith.maxsi %1, %c0 : index
//     %3 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
//     %4 = arith.divsi %3, %cst_0 : tensor<16xi32>
//     %5 = arith.extsi %4 : tensor<16xi32> to tensor<16xi64>
//     %6 = arith.muli %5, %cst : tensor<16xi64>
//     %7 = arith.remsi %3, %cst_0 : tensor<16xi32>
//     %8 = arith.extsi %7 : tensor<16xi32> to tensor<16xi64>
//     %9 = arith.addi %6, %8 : tensor<16xi64>
//     %10 = tts.make_gather_scatter_tptr %arg1 to sizes: [16] gather_scatter_dim: 0 gather_scatter_offset: %9, strides: [1], offsets: [0] : tensor<16xi64> <f32> to !tt.ptr<tensor<16xf32>>
//     %11 = arith.divsi %3, %cst_1 : tensor<16xi32>
//     %12 = tts.make_gather_scatter_tptr %arg0 to sizes: [16] gather_scatter_dim: 0 gather_scatter_offset: %11, strides: [1], offsets: [0] : tensor<16xi32> <f32> to !tt.ptr<tensor<16xf32>>
//     %13 = "tts.load"(%12, %2, %cst_2) <{operandSegmentSizes = array<i32: 1, 1, 1>, static_mask_dims = array<i64: -9223372036854775808>}> : (!tt.ptr<tensor<16xf32>>, index, f32) -> tensor<16xf32>
//     "tts.store"(%10, %13, %2) <{static_mask_dims = array<i64: -9223372036854775808>}> : (!tt.ptr<tensor<16xf32>>, tensor<16xf32>, index) -> ()
//     tt.return
//   }
// }
