// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @nested_loops(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: i32, %arg3: i32) attributes {noinline = false} {
    %cst = arith.constant dense<3> : tensor<16xi32>
    %cst_0 = arith.constant dense<2> : tensor<16xi32>
    %cst_1 = arith.constant dense<1> : tensor<16xi32>
    %c1_i32 = arith.constant 1 : i32
    %c0_i32 = arith.constant 0 : i32
    %0 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %1 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %2 = tt.addptr %1, %0 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %3 = tt.splat %arg1 : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %4 = tt.addptr %3, %0 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %5:2 = scf.for %arg4 = %c0_i32 to %arg2 step %c1_i32 iter_args(%arg5 = %2, %arg6 = %4) -> (tensor<16x!tt.ptr<f32>>, tensor<16x!tt.ptr<f32>>)  : i32 {
      %6 = tt.load %arg5 : tensor<16x!tt.ptr<f32>>
      tt.store %arg6, %6 : tensor<16x!tt.ptr<f32>>
      %7:2 = scf.for %arg7 = %c0_i32 to %arg3 step %c1_i32 iter_args(%arg8 = %arg5, %arg9 = %arg6) -> (tensor<16x!tt.ptr<f32>>, tensor<16x!tt.ptr<f32>>)  : i32 {
        %9 = tt.addptr %arg8, %cst_1 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
        %10 = tt.addptr %arg9, %cst_0 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
        %11 = tt.load %9 : tensor<16x!tt.ptr<f32>>
        tt.store %10, %11 : tensor<16x!tt.ptr<f32>>
        scf.yield %9, %10 : tensor<16x!tt.ptr<f32>>, tensor<16x!tt.ptr<f32>>
      }
      %8 = tt.addptr %7#0, %cst : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
      scf.yield %8, %7#1 : tensor<16x!tt.ptr<f32>>, tensor<16x!tt.ptr<f32>>
    }
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @nested_loops(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: i32, %arg3: i32) attributes {noinline = false} {
//     %c1 = arith.constant 1 : index
//     %c2 = arith.constant 2 : index
//     %c0 = arith.constant 0 : index
//     %c3 = arith.constant 3 : index
//     %c1_i32 = arith.constant 1 : i32
//     %c0_i32 = arith.constant 0 : i32
//     %0:2 = scf.for %arg4 = %c0_i32 to %arg2 step %c1_i32 iter_args(%arg5 = %c0, %arg6 = %c0) -> (index, index)  : i32 {
//       %1 = tts.make_tptr %arg0 to sizes: [16], strides: [1], offsets: [%arg5], shape: [0], order: [] : <f32> to tensor<16x!tt.ptr<f32>>
//       %2 = tts.make_tptr %arg1 to sizes: [16], strides: [1], offsets: [%arg6], shape: [0], order: [] : <f32> to tensor<16x!tt.ptr<f32>>
//       %3 = "tts.load"(%1) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (tensor<16x!tt.ptr<f32>>) -> tensor<16xf32>
//       "tts.store"(%2, %3) <{static_mask_dims = array<i64>}> : (tensor<16x!tt.ptr<f32>>, tensor<16xf32>) -> ()
//       %4:2 = scf.for %arg7 = %c0_i32 to %arg3 step %c1_i32 iter_args(%arg8 = %arg5, %arg9 = %arg6) -> (index, index)  : i32 {
//         %6 = arith.addi %arg8, %c1 : index
//         %7 = tts.make_tptr %arg0 to sizes: [16], strides: [1], offsets: [%6], shape: [0], order: [] : <f32> to tensor<16x!tt.ptr<f32>>
//         %8 = arith.addi %arg9, %c2 : index
//         %9 = tts.make_tptr %arg1 to sizes: [16], strides: [1], offsets: [%8], shape: [0], order: [] : <f32> to tensor<16x!tt.ptr<f32>>
//         %10 = "tts.load"(%7) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (tensor<16x!tt.ptr<f32>>) -> tensor<16xf32>
//         "tts.store"(%9, %10) <{static_mask_dims = array<i64>}> : (tensor<16x!tt.ptr<f32>>, tensor<16xf32>) -> ()
//         scf.yield %6, %8 : index, index
//       }
//       %5 = arith.addi %4#0, %c3 : index
//       scf.yield %5, %4#1 : index, index
//     }
//     tt.return
//   }
// }
