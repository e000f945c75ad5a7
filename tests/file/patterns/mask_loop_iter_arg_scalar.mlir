// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @mask_loop_iter_arg_scalar(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f8E5M2>, %arg2: i32) attributes {noinline = false} {
    %cst = arith.constant dense<1> : tensor<1xi32>
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<1xf32>
    %c1_i32 = arith.constant 1 : i32
    %c5_i32 = arith.constant 5 : i32
    %c0_i32 = arith.constant 0 : i32
    %cst_1 = arith.constant dense<0> : tensor<1xi32>
    %0 = scf.for %arg3 = %c0_i32 to %c5_i32 step %c1_i32 iter_args(%arg4 = %cst_1) -> (tensor<1xi32>)  : i32 {
      %1 = tt.splat %arg1 : !tt.ptr<f8E5M2> -> tensor<1x!tt.ptr<f8E5M2>>
      %2 = tt.addptr %1, %arg4 : tensor<1x!tt.ptr<f8E5M2>>, tensor<1xi32>
      %3 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<1x!tt.ptr<f32>>
      %4 = tt.addptr %3, %arg4 : tensor<1x!tt.ptr<f32>>, tensor<1xi32>
      %5 = tt.splat %arg2 : i32 -> tensor<1xi32>
      %6 = arith.cmpi slt, %arg4, %5 : tensor<1xi32>
      %7 = tt.load %4, %6, %cst_0 : tensor<1x!tt.ptr<f32>>
      %8 = tt.fp_to_fp %7, rounding = rtne : tensor<1xf32> -> tensor<1xf8E5M2>
      tt.store %2, %8, %6 : tensor<1x!tt.ptr<f8E5M2>>
      %9 = arith.addi %arg4, %cst : tensor<1xi32>
      scf.yield %9 : tensor<1xi32>
    }
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @mask_loop_iter_arg_scalar(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f8E5M2>, %arg2: i32) attributes {noinline = false} {
//     %c0_i32 = arith.constant 0 : i32
//     %c5_i32 = arith.constant 5 : i32
//     %c1_i32 = arith.constant 1 : i32
//     %cst = arith.constant 0.000000e+00 : f32
//     %c0 = arith.constant 0 : index
//     %c1 = arith.constant 1 : index
//     %0 = arith.index_cast %arg2 : i32 to index
//     %1 = scf.for %arg3 = %c0_i32 to %c5_i32 step %c1_i32 iter_args(%arg4 = %c0) -> (index)  : i32 {
//       %2 = tts.make_tptr %arg0 to sizes: [1], strides: [0], offsets: [%arg4], shape: [0], order: [] : <f32> to tensor<1x!tt.ptr<f32>>
//       %3 = arith.cmpi slt, %arg4, %0 : index
//       %4 = arith.select %3, %c1, %c0 : index
//       %5 = tts.make_tptr %arg1 to sizes: [1], strides: [0], offsets: [%arg4], shape: [0], order: [] : <f8E5M2> to tensor<1x!tt.ptr<f8E5M2>>
//       %6 = arith.addi %arg4, %c1 : index
//       %7 = "tts.load"(%2, %4, %cst) <{operandSegmentSizes = array<i32: 1, 1, 1>, static_mask_dims = array<i64: -9223372036854775808>}> : (tensor<1x!tt.ptr<f32>>, index, f32) -> tensor<1xf32>
//       %8 = tt.fp_to_fp %7, rounding = rtne : tensor<1xf32> -> tensor<1xf8E5M2>
//       "tts.store"(%5, %8, %4) <{static_mask_dims = array<i64: -9223372036854775808>}> : (tensor<1x!tt.ptr<f8E5M2>>, tensor<1xf8E5M2>, index) -> ()
//       scf.yield %6 : index
//     }
//     tt.return
//   }
// }
