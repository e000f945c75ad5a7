// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @use_dot_opc(%arg0: !tt.ptr<bf16>, %arg1: !tt.ptr<bf16>, %arg2: !tt.ptr<f32>) attributes {noinline = false} {
    %c256_i32 = arith.constant 256 : i32
    %cst = arith.constant dense<0.000000e+00> : tensor<16x16xf32>
    %cst_0 = arith.constant dense<16> : tensor<16x1xi32>
    %0 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %1 = tt.expand_dims %0 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %2 = arith.muli %1, %cst_0 : tensor<16x1xi32>
    %3 = tt.expand_dims %0 {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
    %4 = tt.broadcast %2 : tensor<16x1xi32> -> tensor<16x16xi32>
    %5 = tt.broadcast %3 : tensor<1x16xi32> -> tensor<16x16xi32>
    %6 = arith.addi %4, %5 : tensor<16x16xi32>
    %7 = tt.splat %arg2 : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
    %8 = tt.addptr %7, %6 : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
    %9 = tt.splat %arg0 : !tt.ptr<bf16> -> tensor<16x16x!tt.ptr<bf16>>
    %10 = tt.addptr %9, %6 : tensor<16x16x!tt.ptr<bf16>>, tensor<16x16xi32>
    %11 = tt.load %10 : tensor<16x16x!tt.ptr<bf16>>
    %12 = tt.splat %arg1 : !tt.ptr<bf16> -> tensor<16x16x!tt.ptr<bf16>>
    %13 = tt.addptr %12, %6 : tensor<16x16x!tt.ptr<bf16>>, tensor<16x16xi32>
    %14 = tt.load %13 : tensor<16x16x!tt.ptr<bf16>>
    %15 = tt.dot %11, %14, %cst, inputPrecision = tf32 : tensor<16x16xbf16> * tensor<16x16xbf16> -> tensor<16x16xf32>
    tt.store %8, %15 : tensor<16x16x!tt.ptr<f32>>
    %16 = tt.addptr %arg2, %c256_i32 : !tt.ptr<f32>, i32
    %17 = tt.splat %16 : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
    %18 = tt.addptr %17, %6 : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
    tt.store %18, %cst : tensor<16x16x!tt.ptr<f32>>
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @use_dot_opc(%arg0: !tt.ptr<bf16>, %arg1: !tt.ptr<bf16>, %arg2: !tt.ptr<f32>) attributes {noinline = false} {
//     %cst = arith.constant dense<0.000000e+00> : tensor<16x16xf32>
//     %0 = tts.make_tptr %arg0 to sizes: [16, 16], strides: [16, 1], offsets: [0, 0], shape: [0, 0], order: [] : <bf16> to tensor<16x16x!tt.ptr<bf16>>
//     %1 = tts.make_tptr %arg1 to sizes: [16, 16], strides: [16, 1], offsets: [0, 0], shape: [0, 0], order: [] : <bf16> to tensor<16x16x!tt.ptr<bf16>>
//     %2 = tts.make_tptr %arg2 to sizes: [16, 16], strides: [16, 1], offsets: [0, 0], shape: [0, 0], order: [] : <f32> to tensor<16x16x!tt.ptr<f32>>
//     %3 = tts.make_tptr %arg2 to sizes: [16, 16], strides: [16, 1], offsets: [256, 0], shape: [0, 0], order: [] : <f32> to tensor<16x16x!tt.ptr<f32>>
//     %4 = "tts.load"(%0) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (tensor<16x16x!tt.ptr<bf16>>) -> tensor<16x16xbf16>
//     %5 = "tts.load"(%1) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (tensor<16x16x!tt.ptr<bf16>>) -> tensor<16x16xbf16>
//     %6 = tt.dot %4, %5, %cst, inputPrecision = tf32 : tensor<16x16xbf16> * tensor<16x16xbf16> -> tensor<16x16xf32>
//     "tts.store"(%2, %6) <{static_mask_dims = array<i64>}> : (tensor<16x16x!tt.ptr<f32>>, tensor<16x16xf32>) -> ()
//     "tts.store"(%3, %cst) <{static_mask_dims = array<i64>}> : (tensor<16x16x!tt.ptr<f32>>, tensor<16x16xf32>) -> ()
//     tt.return
//   }
// }
