// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @nested_ptr_in_iterargs(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<i32>, %arg2: !tt.ptr<f32>, %arg3: i32) attributes {noinline = false} {
    %cst = arith.constant dense<2> : tensor<16xi32>
    %cst_0 = arith.constant dense<1> : tensor<16xi32>
    %c2_i32 = arith.constant 2 : i32
    %c1_i32 = arith.constant 1 : i32
    %c0_i32 = arith.constant 0 : i32
    %0 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %1 = tt.splat %arg1 : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
    %2 = tt.addptr %1, %0 : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
    %3 = tt.load %2 : tensor<16x!tt.ptr<i32>>
    %4 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %5 = tt.addptr %4, %3 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %6 = tt.splat %arg2 : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %7 = tt.addptr %6, %3 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %8:2 = scf.for %arg4 = %c0_i32 to %arg3 step %c1_i32 iter_args(%arg5 = %5, %arg6 = %7) -> (tensor<16x!tt.ptr<f32>>, tensor<16x!tt.ptr<f32>>)  : i32 {
      %9 = scf.for %arg7 = %c0_i32 to %c2_i32 step %c1_i32 iter_args(%arg8 = %arg5) -> (tensor<16x!tt.ptr<f32>>)  : i32 {
        %11 = tt.load %arg8 : tensor<16x!tt.ptr<f32>>
        tt.store %arg6, %11 : tensor<16x!tt.ptr<f32>>
        %12 = tt.addptr %arg8, %cst_0 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
        scf.yield %12 : tensor<16x!tt.ptr<f32>>
      }
      %10 = tt.addptr %arg6, %cst : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
      scf.yield %9, %10 : tensor<16x!tt.ptr<f32>>, tensor<16x!tt.ptr<f32>>
    }
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @nested_ptr_in_iterargs(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<i32>, %arg2: !tt.ptr<f32>, %arg3: i32) attributes {noinline = false} {
//     %c0_i32 = arith.constant 0 : i32
//     %c1_i32 = arith.constant 1 : i32
//     %c2_i32 = arith.constant 2 : i32
//     %c2 = arith.constant 2 : index
//     %c1 = arith.constant 1 : index
//     %c0 = arith.constant 0 : index
//     %0 = tts.make_tptr %arg1 to sizes: [16], strides: [1], offsets: [0], shape: [0], order: [] : <i32> to tensor<16x!tt.ptr<i32>>
//     %1 = "tts.load"(%0) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (tensor<16x!tt.ptr<i32>>) -> tensor<16xi32>
//     %2 = arith.extsi %1 : tensor<16xi32> to tensor<16xi64>
//     %3:2 = scf.for %arg4 = %c0_i32 to %arg3 step %c1_i32 iter_args(%arg5 = %c0, %arg6 = %c0) -> (index, index)  : i32 {
//       %4 = arith.index_cast %arg5 : index to i64
//       %5 = tt.splat %4 : i64 -> tensor<16xi64>
//       %6 = arith.addi %5, %2 : tensor<16xi64>
//       %7 = tts.make_gather_scatter_tptr %arg2 to sizes: [16] gather_scatter_dim: 0 gather_scatter_offset: %6, strides: [1], offsets: [0] : tensor<16xi64> <f32> to !tt.ptr<tensor<16xf32>>
//       %8 = arith.addi %arg5, %c2 : index
//       %9 = scf.for %arg7 = %c0_i32 to %c2_i32 step %c1_i32 iter_args(%arg8 = %arg6) -> (index)  : i32 {
//         %10 = arith.index_cast %arg8 : index to i64
//         %11 = tt.splat %10 : i64 -> tensor<16xi64>
//         %12 = arith.addi %11, %2 : tensor<16xi64>
//         %13 = tts.make_gather_scatter_tptr %arg0 to sizes: [16] gather_scatter_dim: 0 gather_scatter_offset: %12, strides: [1], offsets: [0] : tensor<16xi64> <f32> to !tt.ptr<tensor<16xf32>>
//         %14 = arith.addi %arg8, %c1 : index
//         %15 = "tts.load"(%13) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (!tt.ptr<tensor<16xf32>>) -> tensor<16xf32>
//         "tts.store"(%7, %15) <{static_mask_dims = array<i64>}> : (!tt.ptr<tensor<16xf32>>, tensor<16xf32>) -> ()
//         scf.yield %14 : index
//       }
//       scf.yield %8, %9 : index, index
//     }
//     tt.return
//   }
// }
