// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @addptr_scalar_for_2d(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: i32) attributes {noinline = false} {
    %c2_i32 = arith.constant 2 : i32
    %c0_i32 = arith.constant 0 : i32
    %cst = arith.constant dense<0.000000e+00> : tensor<8x16xf32>
    %c1_i32 = arith.constant 1 : i32
    %cst_0 = arith.constant dense<16> : tensor<8x1xi32>
    %0 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    %1 = tt.expand_dims %0 {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
    %2 = arith.muli %1, %cst_0 : tensor<8x1xi32>
    %3 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %4 = tt.expand_dims %3 {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
    %5 = tt.broadcast %2 : tensor<8x1xi32> -> tensor<8x16xi32>
    %6 = tt.broadcast %4 : tensor<1x16xi32> -> tensor<8x16xi32>
    %7 = arith.addi %5, %6 : tensor<8x16xi32>
    %8 = tt.addptr %arg0, %c1_i32 : !tt.ptr<f32>, i32
    %9:2 = scf.for %arg3 = %c0_i32 to %arg2 step %c1_i32 iter_args(%arg4 = %8, %arg5 = %cst) -> (!tt.ptr<f32>, tensor<8x16xf32>)  : i32 {
      %12 = tt.splat %arg4 : !tt.ptr<f32> -> tensor<8x16x!tt.ptr<f32>>
      %13 = tt.addptr %12, %7 : tensor<8x16x!tt.ptr<f32>>, tensor<8x16xi32>
      %14 = tt.load %13 : tensor<8x16x!tt.ptr<f32>>
      %15 = arith.addf %arg5, %14 : tensor<8x16xf32>
      %16 = arith.muli %arg3, %c2_i32 : i32
      %17 = tt.addptr %arg4, %16 : !tt.ptr<f32>, i32
      scf.yield %17, %15 : !tt.ptr<f32>, tensor<8x16xf32>
    }
    %10 = tt.splat %arg1 : !tt.ptr<f32> -> tensor<8x16x!tt.ptr<f32>>
    %11 = tt.addptr %10, %7 : tensor<8x16x!tt.ptr<f32>>, tensor<8x16xi32>
    tt.store %11, %9#1 : tensor<8x16x!tt.ptr<f32>>
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @addptr_scalar_for_2d(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: i32) attributes {noinline = false} {
//     %c1_i32 = arith.constant 1 : i32
//     %cst = arith.constant dense<0.000000e+00> : tensor<8x16xf32>
//     %c0_i32 = arith.constant 0 : i32
//     %c2_i32 = arith.constant 2 : i32
//     %c1 = arith.constant 1 : index
//     %0 = tts.make_tptr %arg1 to sizes: [8, 16], strides: [16, 1], offsets: [0, 0], shape: [0, 0], order: [] : <f32> to tensor<8x16x!tt.ptr<f32>>
//     %1:2 = scf.for %arg3 = %c0_i32 to %arg2 step %c1_i32 iter_args(%arg4 = %cst, %arg5 = %c1) -> (tensor<8x16xf32>, index)  : i32 {
//       %2 = tts.make_tptr %arg0 to sizes: [8, 16], strides: [16, 1], offsets: [%arg5, 0], shape: [0, 0], order: [] : <f32> to tensor<8x16x!tt.ptr<f32>>
//       %3 = "tts.load"(%2) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (tensor<8x16x!tt.ptr<f32>>) -> tensor<8x16xf32>
//       %4 = arith.addf %arg4, %3 : tensor<8x16xf32>
//       %5 = arith.muli %arg3, %c2_i32 : i32
//       %6 = arith.index_cast %5 : i32 to index
//       %7 = arith.addi %arg5, %6 : index
//       scf.yield %4, %7 : tensor<8x16xf32>, index
//     }
//     "tts.store"(%0, %1#0) <{static_mask_dims = array<i64>}> : (tensor<8x16x!tt.ptr<f32>>, tensor<8x16xf32>) -> ()
//     tt.return
//   }
// }
