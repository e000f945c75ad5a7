// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @unstructured_mask_3d(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<i32>, %arg2: !tt.ptr<f32>, %arg3: i32) attributes {noinline = false} {
    %cst = arith.constant dense<32> : tensor<8x1x1xi32>
    %cst_0 = arith.constant dense<-1.000000e+00> : tensor<8x8x4xf32>
    %cst_1 = arith.constant dense<4> : tensor<1x8x1xi32>
    %cst_2 = arith.constant dense<3> : tensor<1x1x4xi32>
    %cst_3 = arith.constant dense<0> : tensor<8xi32>
    %0 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    %1 = tt.expand_dims %0 {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
    %2 = tt.expand_dims %1 {axis = 2 : i32} : tensor<1x8xi32> -> tensor<1x8x1xi32>
    %3 = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
    %4 = tt.expand_dims %3 {axis = 0 : i32} : tensor<4xi32> -> tensor<1x4xi32>
    %5 = tt.expand_dims %4 {axis = 1 : i32} : tensor<1x4xi32> -> tensor<1x1x4xi32>
    %6 = tt.splat %arg1 : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
    %7 = tt.addptr %6, %0 : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
    %8 = tt.load %7 : tensor<8x!tt.ptr<i32>>
    %9 = arith.cmpi ne, %8, %cst_3 : tensor<8xi32>
    %10 = tt.expand_dims %9 {axis = 1 : i32} : tensor<8xi1> -> tensor<8x1xi1>
    %11 = tt.expand_dims %10 {axis = 2 : i32} : tensor<8x1xi1> -> tensor<8x1x1xi1>
    %12 = tt.splat %arg3 : i32 -> tensor<1x8x1xi32>
    %13 = arith.cmpi slt, %2, %12 : tensor<1x8x1xi32>
    %14 = tt.broadcast %11 : tensor<8x1x1xi1> -> tensor<8x8x1xi1>
    %15 = tt.broadcast %13 : tensor<1x8x1xi1> -> tensor<8x8x1xi1>
    %16 = arith.andi %14, %15 : tensor<8x8x1xi1>
    %17 = arith.cmpi slt, %5, %cst_2 : tensor<1x1x4xi32>
    %18 = tt.broadcast %16 : tensor<8x8x1xi1> -> tensor<8x8x4xi1>
    %19 = tt.broadcast %17 : tensor<1x1x4xi1> -> tensor<8x8x4xi1>
    %20 = arith.andi %18, %19 : tensor<8x8x4xi1>
    %21 = tt.expand_dims %0 {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
    %22 = tt.expand_dims %21 {axis = 2 : i32} : tensor<8x1xi32> -> tensor<8x1x1xi32>
    %23 = arith.muli %22, %cst : tensor<8x1x1xi32>
    %24 = arith.muli %2, %cst_1 : tensor<1x8x1xi32>
    %25 = tt.broadcast %23 : tensor<8x1x1xi32> -> tensor<8x8x1xi32>
    %26 = tt.broadcast %24 : tensor<1x8x1xi32> -> tensor<8x8x1xi32>
    %27 = arith.addi %25, %26 : tensor<8x8x1xi32>
    %28 = tt.broadcast %27 : tensor<8x8x1xi32> -> tensor<8x8x4xi32>
    %29 = tt.broadcast %5 : tensor<1x1x4xi32> -> tensor<8x8x4xi32>
    %30 = arith.addi %28, %29 : tensor<8x8x4xi32>
    %31 = tt.splat %arg2 : !tt.ptr<f32> -> tensor<8x8x4x!tt.ptr<f32>>
    %32 = tt.addptr %31, %30 : tensor<8x8x4x!tt.ptr<f32>>, tensor<8x8x4xi32>
    %33 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<8x8x4x!tt.ptr<f32>>
    %34 = tt.addptr %33, %30 : tensor<8x8x4x!tt.ptr<f32>>, tensor<8x8x4xi32>
    %35 = tt.load %34, %20, %cst_0 : tensor<8x8x4x!tt.ptr<f32>>
    tt.store %32, %35, %20 : tensor<8x8x4x!tt.ptr<f32>>
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @unstructured_mask_3d(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<i32>, %arg2: !tt.ptr<f32>, %arg3: i32) attributes {noinline = false} {
//     %cst = arith.constant dense<0> : tensor<8xi32>
//     %cst_0 = arith.constant -1.000000e+00 : f32
//     %c0 = arith.constant 0 : index
//     %c8 = arith.constant 8 : index
//     %0 = tts.make_tptr %arg1 to sizes: [8], strides: [1], offsets: [0], shape: [0], order: [] : <i32> to tensor<8x!tt.ptr<i32>>
//     %1 = tts.make_tptr %arg0 to sizes: [8, 8, 4], strides: [32, 4, 1], offsets: [0, 0, 0], shape: [0, 0, 0], order: [] : <f32> to tensor<8x8x4x!tt.ptr<f32>>
//     %2 = arith.index_cast %arg3 : i32 to index
//     %3 = arith.minsi %2, %c8 : index
//     %4 = arith.maxsi %3, %c0 : index
//     %5 = tts.make_tptr %arg2 to sizes: [8, 8, 4], strides: [32, 4, 1], offsets: [0, 0, 0], shape: [0, 0, 0], order: [] : <f32> to tensor<8x8x4x!tt.ptr<f32>>
//     %6 = "tts.load"(%0) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (tensor<8x!tt.ptr<i32>>) -> tensor<8xi32>
//     %7 = arith.cmpi ne, %6, %cst : tensor<8xi32>
//     %8 = tt.expand_dims %7 {axis = 1 : i32} : tensor<8xi1> -> tensor<8x1xi1>
//     %9 = tt.expand_dims %8 {axis = 2 : i32} : tensor<8x1xi1> -> tensor<8x1x1xi1>
//     %10 = "tts.masked_load"(%1, %4, %9, %cst_0) <{operandSegmentSizes = array<i32: 1, 0, 1, 1, 1>, static_mask_dims = array<i64: 8, -9223372036854775808, 3>, static_mask_starts = array<i64: 0, 0, 0>}> : (tensor<8x8x4x!tt.ptr<f32>>, index, tensor<8x1x1xi1>, f32) -> tensor<8x8x4xf32>
//     "tts.masked_store"(%5, %10, %4, %9) <{operandSegmentSizes = array<i32: 1, 1, 0, 1, 1>, static_mask_dims = array<i64: 8, -9223372036854775808, 3>, static_mask_starts = array<i64: 0, 0, 0>}> : (tensor<8x8x4x!tt.ptr<f32>>, tensor<8x8x4xf32>, index, tensor<8x1x1xi1>) -> ()
//     tt.return
//   }
// }
