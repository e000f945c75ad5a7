// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @unstructured_mask_2d(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<i32>, %arg2: !tt.ptr<f32>, %arg3: i32) attributes {noinline = false} {
    %cst = arith.constant dense<-1.000000e+00> : tensor<8x16xf32>
    %cst_0 = arith.constant dense<16> : tensor<8x1xi32>
    %cst_1 = arith.constant dense<0> : tensor<8xi32>
    %0 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    %1 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %2 = tt.splat %arg1 : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
    %3 = tt.addptr %2, %0 : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
    %4 = tt.load %3 : tensor<8x!tt.ptr<i32>>
    %5 = arith.cmpi ne, %4, %cst_1 : tensor<8xi32>
    %6 = tt.expand_dims %5 {axis = 1 : i32} : tensor<8xi1> -> tensor<8x1xi1>
    %7 = tt.splat %arg3 : i32 -> tensor<16xi32>
    %8 = arith.cmpi slt, %1, %7 : tensor<16xi32>
    %9 = tt.expand_dims %8 {axis = 0 : i32} : tensor<16xi1> -> tensor<1x16xi1>
    %10 = tt.broadcast %6 : tensor<8x1xi1> -> tensor<8x16xi1>
    %11 = tt.broadcast %9 : tensor<1x16xi1> -> tensor<8x16xi1>
    %12 = arith.andi %10, %11 : tensor<8x16xi1>
    %13 = tt.expand_dims %0 {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
    %14 = arith.muli %13, %cst_0 : tensor<8x1xi32>
    %15 = tt.expand_dims %1 {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
    %16 = tt.broadcast %14 : tensor<8x1xi32> -> tensor<8x16xi32>
    %17 = tt.broadcast %15 : tensor<1x16xi32> -> tensor<8x16xi32>
    %18 = arith.addi %16, %17 : tensor<8x16xi32>
    %19 = tt.splat %arg2 : !tt.ptr<f32> -> tensor<8x16x!tt.ptr<f32>>
    %20 = tt.addptr %19, %18 : tensor<8x16x!tt.ptr<f32>>, tensor<8x16xi32>
    %21 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<8x16x!tt.ptr<f32>>
    %22 = tt.addptr %21, %18 : tensor<8x16x!tt.ptr<f32>>, tensor<8x16xi32>
    %23 = tt.load %22, %12, %cst : tensor<8x16x!tt.ptr<f32>>
    tt.store %20, %23, %12 : tensor<8x16x!tt.ptr<f32>>
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @unstructured_mask_2d(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<i32>, %arg2: !tt.ptr<f32>, %arg3: i32) attributes {noinline = false} {
//     %cst = arith.constant dense<0> : tensor<8xi32>
//     %cst_0 = arith.constant -1.000000e+00 : f32
//     %c0 = arith.constant 0 : index
//     %c16 = arith.constant 16 : index
//     %0 = tts.make_tptr %arg1 to sizes: [8], strides: [1], offsets: [0], shape: [0], order: [] : <i32> to tensor<8x!tt.ptr<i32>>
//     %1 = tts.make_tptr %arg0 to sizes: [8, 16], strides: [16, 1], offsets: [0, 0], shape: [0, 0], order: [] : <f32> to tensor<8x16x!tt.ptr<f32>>
//     %2 = arith.index_cast %arg3 : i32 to index
//     %3 = arith.minsi %2, %c16 : index
//     %4 = arith.maxsi %3, %c0 : index
//     %5 = tts.make_tptr %arg2 to sizes: [8, 16], strides: [16, 1], offsets: [0, 0], shape: [0, 0], order: [] : <f32> to tensor<8x16x!tt.ptr<f32>>
//     %6 = "tts.load"(%0) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (tensor<8x!tt.ptr<i32>>) -> tensor<8xi32>
//     %7 = arith.cmpi ne, %6, %cst : tensor<8xi32>
//     %8 = tt.expand_dims %7 {axis = 1 : i32} : tensor<8xi1> -> tensor<8x1xi1>
//     %9 = "tts.masked_load"(%1, %4, %8, %cst_0) <{operandSegmentSizes = array<i32: 1, 0, 1, 1, 1>, static_mask_dims = array<i64: 8, -9223372036854775808>, static_mask_starts = array<i64: 0, 0>}> : (tensor<8x16x!tt.ptr<f32>>, index, tensor<8x1xi1>, f32) -> tensor<8x16xf32>
//     "tts.masked_store"(%5, %9, %4, %8) <{operandSegmentSizes = array<i32: 1, 1, 0, 1, 1>, static_mask_dims = array<i64: 8, -9223372036854775808>, static_mask_starts = array<i64: 0, 0>}> : (tensor<8x16x!tt.ptr<f32>>, tensor<8x16xf32>, index, tensor<8x1xi1>) -> ()
//     tt.return
//   }
// }
