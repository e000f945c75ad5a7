// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @addptr_for_used_after_update(%arg0: !tt.ptr<bf16>, %arg1: !tt.ptr<bf16>, %arg2: i32) attributes {noinline = false} {
    %cst = arith.constant dense<5> : tensor<64xi32>
    %cst_0 = arith.constant dense<3> : tensor<64xi32>
    %c1_i32 = arith.constant 1 : i32
    %c0_i32 = arith.constant 0 : i32
    %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %1 = tt.splat %arg0 : !tt.ptr<bf16> -> tensor<64x!tt.ptr<bf16>>
    %2 = tt.addptr %1, %0 : tensor<64x!tt.ptr<bf16>>, tensor<64xi32>
    %3 = tt.splat %arg1 : !tt.ptr<bf16> -> tensor<64x!tt.ptr<bf16>>
    %4 = tt.addptr %3, %0 : tensor<64x!tt.ptr<bf16>>, tensor<64xi32>
    %5:2 = scf.for %arg3 = %c0_i32 to %arg2 step %c1_i32 iter_args(%arg4 = %2, %arg5 = %4) -> (tensor<64x!tt.ptr<bf16>>, tensor<64x!tt.ptr<bf16>>)  : i32 {
      %6 = tt.addptr %arg5, %cst_0 : tensor<64x!tt.ptr<bf16>>, tensor<64xi32>
      %7 = tt.addptr %arg4, %cst : tensor<64x!tt.ptr<bf16>>, tensor<64xi32>
      %8 = tt.load %7 : tensor<64x!tt.ptr<bf16>>
      tt.store %6, %8 : tensor<64x!tt.ptr<bf16>>
      scf.yield %7, %6 : tensor<64x!tt.ptr<bf16>>, tensor<64x!tt.ptr<bf16>>
    }
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @addptr_for_used_after_update(%arg0: !tt.ptr<bf16>, %arg1: !tt.ptr<bf16>, %arg2: i32) attributes {noinline = false} {
//     %c5 = arith.constant 5 : index
//     %c3 = arith.constant 3 : index
//     %c0 = arith.constant 0 : index
//     %c1_i32 = arith.constant 1 : i32
//     %c0_i32 = arith.constant 0 : i32
//     %0:2 = scf.for %arg3 = %c0_i32 to %arg2 step %c1_i32 iter_args(%arg4 = %c0, %arg5 = %c0) -> (index, index)  : i32 {
//       %1 = arith.addi %arg4, %c5 : index
//       %2 = tts.make_tptr %arg0 to sizes: [64], strides: [1], offsets: [%1], shape: [0], order: [] : <bf16> to tensor<64x!tt.ptr<bf16>>
//       %3 = arith.addi %arg5, %c3 : index
//       %4 = tts.make_tptr %arg1 to sizes: [64], strides: [1], offsets: [%3], shape: [0], order: [] : <bf16> to tensor<64x!tt.ptr<bf16>>
//       %5 = "tts.load"(%2) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (tensor<64x!tt.ptr<bf16>>) -> tensor<64xbf16>
//       "tts.store"(%4, %5) <{static_mask_dims = array<i64>}> : (tensor<64x!tt.ptr<bf16>>, tensor<64xbf16>) -> ()
//       scf.yield %1, %3 : index, index
//     }
//     tt.return
//   }
// }
