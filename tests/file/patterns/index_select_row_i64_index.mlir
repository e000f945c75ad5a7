// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @index_select_row_i64_index(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<i64>, %arg2: !tt.ptr<f32>, %arg3: i32) attributes {noinline = false} {
    %cst = arith.constant dense<0> : tensor<8xi64>
    %cst_0 = arith.constant dense<16> : tensor<8x1xi64>
    %cst_1 = arith.constant dense<16> : tensor<8x1xi32>
    %0 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    %1 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %2 = tt.expand_dims %1 {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
    %3 = tt.splat %arg1 : !tt.ptr<i64> -> tensor<8x!tt.ptr<i64>>
    %4 = tt.addptr %3, %0 : tensor<8x!tt.ptr<i64>>, tensor<8xi32>
    %5 = tt.splat %arg3 : i32 -> tensor<8xi32>
    %6 = arith.cmpi slt, %0, %5 : tensor<8xi32>
    %7 = tt.load %4, %6, %cst : tensor<8x!tt.ptr<i64>>
    %8 = tt.expand_dims %0 {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
    %9 = arith.muli %8, %cst_1 : tensor<8x1xi32>
    %10 = tt.splat %arg2 : !tt.ptr<f32> -> tensor<8x1x!tt.ptr<f32>>
    %11 = tt.addptr %10, %9 : tensor<8x1x!tt.ptr<f32>>, tensor<8x1xi32>
    %12 = tt.broadcast %11 : tensor<8x1x!tt.ptr<f32>> -> tensor<8x16x!tt.ptr<f32>>
    %13 = tt.broadcast %2 : tensor<1x16xi32> -> tensor<8x16xi32>
    %14 = tt.addptr %12, %13 : tensor<8x16x!tt.ptr<f32>>, tensor<8x16xi32>
    %15 = tt.expand_dims %7 {axis = 1 : i32} : tensor<8xi64> -> tensor<8x1xi64>
    %16 = arith.muli %15, %cst_0 : tensor<8x1xi64>
    %17 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<8x1x!tt.ptr<f32>>
    %18 = tt.addptr %17, %16 : tensor<8x1x!tt.ptr<f32>>, tensor<8x1xi64>
    %19 = tt.broadcast %18 : tensor<8x1x!tt.ptr<f32>> -> tensor<8x16x!tt.ptr<f32>>
    %20 = tt.addptr %19, %13 : tensor<8x16x!tt.ptr<f32>>, tensor<8x16xi32>
    %21 = tt.load %20 : tensor<8x16x!tt.ptr<f32>>
    %22 = tt.expand_dims %6 {axis = 1 : i32} : tensor<8xi1> -> tensor<8x1xi1>
    %23 = tt.broadcast %22 : tensor<8x1xi1> -> tensor<8x16xi1>
    tt.store %14, %21, %23 : tensor<8x16x!tt.ptr<f32>>
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @index_select_row_i64_index(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<i64>, %arg2: !tt.ptr<f32>, %arg3: i32) attributes {noinline = false} {
//     %c0_i64 = arith.constant 0 : i64
//     %c0 = arith.constant 0 : index
//     %c8 = arith.constant 8 : index
//     %0 = tts.make_tptr %arg1 to sizes: [8], strides: [1], offsets: [0], shape: [0], order: [] : <i64> to tensor<8x!tt.ptr<i64>>
//     %1 = arith.index_cast %arg3 : i32 to index
//     %2 = arith.minsi %1, %c8 : index
//     %3 = arith.maxsi %2, %c0 : index
//     %4 = tts.make_tptr %arg2 to sizes: [8, 16], strides: [16, 1], offsets: [0, 0], shape: [0, 0], order: [] : <f32> to tensor<8x16x!tt.ptr<f32>>
//     %5 = "tts.load"(%0, %3, %c0_i64) <{operandSegmentSizes = array<i32: 1, 1, 1>, static_mask_dims = array<i64: -9223372036854775808>}> : (tensor<8x!tt.ptr<i64>>, index, i64) -> tensor<8xi64>
//     %6 = tts.make_gather_scatter_tptr %arg0 to sizes: [8, 16] gather_scatter_dim: 0 gather_scatter_offset: %5, strides: [16, 1], offsets: [0, 0] : tensor<8xi64> <f32> to !tt.ptr<tensor<8x16xf32>>
//     %7 = "tts.load"(%6) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (!tt.ptr<tensor<8x16xf32>>) -> tensor<8x16xf32>
//     "tts.store"(%4, %7, %3) <{static_mask_dims = array<i64: -9223372036854775808, 16>}> : (tensor<8x16x!tt.ptr<f32>>, tensor<8x16xf32>, index) -> ()
//     tt.return
//   }
// }
