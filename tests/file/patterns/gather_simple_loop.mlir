// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @gather_simple_loop(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<i32>, %arg2: !tt.ptr<f32>, %arg3: i32) attributes {noinline = false} {
    %cst = arith.constant dense<2> : tensor<16xi32>
    %c1_i32 = arith.constant 1 : i32
    %c0_i32 = arith.constant 0 : i32
    %0 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %1 = tt.splat %arg1 : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
    %2 = tt.addptr %1, %0 : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
    %3 = tt.load %2 : tensor<16x!tt.ptr<i32>>
    %4 = scf.for %arg4 = %c0_i32 to %arg3 step %c1_i32 iter_args(%arg5 = %3) -> (tensor<16xi32>)  : i32 {
      %5 = tt.splat %arg2 : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
      %6 = tt.addptr %5, %0 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
      %7 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
      %8 = tt.addptr %7, %arg5 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
      %9 = tt.load %8 : tensor<16x!tt.ptr<f32>>
      tt.store %6, %9 : tensor<16x!tt.ptr<f32>>
      %10 = arith.addi %arg5, %cst : tensor<16xi32>
      scf.yield %10 : tensor<16xi32>
    }
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @gather_simple_loop(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<i32>, %arg2: !tt.ptr<f32>, %arg3: i32) attributes {noinline = false} {
//     %c0_i32 = arith.constant 0 : i32
//     %c1_i32 = arith.constant 1 : i32
//     %c2 = arith.constant 2 : index
//     %c0 = arith.constant 0 : index
//     %0 = tts.make_tptr %arg1 to sizes: [16], strides: [1], offsets: [0], shape: [0], order: [] : <i32> to tensor<16x!tt.ptr<i32>>
//     %1 = tts.make_tptr %arg2 to sizes: [16], strides: [1], offsets: [0], shape: [0], order: [] : <f32> to tensor<16x!tt.ptr<f32>>
//     %2 = "tts.load"(%0) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (tensor<16x!tt.ptr<i32>>) -> tensor<16xi32>
//     %3 = arith.extsi %2 : tensor<16xi32> to tensor<16xi64>
//     %4 = scf.for %arg4 = %c0_i32 to %arg3 step %c1_i32 iter_args(%arg5 = %c0) -> (index)  : i32 {
//       %5 = arith.index_cast %arg5 : index to i64
//       %6 = tt.splat %5 : i64 -> tensor<16xi64>
//       %7 = arith.addi %6, %3 : tensor<16xi64>
//       %8 = tts.make_gather_scatter_tptr %arg0 to sizes: [16] gather_scatter_dim: 0 gather_scatter_offset: %7, strides: [1], offsets: [0] : tensor<16xi64> <f32> to !tt.ptr<tensor<16xf32>>
//       %9 = arith.addi %arg5, %c2 : index
//       %10 = "tts.load"(%8) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (!tt.ptr<tensor<16xf32>>) -> tensor<16xf32>
//       "tts.store"(%1, %10) <{static_mask_dims = array<i64>}> : (tensor<16x!tt.ptr<f32>>, tensor<16xf32>) -> ()
//       scf.yield %9 : index
//     }
//     tt.return
//   }
// }
