// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @ridiculously_nested_loops(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: i32) attributes {noinline = false} {
    %cst = arith.constant dense<1> : tensor<16xi32>
    %c2_i32 = arith.constant 2 : i32
    %c1_i32 = arith.constant 1 : i32
    %c0_i32 = arith.constant 0 : i32
    %0 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %1 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %2 = tt.addptr %1, %0 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %3 = tt.splat %arg1 : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %4 = tt.addptr %3, %0 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %5:2 = scf.for %arg3 = %c0_i32 to %arg2 step %c1_i32 iter_args(%arg4 = %2, %arg5 = %4) -> (tensor<16x!tt.ptr<f32>>, tensor<16x!tt.ptr<f32>>)  : i32 {
      %8 = tt.splat %arg3 : i32 -> tensor<16xi32>
      %9 = tt.addptr %arg4, %8 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
      %10:2 = scf.for %arg6 = %c0_i32 to %c2_i32 step %c1_i32 iter_args(%arg7 = %9, %arg8 = %arg5) -> (tensor<16x!tt.ptr<f32>>, tensor<16x!tt.ptr<f32>>)  : i32 {
        %11 = tt.splat %arg6 : i32 -> tensor<16xi32>
        %12 = tt.addptr %arg8, %11 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
        %13 = scf.for %arg9 = %c0_i32 to %c2_i32 step %c1_i32 iter_args(%arg10 = %arg7) -> (tensor<16x!tt.ptr<f32>>)  : i32 {
          %15 = tt.load %arg10 : tensor<16x!tt.ptr<f32>>
          %16 = arith.sitofp %arg3 : i32 to f32
          %17 = tt.splat %16 : f32 -> tensor<16xf32>
          %18 = arith.addf %15, %17 : tensor<16xf32>
          tt.store %12, %18 : tensor<16x!tt.ptr<f32>>
          %19 = tt.addptr %arg10, %cst : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
          scf.yield %19 : tensor<16x!tt.ptr<f32>>
        }
        %14 = tt.addptr %12, %cst : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
        scf.yield %13, %14 : tensor<16x!tt.ptr<f32>>, tensor<16x!tt.ptr<f32>>
      }
      scf.yield %10#0, %10#1 : tensor<16x!tt.ptr<f32>>, tensor<16x!tt.ptr<f32>>
    }
    %6 = tt.addptr %5#1, %cst : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %7 = tt.load %5#0 : tensor<16x!tt.ptr<f32>>
    tt.store %6, %7 : tensor<16x!tt.ptr<f32>>
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @ridiculously_nested_loops(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: i32) attributes {noinline = false} {
//     %c1 = arith.constant 1 : index
//     %c0 = arith.constant 0 : index
//     %c2_i32 = arith.constant 2 : i32
//     %c1_i32 = arith.constant 1 : i32
//     %c0_i32 = arith.constant 0 : i32
//     %0:2 = scf.for %arg3 = %c0_i32 to %arg2 step %c1_i32 iter_args(%arg4 = %c0, %arg5 = %c0) -> (index, index)  : i32 {
//       %5 = arith.index_cast %arg3 : i32 to index
//       %6 = arith.addi %5, %arg4 : index
//       %7:2 = scf.for %arg6 = %c0_i32 to %c2_i32 step %c1_i32 iter_args(%arg7 = %arg5, %arg8 = %6) -> (index, index)  : i32 {
//         %8 = arith.index_cast %arg6 : i32 to index
//         %9 = arith.addi %8, %arg7 : index
//         %10 = tts.make_tptr %arg1 to sizes: [16], strides: [1], offsets: [%9], shape: [0], order: [] : <f32> to tensor<16x!tt.ptr<f32>>
//         %11 = arith.addi %8, %c1 : index
//         %12 = arith.addi %11, %arg7 : index
//         %13 = scf.for %arg9 = %c0_i32 to %c2_i32 step %c1_i32 iter_args(%arg10 = %arg8) -> (index)  : i32 {
//           %14 = tts.make_tptr %arg0 to sizes: [16], strides: [1], offsets: [%arg10], shape: [0], order: [] : <f32> to tensor<16x!tt.ptr<f32>>
//           %15 = arith.addi %arg10, %c1 : index
//           %16 = "tts.load"(%14) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (tensor<16x!tt.ptr<f32>>) -> tensor<16xf32>
//           %17 = arith.sitofp %arg3 : i32 to f32
//           %18 = tt.splat %17 : f32 -> tensor<16xf32>
//           %19 = arith.addf %16, %18 : tensor<16xf32>
//           "tts.store"(%10, %19) <{static_mask_dims = array<i64>}> : (tensor<16x!tt.ptr<f32>>, tensor<16xf32>) -> ()
//           scf.yield %15 : index
//         }
//         scf.yield %12, %13 : index, index
//       }
//       scf.yield %7#1, %7#0 : index, index
//     }
//     %1 = tts.make_tptr %arg0 to sizes: [16], strides: [1], offsets: [%0#0], shape: [0], order: [] : <f32> to tensor<16x!tt.ptr<f32>>
//     %2 = arith.addi %0#1, %c1 : index
//     %3 = tts.make_tptr %arg1 to sizes: [16], strides: [1], offsets: [%2], shape: [0], order: [] : <f32> to tensor<16x!tt.ptr<f32>>
//     %4 = "tts.load"(%1) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (tensor<16x!tt.ptr<f32>>) -> tensor<16xf32>
//     "tts.store"(%3, %4) <{static_mask_dims = array<i64>}> : (tensor<16x!tt.ptr<f32>>, tensor<16xf32>) -> ()
//     tt.return
//   }
// }
