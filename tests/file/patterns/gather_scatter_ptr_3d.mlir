// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @gather_scatter_ptr_3d(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: i32) attributes {noinline = false} {
    %cst = arith.constant dense<32> : tensor<4x1x1xi32>
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<4x8x4xf32>
    %cst_1 = arith.constant dense<4> : tensor<1x8x1xi32>
    %cst_2 = arith.constant dense<2> : tensor<1x8x1xi32>
    %0 = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
    %1 = tt.expand_dims %0 {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
    %2 = tt.expand_dims %1 {axis = 2 : i32} : tensor<4x1xi32> -> tensor<4x1x1xi32>
    %3 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    %4 = tt.expand_dims %3 {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
    %5 = tt.expand_dims %4 {axis = 2 : i32} : tensor<1x8xi32> -> tensor<1x8x1xi32>
    %6 = tt.expand_dims %0 {axis = 0 : i32} : tensor<4xi32> -> tensor<1x4xi32>
    %7 = tt.expand_dims %6 {axis = 1 : i32} : tensor<1x4xi32> -> tensor<1x1x4xi32>
    %8 = arith.muli %2, %cst : tensor<4x1x1xi32>
    %9 = arith.divsi %5, %cst_2 : tensor<1x8x1xi32>
    %10 = arith.remsi %5, %cst_2 : tensor<1x8x1xi32>
    %11 = arith.addi %9, %10 : tensor<1x8x1xi32>
    %12 = arith.muli %11, %cst_1 : tensor<1x8x1xi32>
    %13 = tt.broadcast %8 : tensor<4x1x1xi32> -> tensor<4x8x1xi32>
    %14 = tt.broadcast %12 : tensor<1x8x1xi32> -> tensor<4x8x1xi32>
    %15 = arith.addi %13, %14 : tensor<4x8x1xi32>
    %16 = tt.broadcast %15 : tensor<4x8x1xi32> -> tensor<4x8x4xi32>
    %17 = tt.broadcast %7 : tensor<1x1x4xi32> -> tensor<4x8x4xi32>
    %18 = arith.addi %16, %17 : tensor<4x8x4xi32>
    %19 = tt.splat %arg1 : !tt.ptr<f32> -> tensor<4x1x1x!tt.ptr<f32>>
    %20 = tt.addptr %19, %8 : tensor<4x1x1x!tt.ptr<f32>>, tensor<4x1x1xi32>
    %21 = arith.muli %5, %cst_1 : tensor<1x8x1xi32>
    %22 = tt.broadcast %20 : tensor<4x1x1x!tt.ptr<f32>> -> tensor<4x8x1x!tt.ptr<f32>>
    %23 = tt.broadcast %21 : tensor<1x8x1xi32> -> tensor<4x8x1xi32>
    %24 = tt.addptr %22, %23 : tensor<4x8x1x!tt.ptr<f32>>, tensor<4x8x1xi32>
    %25 = tt.broadcast %24 : tensor<4x8x1x!tt.ptr<f32>> -> tensor<4x8x4x!tt.ptr<f32>>
    %26 = tt.addptr %25, %17 : tensor<4x8x4x!tt.ptr<f32>>, tensor<4x8x4xi32>
    %27 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<4x8x4x!tt.ptr<f32>>
    %28 = tt.addptr %27, %18 : tensor<4x8x4x!tt.ptr<f32>>, tensor<4x8x4xi32>
    %29 = tt.splat %arg2 : i32 -> tensor<1x1x4xi32>
    %30 = arith.cmpi slt, %7, %29 : tensor<1x1x4xi32>
    %31 = tt.broadcast %30 : tensor<1x1x4xi1> -> tensor<4x8x4xi1>
    %32 = tt.load %28, %31, %cst_0 : tensor<4x8x4x!tt.ptr<f32>>
    tt.store %26, %32 : tensor<4x8x4x!tt.ptr<f32>>
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @gather_scatter_ptr_3d(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: i32) attributes {noinline = false} {
//     %cst = arith.constant dense<2> : tensor<1x8x1xi32>
//     %cst_0 = arith.constant 0.000000e+00 : f32
//     %c0 = arith.constant 0 : index
//     %c4 = arith.constant 4 : index
//     %0 = arith.index_cast %arg2 : i32 to index
//     %1 = arith.minsi %0, %c4 : index
//     %2 = arith.maxsi %1, %c0 : index
//     %3 = tts.make_tptr %arg1 to sizes: [4, 8, 4], strides: [32, 4, 1], offsets: [0, 0, 0], shape: [0, 0, 0], order: [] : <f32> to tensor<4x8x4x!tt.ptr<f32>>
//     %4 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
//     %5 = tt.expand_dims %4 {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
//     %6 = tt.expand_dims %5 {axis = 2 : i32} : tensor<1x8xi32> -> tensor<1x8x1xi32>
//     %7 = arith.divsi %6, %cst : tensor<1x8x1xi32>
//     %8 = arith.remsi %6, %cst : tensor<1x8x1xi32>
//     %9 = arith.addi %7, %8 : tensor<1x8x1xi32>
//     %10 = tt.reshape %9 : tensor<1x8x1xi32> -> tensor<8xi32>
//     %11 = tts.make_gather_scatter_tptr %arg0 to sizes: [4, 8, 4] gather_scatter_dim: 1 gather_scatter_offset: %10, strides: [32, 4, 1], offsets: [0, 0, 0] : tensor<8xi32> <f32> to !tt.ptr<tensor<4x8x4xf32>>
//     %12 = "tts.load"(%11, %2, %cst_0) <{operandSegmentSizes = array<i32: 1, 1, 1>, static_mask_dims = array<i64: 4, 8, -9223372036854775808>}> : (!tt.ptr<tensor<4x8x4xf32>>, index, f32) -> tensor<4x8x4xf32>
//     "tts.store"(%3, %12) <{static_mask_dims = array<i64>}> : (tensor<4x8x4x!tt.ptr<f32>>, tensor<4x8x4xf32>) -> ()
//     tt.return
//   }
// }
