// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @addptr_for_accumulation(%arg0: !tt.ptr<bf16>, %arg1: !tt.ptr<f32>, %arg2: i32) attributes {noinline = false} {
    %cst = arith.constant dense<64> : tensor<64xi32>
    %c1_i32 = arith.constant 1 : i32
    %c0_i32 = arith.constant 0 : i32
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<64xf32>
    %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %1 = tt.splat %arg0 : !tt.ptr<bf16> -> tensor<64x!tt.ptr<bf16>>
    %2 = tt.addptr %1, %0 : tensor<64x!tt.ptr<bf16>>, tensor<64xi32>
    %3:2 = scf.for %arg3 = %c0_i32 to %arg2 step %c1_i32 iter_args(%arg4 = %2, %arg5 = %cst_0) -> (tensor<64x!tt.ptr<bf16>>, tensor<64xf32>)  : i32 {
      %6 = tt.load %arg4 : tensor<64x!tt.ptr<bf16>>
      %7 = arith.extf %6 : tensor<64xbf16> to tensor<64xf32>
      %8 = arith.addf %arg5, %7 : tensor<64xf32>
      %9 = tt.addptr %arg4, %cst : tensor<64x!tt.ptr<bf16>>, tensor<64xi32>
      scf.yield %9, %8 : tensor<64x!tt.ptr<bf16>>, tensor<64xf32>
    }
    %4 = tt.splat %arg1 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %5 = tt.addptr %4, %0 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    tt.store %5, %3#1 : tensor<64x!tt.ptr<f32>>
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @addptr_for_accumulation(%arg0: !tt.ptr<bf16>, %arg1: !tt.ptr<f32>, %arg2: i32) attributes {noinline = false} {
//     %cst = arith.constant dense<0.000000e+00> : tensor<64xf32>
//     %c0_i32 = arith.constant 0 : i32
//     %c1_i32 = arith.constant 1 : i32
//     %c64 = arith.constant 64 : index
//     %c0 = arith.constant 0 : index
//     %0 = tts.make_tptr %arg1 to sizes: [64], strides: [1], offsets: [0], shape: [0], order: [] : <f32> to tensor<64x!tt.ptr<f32>>
//     %1:2 = scf.for %arg3 = %c0_i32 to %arg2 step %c1_i32 iter_args(%arg4 = %cst, %arg5 = %c0) -> (tensor<64xf32>, index)  : i32 {
//       %2 = tts.make_tptr %arg0 to sizes: [64], strides: [1], offsets: [%arg5], shape: [0], order: [] : <bf16> to tensor<64x!tt.ptr<bf16>>
//       %3 = arith.addi %arg5, %c64 : index
//       %4 = "tts.load"(%2) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (tensor<64x!tt.ptr<bf16>>) -> tensor<64xbf16>
//       %5 = arith.extf %4 : tensor<64xbf16> to tensor<64xf32>
//       %6 = arith.addf %arg4, %5 : tensor<64xf32>
//       scf.yield %6, %3 : tensor<64xf32>, index
//     }
//     "tts.store"(%0, %1#0) <{static_mask_dims = array<i64>}> : (tensor<64x!tt.ptr<f32>>, tensor<64xf32>) -> ()
//     tt.return
//   }
// }
