// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s

module {
  tt.func public @gather_reuse_loop_results(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<i32>, %arg2: !tt.ptr<f32>, %arg3: i32) attributes {noinline = false} {
    %cst = arith.constant dense<1.500000e+00> : tensor<16xf32>
    %cst_0 = arith.constant dense<1> : tensor<16xi32>
    %c1_i32 = arith.constant 1 : i32
    %c0_i32 = arith.constant 0 : i32
    %0 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %1 = tt.splat %arg1 : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
    %2 = tt.addptr %1, %0 : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
    %3 = tt.load %2 : tensor<16x!tt.ptr<i32>>
    %4 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %5 = tt.addptr %4, %3 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %6 = scf.for %arg4 = %c0_i32 to %arg3 step %c1_i32 iter_args(%arg5 = %5) -> (tensor<16x!tt.ptr<f32>>)  : i32 {
      %10 = tt.addptr %arg5, %cst_0 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
      scf.yield %10 : tensor<16x!tt.ptr<f32>>
    }
    %7 = tt.splat %arg2 : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %8 = tt.addptr %7, %0 : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %9 = tt.load %6 : tensor<16x!tt.ptr<f32>>
    tt.store %8, %9 : tensor<16x!tt.ptr<f32>>
    tt.store %6, %cst : tensor<16x!tt.ptr<f32>>
    tt.return
  }
}

// EXACT:
// module {
//   tt.func public @gather_reuse_loop_results(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<i32>, %arg2: !tt.ptr<f32>, %arg3: i32) attributes {noinline = false} {
//     %c0_i32 = arith.constant 0 : i32
//     %c1_i32 = arith.constant 1 : i32
//     %cst = arith.constant dense<1.500000e+00> : tensor<16xf32>
//     %c1 = arith.constant 1 : index
//     %c0 = arith.constant 0 : index
//     %0 = tts.make_tptr %arg1 to sizes: [16], strides: [1], offsets: [0], shape: [0], order: [] : <i32> to tensor<16x!tt.ptr<i32>>
//     %1 = tts.make_tptr %arg2 to sizes: [16], strides: [1], offsets: [0], shape: [0], order: [] : <f32> to tensor<16x!tt.ptr<f32>>
//     %2 = "tts.load"(%0) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (tensor<16x!tt.ptr<i32>>) -> tensor<16xi32>
//     %3 = arith.extsi %2 : tensor<16xi32> to tensor<16xi64>
//     %4 = scf.for %arg4 = %c0_i32 to %arg3 step %c1_i32 iter_args(%arg5 = %c0) -> (index)  : i32 {
//       %10 = arith.addi %arg5, %c1 : index
//       scf.yield %10 : index
//     }
//     %5 = arith.index_cast %4 : index to i64
//     %6 = tt.splat %5 : i64 -> tensor<16xi64>
//     %7 = arith.addi %6, %3 : tensor<16xi64>
//     %8 = tts.make_gather_scatter_tptr %arg0 to sizes: [16] gather_scatter_dim: 0 gather_scatter_offset: %7, strides: [1], offsets: [0] : tensor<16xi64> <f32> to !tt.ptr<tensor<16xf32>>
//     %9 = "tts.load"(%8) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : (!tt.ptr<tensor<16xf32>>) -> tensor<16xf32>
//     "tts.store"(%1, %9) <{static_mask_dims = array<i64>}> : (tensor<16x!tt.ptr<f32>>, tensor<16xf32>) -> ()
//     "tts.store"(%8, %cst) <{static_mask_dims = array<i64>}> : (!tt.ptr<tensor<16xf32>>, tensor<16xf32>) -> ()
//     tt.return
//   }
// }
