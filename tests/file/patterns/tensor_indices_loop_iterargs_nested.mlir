// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @tensor_indices_loop_iterargs_nested(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: i32) attributes {noinline = false} {
    %cst = arith.constant dense<1> : tensor<16xi32>
    %cst_0 = arith.constant dense<3> : tensor<16xi32>
    %cst_1 = arith.constant dense<2> : tensor<16xi32>
    %c2_i32 = arith.constant 2 : i32
    %c1_i32 = arith.constant 1 : i32
    %c0_i32 = arith.constant 0 : i32
    %0 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %1:2 = scf.for %arg3 = %c0_i32 to %arg2 step %c1_i32 iter_args(%arg4 = %0, %arg5 = %0) -> (tensor<16xi32>, tensor<16xi32>)  : i32 {
      %2:2 = scf.for %arg6 = %c0_i32 to %c2_i32 step %c1_i32 iter_args(%arg7 = %arg4, %arg8 = %arg5) -> (tensor<16xi32>, tensor<16xi32>)  : i32 {
        %4 = tt.splat %arg1 : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
        %5 = tt.addptr %4, %arg8 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
        %6 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
        %7 = tt.addptr %6, %arg7 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
        %8 = tt.load %7 : tensor<16x!tt.ptr<f32>>
        tt.store %5, %8 : tensor<16x!tt.ptr<f32>>
        %9 = arith.addi %arg7, %cst_1 : tensor<16xi32>
        %10 = arith.addi %arg8, %cst_0 : tensor<16xi32>
        scf.yield %9, %10 : tensor<16xi32>, tensor<16xi32>
      }
      %3 = arith.addi %2#0, %cst : tensor<16xi32>
      scf.yield %3, %2#1 : tensor<16xi32>, tensor<16xi32>
    }
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @tensor_indices_loop_iterargs_nested(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: i32) attributes {noinline = false} {
//     %c2 = arith.constant 2 : index
//     %c3 = arith.constant 3 : index
//     %c0 = arith.constant 0 : index
//     %c1 = arith.constant 1 : index
//     %c2_i32 = arith.constant 2 : i32
//     %c1_i32 = arith.constant 1 : i32
//     %c0_i32 = arith.constant 0 : i32
//     %0:2 = scf.for %arg3 = %c0_i32 to %arg2 step %c1_i32 iter_args(%arg4 = %c0, %arg5 = %c0) -> (index, index)  : i32 {
//       %1:2 = scf.for %arg6 = %c0_i32 to %c2_i32 step %c1_i32 iter_args(%arg7 = %arg4, %arg8 = %arg5) -> (index, index)  : i32 {
//         %3 = tts.make_tptr %arg0 to sizes: [16], strides: [1], offsets: [%arg7], shape: [0], order: [] : <f32> to tensor<16x!tt.ptr<f32>>
//         %4 = tts.make_tptr %arg1 to sizes: [16], strides: [1], offsets: [%arg8], shape: [0], order: [] : <f32> to tensor<16x!tt.ptr<f32>>
//         %5 = arith.addi %arg7, %c2 : index
//         %6 = arith.addi %arg8, %c3 : index
//         %7 = "tts.load"(%3) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (tensor<16x!tt.ptr<f32>>) -> tensor<16xf32>
//         "tts.store"(%4, %7) <{static_mask_dims = array<i64>}> : (tensor<16x!tt.ptr<f32>>, tensor<16xf32>) -> ()
//         scf.yield %5, %6 : index, index
//       }
//       %2 = arith.addi %1#0, %c1 : index
//       scf.yield %2, %1#1 : index, index
//     }
//     tt.return
//   }
// }
