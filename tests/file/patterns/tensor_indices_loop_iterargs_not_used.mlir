// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @tensor_indices_loop_iterargs_not_used(%arg0: !tt.ptr<i32>, %arg1: !tt.ptr<i32>, %arg2: i32) attributes {noinline = false} {
    %cst = arith.constant dense<2> : tensor<16xi32>
    %c1_i32 = arith.constant 1 : i32
    %c0_i32 = arith.constant 0 : i32
    %0 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %1 = scf.for %arg3 = %c0_i32 to %arg2 step %c1_i32 iter_args(%arg4 = %0) -> (tensor<16xi32>)  : i32 {
      %8 = arith.addi %arg4, %cst : tensor<16xi32>
      scf.yield %8 : tensor<16xi32>
    }
    %2 = tt.splat %arg1 : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
    %3 = tt.addptr %2, %0 : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
    %4 = tt.splat %arg0 : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
    %5 = tt.addptr %4, %0 : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
    %6 = tt.load %5 : tensor<16x!tt.ptr<i32>>
    %7 = arith.addi %6, %1 : tensor<16xi32>
    tt.store %3, %7 : tensor<16x!tt.ptr<i32>>
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @tensor_indices_loop_iterargs_not_used(%arg0: !tt.ptr<i32>, %arg1: !tt.ptr<i32>, %arg2: i32) attributes {noinline = false} {
//     %c0_i32 = arith.constant 0 : i32
//     %c1_i32 = arith.constant 1 : i32
//     %cst = arith.constant dense<2> : tensor<16xi32>
//     %0 = tts.make_tptr %arg0 to sizes: [16], strides: [1], offsets: [0], shape: [0], order: [] : <i32> to tensor<16x!tt.ptr<i32>>
//     %1 = tts.make_tptr %arg1 to sizes: [16], strides: [1], offsets: [0], shape: [0], order: [] : <i32> to tensor<16x!tt.ptr<i32>>
//     %2 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
//     %3 = scf.for %arg3 = %c0_i32 to %arg2 step %c1_i32 iter_args(%arg4 = %2) -> (tensor<16xi32>)  : i32 {
//       %6 = arith.addi %arg4, %cst : tensor<16xi32>
//       scf.yield %6 : tensor<16xi32>
//     }
//     %4 = "tts.load"(%0) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (tensor<16x!tt.ptr<i32>>) -> tensor<16xi32>
//     %5 = arith.addi %4, %3 : tensor<16xi32>
//     "tts.store"(%1, %5) <{static_mask_dims = array<i64>}> : (tensor<16x!tt.ptr<i32>>, tensor<16xi32>) -> ()
//     tt.return
//   }
// }
