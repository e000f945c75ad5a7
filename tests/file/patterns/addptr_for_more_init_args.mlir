// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @addptr_for_more_init_args(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: i32) attributes {noinline = false} {
    %cst = arith.constant 5.000000e-01 : f32
    %c2_i32 = arith.constant 2 : i32
    %cst_0 = arith.constant dense<3> : tensor<64xi32>
    %c1_i32 = arith.constant 1 : i32
    %cst_1 = arith.constant 1.000000e+00 : f32
    %c0_i32 = arith.constant 0 : i32
    %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %1 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %2 = tt.addptr %1, %0 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %3 = tt.splat %arg1 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %4 = tt.addptr %3, %0 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %5:4 = scf.for %arg3 = %c0_i32 to %arg2 step %c1_i32 iter_args(%arg4 = %2, %arg5 = %4, %arg6 = %c0_i32, %arg7 = %cst_1) -> (tensor<64x!tt.ptr<f32>>, tensor<64x!tt.ptr<f32>>, i32, f32)  : i32 {
      %6 = tt.load %arg4 : tensor<64x!tt.ptr<f32>>
      %7 = tt.splat %arg7 : f32 -> tensor<64xf32>
      %8 = arith.mulf %6, %7 : tensor<64xf32>
      %9 = arith.sitofp %arg6 : i32 to f32
      %10 = tt.splat %9 : f32 -> tensor<64xf32>
      %11 = arith.addf %8, %10 : tensor<64xf32>
      tt.store %arg5, %11 : tensor<64x!tt.ptr<f32>>
      %12 = tt.addptr %arg4, %cst_0 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
      %13 = tt.splat %arg6 : i32 -> tensor<64xi32>
      %14 = tt.addptr %arg5, %13 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
      %15 = arith.addi %arg6, %c2_i32 : i32
      %16 = arith.mulf %arg7, %cst : f32
      scf.yield %12, %14, %15, %16 : tensor<64x!tt.ptr<f32>>, tensor<64x!tt.ptr<f32>>, i32, f32
    }
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @addptr_for_more_init_args(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: i32) attributes {noinline = false} {
//     %c0 = arith.constant 0 : index
//     %c3 = arith.constant 3 : index
//     %cst = arith.constant 5.000000e-01 : f32
//     %c2_i32 = arith.constant 2 : i32
//     %c1_i32 = arith.constant 1 : i32
//     %cst_0 = arith.constant 1.000000e+00 : f32
//     %c0_i32 = arith.constant 0 : i32
//     %0:4 = scf.for %arg3 = %c0_i32 to %arg2 step %c1_i32 iter_args(%arg4 = %c0_i32, %arg5 = %cst_0, %arg6 = %c0, %arg7 = %c0) -> (i32, f32, index, index)  : i32 {
//       %1 = tts.make_tptr %arg0 to sizes: [64], strides: [1], offsets: [%arg6], shape: [0], order: [] : <f32> to tensor<64x!tt.ptr<f32>>
//       %2 = tts.make_tptr %arg1 to sizes: [64], strides: [1], offsets: [%arg7], shape: [0], order: [] : <f32> to tensor<64x!tt.ptr<f32>>
//       %3 = arith.addi %arg6, %c3 : index
//       %4 = arith.index_cast %arg4 : i32 to index
//       %5 = arith.addi %arg7, %4 : index
//       %6 = "tts.load"(%1) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (tensor<64x!tt.ptr<f32>>) -> tensor<64xf32>
//       %7 = tt.splat %arg5 : f32 -> tensor<64xf32>
//       %8 = arith.mulf %6, %7 : tensor<64xf32>
//       %9 = arith.sitofp %arg4 : i32 to f32
//       %10 = tt.splat %9 : f32 -> tensor<64xf32>
//       %11 = arith.addf %8, %10 : tensor<64xf32>
//       "tts.store"(%2, %11) <{static_mask_dims = array<i64>}> : (tensor<64x!tt.ptr<f32>>, tensor<64xf32>) -> ()
//       %12 = arith.addi %arg4, %c2_i32 : i32
//       %13 = arith.mulf %arg5, %cst : f32
//       scf.yield %12, %13, %3, %5 : i32, f32, index, index
//     }
//     tt.return
//   }
// }
